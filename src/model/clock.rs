//! Times as people write them and as commits contain them. Clocks may be wrong.

use std::str::FromStr;

use jiff::{SignedDuration, Span, Timestamp, civil, tz::TimeZone};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

/// The maximum time by which the date of a commit may be in the future; later dates are ignored.
const MAX_AHEAD: SignedDuration = SignedDuration::from_hours(24);

/// Returns whether the date of a commit is too far in the future to sort by.
pub fn is_ahead(time: Timestamp, now: Timestamp) -> bool {
    time.duration_since(now) > MAX_AHEAD
}

/// A moment as people write it: `2026-03-03T12:00:00Z`, `2026-03-03`, `yesterday`, `2 weeks ago` or `2w`. A date is
/// a whole day, in UTC.
#[derive(Debug, Clone)]
pub enum Moment {
    /// A point in time.
    At(Timestamp),
    /// A day.
    Day(civil::Date),
    /// A duration before now.
    Ago(Span),
}

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(time) = text.parse() {
            return Ok(Self::At(time));
        }
        if let Ok(day) = text.parse() {
            return Ok(Self::Day(day));
        }
        // Like git: exactly 24 hours ago.
        let text = if text == "yesterday" { "1 day ago" } else { text };
        match text.strip_suffix(" ago").unwrap_or(text).parse::<Span>() {
            Ok(span) => Ok(Self::Ago(span.abs())),
            Err(_) => Err(format!("{text:?} is not a time: write 2026-03-03, 2026-03-03T12:00:00Z or \"2 weeks ago\"")),
        }
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        super::text::deserialize(deserializer)
    }
}

impl JsonSchema for Moment {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Moment".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let ago = "^[1-9][0-9]{0,3} (second|minute|hour|day|week|month|year)s? ago$";
        schemars::json_schema!({
            "type": "string", "anyOf": [{"format": "date"}, {"format": "date-time"}, {"pattern": ago}]
        })
    }
}

impl Moment {
    /// Returns the first instant of the moment.
    pub fn start(&self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(time) => *time,
            Self::Day(day) => midnight(*day).unwrap_or(Timestamp::MIN),
            Self::Ago(span) => {
                now.to_zoned(TimeZone::UTC).checked_sub(*span).map_or(Timestamp::MIN, |time| time.timestamp())
            }
        }
    }

    /// Returns the last instant of the moment, which for a date is the end of the day.
    pub fn end(&self, now: Timestamp) -> Timestamp {
        match self {
            Self::Day(day) => day
                .tomorrow()
                .ok()
                .and_then(midnight)
                .and_then(|next| next.checked_sub(SignedDuration::from_nanos(1)).ok())
                .unwrap_or(Timestamp::MAX),
            Self::At(_) | Self::Ago(_) => self.start(now),
        }
    }
}

fn midnight(day: civil::Date) -> Option<Timestamp> {
    day.to_zoned(TimeZone::UTC).ok().map(|time| time.timestamp())
}

/// A period of time. It is unbounded on a side that is not given.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Period {
    /// Only changes since this time, such as 2026-03-03 or "2 weeks ago"
    #[cfg_attr(feature = "cli", arg(long, value_name = "TIME"))]
    pub since: Option<Moment>,
    /// Only changes until this time
    #[cfg_attr(feature = "cli", arg(long, value_name = "TIME"))]
    pub until: Option<Moment>,
}

impl Period {
    /// Returns whether a time is within the period.
    pub fn contains(&self, time: Timestamp, now: Timestamp) -> bool {
        self.since.as_ref().is_none_or(|since| since.start(now) <= time)
            && self.until.as_ref().is_none_or(|until| time <= until.end(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_read_in_every_notation() {
        let now: Timestamp = "2026-03-17T12:00:00Z".parse().unwrap();
        let contains = |since: &str, until: &str, time: &str| {
            let moment = |text: &str| (!text.is_empty()).then(|| text.parse().unwrap());
            Period { since: moment(since), until: moment(until) }.contains(time.parse().unwrap(), now)
        };
        assert!(contains("2 weeks ago", "", "2026-03-03T12:00:00Z"));
        assert!(contains("yesterday", "", "2026-03-16T12:00:00Z"));
        assert!(!contains("yesterday", "", "2026-03-16T11:59:59Z"));
        assert!(!contains("2w", "", "2026-03-03T11:59:59Z"));
        assert!(contains("2026-03-03", "2026-03-03", "2026-03-03T23:59:59Z"));
        assert!(!contains("", "2026-03-03", "2026-03-04T00:00:00Z"));
        assert!(contains("2026-03-03T12:00:00+02:00", "", "2026-03-03T10:00:00Z"));
        assert!(contains("", "", "2026-03-03T10:00:00Z"));
    }

    #[test]
    fn invalid_times_are_refused() {
        for text in ["", "tomorrow", "1.0.0", "2026-13-01"] {
            assert!(text.parse::<Moment>().unwrap_err().contains("write 2026-03-03"), "{text}");
        }
    }
}
