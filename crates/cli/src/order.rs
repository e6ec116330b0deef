//! `--order`: what comes first; `--recency`: and how it fades.

use std::str::FromStr;
use std::time::Duration;

use spirit::Search;
use spirit::lab::Parameters;
use spirit::search::Direction;

/// The order of documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Newest,
    Best,
    Field(String, Direction),
}

impl FromStr for Order {
    type Err = String;

    /// A field that is called as an order is can be asked for with its direction.
    fn from_str(text: &str) -> Result<Order, String> {
        let (name, direction) = match text.rsplit_once(':') {
            None if text == "newest" => return Ok(Order::Newest),
            None if text == "best" || text == "bm25" => return Ok(Order::Best),
            None => (text, Direction::Descending),
            Some((name, "asc")) => (name, Direction::Ascending),
            Some((name, "desc")) => (name, Direction::Descending),
            Some(_) => ("", Direction::Descending),
        };
        if name.is_empty() {
            return Err("choose newest, best, or a field: FIELD, FIELD:asc or FIELD:desc".into());
        }
        Ok(Order::Field(name.to_owned(), direction))
    }
}

/// How scores fade with age.
#[derive(Clone, Debug)]
pub(crate) struct Fade {
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
    /// `search` with scores that fade so.
    pub(crate) fn added_to(&self, search: Search) -> Search {
        search.recency(&self.field, self.half_life)
    }
}

impl Order {
    /// A request for the first `k` documents. Scores are computed with the parameters.
    pub(crate) fn first(&self, k: usize, Parameters { k1, b }: Parameters) -> Search {
        match self {
            Order::Newest => Search::newest(k),
            Order::Best => Search::best(k).bm25(k1, b),
            Order::Field(field, direction) => Search::by_field(k, field, *direction),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read() {
        let field = |name: &str, direction| Ok(Order::Field(name.to_owned(), direction));
        for (text, expected) in [
            ("newest", Ok(Order::Newest)),
            ("best", Ok(Order::Best)),
            ("bm25", Ok(Order::Best)),
            ("best:desc", field("best", Direction::Descending)),
            ("views", field("views", Direction::Descending)),
            ("views:desc", field("views", Direction::Descending)),
            ("@at:asc", field("@at", Direction::Ascending)),
            ("newest:asc", field("newest", Direction::Ascending)),
        ] {
            assert_eq!(text.parse(), expected, "{text}");
        }
        for wrong in ["ts", "ts:", ":6h", "ts:soon", "ts:0s"] {
            assert!(wrong.parse::<Fade>().is_err(), "{wrong}");
        }
        let fade: Fade = "a.b:90m".parse().unwrap();
        assert_eq!((&*fade.field, fade.half_life), ("a.b", Duration::from_secs(5400)));
        for wrong in ["", ":asc", "views:", "views:up"] {
            assert!(wrong.parse::<Order>().is_err(), "{wrong}");
        }
    }
}
