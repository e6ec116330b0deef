//! The out-of-place merge, the control of ours: what Psearchy does at the end of a batch (part 004, §4.1.3). No product path has it.
//!
//! The engraved segments of one executor are its partial indexes. Their terms are gone through in [order](terms::Order). The postings
//! of equal terms are copied, those of one segment behind those of another, into one [file](postings::PostingsFile). The term leads
//! to them through a [dictionary engine](crate::dictionary), and the key of each document to its row through another one.
//!
//! Postings are written first, many terms' at once, and fenced. Then their entries are put. So an entry never leads to nothing.
//!
//! Positions are not copied: the documents' vectors have them, which stay where they are, as in our own merge.

pub(crate) mod postings;
pub(crate) mod terms;

use std::path::Path;
use std::time::Instant;

use spirit_index::ground::{FieldId, TERM_BYTES_MAX, Term, TermKey};
use spirit_index::keys::write_key;
use spirit_index::memory::Memory;
use spirit_index::merge::{TermMap, merged_lines_max};
use spirit_index::snapshot::{Segment, Snapshot};

use crate::Fallible;
use crate::dictionary::engine::{DictionaryEngine, Room};
use crate::dictionary::kind::Kind;
use postings::{Posting, PostingsFile};
use terms::Order;

/// Bytes of postings that are written together.
const BATCH_BYTES: usize = 1 << 20;

/// How segments are merged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) engine: Kind,
    pub(crate) order: Order,
    /// Postings are written by system calls. Otherwise they are stored to a mapping.
    pub(crate) writes: bool,
}

/// What a merge took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Taken {
    /// Seconds of terms and postings.
    pub(crate) terms: f64,
    /// Seconds of the document map.
    pub(crate) documents: f64,
    /// Seconds of ending both dictionaries.
    pub(crate) closing: f64,
    /// Bytes that were stored to mapped files.
    pub(crate) stored_bytes: u64,
}

/// The segments of an executor, merged.
pub(crate) struct OutOfPlace {
    dictionary: Box<dyn DictionaryEngine>,
    documents: Box<dyn DictionaryEngine>,
    postings: PostingsFile,
}

/// Entries whose postings are not written yet.
#[derive(Default)]
struct Waiting {
    /// Key, end of the long term's bytes, and where the postings are.
    entries: Vec<(TermKey, usize, u64)>,
    long: Vec<u8>,
}

impl OutOfPlace {
    /// Merges all segments of an executor that nobody adds to, into files of a directory.
    pub(crate) fn merge(
        memory: &Memory,
        plan: Plan,
        directory: &Path,
    ) -> Fallible<(OutOfPlace, Taken)> {
        let start = Instant::now();
        let snapshot = Snapshot::take(memory);
        let segments = segments(&snapshot)?;
        let mut merged = OutOfPlace::create(memory, plan, &segments, directory)?;
        merged.copy_terms(&snapshot, plan.order)?;
        let terms = start.elapsed();
        merged.enter_documents(&segments)?;
        let documents = start.elapsed();
        merged.dictionary.finish()?;
        merged.documents.finish()?;
        let taken = Taken {
            terms: terms.as_secs_f64(),
            documents: (documents - terms).as_secs_f64(),
            closing: (start.elapsed() - documents).as_secs_f64(),
            stored_bytes: merged.stored_bytes(),
        };
        Ok((merged, taken))
    }

