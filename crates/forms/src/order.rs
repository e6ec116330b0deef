//! The order of hits, and how scores fade with age, as text.

use std::str::FromStr;
use std::time::Duration;

use spirit::Search;
use spirit::lab::Parameters;
use spirit::search::Direction;

/// The order of documents: `newest`, `best`, `proximity`, or up to three fields as in
/// `level:asc,views`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The newest document first.
    #[default]
    Newest,
    /// The most relevant document first.
    Best,
    /// Likewise, where places and closeness of words count too.
    Proximity,
    /// By the values of fields. The first field decides, the next one if its values are equal.
    Fields(Vec<Key>),
}

/// A field that documents are sorted by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    field: String,
    direction: Direction,
    missing_first: bool,
}

/// Keys of one order, at most.
const KEYS_MAX: usize = 3;

impl FromStr for Order {
    type Err = String;

    /// A field that is called as an order is can be asked for with its direction. A comma may also
    /// be part of a name, but then the direction has to follow.
    fn from_str(text: &str) -> Result<Order, String> {
        match text {
            "newest" => return Ok(Order::Newest),
            "best" | "bm25" => return Ok(Order::Best),
            "proximity" => return Ok(Order::Proximity),
            _ => {}
        }
        let keys = text.split(',').map(str::parse).collect::<Result<Vec<Key>, _>>()?;
        match keys.len() {
            0..=KEYS_MAX => Ok(Order::Fields(keys)),
            more => Err(format!("{more} keys: the limit is {KEYS_MAX}; leave out the last ones")),
        }
    }
}

impl FromStr for Key {
    type Err = String;

    fn from_str(text: &str) -> Result<Key, String> {
        let text = text.trim();
        let (rest, missing_first) = match text.rsplit_once(':') {
            Some((rest, "missing-first")) => (rest, true),
            Some((rest, "missing-last")) => (rest, false),
            _ => (text, false),
        };
        let (name, direction) = match rest.rsplit_once(':') {
            Some((name, "asc")) => (name, Direction::Ascending),
            Some((name, "desc")) => (name, Direction::Descending),
            Some(_) => ("", Direction::Descending),
            None => (rest, Direction::Descending),
        };
        let is_order = matches!(text, "newest" | "best" | "bm25" | "proximity");
        if name.is_empty() || is_order {
            return Err("choose newest, best, proximity, or up to three fields: FIELD, FIELD:asc or FIELD:desc, each \
                        perhaps with :missing-first, as in level:asc:missing-first,views"
                .into());
        }
        Ok(Key { field: name.to_owned(), direction, missing_first })
    }
}

/// How scores fade with age: a field of moments and a half-life, as in `ts:6h`.
#[derive(Clone, Debug)]
pub struct Fade {
    field: String,
    half_life: Duration,
}

impl FromStr for Fade {
    type Err = String;

    fn from_str(text: &str) -> Result<Fade, String> {
        let parts = text.rsplit_once(':').filter(|(field, _)| !field.is_empty());
        let half_life = parts.and_then(|(_, time)| humantime::parse_duration(time).ok());
        match parts.zip(half_life.filter(|time| !time.is_zero())) {
            Some(((field, _), half_life)) => Ok(Fade { field: field.to_owned(), half_life }),
            None => Err("give a time field and a half-life, as in ts:6h or ts:30days".into()),
        }
    }
}

impl Fade {
    /// Returns `search` with scores that fade so.
    pub fn added_to(&self, search: Search) -> Search {
        search.recency(&self.field, self.half_life)
    }
}

impl Order {
    /// True if documents are in the order of their scores.
    pub fn is_by_score(&self) -> bool {
        matches!(self, Order::Best | Order::Proximity)
    }

    /// Returns a request for the first `k` documents. Scores are computed with the parameters.
    pub fn first(&self, k: usize, Parameters { k1, b }: Parameters) -> Search {
        match self {
            Order::Newest => Search::newest(k),
            Order::Best => Search::best(k).bm25(k1, b),
            Order::Proximity => Search::best(k).bm25(k1, b).proximity(),
            Order::Fields(keys) => {
                let mut search = None;
                for Key { field, direction, missing_first } in keys {
                    let next: Search = match search.take() {
                        None => Search::by_field(k, field, *direction),
                        Some(search) => Search::then_by(search, field, *direction),
                    };
                    search = Some(if *missing_first { next.missing_first() } else { next });
                }
                // An order of fields has one, at least.
                search.unwrap_or_else(|| Search::newest(k))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read() {
        let key = |name: &str, direction, missing_first| Key {
            field: name.to_owned(),
            direction,
            missing_first,
        };
        let field = |name: &str, direction| Ok(Order::Fields(vec![key(name, direction, false)]));
        for (text, expected) in [
            ("newest", Ok(Order::Newest)),
            ("best", Ok(Order::Best)),
            ("bm25", Ok(Order::Best)),
            ("proximity", Ok(Order::Proximity)),
            ("proximity:asc", field("proximity", Direction::Ascending)),
            ("best:desc", field("best", Direction::Descending)),
            ("views", field("views", Direction::Descending)),
            ("views:desc", field("views", Direction::Descending)),
            ("@at:asc", field("@at", Direction::Ascending)),
            ("newest:asc", field("newest", Direction::Ascending)),
            (
                "level:asc:missing-first,views, at:desc:missing-last",
                Ok(Order::Fields(vec![
                    key("level", Direction::Ascending, true),
                    key("views", Direction::Descending, false),
                    key("at", Direction::Descending, false),
                ])),
            ),
        ] {
            assert_eq!(text.parse(), expected, "{text}");
        }
        for wrong in ["ts", "ts:", ":6h", "ts:soon", "ts:0s"] {
            assert!(wrong.parse::<Fade>().is_err(), "{wrong}");
        }
        let fade: Fade = "a.b:90m".parse().unwrap();
        assert_eq!((&*fade.field, fade.half_life), ("a.b", Duration::from_secs(5400)));
        for wrong in
            ["", ":asc", "views:", "views:up", "a,", ",a", "a,b,c,d", "a,best", ":missing-first"]
        {
            assert!(wrong.parse::<Order>().is_err(), "{wrong}");
        }
    }
}
