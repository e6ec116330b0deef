//! The documents as clients send them: lines of JSON, and bodies of `_bulk` in memory.

use bytes::Bytes;

use crate::corpus::Corpus;
use crate::query_sets::columns::Columns;

/// The index on each side.
pub(super) const INDEX: &str = "bench";
/// The body with which it is made: one shard, no replica, and the fields of the documents.
pub(super) const MAKE: &str = r#"{"settings":{"number_of_shards":1,"number_of_replicas":0},"mappings":{"properties":{
    "text":{"type":"text"},"ts":{"type":"date","format":"epoch_second"},"channel":{"type":"keyword"},"score":{"type":"long"}}}}"#;
/// Documents of a request.
pub(super) const BULK: usize = 1000;

/// A bulk's action: the server makes the id, as for streams.
const ACTION: &str = "{\"index\":{}}\n";

/// The documents of a corpus, in order.
pub(super) struct Documents {
    lines: String,
    ends: Vec<usize>,
}

impl Documents {
    /// The texts of a corpus, with columns drawn by the seed.
    pub(super) fn of(corpus: &Corpus, seed: u64) -> Documents {
        let lines = Columns::draw(corpus.len(), seed).lines(corpus);
        let ends = lines.match_indices('\n').map(|(at, _)| at + 1).collect();
        Documents { lines, ends }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The first documents, in bodies of [`BULK`] documents.
    pub(super) fn bulks(&self, documents: usize) -> Vec<Bytes> {
        let numbers: Vec<usize> = (0..documents.min(self.len())).collect();
        numbers.chunks(BULK).map(|numbers| self.bulk(numbers)).collect()
    }

    fn bulk(&self, numbers: &[usize]) -> Bytes {
        let mut body = String::new();
        for number in numbers {
            let start = if *number == 0 { 0 } else { self.ends[number - 1] };
            body.push_str(ACTION);
            body.push_str(&self.lines[start..self.ends[*number]]);
        }
        Bytes::from(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bulk_has_an_action_and_an_object_for_each_document() {
        let corpus = Corpus::of("two", ["grey herons", "a \"reed\""]).unwrap();
        let documents = Documents::of(&corpus, 1);
        let bulks = documents.bulks(5);
        assert_eq!((documents.len(), bulks.len()), (2, 1));
        let lines: Vec<&str> = std::str::from_utf8(&bulks[0]).unwrap().lines().collect();
        assert_eq!((lines.len(), lines[0], lines[2]), (4, r#"{"index":{}}"#, r#"{"index":{}}"#));
        let second: serde_json::Value = serde_json::from_str(lines[3]).unwrap();
        assert_eq!(second["text"], "a \"reed\"");
        assert!(second["ts"].is_number() && second["channel"].is_string());
    }
}
