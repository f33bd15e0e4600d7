//! Times as people write them and as commits contain them. Clocks may be wrong.

use std::str::FromStr;

use jiff::{SignedDuration, Span, Timestamp, Zoned, civil};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

/// The maximum time by which the date of a commit may be in the future; later dates are ignored.
const MAX_AHEAD: SignedDuration = SignedDuration::from_hours(24);

/// Returns whether the date of a commit is too far in the future to sort by.
pub fn is_ahead(time: Timestamp, now: Timestamp) -> bool {
    time.duration_since(now) > MAX_AHEAD
}

/// A moment as people write it: `2026-03-03T12:00:00Z`, `2026-03-03 12:00`, `2026-03-03`, `yesterday`, `2 weeks ago` or
/// `2w`.
#[derive(Debug, Clone)]
pub enum Moment {
    /// A point in time.
    At(Timestamp),
    /// A day, hour, minute or second in the caller's time zone.
    Local {
        /// The first instant.
        start: civil::DateTime,
        /// The last instant.
        end: civil::DateTime,
    },
    /// A duration before now.
    Ago(Span),
}

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(time) = text.parse() {
            return Ok(Self::At(time));
        }
        if let Some(local) = local(text) {
            return Ok(local);
        }
        // Like git: exactly 24 hours ago.
        let text = if text == "yesterday" { "1 day ago" } else { text };
        match text.strip_suffix(" ago").unwrap_or(text).parse::<Span>() {
            Ok(span) => Ok(Self::Ago(span.abs())),
            Err(_) => Err(format!("{text:?} is not a time: write 2026-03-03, 2026-03-03T12:00:00Z or \"2 weeks ago\"")),
        }
    }
}

/// Parses a date, or a date and a time, without an offset. The result covers its last part: a whole
/// day, hour, minute or second.
fn local(text: &str) -> Option<Moment> {
    // A zone in brackets would be parsed and ignored.
    let start: civil::DateTime = text.parse().ok().filter(|_| !text.contains('['))?;
    let time = text.split_once(['T', 't', ' ']).map_or("", |(_, time)| time);
    let length = match time.bytes().filter(u8::is_ascii_digit).count() {
        0 => Span::new().days(1),
        2 => Span::new().hours(1),
        4 => Span::new().minutes(1),
        _ => Span::new().seconds(1),
    };
    let next = start.saturating_add(length);
    Some(Moment::Local { start, end: next.saturating_sub(Span::new().nanoseconds(1)) })
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
        // A valid date, and a time without an offset, for which JSON Schema has no format.
        let local = "^([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)\
                     |02-(0[1-9]|1[0-9]|2[0-8]))|20([02468][048]|[13579][26])-02-29)\
                     [T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$";
        let ago = "^[1-9][0-9]{0,3} (second|minute|hour|day|week|month|year)s? ago$";
        schemars::json_schema!({
            "type": "string", "anyOf": [{"format": "date"}, {"format": "date-time"}, {"pattern": local}, {"pattern": ago}]
        })
    }
}

impl Moment {
    /// Returns the first instant of the moment, relative to `now` and in its time zone.
    pub fn start(&self, now: &Zoned) -> Timestamp {
        match self {
            Self::At(time) => *time,
            Self::Local { start, .. } => instant(*start, now).unwrap_or(Timestamp::MIN),
            Self::Ago(span) => now.checked_sub(*span).map_or(Timestamp::MIN, |time| time.timestamp()),
        }
    }

    /// Returns the last instant of the moment, which for a date is the end of the day.
    pub fn end(&self, now: &Zoned) -> Timestamp {
        match self {
            Self::Local { end, .. } => instant(*end, now).unwrap_or(Timestamp::MAX),
            Self::At(_) | Self::Ago(_) => self.start(now),
        }
    }
}

/// Returns the point in time at which clocks in the time zone of `now` show `time`.
fn instant(time: civil::DateTime, now: &Zoned) -> Option<Timestamp> {
    time.to_zoned(now.time_zone().clone()).ok().map(|time| time.timestamp())
}

/// A period of time. It is unbounded on a side that is not given.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Period {
    /// Show only changes since this time: 2026-03-03 or "2 weeks ago"
    #[cfg_attr(feature = "cli", arg(long, value_name = "TIME"))]
    pub since: Option<Moment>,
    /// Show only changes until this time
    #[cfg_attr(feature = "cli", arg(long, value_name = "TIME"))]
    pub until: Option<Moment>,
}

impl Period {
    /// Returns whether a time is within the period.
    pub fn contains(&self, time: Timestamp, now: &Zoned) -> bool {
        self.since.as_ref().is_none_or(|since| since.start(now) <= time)
            && self.until.as_ref().is_none_or(|until| time <= until.end(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether the period between two moments contains a time, in a zone with this offset from UTC in hours.
    fn contains(hours: i8, since: &str, until: &str, time: &str) -> bool {
        let now = "2026-03-17T12:00:00Z".parse::<Timestamp>().unwrap();
        let now = now.to_zoned(jiff::tz::TimeZone::fixed(jiff::tz::offset(hours)));
        let moment = |text: &str| (!text.is_empty()).then(|| text.parse().unwrap());
        Period { since: moment(since), until: moment(until) }.contains(time.parse().unwrap(), &now)
    }

    /// The schema accepts nothing that the parser refuses, since clients generate requests from it.
    #[test]
    fn schema_accepts_only_times() {
        let schema = serde_json::json!(schemars::schema_for!(Moment));
        let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
        let is_valid = |text: &str| validator.is_valid(&serde_json::json!(text));
        for text in ["2026-01-31 23:59", "2028-02-29T00:00:59", "0000-04-30T12:00", "2 weeks ago", "2026-03-03"] {
            assert!(is_valid(text) && text.parse::<Moment>().is_ok(), "{text}");
        }
        for text in ["0000-00-00T00:00", "2026-04-31 12:00", "2027-02-29 12:00", "2026-01-01 24:00", "2026-01-01 12:60"]
        {
            assert!(!is_valid(text), "{text}");
        }
    }

    #[test]
    fn periods_are_read_in_every_notation() {
        let contains = |since: &str, until: &str, time: &str| contains(0, since, until, time);
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
    fn a_time_without_an_offset_is_local() {
        for time in ["2026-03-03 12:05", "2026-03-03T12:05", "2026-03-03T12:05:59"] {
            assert!(contains(0, "", time, "2026-03-03T12:05:59Z"), "{time}");
            assert!(!contains(0, "", time, "2026-03-03T12:06:00Z"), "{time}");
            assert!(contains(2, "", time, "2026-03-03T10:05:59Z"), "{time}");
            assert!(!contains(2, "", time, "2026-03-03T10:06:00Z"), "{time}");
        }
        assert!(!contains(0, "2026-03-03 12:05", "", "2026-03-03T12:04:59Z"));
        assert!(!contains(0, "", "2026-03-03T12:05:01", "2026-03-03T12:05:02Z"));
        assert!(contains(13, "2026-03-03", "2026-03-03", "2026-03-02T11:00:00Z"));
        assert!(!contains(13, "", "2026-03-03", "2026-03-03T11:00:00Z"));
        assert!(contains(0, "", "9999-12-31", "9999-12-30T00:00:00Z"));
    }

    #[test]
    fn invalid_times_are_refused() {
        for text in ["", "tomorrow", "1.0.0", "2026-13-01", "2026-03-03 25:00", "2026-03-03T12:00[Europe/Berlin]"] {
            assert!(text.parse::<Moment>().unwrap_err().contains("write 2026-03-03"), "{text}");
        }
    }
}