    fn create(
        memory: &Memory,
        plan: Plan,
        segments: &[Segment<'_>],
        directory: &Path,
    ) -> Fallible<OutOfPlace> {
        let sum = |part: fn(&Segment<'_>) -> u64| segments.iter().map(part).sum::<u64>();
        let terms = sum(|segment| segment.descriptor().terms());
        let lines = segments.iter().map(|segment| merged_lines_max(memory, segment.id()));
        // Terms of packed lists take no lines of our dictionary.
        let lines = lines.sum::<u64>() + terms * TermMap::lines(TERM_BYTES_MAX);
        let rows = sum(|segment| segment.rows().into());
        let of_documents = Room { keys: rows, lines: rows * TermMap::lines(TERM_BYTES_MAX) };
        let postings = sum(|segment| segment.descriptor().posting_count());
        std::fs::create_dir_all(directory)?;
        Ok(OutOfPlace {
            dictionary: plan
                .engine
                .create(&directory.join("dictionary"), Room { keys: terms, lines })?,
            documents: plan.engine.create(&directory.join("documents"), of_documents)?,
            postings: PostingsFile::create(
                &directory.join("postings"),
                PostingsFile::bytes_max(terms, postings),
                plan.writes,
            )?,
        })
    }

    /// Copies the postings of all terms, and enters these.
    fn copy_terms(&mut self, snapshot: &Snapshot<'_>, order: Order) -> Fallible<()> {
        let mut waiting = Waiting::default();
        terms::for_each(snapshot, order, |term, entries| {
            let at = self.postings.append(snapshot, term.key, entries);
            waiting.long.extend_from_slice(if term.key.is_long() { term.bytes } else { &[] });
            waiting.entries.push((term.key, waiting.long.len(), at));
            if self.postings.waiting_bytes() < BATCH_BYTES {
                Ok(())
            } else {
                self.enter(&mut waiting)
            }
        })?;
        self.enter(&mut waiting)
    }

    /// Writes the postings that wait, and then enters their terms.
    fn enter(&mut self, waiting: &mut Waiting) -> Fallible<()> {
        self.postings.write()?;
        let mut start = 0;
        for (key, end, at) in waiting.entries.drain(..) {
            self.dictionary.put(Term { key, bytes: &waiting.long[start..end] }, at)?;
            start = end;
        }
        waiting.long.clear();
        Ok(())
    }

    /// Enters the keys of all living documents with their rows, oldest first.
    fn enter_documents(&mut self, segments: &[Segment<'_>]) -> Fallible<()> {
        let mut key = Vec::new();
        for segment in segments {
            let rows = segment.row_table();
            for local in (0..segment.rows()).filter(|local| !segment.is_dead(*local)) {
                key.clear();
                write_key(segment, rows.row(local).key(), &mut key);
                let term = Term::new(FieldId::TEXT, &key);
                let term = term.ok_or("a document's key has no bytes, or more than 255")?;
                self.documents.put(term, segment.row_number(local))?;
            }
        }
        Ok(())
    }

    /// Returns the postings of a term, in the order in which they were copied.
    pub(crate) fn postings(&self, term: Term<'_>) -> Fallible<Option<Vec<Posting>>> {
        self.dictionary.get(term)?.map(|at| self.postings.read(at, term.key)).transpose()
    }

    pub(crate) fn dictionary(&self) -> &dyn DictionaryEngine {
        &*self.dictionary
    }

    #[cfg(test)]
    pub(crate) fn documents(&self) -> &dyn DictionaryEngine {
        &*self.documents
    }

    fn stored_bytes(&self) -> u64 {
        let dictionaries = self.dictionary.stored_bytes() + self.documents.stored_bytes();
        dictionaries + self.postings.stored_bytes()
    }
}

/// The segments of a snapshot, oldest first. All of them are full.
fn segments<'a>(snapshot: &Snapshot<'a>) -> Fallible<Vec<Segment<'a>>> {
    if snapshot.fresh().next().is_some() {
        return Err("a segment is still being filled".into());
    }
    let mut segments: Vec<Segment<'_>> = snapshot.registered().collect();
    segments.reverse();
    let is_whole = |segment: &Segment<'_>| segment.row_span() + 1 == u64::from(segment.rows());
    if segments.iter().all(is_whole) { Ok(segments) } else { Err("a segment was rewritten".into()) }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use spirit::lab::Random;
    use spirit::{Analyzer, Builder, Index, Query, Search};
    use spirit_index::merge::RUN_MAX;

    use super::*;
    use crate::scratch::Scratch;

    const DOCUMENTS: usize = 1_500;
    const WORDS: u64 = 400;

    /// A word of a number. Some are too long for a key word.
    fn word(number: u64) -> String {
        let repeated = if number.is_multiple_of(7) { 12 } else { 1 };
        format!("w{number}").repeat(repeated)
    }

    fn text(random: &mut Random) -> String {
        let words = (0..1 + random.below(12)).map(|_| {
            // Low numbers are frequent.
            let most = 1 + random.below(WORDS);
            word(random.below(most))
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// By key: the text. Some documents are replaced, some have a key of their own, some are deleted.
    fn filled(options: Builder, seed: u64) -> (Index, BTreeMap<String, String>) {
        let (mut random, mut expected) = (Random::named(seed, "merge"), BTreeMap::new());
        let index = options.open().unwrap();
        for number in 0..DOCUMENTS {
            let (key, text) = (format!("k{}", random.below(1_200)), text(&mut random));
            index.put(&key, text.as_str()).unwrap();
            expected.insert(key, text);
            if number.is_multiple_of(DOCUMENTS / 8) {
                index.flush().unwrap();
            }
        }
        for number in 0..50 {
            let key = format!("k{number}");
            index.delete(&key).unwrap();
            expected.remove(&key);
        }
        index.flush().unwrap();
        index.settle();
        (index, expected)
    }

    fn options(scratch: &Scratch, packed: bool) -> Builder {
        let options = Index::builder().analyzer(Analyzer::Simple).dram_bytes(64 << 20);
        let options = options.segment_bytes(1 << 20).directory(scratch.path()).nvm_bytes(64 << 20);
        options.merge_after(RUN_MAX).packed(packed)
    }

    /// The engines' entries: every key once.
    fn all(engine: &dyn DictionaryEngine) -> BTreeMap<String, u64> {
        let mut found = BTreeMap::new();
        let mut take = |_, bytes: &[u8], head| {
            let key = String::from_utf8(bytes.to_vec()).unwrap();
            assert_eq!(found.insert(key, head), None, "twice");
        };
        engine.iterate(&mut take).unwrap();
        found
    }

    fn check(index: &Index, merged: &OutOfPlace, expected: &BTreeMap<String, String>) {
        let documents = all(merged.documents());
        assert_eq!(documents.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        let keys: BTreeMap<u64, &str> =
            documents.iter().map(|(key, row)| (*row, key.as_str())).collect();
        let (terms, mut reader) = (all(merged.dictionary()), index.reader().unwrap());
        for number in 0..WORDS {
            let word = word(number);
            let term = Term::new(FieldId::TEXT, word.as_bytes()).unwrap();
            let found = merged.postings(term).unwrap();
            assert_eq!(found.is_some(), terms.contains_key(&word), "{word}");
            let found = found.unwrap_or_default();
            let rows: BTreeSet<u64> = found.iter().map(|posting| posting.row).collect();
            assert_eq!(rows.len(), found.len(), "{word}: a document twice");
            // Postings of documents that died stay, as in our own merge.
            let living: BTreeMap<&str, u32> = found
                .iter()
                .filter_map(|posting| Some((*keys.get(&posting.row)?, posting.frequency)))
                .collect();
            let query = Query::all_of(&[word.as_str()]).unwrap();
            let hits = reader.search(&query, Search::newest(DOCUMENTS)).unwrap().keys().unwrap();
            let hits: BTreeSet<&str> = hits.iter().map(String::as_str).collect();
            assert_eq!(living.keys().copied().collect::<BTreeSet<_>>(), hits, "{word}");
            for (key, frequency) in living {
                let words = expected[key].split(' ').filter(|other| *other == word);
                assert_eq!(words.count() as u32, frequency, "{word} in {key}");
            }
        }
    }

    /// Each engine, order and form of lists: what the index answers.
    #[test]
    fn a_merge_out_of_place_has_what_the_index_answers() {
        for seed in 0..3 {
            merged_and_compared(false, Order::Hashes, seed);
            merged_and_compared(false, Order::Words, seed);
            merged_and_compared(true, Order::Words, seed);
        }
    }

    fn merged_and_compared(packed: bool, order: Order, seed: u64) {
        let scratch = Scratch::new().unwrap();
        let (index, expected) = filled(options(&scratch, packed), seed);
        let memory = index.memories().next().unwrap();
        assert!(memory.window().end >= 8 && memory.merged() == 0);
        for engine in Kind::ALL {
            let (plan, target) = (Plan { engine, order, writes: packed }, Scratch::new().unwrap());
            let (merged, taken) = OutOfPlace::merge(memory, plan, target.path()).unwrap();
            assert!(taken.terms > 0.0);
            if engine == Kind::Hollow {
                assert!(all(merged.dictionary()).is_empty());
            } else {
                check(&index, &merged, &expected);
            }
        }
    }

    /// Packed lists are in no order of hashes, and merged segments have given it up.
    #[test]
    fn the_order_of_hashes_is_refused_where_there_is_none() {
        let (scratch, target) = (Scratch::new().unwrap(), Scratch::new().unwrap());
        let (index, _) = filled(options(&scratch, true), 9);
        let plan = Plan { engine: Kind::File, order: Order::Hashes, writes: false };
        let memory = index.memories().next().unwrap();
        assert!(OutOfPlace::merge(memory, plan, target.path()).is_err());
    }
}
