//! Orders of hits.

use spirit::schema::Schema;
use spirit::search::Direction as EngineDirection;
use spirit::{FieldKind, Search};

use crate::error::Refusal;
use crate::json::Json;
use crate::read;

/// Keys of one order, at most, without those that the index does not have.
const KEYS_MAX: usize = 3;

/// A direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Small values first.
    Ascending,
    /// Large values first.
    Descending,
}

/// What hits are sorted by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SortBy {
    /// The score.
    Score,
    /// The order in which documents are in the index; here the newest first.
    Document,
    /// The values of a field.
    Field(String),
}

/// A key of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sort {
    /// What hits are sorted by.
    pub by: SortBy,
    /// The direction.
    pub direction: Direction,
    /// True if documents without a value come first.
    pub missing_first: bool,
    /// The format in which the answer has moments.
    pub format: Option<String>,
    /// True if an index without the field is sorted as if no document had a value.
    pub may_be_unmapped: bool,
}

impl Sort {
    fn named(name: &str) -> Sort {
        let (by, direction) = match name {
            "_score" => (SortBy::Score, Direction::Descending),
            "_doc" => (SortBy::Document, Direction::Ascending),
            field => (SortBy::Field(field.to_owned()), Direction::Ascending),
        };
        Sort { by, direction, missing_first: false, format: None, may_be_unmapped: false }
    }
}

/// Reads `sort`: a name, an object of names, or an array of both.
pub(super) fn read(value: &Json) -> Result<Vec<Sort>, Refusal> {
    let mut keys = Vec::new();
    match value {
        Json::Array(values) => values.iter().try_for_each(|value| add(value, &mut keys))?,
        value => add(value, &mut keys)?,
    }
    Ok(keys)
}

fn add(value: &Json, keys: &mut Vec<Sort>) -> Result<(), Refusal> {
    match value {
        Json::String(name) => keys.push(Sort::named(name)),
        Json::Object(members) => {
            for (name, value) in members {
                keys.push(key(name, value)?);
            }
        }
        _ => {
            return Err(Refusal::illegal_argument(
                "malformed sort format, within the sort array, an object, or an actual string are \
                 allowed",
            ));
        }
    }
    Ok(())
}

fn key(name: &str, value: &Json) -> Result<Sort, Refusal> {
    let mut key = Sort::named(name);
    if matches!(name, "_geo_distance" | "_script") {
        return Err(Refusal::unsupported(format_args!("[sort] by [{name}]")));
    }
    match value {
        Json::Object(members) => {
            let options = members.iter();
            // The direction comes first, since it decides which mode is the usual one.
            let (order, others): (Vec<_>, Vec<_>) = options.partition(|(name, _)| name == "order");
            for (name, value) in order.into_iter().chain(others) {
                key.option(name, value)?;
            }
        }
        value => key.direction = direction(value)?,
    }
    Ok(key)
}

fn direction(value: &Json) -> Result<Direction, Refusal> {
    let name = read::shown(value);
    match name.to_ascii_lowercase().as_str() {
        "asc" => Ok(Direction::Ascending),
        "desc" => Ok(Direction::Descending),
        _ => {
            let what = "No enum constant org.opensearch.search.sort.SortOrder";
            Err(Refusal::illegal_argument(format!("{what}.{}", name.to_uppercase())))
        }
    }
}

impl Sort {
    fn option(&mut self, name: &str, value: &Json) -> Result<(), Refusal> {
        let is_field = matches!(self.by, SortBy::Field(_));
        let text = || read::shown(value);
        match name {
            "order" => self.direction = direction(value)?,
            "missing" if is_field => {
                self.missing_first = match &*text() {
                    "_first" => true,
                    "_last" => false,
                    _ => return Err(unsupported("a [missing] other than _first and _last")),
                };
            }
            "mode" if is_field => {
                // Of several values, the one that comes first counts.
                let usual = if self.direction == Direction::Ascending { "min" } else { "max" };
                if text() != usual {
                    return Err(unsupported(&format!("the mode [{}]", text())));
                }
            }
            "unmapped_type" if is_field => self.may_be_unmapped = true,
            "format" if is_field => self.format = Some(text()),
            "numeric_type" if is_field => {}
            "nested" | "nested_path" | "nested_filter" if is_field => {
                return Err(unsupported(&format!("[{name}]")));
            }
            _ => {
                let kind = if is_field { "field_sort" } else { "_score" };
                return Err(Refusal::content(format!("[{kind}] unknown field [{name}]")));
            }
        }
        Ok(())
    }
}

fn unsupported(what: &str) -> Refusal {
    Refusal::unsupported(format_args!("[sort] with {what}"))
}

/// Reads the URL parameter: names with directions, such as `level,at:desc`. As in OpenSearch, only
/// `asc` and `desc` are directions there.
pub(super) fn of_parameter(text: &str) -> Result<Vec<Sort>, Refusal> {
    let key = |part: &str| match part.rsplit_once(':') {
        Some((name, "desc")) => Sort { direction: Direction::Descending, ..Sort::named(name) },
        Some((name, "asc")) => Sort { direction: Direction::Ascending, ..Sort::named(name) },
        _ => Sort::named(part),
    };
    Ok(text.split(',').filter(|part| !part.is_empty()).map(key).collect())
}

/// Returns the keys that are fields of an index, with the fields' names and kinds. An order by what
/// the engine cannot combine is refused.
pub(super) fn fields<'k>(
    keys: &'k [Sort],
    schema: &Schema,
) -> Result<Vec<(&'k Sort, &'k str, FieldKind)>, Refusal> {
    let mut fields = Vec::new();
    for key in keys {
        let SortBy::Field(name) = &key.by else { continue };
        match schema.asked_whole(name) {
            None if key.may_be_unmapped => {}
            None => {
                let what = format!("No mapping found for [{name}] in order to sort on");
                return Err(Refusal::query_shard(what));
            }
            Some((_, FieldKind::Text(_))) => return Err(crate::query::without_values(name)),
            Some((_, kind)) => fields.push((key, &**name, kind)),
        }
    }
    Ok(fields)
}

/// Returns the request for `k` hits in an order.
pub(super) fn order(keys: &[Sort], k: usize, schema: &Schema) -> Result<Search, Refusal> {
    let fields = fields(keys, schema)?;
    let score = keys.iter().position(|key| key.by == SortBy::Score);
    match (keys.first().map(|first| &first.by), score) {
        (None, _) => return Ok(Search::best(k)),
        (Some(SortBy::Score), _) if !fields.is_empty() => {
            return Err(unsupported("fields behind [_score]"));
        }
        (Some(SortBy::Score), _) if keys[0].direction == Direction::Ascending => {
            return Err(unsupported("ascending scores"));
        }
        (Some(SortBy::Score), _) => return Ok(Search::best(k)),
        (_, Some(_)) => return Err(unsupported("[_score] behind fields")),
        (Some(SortBy::Document), _) => return Ok(Search::newest(k)),
        _ => {}
    }
    if fields.len() > KEYS_MAX {
        return Err(unsupported(&format!("more than {KEYS_MAX} fields")));
    }
    let mut search = None::<Search>;
    for (key, name, _) in fields {
        let direction = match key.direction {
            Direction::Ascending => EngineDirection::Ascending,
            Direction::Descending => EngineDirection::Descending,
        };
        let next = match search {
            None => Search::by_field(k, name, direction),
            Some(search) => search.then_by(name, direction),
        };
        search = Some(if key.missing_first { next.missing_first() } else { next });
    }
    Ok(search.unwrap_or(Search::newest(k)))
}
