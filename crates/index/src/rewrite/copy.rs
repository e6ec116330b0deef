//! The copy of a run's living rows into one segment, with their vectors, lengths, texts, values and
//! lists.

use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};

use spirit_mem::Span;

use crate::column::Columns;
use crate::ground::ids::{SegmentId, State};
use crate::ground::posting::{FREQUENCY_MAX, LOCAL_MAX, local, rank_of};
use crate::ground::term::{FieldId, TermBuffer};
use crate::lists::maxima::{blocks_of, write_maxima};
use crate::memory::Memory;
use crate::memory::descriptor::{Descriptor, Window};
use crate::memory::flush_stop::FlushStop;
use crate::memory::flushed::{bitmap_at, bitmap_words, is_dense, layout, maxima_at};
use crate::rewrite::columns::LivingValues;
use crate::rewrite::room::{Content, ROW_WORDS, Room};
use crate::rewrite::source::{DEAD, Source};
use crate::rows::lengths::{LengthArray, Statistics, saturated};
use crate::rows::{KeyKind, RowKey, RowWords, stamp_of, vector};
use crate::snapshot::{Segment, Snapshot};
use crate::terms::dictionary::{Dictionary, TermId};
use crate::terms::dictionary_writer::{DictionaryFull, DictionaryWriter, Place};
use crate::terms::entries::Entry;
use crate::terms::term_order::Leads;
use crate::terms::term_sorter::TermSorter;

/// The living part of a run.
pub(super) struct Copy<'a> {
    sources: Vec<Source<'a>>,
    new: Descriptor<'a>,
    id: SegmentId,
    rows: u32,
    terms: Vec<TermId>,
    /// The place of each term's entry; `None` for a term without living postings.
    places: Vec<Option<Place>>,
    room: Room,
}

