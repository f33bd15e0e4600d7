//! `multipleOf` in exact arithmetic. The validator's own implementation rounds whole numbers above
//! 2^53 before it divides by a fraction, so not every multiple of 3 would be a multiple of 1.5.

use jsonschema::{
    Keyword, ValidationError,
    json::{Json, JsonNumber as _, Node as _},
    paths::Location,
};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Zero as _;
use serde_json::{Map, Number, Value};

/// The number from which doubles are more than 1 apart.
const SAFE: i64 = 1 << 53;

/// Returns the value that a JSON number has for the validator: a decimal exactly as written or, from 2^53 on, the
/// double that it is rounded to.
pub fn rational(number: &Number) -> Option<BigRational> {
    if let Some(n) = number.as_i64() {
        return Some(BigRational::from_integer(n.into()));
    }
    if let Some(n) = number.as_u64() {
        return Some(BigRational::from_integer(n.into()));
    }
    let float = number.as_f64()?;
    #[expect(clippy::cast_precision_loss, reason = "2^53 is exact")]
    if float.abs() >= SAFE as f64 {
        return BigRational::from_float(float);
    }
    decimal(&number.to_string())
}

fn decimal(text: &str) -> Option<BigRational> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: BigInt = format!("{whole}{fraction}").parse().ok()?;
    let exponent: i32 = exponent.parse().ok()?;
    let scale = exponent - i32::try_from(fraction.len()).ok()?;
    let power = BigInt::from(10).pow(scale.unsigned_abs());
    Some(if scale < 0 { BigRational::new(digits, power) } else { BigRational::from_integer(digits * power) })
}

/// Returns whether a number is a multiple of another.
pub fn is_multiple(number: &Number, of: &BigRational) -> bool {
    rational(number).is_some_and(|number| (number / of).is_integer())
}

struct MultipleOf {
    number: Number,
    value: BigRational,
    /// The number, if it is whole.
    whole: Option<i64>,
}

impl MultipleOf {
    fn divides(&self, number: &Number) -> bool {
        match (number.as_i64(), self.whole) {
            (Some(number), Some(whole)) => number % whole == 0,
            _ => is_multiple(number, &self.value),
        }
    }
}

impl<'i, F: Json> Keyword<'i, F> for MultipleOf {
    fn validate(&self, instance: F::Node<'i>) -> Result<(), ValidationError<'i>> {
        match instance.as_number() {
            Some(number) if !self.divides(&number.to_number()) => {
                let message = format!("{} is not a multiple of {}", number.to_number(), self.number);
                Err(ValidationError::custom(message))
            }
            _ => Ok(()),
        }
    }

    fn is_valid(&self, instance: F::Node<'i>) -> bool {
        instance.as_number().is_none_or(|number| self.divides(&number.to_number()))
    }
}

/// Builds the keyword for a validator.
///
/// # Errors
///
/// Returns an error if the schema's value is not a positive number.
pub fn keyword<'a, F: Json>(
    _: &'a Map<String, Value>,
    value: &'a Value,
    _: Location,
) -> Result<Box<dyn for<'i> Keyword<'i, F>>, ValidationError<'a>> {
    let divisor = value.as_number().and_then(|number| Some((number, rational(number)?)));
    match divisor.filter(|(_, value)| *value > BigRational::zero()) {
        Some((number, value)) => {
            let whole = number.as_i64();
            Ok(Box::new(MultipleOf { number: number.clone(), value, whole }))
        }
        None => Err(ValidationError::custom(format!("{value} is not greater than 0"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn multiples_are_exact() {
        for (number, of, expected) in [
            (json!(9_007_199_254_740_993_u64), json!(1.5), true),
            (json!(9_007_199_254_740_993_u64), json!(3), true),
            (json!(9_007_199_254_740_993_u64), json!(2), false),
            (json!(u64::MAX), json!(0.5), true),
            (json!(-7.5), json!(2.5), true),
            (json!(4.02), json!(0.01), true),
            (json!(1e308), json!(0.5), true),
            (json!(12_391_239_123_u64), json!(1e-8), true),
            (json!(0.0075), json!(0.0001), true),
            (json!(0.00751), json!(0.0001), false),
            (json!(35), json!(1.5), false),
            (json!(0), json!(7), true),
            (json!("a"), json!(7), true),
        ] {
            let options = jsonschema::options().with_keyword("multipleOf", keyword);
            let validator = options.build(&json!({"multipleOf": of})).unwrap();
            assert_eq!(validator.is_valid(&number), expected, "{number} of {of}");
            let message = validator.validate(&number).err().map(|error| error.to_string());
            assert_eq!(message, (!expected).then(|| format!("{number} is not a multiple of {of}")));
        }
    }
}
