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

use spirit_index::log::GroupEnd;

use super::Engine;
use super::encoded::Encoded;
use super::spread::{Drawing, Numbered, Spread};
use crate::config::document::Document;
use crate::config::durability::Mode;
use crate::config::error::WriteError;
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
        let mut encoded = Encoded::of(self, documents, self.executors.len());
        if let Some(error) = encoded.refused.take() {
            return Err(error);
        }
        let mut group = Group { spread: Spread::begin(self)?, documents, encoded };
        let added = group.add(offset);
        group.spread.end();
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
struct Group<'e, 'd> {
    spread: Spread<'e>,
    documents: &'d [Document<'d>],
    encoded: Encoded,
}

impl Group<'_, '_> {
    fn add(&mut self, offset: Option<&[u8]>) -> Result<(), WriteError> {
        // The record with the offset makes the group exist. So a group without an offset repeats
        // the last one.
        let offset = match offset {
            Some(offset) => offset.to_vec(),
            None => self.spread.roles[0].offset().unwrap_or_default().to_vec(),
        };
        // The first executor's part exists even without documents.
        let drawn = self.spread.draw_with_mark(self.documents, |parts| parts[0].is_empty());
        let added = self.write(&drawn, &offset);
        if added.is_err() {
            self.spread.give_back(&drawn);
        }
        added
    }

    fn write(&mut self, drawn: &Drawing, offset: &[u8]) -> Result<(), WriteError> {
        let (number, documents) = (drawn.sequence_end, drawn.numbers.end);
        let end = |executor| GroupEnd { number, offset: Some(offset).filter(|_| executor == 0) };
        let (given, encoded) = (self.documents, &self.encoded);
        let collect = |role: &mut Ingester, part: &[Numbered]| {
            let mut collector = role.collector();
            part.iter().try_for_each(|one| one.collect(&mut collector, given, encoded))
        };
        let placed = self.spread.each(drawn, |executor, role, part| {
            // The first executor's part is the one that ends the group.
            let exists = executor == 0 || !part.is_empty();
            exists.then(|| collect(role, part).and_then(|()| role.place(end(executor), documents)))
        });
        let placed: Vec<_> = match placed.iter().flatten().find_map(|part| part.as_ref().err()) {
            None => placed.into_iter().map(|part| part.transpose().ok().flatten()).collect(),
            Some(error) => {
                let error = error.clone();
                self.withdraw(placed);
                return Err(error);
            }
        };
        let logged = self.spread.each(drawn, |executor, role, _| match &placed[executor] {
            Some(placed) if executor > 0 => role.log(placed),
            _ => Ok(()),
        });
        logged.into_iter().collect::<Result<(), _>>()?;
        // Last, once all others are durable.
        if let Some(first) = &placed[0] {
            self.spread.roles[0].log(first)?;
        }
        for (executor, placed) in placed.into_iter().enumerate() {
            if let Some(placed) = placed {
                self.spread.roles[executor].finish(placed, end(executor))?;
            }
        }
        Ok(())
    }

    /// Takes back the parts that were placed.
    fn withdraw(&mut self, parts: Vec<Option<Result<Placed, WriteError>>>) {
        for (role, part) in self.spread.roles.iter_mut().zip(parts) {
            if let Some(Ok(placed)) = part {
                role.withdraw(placed);
            }
        }
    }
}