impl<'a> Copy<'a> {
    pub(super) fn new(
        memory: &'a Memory,
        run: &[SegmentId],
        id: SegmentId,
    ) -> Result<Copy<'a>, FlushStop> {
        let mut copy = Copy {
            sources: Vec::with_capacity(run.len()),
            new: memory.table().descriptor(id),
            id,
            rows: 0,
            terms: Vec::new(),
            places: Vec::new(),
            room: Room::default(),
        };
        let snapshot = Snapshot::of_role(memory, u64::MAX);
        let mut numbers = HashMap::new();
        for old in run {
            copy.add_source(memory, snapshot.of(*old), &mut numbers);
        }
        if copy.rows > LOCAL_MAX || !copy.deltas_fit() {
            return Err(FlushStop::HeapFull);
        }
        copy.allocate(memory)?;
        copy.copy_rows(memory);
        if let Some((layout, at)) = &copy.room.columns {
            copy.values().begin(memory, layout, *at);
        }
        copy.copy_texts(memory);
        Ok(copy)
    }

    fn add_source(
        &mut self,
        memory: &Memory,
        segment: Segment<'a>,
        numbers: &mut HashMap<u32, u32>,
    ) {
        let table = segment.row_table();
        let visible = memory.visible().saturating_sub(segment.base_row());
        let mut rows = self.rows;
        let map = (0..segment.rows())
            .map(|local| {
                // Keep a row whose death is not visible yet: a reader may still see the row alive.
                // The switch carries the death over.
                let lives = !table.row(local).is_dead(visible);
                rows += u32::from(lives);
                if lives { rows - 1 } else { DEAD }
            })
            .collect();
        self.rows = rows;
        let descriptor = segment.descriptor();
        let term_map: Span<AtomicU32> = Span::new(descriptor.term_map(), descriptor.terms());
        let terms = &mut self.terms;
        let dictionary = Dictionary::new(memory.region(), memory.geometry());
        let number = |id: &AtomicU32| {
            let id = id.load(Relaxed);
            if id == TermId::NONE.0 {
                return TermId::NONE.0;
            }
            debug_assert!(
                dictionary.entries(TermId(id)).find(memory.region(), segment.id()).is_some(),
                "a segment's term has its entry: without one it would go, and its number to another"
            );
            *numbers.entry(id).or_insert_with(|| {
                terms.push(TermId(id));
                terms.len() as u32 - 1
            })
        };
        let ordinals = memory.region().view(term_map).iter().map(number).collect();
        self.sources.push(Source { segment, map, ordinals });
    }

    fn first(&self) -> &Segment<'a> {
        &self.sources[0].segment
    }

    /// True if rows and sequence numbers, counted from the oldest segment's base, fit in 32 bits.
    fn deltas_fit(&self) -> bool {
        let last = &self.sources[self.sources.len() - 1].segment;
        let rows = last.base_row() - self.first().base_row() + last.row_span();
        let sequences = last.base_sequence() - self.first().base_sequence() + last.sequence_span();
        rows.max(sequences) <= u32::MAX as u64
    }

    fn allocate(&mut self, memory: &Memory) -> Result<(), FlushStop> {
        let content = Content {
            rows: self.rows,
            terms: self.terms.len() as u64,
            units: self.units(memory),
            text_words: self.text_words(),
            posting_words: self.posting_words(memory),
            columns: self.values().layout().ok_or(FlushStop::HeapFull)?,
        };
        self.room = Room::allocate(memory, self.id, content).ok_or(FlushStop::HeapFull)?;
        self.describe();
        Ok(())
    }

    fn describe(&self) {
        let (new, room) = (self.new, &self.room);
        new.set_id(self.id.0 as u64);
        new.set_base_row(self.first().base_row());
        new.set_base_sequence(self.first().base_sequence());
        new.set_rows(self.rows as u64);
        new.set_row_directory(room.row_directory);
        new.set_vector_directory(room.vector_directory);
        new.set_row_map(room.row_map.start());
        let numbered =
            || self.sources.iter().map(|s| s.segment.descriptor()).filter(|d| d.numbers_end() > 0);
        new.set_numbers_start(numbered().map(|d| d.numbers_start()).next().unwrap_or(0));
        new.set_numbers_end(numbered().map(|d| d.numbers_end()).next_back().unwrap_or(0));
        new.set_extent(0);
        new.set_deaths(0);
        new.lead_to_lists(room.postings.start(), true);
        new.set_lengths(room.lengths.start());
        new.set_counts(0);
        new.set_term_order(room.order);
        new.set_columns(room.columns.as_ref().map_or(0, |(_, at)| *at));
        new.set_posting_words(room.postings.len());
        new.set_term_map(room.term_map.start());
        new.set_terms(room.term_map.len());
    }

    /// Counts the units that the living rows' vectors and stored keys take.
    fn units(&self, memory: &Memory) -> u64 {
        let of_row = |source: &Source<'_>, old| {
            let row = source.segment.vector_row(old);
            let tokens = source.entries(memory, row).map(vector::Entry::units).sum::<u64>();
            tokens + key_units(row.key())
        };
        self.sources.iter().flat_map(|s| s.living().map(move |(old, _)| of_row(s, old))).sum()
    }

    fn copy_rows(&self, memory: &Memory) {
        let region = memory.region();
        let (numbers, units) = (region.view(self.room.row_map), region.view(self.room.vectors));
        let lengths = region.view(self.room.lengths);
        let (mut at, mut tokens, mut kept) = (0, 0, Statistics::default());
        // Invariant: rows below `new` are written, and `at` is the first free unit. Each source has
        // finitely many living rows.
        for source in &self.sources {
            let base_sequence = source.segment.base_sequence() - self.first().base_sequence();
            for (old, new) in source.living() {
                let row = source.segment.vector_row(old);
                let key = source.copy_key(row.key(), units, &mut at);
                let start = at;
                for entry in source.entries(memory, row) {
                    at = vector::put_entry(units, at, entry);
                }
                let sequence = (base_sequence + row.sequence() as u64) as u32;
                self.row(memory, new).write(sequence, start as u32, row.tokens(), key);
                let number = source.segment.row_number(old) - self.first().base_row();
                numbers[new as usize].store(number as u32, Relaxed);
                let length = source.segment.length(old);
                lengths[(self.rows - 1 - new) as usize].store(saturated(length), Relaxed);
                kept += Statistics::of(length);
                tokens += row.tokens() as u64;
            }
        }
        self.new.set_vector_units(at as u64);
        self.new.set_tokens(tokens);
        self.new.set_kept(kept);
        // Younger segments count from this total. It belongs to the position, in either version.
        let last = &self.sources[self.sources.len() - 1].segment;
        self.new.set_total(last.descriptor().total());
    }

    /// Counts the words that the living rows' texts take.
    fn text_words(&self) -> u64 {
        let of_source = |source: &Source<'_>| -> u64 {
            let Some(texts) = source.segment.dram_texts() else { return 0 };
            source.living().map(|(old, _)| texts.place(old).words()).sum()
        };
        self.sources.iter().map(of_source).sum()
    }

    fn copy_texts(&mut self, memory: &Memory) {
        for source in &self.sources {
            let Some(texts) = source.segment.dram_texts() else { continue };
            source.living().for_each(|(old, new)| self.room.texts.add(memory, texts, old, new));
        }
        self.new.set_texts(self.room.texts.directory());
        self.new.set_text_bytes(self.room.texts.bytes());
    }

    fn row<'m>(&self, memory: &'m Memory, new: u32) -> RowWords<'m> {
        let words = memory.region().view(self.room.row_words);
        RowWords::at(&words[new as usize * ROW_WORDS..][..ROW_WORDS])
    }

    /// Yields a term's living postings in the whole run, newest first, as words of the new segment.
    fn list<'l>(&'l self, memory: &'l Memory, term: TermId) -> impl Iterator<Item = u32> + 'l {
        let region = memory.region();
        let entries = Dictionary::new(region, memory.geometry()).entries(term);
        self.sources.iter().rev().flat_map(move |source| {
            let span = entries.find(region, source.segment.id()).map(|index| {
                let entry = entries.get(region, index);
                if entry.postings == 1 {
                    entries.single(index)
                } else {
                    source.segment.flushed().list(entry)
                }
            });
            region.view(span.unwrap_or_default()).iter().filter_map(|word| {
                let word = word.load(Relaxed);
                let new = source.map[local(word) as usize];
                (new != DEAD).then(|| rank_of(new) << 8 | word & FREQUENCY_MAX)
            })
        })
    }

    fn posting_words(&self, memory: &Memory) -> u64 {
        let count = |term: &TermId| self.list(memory, *term).count() as u32;
        self.terms.iter().map(count).fold(0, |at, postings| layout(at, postings, self.rows).1)
    }

    /// Takes places for the entries of all terms, or none.
    pub(super) fn place_entries(
        &mut self,
        memory: &Memory,
        writer: &mut DictionaryWriter,
    ) -> Result<(), DictionaryFull> {
        let mut places = Vec::with_capacity(self.terms.len());
        for term in &self.terms {
            // A term without living postings gets no entry.
            let lives = self.list(memory, *term).next().is_some();
            match lives.then(|| writer.place_version(memory.footing(), *term, self.id)).transpose()
            {
                Ok(place) => places.push(place),
                Err(full) => {
                    places
                        .into_iter()
                        .flatten()
                        .for_each(|place| writer.give_back(memory.footing(), place));
                    return Err(full);
                }
            }
        }
        self.places = places;
        Ok(())
    }

    /// Writes the lists and gives each term its entry, at the place taken for it.
    pub(super) fn build(&mut self, memory: &Memory, writer: &mut DictionaryWriter) {
        let mut next = 0;
        let mut total = 0;
        let places = std::mem::take(&mut self.places);
        // Invariant: `next` is the first free posting word. The loop visits each term once.
        for ((ordinal, term), place) in self.terms.iter().enumerate().zip(places) {
            let number = &memory.region().view(self.room.term_map)[ordinal];
            let postings = self.list(memory, *term).count() as u32;
            let Some((newest, place)) = self.list(memory, *term).next().zip(place) else {
                // No posting of the term lives, so the segment gets no entry of it. The dictionary
                // may drop the term and reuse its number.
                number.store(TermId::NONE.0, Relaxed);
                continue;
            };
            number.store(term.0, Relaxed);
            let (first, after) = layout(next, postings, self.rows);
            if postings > 1 {
                self.write_list(memory, ordinal as u32, *term, first, postings);
            }
            let payload = if postings == 1 { newest } else { first as u32 };
            let entry = Entry { segment: self.id, postings, payload, ..Entry::NONE };
            writer.add_version(memory.footing(), *term, entry, place);
            next = after;
            total += postings as u64;
        }
        self.new.set_posting_count(total);
        self.order_terms(memory);
        writer.collect(memory.footing());
    }

    /// Writes the order of the terms that have entries, then the columns, which hold places in that
    /// order.
    fn order_terms(&self, memory: &Memory) {
        let map = memory.region().view(self.room.term_map);
        let dictionary = Dictionary::new(memory.region(), memory.geometry());
        let term = |ordinal: u32| TermId(map[ordinal as usize].load(Relaxed));
        let numbers = (0..map.len() as u32).filter(|ordinal| term(*ordinal) != TermId::NONE);
        let write = |ordinal, out: &mut TermBuffer| dictionary.write_term(term(ordinal), out);
        let leads = Leads::TermMap(self.room.term_map.start());
        let mut sorter = TermSorter::default();
        sorter.write_order(memory.region(), self.room.order, leads, numbers, write);
        if let Some((layout, at)) = &self.room.columns {
            self.values().write(memory, layout, [*at, self.room.order], &sorter, map.len());
        }
    }

    fn values(&self) -> LivingValues<'_, 'a> {
        LivingValues { sources: &self.sources, rows: self.rows }
    }

    fn write_list(&self, memory: &Memory, ordinal: u32, term: TermId, first: u64, postings: u32) {
        let words = memory.region().view(self.room.postings);
        words[first as usize - 1].store(ordinal, Relaxed);
        let list = &words[first as usize..][..postings as usize];
        for (to, word) in list.iter().zip(self.list(memory, term)) {
            to.store(word, Relaxed);
        }
        if blocks_of(postings) > 0 {
            let start = self.room.postings.start() + maxima_at(first, postings) * 4;
            let maxima = memory.region().view(Span::<AtomicU64>::new(start, blocks_of(postings)));
            write_maxima(list, self.lengths_of(memory, term), rank_of(self.rows - 1), maxima);
        }
        if is_dense(postings, self.rows) {
            let start = self.room.postings.start() + bitmap_at(first, postings) * 4;
            let bits = memory.region().view(Span::<AtomicU64>::new(start, bitmap_words(self.rows)));
            spirit_kernel::write_bitmap(list, bits, rank_of(self.rows - 1));
        }
    }

    /// Returns the documents' lengths in a term's field.
    fn lengths_of<'m>(&self, memory: &'m Memory, term: TermId) -> LengthArray<'m> {
        let region = memory.region();
        let field = Dictionary::new(region, memory.geometry()).record(term).key().field();
        match &self.room.columns {
            _ if field == FieldId::TEXT => LengthArray::new(region.view(self.room.lengths)),
            Some((_, at)) => Columns::at(region, *at).lengths_of(field),
            None => LengthArray::ones(self.rows),
        }
    }

    /// Carries over the deaths since the copy and moves readers to the new version.
    pub(super) fn switch(&self, memory: &Memory) {
        let mut dead = 0;
        self.new.set_deaths(0);
        for source in &self.sources {
            let later = source.segment.base_row() - self.first().base_row();
            for (old, new) in source.living() {
                let stamp = source.segment.row_table().row(old).death();
                if stamp != 0 {
                    let by = later + stamp as u64 - 1;
                    self.row(memory, new).kill(by);
                    self.new.note_death(stamp_of(by));
                    dead += 1;
                }
            }
        }
        self.new.set_dead(dead);
        memory.table().publish(self.id, State::Flushed);
        memory.supersede(memory.superseded().switching_to(self.id));
        memory.set_window(Window { oldest: self.id.position(), ..memory.window() });
    }
}

