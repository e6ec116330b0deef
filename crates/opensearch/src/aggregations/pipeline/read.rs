//! Reading of pipelines.

use super::moving::{Function, Model};
use super::path::Path;
use super::script::Script;
use super::{Piped, Pipeline, Step, Summary};
use crate::aggregations::interval;
use crate::error::Refusal;
use crate::json::Json;
use crate::read;
use spirit::facets::DateInterval;

/// The window of `moving_avg`, and the weight of the newest number in its model `ewma`.
const WINDOW: i64 = 5;
const ALPHA: f64 = 0.3;

/// Reads a pipeline; none of another kind of aggregation.
pub(in crate::aggregations) fn pipeline(
    kind: &str,
    name: &str,
    body: &Json,
) -> Piped<Option<Pipeline>> {
    let own: &[&str] = match kind {
        "derivative" => &["unit"],
        "cumulative_sum" | "max_bucket" | "min_bucket" | "avg_bucket" | "sum_bucket"
        | "stats_bucket" => &[],
        "serial_diff" => &["lag"],
        "moving_fn" => &["window", "shift", "script"],
        "moving_avg" => &["window", "model", "settings", "predict", "minimize"],
        "bucket_script" | "bucket_selector" => &["script"],
        "bucket_sort" => &["sort", "from", "size"],
        _ => return Ok(None),
    };
    let body = Body::read(kind, name, body, own)?;
    let paths = body.paths()?;
    let names: Vec<&str> = paths.iter().map(|(name, _)| &**name).collect();
    let of_all = |summary| Ok(Step::OfAll(summary));
    let step = match kind {
        "derivative" => Ok(Step::Derivative { unit: body.get("unit").map(unit).transpose()? }),
        "cumulative_sum" => Ok(Step::CumulativeSum),
        "serial_diff" => body.lag().map(|lag| Step::SerialDifference { lag }),
        "moving_fn" => body.moving_function(),
        "moving_avg" => body.moving_average(),
        "bucket_script" => body.script(&names).map(Step::Script),
        "bucket_selector" => body.script(&names).map(Step::Selector),
        "bucket_sort" => body.sort(),
        "max_bucket" => of_all(Summary::Max),
        "min_bucket" => of_all(Summary::Min),
        "avg_bucket" => of_all(Summary::Avg),
        "sum_bucket" => of_all(Summary::Sum),
        _ => of_all(Summary::Stats),
    }?;
    let gaps_are_zeros = body.gaps_are_zeros()?;
    let sorted = match &step {
        Step::Sort { keys, .. } => {
            keys.iter().map(|(path, _)| (String::new(), path.clone())).collect()
        }
        _ => paths,
    };
    Ok(Some(Pipeline { paths: sorted, gaps_are_zeros, step }))
}

/// The options of a pipeline.
struct Body<'j> {
    kind: &'j str,
    name: &'j str,
    members: &'j [(String, Json)],
}

