//! Groups: documents and the application's offset, all of them or none, in any executors.
//!
//! A thread that adds a group holds the ingest roles of all executors. First, each executor's part
//! is placed: rows and keys that no query sees yet and that can be taken back. Then the parts are
//! logged. The first executor's is the last, and has the offset. The group exists once this record
//! is durable. Then the parts kill the documents that they replace, and become visible.
//!
//! A start that finds a part in a log checks the first executor's log for the group's number, or a
//! higher one. The number is one past the group's last sequence number. If it is missing, the part
//! is its log's last record, since its executor's role was held. It is refused as if it had found
//! no room. The refusal is logged before anything else. So all executors have one acknowledged
//! prefix: the last offset, and everything before it.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::MutexGuard;
use std::sync::atomic::Ordering::Relaxed;

use spirit_index::keys;
use spirit_index::log::GroupEnd;

use super::Engine;
use super::adding::contents;
use crate::config::document::Document;
use crate::config::durability::Mode;
use crate::config::error::WriteError;
use crate::write::contents::{Called, Contents};
use crate::write::ingest::{Ingester, Placed};

impl Engine {
    /// Adds documents together, with the application's offset if there is one: all of them or none.
    pub(crate) fn write(
        &self,
        documents: &[Document<'_>],
        offset: Option<&[u8]>,
    ) -> Result<(), WriteError> {
        if offset.is_some() && self.options.mode != Mode::Crash {
            return Err(WriteError::OffsetNotKept);
        }
        let fields = documents.iter().map(|document| self.encode(document));
        let fields: Vec<Vec<u8>> = fields.collect::<Result<_, _>>()?;
        let documents: Vec<_> = documents
            .iter()
            .zip(&fields)
            .map(|(document, fields)| (document.key, contents(document, fields)))
            .collect();
        let mut group = Group::begin(self)?;
        let added = group.add(&documents, offset);
        group.end();
        added
    }

    /// Returns the offset of the last [batch](Self::write) that had one, in this process or before;
    /// none if no batch had one.
    pub(crate) fn offset(&self) -> Result<Option<Vec<u8>>, WriteError> {
        let role = self.executors[0].role()?;
        Ok(role.offset().filter(|offset| !offset.is_empty()).map(Vec::from))
    }
}

/// A group being added.
struct Group<'i> {
    engine: &'i Engine,
    /// The ingest roles of all executors.
    roles: Vec<MutexGuard<'i, Ingester>>,
}

impl<'i> Group<'i> {
    /// Takes the roles in the order of the executors, like every thread that takes several.
    /// Documents with numbers drawn before are ingested by then.
    fn begin(engine: &'i Engine) -> Result<Group<'i>, WriteError> {
        let _admission = engine.admission();
        let roles = engine.executors.iter().map(|executor| executor.role());
        Ok(Group { engine, roles: roles.collect::<Result<_, _>>()? })
    }

    fn add(
        &mut self,
        documents: &[(Option<&str>, Contents<'_>)],
        offset: Option<&[u8]>,
    ) -> Result<(), WriteError> {
        // The record with the offset makes the group exist. So a group without an offset repeats
        // the last one.
        let offset = match offset {
            Some(offset) => offset.to_vec(),
            None => self.roles[0].offset().unwrap_or_default().to_vec(),
        };
        let (drawn, numbers) = self.draw_numbers(documents);
        let collected = self.collect(documents, &numbers);
        let count = documents.len() as u64;
        let added = collected.and_then(|()| self.write(count, drawn.end, &offset));
        if added.is_err() {
            self.engine.numbers.give_back(drawn);
        }
        added
    }

    /// Draws a number for each document, and passes over those that documents have as their
    /// explicit keys. Also returns the numbers drawn, with those passed over.
    ///
    /// They are drawn at once: a number that another thread draws between them would come to its
    /// executor after higher ones.
    fn draw_numbers(&self, documents: &[(Option<&str>, Contents<'_>)]) -> (Range<u64>, Vec<u64>) {
        let next = &self.engine.numbers.documents;
        let mut first = next.load(Relaxed);
        loop {
            let numbers = self.free_numbers(documents, first);
            let end = numbers.last().map_or(first, |last| last + 1);
            match next.compare_exchange(first, end, Relaxed, Relaxed) {
                Ok(_) => return (first..end, numbers),
                Err(drawn) => first = drawn,
            }
        }
    }

    /// Returns a number for each document, from `first` on. No document without a key gets one that
    /// is another document's explicit key.
    fn free_numbers(&self, documents: &[(Option<&str>, Contents<'_>)], first: u64) -> Vec<u64> {
        let (mut number, mut given) = (first, HashSet::new());
        let mut draw = |key: &Option<&str>| {
            match key {
                Some(key) => given.extend(keys::as_number(key.as_bytes())),
                None => {
                    while given.contains(&number) || self.has_number(number) {
                        number += 1;
                    }
                }
            }
            number += 1;
            number - 1
        };
        documents.iter().map(|(key, _)| draw(key)).collect()
    }

    fn has_number(&self, number: u64) -> bool {
        self.roles[self.engine.executor_of(number)].has_number(number)
    }

    /// Collects each document for the executor of its key, or of its number.
    fn collect(
        &mut self,
        documents: &[(Option<&str>, Contents<'_>)],
        numbers: &[u64],
    ) -> Result<(), WriteError> {
        for ((key, contents), number) in documents.iter().zip(numbers) {
            let (executor, called) = match key {
                Some(key) => (self.engine.executor_of_key(key), Called::By(key)),
                None => (self.engine.executor_of(*number), Called::Number(*number)),
            };
            self.roles[executor].collector().collect(called, *contents)?;
        }
        Ok(())
    }

    /// Writes the collected documents. `documents` is one past the highest number among them.
    fn write(&mut self, count: u64, documents: u64, offset: &[u8]) -> Result<(), WriteError> {
        // The first executor's part is logged last, and exists even without documents.
        let mark = u64::from(self.roles[0].collected() == 0);
        let mut sequence = self.engine.numbers.sequence.fetch_add(count + mark, Relaxed);
        let number = sequence + count + mark;
        let end = |executor| GroupEnd { number, offset: Some(offset).filter(|_| executor == 0) };
        let mut parts: Vec<(usize, Placed)> = Vec::with_capacity(self.roles.len());
        for executor in (1..self.roles.len()).chain([0]) {
            let role = &mut self.roles[executor];
            let collected = role.collected() as u64;
            if collected == 0 && executor > 0 {
                continue;
            }
            match role.place(end(executor), sequence, documents) {
                Ok(placed) => parts.push((executor, placed)),
                Err(error) => {
                    self.withdraw(parts);
                    return Err(error);
                }
            }
            sequence += collected;
        }
        for (executor, placed) in &parts {
            self.roles[*executor].log(placed)?;
        }
        for (executor, placed) in parts {
            self.roles[executor].finish(placed, end(executor))?;
        }
        Ok(())
    }

    fn withdraw(&mut self, parts: Vec<(usize, Placed)>) {
        for (executor, placed) in parts {
            self.roles[executor].withdraw(placed);
        }
    }

    /// Ingests the documents that other threads left meanwhile.
    fn end(mut self) {
        for (executor, role) in self.engine.executors.iter().zip(&mut self.roles) {
            role.clear();
            executor.serve(role);
        }
    }
}
