//! Facets as they are typed: `terms:user missing > dates:when:month zone=Europe/Berlin > avg:size`.
//!
//! ` > ` divides each bucket further, and ` + ` adds a neighbour. Choices follow a facet, separated
//! by blanks: `missing`, `empty`, `zone=NAME`, `offset=TIME` or `offset=N`.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use spirit::facets::{DateInterval, Facet};
use spirit::lab::parse_time;

use super::shape::{Metric, Shape, What};

/// Values that are named unless it is said how many.
const TOP: usize = 10;
/// Percentiles unless it is said which.
const PERCENTILES: [f64; 5] = [1.0, 25.0, 50.0, 75.0, 99.0];
/// The units of a calendar: their names, one of them, and days that are about as long.
const UNITS: [(&[&str], DateInterval, &str); 4] = [
    (&["w", "week", "weeks"], DateInterval::Week, "week, or a fixed number of days as in 14d"),
    (
        &["M", "month", "months"],
        DateInterval::Month,
        "month or quarter, or a fixed number of days as in 60d",
    ),
    (
        &["q", "quarter", "quarters"],
        DateInterval::Quarter,
        "quarter or year, or a fixed number of days as in 182d",
    ),
    (
        &["y", "yr", "year", "years"],
        DateInterval::Year,
        "year, or a fixed number of days as in 730d",
    ),
];
const KINDS: &str = "terms:FIELD[:N], histogram:FIELD:N, dates:FIELD:1h|day|week|month|quarter|year, \
                     ranges:FIELD:FROM..TO,.., filters:QUERY;.., stats:FIELD, avg|min|max|sum|values:FIELD, cardinality:FIELD or \
                     percentiles:FIELD[:N,N]";

/// A facet that was asked for.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The facet.
    pub facet: Facet,
    /// The facet as it was typed, and how its answer is shown.
    pub shape: Shape,
}

/// The reason why a facet cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FacetError {
    /// It is several facets, which are within no other one.
    Neighbours,
    /// It is malformed; the text says what to write instead.
    Malformed(String),
}

impl fmt::Display for FacetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FacetError::Neighbours => {
                f.write_str("give neighbours within another facet: A > B + C")
            }
            FacetError::Malformed(reason) => f.write_str(reason),
        }
    }
}

impl Error for FacetError {}

impl FromStr for Asked {
    type Err = FacetError;

    /// Reads `terms:FIELD`, `terms:FIELD:N` and so on, each perhaps with others within.
    fn from_str(typed: &str) -> Result<Asked, FacetError> {
        let mut chain = nested(typed).map_err(FacetError::Malformed)?;
        let Some((facet, mut shape)) = chain.pop().filter(|_| chain.is_empty()) else {
            return Err(FacetError::Neighbours);
        };
        typed.clone_into(&mut shape.typed);
        Ok(Asked { facet, shape })
    }
}

/// Neighbours, the last of them with what is within it.
fn nested(typed: &str) -> Result<Vec<(Facet, Shape)>, String> {
    let (outer, within) = match typed.split_once(" > ") {
        Some((outer, within)) => (outer, Some(within)),
        None => (typed, None),
    };
    let mut neighbours = outer.split(" + ").map(refined).collect::<Result<Vec<_>, _>>()?;
    if let Some(within) = within
        && let Some((mut facet, mut shape)) = neighbours.pop()
    {
        for (inner, its_shape) in nested(within)? {
            facet = facet.then(inner);
            shape.within.push(its_shape);
        }
        neighbours.push((facet, shape));
    }
    Ok(neighbours)
}

/// A facet with its choices.
fn refined(typed: &str) -> Result<(Facet, Shape), String> {
    let mut rest = typed.trim();
    let mut choices = Vec::new();
    while let Some((before, last)) = rest.rsplit_once(char::is_whitespace)
        && is_choice(last)
    {
        choices.push(last);
        rest = before.trim_end();
    }
    let (mut facet, what) = parse(rest)?;
    let shape = Shape {
        typed: typed.trim().to_owned(),
        field: facet.field().to_owned(),
        what,
        within: Vec::new(),
    };
    for choice in choices.into_iter().rev() {
        facet = chosen(facet, &shape.what, choice)?;
    }
    Ok((facet, shape))
}

fn is_choice(word: &str) -> bool {
    matches!(word, "missing" | "empty") || word.starts_with("zone=") || word.starts_with("offset=")
}

fn chosen(facet: Facet, what: &What, choice: &str) -> Result<Facet, String> {
    match choice.split_once('=') {
        None if choice == "missing" => Ok(facet.with_missing()),
        None => Ok(facet.with_empty()),
        Some(("zone", zone)) => Ok(facet.in_zone(zone)),
        Some((_, text)) => {
            let by =
                if matches!(what, What::Dates) { time_offset(text) } else { text.parse().ok() };
            let by = by.filter(|by| by.is_finite());
            by.map(|by| facet.offset(by)).ok_or_else(|| {
                format!("offset={text}: give a number, or for dates a time as in offset=6h or offset=-1day")
            })
        }
    }
}

