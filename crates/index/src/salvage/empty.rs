//! A segment without rows, in the place of a lost one. Positions have no gaps. The sequence
//! numbers, row numbers and log position in its slot hold for all segments before it.

use spirit_door::Site;

use crate::form::text_index::TEXT_ENTRY_BYTES;
use crate::ground::corrupt::checksum;
use crate::ground::ids::Position;
use crate::ground::section::{Kind, SECTION_WORDS, SECTIONS, Section, Sections};
use crate::ground::slot::{Entry, Slots};
use crate::salvage::Salvage;
use crate::terms::term_order::{Leads, head_of, order_bytes};
use crate::tier::pages::{Pages, check_bytes};

const LINE_BYTES: u64 = 64;
const TABLE_BYTES: u64 = (SECTIONS * SECTION_WORDS * 8) as u64;

impl Salvage<'_> {
    /// True if its block has room for a segment without rows. Each sound block has: its directories
    /// have this size too.
    pub(super) fn can_be_emptied(&self, entry: &Entry) -> bool {
        let each = Kind::ALL.map(|kind| self.empty_bytes(kind, entry).next_multiple_of(LINE_BYTES));
        let bytes = TABLE_BYTES.next_multiple_of(LINE_BYTES) + each.iter().sum::<u64>();
        entry.long_start.is_multiple_of(LINE_BYTES) && entry.long_bytes >= bytes
    }

    /// Empties the segment of `entry`, which [can be](Self::can_be_emptied) emptied.
    pub(super) fn empty(&self, position: Position, entry: &Entry) {
        let (mut at, mut sections) = (entry.long_start + TABLE_BYTES, Sections::default());
        for kind in Kind::ALL {
            if kind.is_short_term() {
                sections.set(kind, Section { start: entry.short_start, ..Section::default() });
                continue;
            }
            let start = at.next_multiple_of(LINE_BYTES);
            let bytes = self.empty_bytes(kind, entry);
            sections.set(kind, Section { start, bytes, check: 0 });
            at = start + bytes;
        }
        for kind in Kind::ALL {
            self.write_contents(kind, &sections);
        }
        self.write_page_checks(entry, &mut sections);
        let words = sections.words();
        self.door.write_words(Site::BodyWords, self.region, entry.long_start, &words);
        let slots = Slots::new(self.region, &self.layout);
        slots.write(&self.door, position, &Self::without_rows(entry, &words));
        slots.set_dead(&self.door, [Site::BodyStamp, Site::BodyWriteBack], position, 0);
    }

    fn write_page_checks(&self, entry: &Entry, sections: &mut Sections) {
        let words = Pages::of(entry, sections).checks_in(self.region);
        let section = sections.get(Kind::PageChecks);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.door.write(Site::BodyWords, self.region, section.start, &bytes);
        sections.set(Kind::PageChecks, Section { check: checksum(0, &words), ..section });
    }

    fn empty_bytes(&self, kind: Kind, entry: &Entry) -> u64 {
        match kind {
            Kind::PageChecks => check_bytes(Pages::of(entry, &Sections::default()).count()),
            Kind::RowDirectory => self.geometry.row_chunks_max * 8,
            Kind::VectorDirectory => self.geometry.vector_chunks_max * 8,
            Kind::TermOrder => order_bytes(0),
            Kind::TextIndex if self.geometry.settings.store => TEXT_ENTRY_BYTES,
            _ => 0,
        }
    }

    fn write_contents(&self, kind: Kind, sections: &Sections) {
        let section = sections.get(kind);
        let words = match kind {
            Kind::TermOrder => {
                let starts = [Kind::Nodes, Kind::TermKeys, Kind::LongTerms];
                let starts = starts.map(|kind| sections.get(kind).start);
                head_of(0, Leads::Nodes(starts)).to_vec()
            }
            Kind::TextIndex if section.bytes > 0 => vec![0, sections.get(Kind::Texts).start, 0],
            _ => vec![0; section.bytes as usize / 8],
        };
        let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        self.door.write(Site::BodyWords, self.region, section.start, &bytes);
    }

    /// Returns the entry of the emptied segment. Numbers that count for other segments stay. Its
    /// rows are empty and begin behind its last row.
    fn without_rows(entry: &Entry, table: &[u64]) -> Entry {
        Entry {
            base_row: entry.row_end,
            rows: 0,
            numbers_start: 0,
            numbers_end: 0,
            terms: 0,
            posting_count: 0,
            tokens: 0,
            vector_units: 0,
            bitmap_rows: 0,
            sections: SECTIONS as u64,
            sections_check: checksum(0, table) as u64,
            text_bytes: 0,
            kept: 0,
            ..*entry
        }
    }
}