impl Source<'_> {
    fn living(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let pairs = self.map.iter().enumerate().map(|(old, new)| (old as u32, *new));
        pairs.filter(|(_, new)| *new != DEAD)
    }

    /// Yields a row's vector with new ordinals. It is empty if positions are not kept.
    fn entries(
        &self,
        memory: &Memory,
        row: RowWords<'_>,
    ) -> impl Iterator<Item = vector::Entry> + '_ {
        let tokens = if memory.geometry().settings.positions { row.tokens() } else { 0 };
        self.segment.vectors().entries(row.vector(), tokens).map(|entry| match entry {
            vector::Entry::Term(old) => vector::Entry::Term(self.ordinals[old as usize]),
            holes => holes,
        })
    }

    /// Copies a stored key to `units[at..]` and moves `at` behind it. Returns the key with its new
    /// place.
    fn copy_key(&self, key: RowKey, units: &[AtomicU16], at: &mut usize) -> RowKey {
        let KeyKind::Stored { unit, len } = key.kind() else { return key };
        let from = self.segment.vectors().units(unit, key_units(key));
        for (to, from) in units[*at..].iter().zip(from) {
            to.store(from.load(Relaxed), Relaxed);
        }
        *at += from.len();
        RowKey::stored((*at - from.len()) as u32, len)
    }
}

fn key_units(key: RowKey) -> u64 {
    match key.kind() {
        KeyKind::Stored { len, .. } => len.div_ceil(2) as u64,
        _ => 0,
    }
}
