//! Pipelines: aggregations of the answers of others, bucket by bucket or over all buckets.
//!
//! They are calculated from the finished answer. So over several indexes they see merged buckets, as in
//! OpenSearch.

mod buckets;
mod moving;
mod order;
mod path;
mod read;
mod script;

use self::moving::{Function, Model};
use self::path::Path;
use self::script::Script;
use super::{Asked, Named};
use crate::error::Refusal;
use crate::json::Json;

pub(super) use buckets::{over_all, within};
pub(super) use order::{arranged, check_parent, check_top};
pub(super) use read::pipeline;

type Members = Vec<(String, Json)>;
type Piped<T> = Result<T, Refusal>;

/// A pipeline: which numbers it takes, and what it does with them.
#[derive(Clone, Debug)]
pub(super) struct Pipeline {
    /// The names by which a script has them, and where they are.
    paths: Vec<(String, Path)>,
    /// True if a missing number counts as 0. If not, it is left out.
    gaps_are_zeros: bool,
    step: Step,
}

/// What a pipeline does.
#[derive(Clone, Debug)]
enum Step {
    /// The change since the bucket before, also for each of these milliseconds.
    Derivative {
        unit: Option<f64>,
    },
    CumulativeSum,
    SerialDifference {
        lag: usize,
    },
    MovingFunction {
        function: Function,
        window: usize,
        shift: i64,
    },
    MovingAverage {
        model: Model,
        window: usize,
    },
    Script(Script),
    /// Keeps buckets for which the script is true.
    Selector(Script),
    /// Keeps some buckets, in the order of numbers; true beside those that descend.
    Sort {
        keys: Vec<(Path, bool)>,
        from: usize,
        size: Option<usize>,
    },
    /// One number of all buckets of another aggregation.
    OfAll(Summary),
}

/// What is known of all buckets.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Summary {
    Max,
    Min,
    Avg,
    Sum,
    Stats,
}

impl Pipeline {
    /// Returns what OpenSearch calls it.
    pub(super) fn kind(&self) -> &'static str {
        match &self.step {
            Step::Derivative { .. } => "derivative",
            Step::CumulativeSum => "cumulative_sum",
            Step::SerialDifference { .. } => "serial_diff",
            Step::MovingFunction { .. } => "moving_fn",
            Step::MovingAverage { .. } => "moving_avg",
            Step::Script(_) => "bucket_script",
            Step::Selector(_) => "bucket_selector",
            Step::Sort { .. } => "bucket_sort",
            Step::OfAll(Summary::Max) => "max_bucket",
            Step::OfAll(Summary::Min) => "min_bucket",
            Step::OfAll(Summary::Avg) => "avg_bucket",
            Step::OfAll(Summary::Sum) => "sum_bucket",
            Step::OfAll(Summary::Stats) => "stats_bucket",
        }
    }

    /// Returns the type that typed keys have in front.
    pub(super) fn typed(&self) -> &'static str {
        match &self.step {
            Step::Derivative { .. } => "derivative",
            Step::OfAll(Summary::Max | Summary::Min) => "bucket_metric_value",
            Step::OfAll(Summary::Stats) => "stats_bucket",
            _ => "simple_value",
        }
    }

    /// True if it is beside the aggregation whose buckets it takes, not within.
    fn is_beside(&self) -> bool {
        matches!(self.step, Step::OfAll(_))
    }

    /// True if it compares a bucket with those before, so that none may be missing.
    fn needs_histogram(&self) -> bool {
        matches!(
            self.step,
            Step::Derivative { .. }
                | Step::CumulativeSum
                | Step::SerialDifference { .. }
                | Step::MovingFunction { .. }
                | Step::MovingAverage { .. }
        )
    }

    fn path(&self) -> Piped<&Path> {
        self.paths.first().map(|(_, path)| path).ok_or_else(super::mismatch)
    }
}

/// Returns the pipeline of an aggregation that is one.
fn of(named: &Named) -> Option<&Pipeline> {
    if let Asked::Pipeline(pipeline) = &named.asked { Some(pipeline) } else { None }
}

/// Returns the name and the answer of a pipeline.
fn answered(named: &Named, typed: bool, answer: Members) -> (String, Json) {
    let mut members = Members::new();
    members.extend(named.meta.clone().map(|meta| ("meta".to_owned(), meta)));
    members.extend(answer);
    (named.shown_name(typed), Json::Object(members))
}

/// Returns an answer of one number; null if it is not finite.
fn value(value: f64) -> Members {
    vec![("value".to_owned(), super::number(value))]
}

fn invalid(what: &str) -> Refusal {
    let reason = format!("Validation Failed: 1: {what};");
    Refusal::new("action_request_validation_exception", 400, reason)
}
