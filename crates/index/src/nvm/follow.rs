//! What a process that only reads finds: the engraved segments, while another process goes on writing.
//!
//! The caller has pinned, so whatever a mark leads to that is read from now on stays as it is until the caller leaves; but for
//! marks, dead rows and links, which are a word each. Marks are stored in the order of positions: engraved newest last,
//! retired oldest first, and one that says merged says so of all older segments. So whoever walks down from the newest mark
//! finds the segments that live without a gap, whatever changes meanwhile.
//!
//! A start ingests the log's operations again, under new rows, while the deaths that they stamped keep the old ones
//! ([`recover`](super::recover)). What lies behind the first operation that only the log has is therefore not shown: else
//! a snapshot would see the death of a version and not the version that follows. A record of the log says its own position,
//! which never comes again, so one that is whole is the one, whoever writes there.

use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::fence;

use super::Corrupt;
use super::log::{LogSpace, RecordKind};
use super::log_reader::LogReader;
use super::recover::describe;
use super::shape;
use super::slot::{Entry, Mark, Slots};
use super::tier::Nvm;
use crate::descriptor::{Position, SegmentId, State, Window};
use crate::memory::Memory;

/// What the marks say.
struct Found {
    newest: Position,
    window: Window,
    /// One past the last merged segment.
    merged: Position,
}

/// Lets the readers of `memory`, which [follows](Memory::following), see what is engraved now; returns the newest slot that
/// they see. The caller has pinned, and nobody else does this meanwhile. `log` is where the log is, if there is one.
pub fn follow(memory: &Memory, log: Option<LogSpace>) -> Result<Option<Entry>, Corrupt> {
    let Some(nvm) = memory.nvm() else { return Ok(None) };
    let slots = Slots::new(memory.region(), nvm.layout());
    let (Found { mut window, merged, .. }, first_row) = loop {
        let Some(newest) = newest(slots)? else { return Ok(None) };
        let found = live(slots, newest)?;
        let first_row = match log {
            Some(space) => first_row_behind(memory, space, &slots.entry(newest)?),
            None => None,
        };
        // Or the record was written over: then there is a newer mark, stored before that. The fence keeps us from looking for
        // it before we looked at the record.
        fence(Acquire);
        if first_row.is_some() || self::newest(slots)? == Some(found.newest) {
            break (found, first_row);
        }
    };
    if let Some(row) = first_row {
        while window.end > window.oldest && slots.entry(window.end - 1)?.base_row > row {
            window.end -= 1;
        }
    }
    for position in window.oldest..window.end {
        show(memory, nvm, slots, position, merged)?;
    }
    // Who has the old window may go by the new boundary: what is merged is found by its nodes for ever.
    memory.set_merged(merged);
    memory.set_window(window);
    let last = window.end.checked_sub(1).filter(|last| *last >= window.oldest);
    last.map(|last| slots.entry(last)).transpose()
}

/// The newest position that has a mark.
fn newest(slots: Slots<'_>) -> Result<Option<Position>, Corrupt> {
    let mut newest = None;
    for index in 0..slots.count() {
        match slots.mark(index)? {
            Mark::Empty => {}
            Mark::Live(position, _) | Mark::Retired(position) => {
                newest = newest.max(Some(position));
            }
        }
    }
    Ok(newest)
}

/// The segments that live, down from the newest mark.
fn live(slots: Slots<'_>, newest: Position) -> Result<Found, Corrupt> {
    let end = newest + 1;
    let (mut oldest, mut merged) = (end, None);
    while let Some(position) = oldest.checked_sub(1) {
        match slots.mark(position as u64 % slots.count())? {
            Mark::Live(live, state) if live == position => {
                if state == State::Merged {
                    merged.get_or_insert(end.min(position + 1));
                }
                oldest = position;
            }
            // Retired, or its place is another's already.
            _ => break,
        }
    }
    Ok(Found { newest, window: Window { oldest, end }, merged: merged.unwrap_or(oldest) })
}

/// The row that the first operation had which the log holds and no segment up to `newest` does.
fn first_row_behind(memory: &Memory, space: LogSpace, newest: &Entry) -> Option<u64> {
    let mut reader = LogReader::new(memory.region(), space, newest.log_from, u32::MAX);
    let mut next = reader.next_record();
    while let Some(record) = next {
        next = reader.next_record();
        let header = record.header;
        let mut end = header.sequence + u64::from(header.operations);
        if let Some(cancel) = next.take_if(|next| next.header.kind == RecordKind::Cancel) {
            end = cancel.header.sequence;
            next = reader.next_record();
        }
        let first = header.sequence.max(newest.sequence_end);
        if first < end {
            return Some(header.row + (first - header.sequence));
        }
    }
    None
}

/// Makes a segment one that readers find, or says anew how many of its rows are dead.
fn show(
    memory: &Memory,
    nvm: &Nvm,
    slots: Slots<'_>,
    position: Position,
    merged: Position,
) -> Result<(), Corrupt> {
    let state = if position < merged { State::Merged } else { State::Committed };
    let dead = slots.dead(position)?;
    if let Some((descriptor, shown)) = memory.table().get(position) {
        memory.set_dead(descriptor, dead as u64);
        if shown != state {
            memory.table().publish(SegmentId(descriptor.id() as u32), state);
        }
        return Ok(());
    }
    let (entry, sections) = nvm.sections(memory.region(), position)?;
    shape::check(memory.region(), memory.geometry(), &entry, &sections)?;
    if position >= merged {
        shape::check_terms(memory.region(), &sections)?;
    }
    describe(memory, &entry, &sections, dead, state);
    Ok(())
}