/// A positive or negative time, in milliseconds.
fn time_offset(text: &str) -> Option<f64> {
    let (sign, time) = match text.strip_prefix('-') {
        Some(time) => (-1.0, time),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let time = humantime::parse_duration(time).ok()?;
    Some(sign * time.as_millis() as f64)
}

/// A facet without choices. Whatever stands behind the last colon may be part of a name.
fn parse(typed: &str) -> Result<(Facet, What), String> {
    let unknown = || format!("choose {KINDS}");
    let (kind, rest) = typed.split_once(':').ok_or_else(unknown)?;
    let (name, last) = rest.rsplit_once(':').map_or((rest, None), |(name, l)| (name, Some(l)));
    let whole = || rest.to_owned();
    let field = name.to_owned();
    let metric = |metric| (Facet::Stats { field: whole() }, What::Metric(metric));
    Ok(match kind {
        "terms" => {
            let facet = match last.and_then(|last| last.parse().ok()) {
                Some(top) => Facet::Terms { field, top },
                None => Facet::Terms { field: whole(), top: TOP },
            };
            (facet, What::Terms)
        }
        "histogram" => {
            let interval = last.and_then(|last| last.parse().ok()).ok_or_else(unknown)?;
            (Facet::Histogram { field, interval }, What::Histogram)
        }
        "dates" => {
            let interval = interval(last.ok_or_else(unknown)?)?;
            (Facet::Dates { field, interval }, What::Dates)
        }
        "ranges" => {
            let typed = last.ok_or_else(unknown)?;
            let (field, (names, ranges)) = ranges(rest, typed)?;
            (Facet::Ranges { field, ranges }, What::Ranges(names))
        }
        "filters" => {
            let queries: Vec<String> = rest.split(';').map(|text| text.trim().to_owned()).collect();
            if queries.iter().any(String::is_empty) {
                return Err("filters: give queries as in filters:level:error;ms:>1000".into());
            }
            (Facet::Filters { queries }, What::Filters)
        }
        "stats" => (Facet::Stats { field: whole() }, What::Stats),
        "avg" => metric(Metric::Mean),
        "min" => metric(Metric::Least),
        "max" => metric(Metric::Highest),
        "sum" => metric(Metric::Sum),
        "values" => metric(Metric::Values),
        "cardinality" => (Facet::Cardinality { field: whole() }, What::Cardinality),
        "percentiles" => {
            let facet = match last.and_then(numbers) {
                Some(at) => Facet::Percentiles { field, at },
                None => Facet::Percentiles { field: whole(), at: PERCENTILES.to_vec() },
            };
            (facet, What::Percentiles)
        }
        _ => return Err(unknown()),
    })
}

/// An interval of time: a unit of the calendar, or a fixed one.
fn interval(text: &str) -> Result<DateInterval, String> {
    if text == "day" {
        return Ok(DateInterval::Day);
    }
    let number_end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(number_end);
    let unit = unit.trim_start();
    if let Some((_, interval, instead)) = UNITS.iter().find(|(names, ..)| names.contains(&unit)) {
        return match number {
            "" | "1" => Ok(*interval),
            _ => Err(format!(
                "{text}: calendar intervals are of one unit, since longer ones have no common beginning; choose \
                 {instead}"
            )),
        };
    }
    let is_calendar = |word: &str| UNITS.iter().any(|(names, ..)| names.contains(&word));
    if text.split(|c: char| c.is_ascii_digit() || c.is_whitespace()).any(is_calendar) {
        return Err(format!(
            "{text}: weeks, months, quarters and years cannot be added to other units; choose one of them"
        ));
    }
    let word = [("hour", "1h"), ("minute", "1m"), ("second", "1s"), ("d", "1d"), ("h", "1h")];
    let fixed = word.iter().find(|(name, _)| *name == text).map_or(text, |(_, fixed)| fixed);
    let time = humantime::parse_duration(fixed).ok();
    let ms = time.and_then(|time| i64::try_from(time.as_millis()).ok());
    ms.map(DateInterval::Milliseconds).ok_or_else(|| {
        format!(
            "{text}: not an interval; choose day, week, month, quarter or year, or a fixed time as in 30m, 1h or 14d"
        )
    })
}

type Ranges = (Vec<String>, Vec<(Option<f64>, Option<f64>)>);

/// The field and its ranges. Moments have colons of their own, so the name ends before the first
/// text that can be read as ranges.
fn ranges(rest: &str, last: &str) -> Result<(String, Ranges), String> {
    let colons = rest.match_indices(':').map(|(at, _)| at);
    let read = |at: usize| Some((rest[..at].to_owned(), range_list(&rest[at + 1..])?));
    colons.filter(|at| *at > 0).find_map(read).ok_or_else(|| {
        format!(
            "{last}: give ranges as in 0..10,10..100,100.. or 2024-01-01..2024-02-01; FROM is in a range, TO is not"
        )
    })
}

fn range_list(text: &str) -> Option<Ranges> {
    let mut list = (Vec::new(), Vec::new());
    for range in text.split(',') {
        let (from, to) = range.split_once("..")?;
        let bound = |text: &str| match text {
            "" => Some(None),
            text => bound(text).map(Some),
        };
        list.0.push(range.to_owned());
        list.1.push((bound(from)?, bound(to)?));
    }
    Some(list)
}

/// A number, a day or a moment.
fn bound(text: &str) -> Option<f64> {
    if let Ok(number) = text.parse::<f64>() {
        return Some(number).filter(|number| number.is_finite());
    }
    let time = parse_time(text).or_else(|| parse_time(&format!("{text}T00:00:00Z")));
    time.map(|time| time as f64)
}

fn numbers(text: &str) -> Option<Vec<f64>> {
    text.split(',').map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> String {
        name.to_owned()
    }

    fn facet(typed: &str) -> Result<Asked, FacetError> {
        typed.parse()
    }

    #[test]
    fn facets_are_read() {
        for (typed, expected) in [
            ("terms:by", Facet::Terms { field: named("by"), top: TOP }),
            ("terms:by:3", Facet::Terms { field: named("by"), top: 3 }),
            ("terms:a:b", Facet::Terms { field: named("a:b"), top: TOP }),
            ("histogram:ms:2.5", Facet::Histogram { field: named("ms"), interval: 2.5 }),
            ("stats:ms", Facet::Stats { field: named("ms") }),
            ("avg:ms", Facet::Stats { field: named("ms") }),
            ("cardinality:by", Facet::Cardinality { field: named("by") }),
            (
                "percentiles:ms:50,99.9",
                Facet::Percentiles { field: named("ms"), at: vec![50.0, 99.9] },
            ),
            (
                "ranges:ms:..0,0..1.5,10..",
                Facet::Ranges {
                    field: named("ms"),
                    ranges: vec![(None, Some(0.0)), (Some(0.0), Some(1.5)), (Some(10.0), None)],
                },
            ),
            (
                "filters:level:error; ms:>10 AND a",
                Facet::Filters { queries: vec![named("level:error"), named("ms:>10 AND a")] },
            ),
            (
                "ranges:at:1970-01-01..1970-01-01T00:00:01Z",
                Facet::Ranges { field: named("at"), ranges: vec![(Some(0.0), Some(1000.0))] },
            ),
        ] {
            assert_eq!(facet(typed).unwrap().facet, expected, "{typed}");
        }
        for wrong in [
            "",
            "by",
            "top:by",
            "histogram:ms",
            "histogram:ms:x",
            "dates:at:soon",
            "dates:at",
            "ranges:ms",
            "ranges:ms:5",
            "ranges:ms:a..b",
            "terms:a + terms:b",
            "filters:",
            "filters:a;;b",
            "terms:a > ",
            "histogram:ms:1 offset=x",
        ] {
            assert!(facet(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn intervals_are_read() {
        let dates = |interval| Facet::Dates { field: named("at"), interval };
        for (text, expected) in [
            ("1h", DateInterval::Milliseconds(3_600_000)),
            ("hour", DateInterval::Milliseconds(3_600_000)),
            ("7d", DateInterval::Milliseconds(7 * 86_400_000)),
            ("1h 30m", DateInterval::Milliseconds(5_400_000)),
            ("day", DateInterval::Day),
            ("w", DateInterval::Week),
            ("1week", DateInterval::Week),
            ("1w", DateInterval::Week),
            ("month", DateInterval::Month),
            ("1M", DateInterval::Month),
            ("1 month", DateInterval::Month),
            ("1m", DateInterval::Milliseconds(60_000)),
            ("q", DateInterval::Quarter),
            ("1q", DateInterval::Quarter),
            ("y", DateInterval::Year),
            ("1year", DateInterval::Year),
        ] {
            assert_eq!(
                facet(&format!("dates:at:{text}")).unwrap().facet,
                dates(expected),
                "{text}"
            );
        }
        for (wrong, says) in [
            ("2M", "month or quarter"),
            ("3months", "month or quarter"),
            ("2w", "14d"),
            ("10y", "730d"),
            ("0month", "one unit"),
            ("1month 2days", "cannot be added"),
            ("1y2w", "cannot be added"),
            ("-1d", "not an interval"),
        ] {
            let error = facet(&format!("dates:at:{wrong}")).unwrap_err().to_string();
            assert!(error.contains(says), "{wrong}: {error}");
        }
    }

    #[test]
    fn facets_within_facets_are_read() {
        let typed = "terms:user:3 missing > values:a + dates:when:month zone=+02:00 offset=-6h empty > avg:size";
        let sizes = Facet::Stats { field: named("size") };
        let months = Facet::Dates { field: named("when"), interval: DateInterval::Month };
        let months = months.in_zone("+02:00").offset(-21_600_000.0).with_empty().then(sizes);
        let users = Facet::Terms { field: named("user"), top: 3 }.with_missing();
        let expected = users.then(Facet::Stats { field: named("a") }).then(months);
        let found = facet(typed).unwrap();
        assert_eq!(found.facet, expected);
        assert_eq!(found.shape.typed, typed);
        assert_eq!(found.shape.within[1].within[0].typed, "avg:size");
    }
}
