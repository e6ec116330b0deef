//! Groups: documents and the application's offset, all of them or none, whatever executors the documents go to.
//!
//! Anyone who adds a group holds the ingest roles of all executors. Each executor's part is placed: rows and keys, which nobody sees and
//! which can be taken back. Then the parts are logged, that of the first executor last, and with it the offset: that this record is
//! durable is what makes the group be there. Then the parts kill what they replace and become visible.
//!
//! A start that finds a part in a log looks whether the first executor's log has its number, which is one past the group's last
//! sequence number, or a higher one. If not, the part is its log's last record, since its executor's role was held; it is
//! refused as if it had found no room, and that is logged before anything else is. So there is one acknowledged prefix over all
//! executors: the last offset, and all that came before it.

use std::sync::MutexGuard;
use std::sync::atomic::Ordering::Relaxed;

use spirit_index::log::GroupEnd;

use super::engine::Engine;
use super::{AddAllError, Index};
use crate::config::durability::Mode;
use crate::config::error::AddError;
use crate::write::contents::{Called, Contents};
use crate::write::ingest::{Ingester, Placed};

impl Index {
    /// Adds documents in order together with `offset`, the application's own words for how far it has read its source, at most
    /// 4,096 bytes, and less where the log has no room for that beside its longest document. After a crash either all are there and
    /// [`offset`](Self::offset) says this one, or none are: an application that goes on from there adds everything exactly once.
    ///
    /// Queries see all documents of an executor at once. Those of several executors are seen within the time of a few stores, and
    /// have the order of the executors, not of the group.
    ///
    /// Needs [`Mode::Crash`]. What goes to one executor has to fit into half of its log and into a segment. Says how many documents
    /// were added; an error means that none were, but for [`AddError::SyncFailed`]: then the next start says whether they are there.
    pub fn add_group<'a>(
        &self,
        documents: impl IntoIterator<Item = (Option<&'a str>, &'a str)>,
        offset: &[u8],
    ) -> Result<u64, AddAllError> {
        // Anyone who makes them may ask the index itself.
        let documents = documents.into_iter().map(|(key, text)| (key, Contents::text(text)));
        self.add_contents(&documents.collect::<Vec<_>>(), offset)
    }

    /// The same of documents with fields, whose fields are in the schema.
    pub(crate) fn add_contents(
        &self,
        documents: &[(Option<&str>, Contents<'_>)],
        offset: &[u8],
    ) -> Result<u64, AddAllError> {
        self.try_add_group(documents, offset)
            .map(|()| documents.len() as u64)
            .map_err(|error| AddAllError { added: 0, error })
    }

    fn try_add_group(
        &self,
        documents: &[(Option<&str>, Contents<'_>)],
        offset: &[u8],
    ) -> Result<(), AddError> {
        let engine = self.engine()?;
        if self.options.mode != Mode::Crash {
            return Err(AddError::OffsetNotKept);
        }
        let mut group = Group::begin(engine)?;
        let added = group.add(documents, offset);
        group.end();
        added
    }

    /// The offset of the last [group](Self::add_group) that took effect, in this process or before.
    pub fn offset(&self) -> Result<Option<Vec<u8>>, AddError> {
        match self.executors().first() {
            Some(first) => Ok(first.role()?.offset().map(Vec::from)),
            None => Ok(None),
        }
    }
}

/// A group on its way.
struct Group<'i> {
    engine: &'i Engine,
    /// Those of all executors.
    roles: Vec<MutexGuard<'i, Ingester>>,
}

impl<'i> Group<'i> {
    /// Takes the roles, in the order of the executors as all who take several do; numbers that were drawn before are through then.
    fn begin(engine: &'i Engine) -> Result<Group<'i>, AddError> {
        let _admission = engine.admission();
        let roles = engine.executors.iter().map(|executor| executor.role());
        Ok(Group { engine, roles: roles.collect::<Result<_, _>>()? })
    }

    fn add(
        &mut self,
        documents: &[(Option<&str>, Contents<'_>)],
        offset: &[u8],
    ) -> Result<(), AddError> {
        let numbers = &self.engine.numbers;
        let count = documents.len() as u64;
        let first = numbers.documents.fetch_add(count, Relaxed);
        let collected = self.collect(documents, first);
        let added = collected.and_then(|()| self.write(count, first + count, offset));
        if added.is_err() {
            numbers.give_back(first..first + count);
        }
        added
    }

    /// Each document goes to the executor of its key, or of its number.
    fn collect(
        &mut self,
        documents: &[(Option<&str>, Contents<'_>)],
        first: u64,
    ) -> Result<(), AddError> {
        for ((key, contents), number) in documents.iter().zip(first..) {
            let (executor, called) = match key {
                Some(key) => (self.engine.executor_of_key(key), Called::By(key)),
                None => (self.engine.executor_of(number), Called::Number(number)),
            };
            self.roles[executor].collector().collect_document(called, *contents)?;
        }
        Ok(())
    }

    /// Writes what was collected; `documents` is one past the highest number among them.
    fn write(&mut self, count: u64, documents: u64, offset: &[u8]) -> Result<(), AddError> {
        // The first executor's part is the last, and is there if it has no documents.
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

    /// Ingests what other threads left meanwhile.
    fn end(mut self) {
        for (executor, role) in self.engine.executors.iter().zip(&mut self.roles) {
            role.clear();
            executor.serve(role);
        }
    }
}