impl<'j> Body<'j> {
    fn read(kind: &'j str, name: &'j str, body: &'j Json, own: &[&str]) -> Piped<Body<'j>> {
        let Json::Object(members) = body else {
            let what = format!("Expected [START_OBJECT] under [{kind}], but got a");
            return Err(Refusal::parsing(format!("{what} [{}]", body.token())));
        };
        for (option, value) in members {
            if option == "format" {
                return Err(Refusal::unsupported(format_args!("[{kind}] with [format]")));
            }
            let is_paths = option == "buckets_path" && kind != "bucket_sort";
            if !is_paths && option != "gap_policy" && !own.contains(&&**option) {
                let token = value.token();
                return Err(Refusal::parsing(format!("Unexpected token {token} in [{name}].")));
            }
        }
        Ok(Body { kind, name, members })
    }

    fn get(&self, name: &str) -> Option<&'j Json> {
        self.members.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    fn wrong(&self, option: &str) -> Refusal {
        Refusal::content(format!("[{}] failed to parse field [{option}]", self.kind))
    }

    /// Returns the paths; those without names have OpenSearch's.
    fn paths(&self) -> Piped<Vec<(String, Path)>> {
        let path =
            |value: &Json| value.as_str().map(Path::read).ok_or_else(|| self.wrong("buckets_path"));
        let missing = || {
            let of = match self.kind {
                kind if kind.ends_with("_bucket") => String::new(),
                kind => format!("{kind} "),
            };
            let what = format!("Missing required field [buckets_path] for {of}aggregation");
            Refusal::parsing(format!("{what} [{}]", self.name))
        };
        let numbered =
            |(place, value): (usize, &Json)| Ok((format!("_value{place}"), path(value)?));
        match self.get("buckets_path") {
            None if self.kind == "bucket_sort" => Ok(Vec::new()),
            None => Err(missing()),
            Some(Json::Array(values)) if !values.is_empty() => {
                values.iter().enumerate().map(numbered).collect()
            }
            Some(Json::Object(members)) if !members.is_empty() => {
                members.iter().map(|(name, value)| Ok((name.clone(), path(value)?))).collect()
            }
            Some(value) => Ok(vec![("_value".to_owned(), path(value)?)]),
        }
    }

    fn gaps_are_zeros(&self) -> Piped<bool> {
        let usual = self.kind == "cumulative_sum";
        match self.get("gap_policy").map(read::shown).as_deref() {
            None => Ok(usual),
            Some("skip") => Ok(false),
            Some("insert_zeros") => Ok(true),
            Some(other) => Err(Refusal::parsing(format!(
                "Invalid gap policy: [{other}], accepted values: [insert_zeros, skip]"
            ))),
        }
    }

    fn integer(&self, name: &str) -> Piped<Option<i64>> {
        self.get(name).map(read::integer).transpose()
    }

    fn lag(&self) -> Piped<usize> {
        let lag = self.integer("lag")?.unwrap_or(1);
        usize::try_from(lag).ok().filter(|lag| *lag > 0).ok_or_else(|| {
            Refusal::parsing(format!(
                "Lag must be a positive, non-zero integer.  Value supplied was{lag} in [{}]: [lag].",
                self.name
            ))
        })
    }

    fn script_text(&self) -> Piped<String> {
        let missing = || Refusal::illegal_argument("Required [script]");
        let text = match self.get("script").ok_or_else(missing)? {
            Json::String(text) => return Ok(text.clone()),
            Json::Object(members) => {
                let is_known = |name: &str| {
                    matches!(name, "source" | "inline" | "lang" | "params" | "options")
                };
                if let Some((name, _)) = members.iter().find(|(name, _)| !is_known(name)) {
                    return Err(Refusal::content(format!("[script] unknown field [{name}]")));
                }
                let mut options = members.iter();
                let is_plain = options.all(|(name, value)| match (&**name, value) {
                    ("lang", value) => value.as_str() == Some("painless"),
                    ("params" | "options", Json::Object(members)) => members.is_empty(),
                    (name, _) => matches!(name, "source" | "inline"),
                });
                if !is_plain {
                    let what =
                        format!("[{}] with a script of its own params or language", self.kind);
                    return Err(Refusal::unsupported(what));
                }
                members.iter().find(|(name, _)| matches!(&**name, "source" | "inline"))
            }
            _ => None,
        };
        let text = text.and_then(|(_, text)| text.as_str());
        text.map(str::to_owned).ok_or_else(|| self.wrong("script"))
    }

    fn script(&self, names: &[&str]) -> Piped<Script> {
        Script::read(&self.script_text()?, names)
    }

    fn window(&self, usual: Option<i64>) -> Piped<usize> {
        let missing = || Refusal::illegal_argument("Required [window]");
        let window = self.integer("window")?.or(usual).ok_or_else(missing)?;
        let wrong = || Refusal::illegal_argument("[window] must be a positive, non-zero integer.");
        usize::try_from(window).ok().filter(|window| *window > 0).ok_or_else(wrong)
    }

    fn moving_function(&self) -> Piped<Step> {
        let (window, script) = (self.window(None)?, self.script_text()?);
        let shift = self.integer("shift")?.unwrap_or(0);
        Ok(Step::MovingFunction { function: Function::read(&script)?, window, shift })
    }

    fn moving_average(&self) -> Piped<Step> {
        let alpha = self.get("settings").and_then(|settings| settings.get("alpha"));
        let model = match self.get("model").map(read::shown).as_deref() {
            None | Some("simple") => Model::UnweightedAverage,
            Some("linear") => Model::LinearWeightedAverage,
            Some("ewma") => Model::Exponential(alpha.map_or(Ok(ALPHA), number)?),
            Some(name @ ("holt" | "holt_winters")) => {
                return Err(Refusal::unsupported(format_args!(
                    "[moving_avg] by the model [{name}]"
                )));
            }
            Some(name) => {
                let what = format!("no [moving_avg_model] registered for [{name}]");
                return Err(Refusal::parsing(what));
            }
        };
        if let Some(predicted) = self.integer("predict")? {
            if predicted < 1 {
                return Err(Refusal::parsing(format!(
                    "[predict] value must be a positive integer.  Value supplied was [{predicted}] in \
                     [{}].",
                    self.name
                )));
            }
            return Err(Refusal::unsupported("[moving_avg] with [predict]"));
        }
        if self.get("minimize").map(read::boolean).transpose()? == Some(true) {
            return Err(Refusal::unsupported("[moving_avg] with [minimize]"));
        }
        Ok(Step::MovingAverage { model, window: self.window(Some(WINDOW))? })
    }

    fn sort(&self) -> Piped<Step> {
        let mut keys = Vec::new();
        let listed = match self.get("sort") {
            Some(Json::Array(values)) => values.iter().collect(),
            Some(value) => vec![value],
            None => Vec::new(),
        };
        for value in listed {
            match value {
                Json::String(name) => keys.push((Path::read(name), false)),
                Json::Object(members) => {
                    for (name, value) in members {
                        let order = value.get("order").unwrap_or(value);
                        let descends = match read::shown(order).to_ascii_lowercase().as_str() {
                            "asc" => false,
                            "desc" => true,
                            _ => return Err(self.wrong("sort")),
                        };
                        keys.push((Path::read(name), descends));
                    }
                }
                _ => return Err(self.wrong("sort")),
            }
        }
        let count = |name: &str| {
            let wrong =
                || Refusal::illegal_argument(format!("[{name}] must be a non-negative integer"));
            let number = self.integer(name)?;
            number.map(|number| usize::try_from(number).map_err(|_| wrong())).transpose()
        };
        Ok(Step::Sort { keys, from: count("from")?.unwrap_or(0), size: count("size")? })
    }
}

fn number(value: &Json) -> Piped<f64> {
    let number = read::shown(value).parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| Refusal::number_format(&read::shown(value)))
}

/// Returns the milliseconds of a unit. Months and years have their mean length, as in OpenSearch.
fn unit(value: &Json) -> Piped<f64> {
    const YEAR: f64 = 31_556_952_000.0;
    let text = read::shown(value);
    Ok(match &*text {
        "second" => 1000.0,
        "minute" => 60_000.0,
        "hour" => 3_600_000.0,
        "day" | "1d" => 86_400_000.0,
        "week" | "1w" => 604_800_000.0,
        "month" | "1M" => YEAR / 12.0,
        "quarter" | "1q" => YEAR / 4.0,
        "year" | "1y" => YEAR,
        text => match interval::fixed(text).map(|interval| interval.engine) {
            Some(DateInterval::Milliseconds(ms)) => ms as f64,
            _ => {
                return Err(Refusal::illegal_argument(format!(
                    "failed to parse setting [DerivativePipelineAggregationBuilder.unit] with value \
                     [{text}] as a time value: unit is missing or unrecognized"
                )));
            }
        },
    })
}
