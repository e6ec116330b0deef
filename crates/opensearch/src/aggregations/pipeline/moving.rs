//! Functions of a moving window of numbers, those of OpenSearch's `MovingFunctions`.

use crate::error::Refusal;

/// A function of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Function {
    Max,
    Min,
    Sum,
    StandardDeviation,
    UnweightedAverage,
    LinearWeightedAverage,
    /// The exponentially weighted average, with this weight of the newest number.
    Exponential(f64),
}

/// The average of `moving_avg`.
pub(super) type Model = Function;

impl Function {
    /// Reads a script that calls one function with the window's numbers.
    pub(super) fn read(script: &str) -> Result<Function, Refusal> {
        let plain: String = script.chars().filter(|char| !char.is_whitespace()).collect();
        let plain = plain.trim_end_matches(';');
        let plain = plain.strip_prefix("return").unwrap_or(plain);
        let call = plain.strip_prefix("MovingFunctions.").and_then(|call| call.strip_suffix(')'));
        let unsupported = || {
            Refusal::unsupported(format_args!(
                "[moving_fn] with the script [{script}]. It can call one of max, min, sum, stdDev, \
                 unweightedAvg, linearWeightedAvg and ewma of MovingFunctions with [values]; any other"
            ))
        };
        Ok(match call.and_then(|call| call.split_once("(values")).ok_or_else(unsupported)? {
            ("max", "") => Function::Max,
            ("min", "") => Function::Min,
            ("sum", "") => Function::Sum,
            ("stdDev", ",MovingFunctions.unweightedAvg(values)") => Function::StandardDeviation,
            ("unweightedAvg", "") => Function::UnweightedAverage,
            ("linearWeightedAvg", "") => Function::LinearWeightedAverage,
            ("ewma", rest) => {
                let alpha = rest.strip_prefix(',').and_then(|alpha| alpha.parse().ok());
                let alpha = alpha.filter(|alpha: &f64| alpha.is_finite());
                Function::Exponential(alpha.ok_or_else(unsupported)?)
            }
            _ => return Err(unsupported()),
        })
    }

    /// Returns its value for numbers that are finite.
    pub(super) fn of(self, values: &[f64]) -> f64 {
        let sum = || values.iter().fold(0.0, |sum, value| sum + value);
        let mean = || if values.is_empty() { f64::NAN } else { sum() / values.len() as f64 };
        match self {
            Function::Max => values.iter().copied().fold(f64::NAN, f64::max),
            Function::Min => values.iter().copied().fold(f64::NAN, f64::min),
            Function::Sum => sum(),
            Function::UnweightedAverage => mean(),
            Function::StandardDeviation => {
                let mean = mean();
                let squares = values.iter().map(|value| (value - mean) * (value - mean));
                (squares.fold(0.0, |sum, square| sum + square) / values.len() as f64).sqrt()
            }
            Function::LinearWeightedAverage => {
                // The weights' sum begins at 1, as in OpenSearch.
                let (mut weighted, mut weights) = (0.0, 1.0);
                for (place, value) in (1..).zip(values) {
                    weighted += value * f64::from(place);
                    weights += f64::from(place);
                }
                if values.is_empty() { f64::NAN } else { weighted / weights }
            }
            Function::Exponential(alpha) => {
                let next = |average: f64, value: &f64| value * alpha + average * (1.0 - alpha);
                let rest = values.iter().skip(1);
                values.first().map_or(f64::NAN, |first| rest.fold(*first, next))
            }
        }
    }
}
