//! The test vectors of `docs/format-vectors.md`: computed by hand, apart from the code that they hold to the page.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};

use spirit_door::{Barrier, Door};
use spirit_mem::{Region, Residency, Span};

use crate::column::writer::Plan;
use crate::form::field_list::{self, FieldList};
use crate::form::merged::{NOWHERE, chain_word};
use crate::form::node::{Link, Node};
use crate::form::text_block::{Cutter, Unpacked, begin, unpack};
use crate::form::text_index::TextEntry;
use crate::ground::corrupt::checksum;
use crate::ground::ids::{SegmentId, State};
use crate::ground::layout::{NvmLayout, NvmSettings, PARTS_START};
use crate::ground::parts::Parts;
use crate::ground::posting::{posting, rank_of};
use crate::ground::section::{Kind, Section, Sections};
use crate::ground::slot::{Mark, dead_word};
use crate::ground::term::{FieldId, Term, hash_bytes};
use crate::ground::values::{RowValue, ValueKind};
use crate::lists::maxima::Maxima;
use crate::lists::packed::writer::{PositionsOf, pack_list};
use crate::log::{Header, LogSpace, LogWriter, LoggedKey, Operations, RecordKind};
use crate::rows::RowKey;
use crate::rows::packed::{Fields, Head, word_of_stamps};
use crate::rows::vector;
use crate::terms::entries::{ALONE, Entry, PACKED};
use crate::terms::packed_terms::writer::PackedTermsWriter;
use crate::tier::pages::Pages;

#[test]
fn checksums() {
    assert_eq!(crc32c::crc32c(b"123456789"), 0xE306_9283);
    let low = u64::from_le_bytes(*b"12345678");
    assert_eq!(checksum(0, &[low]), crc32c::crc32c(b"12345678"));
    let whole = crc32c::crc32c_append(checksum(0, &[low]), b"9");
    assert_eq!(whole, 0xE306_9283, "a seed is the checksum of what came before");
}

#[test]
fn hashes_and_term_keys() {
    assert_eq!(hash_bytes(b""), 0xE28F_2B20_61A2_B984);
    assert_eq!(hash_bytes(b"moby"), 0xBBBD_1369_1694_E647);
    let key = |bytes| {
        let key = Term::new(FieldId(0), bytes).unwrap().key;
        (key.low, key.high, key.hash())
    };
    assert_eq!(key(b"sea"), (0x0061_6573, 0x3000_0000_0000_0000, 0x72AA_9D34_AC47_F275));
    assert_eq!(
        key(b"abcdefghijklmn"),
        (0x6867_6665_6463_6261, 0xE000_6E6D_6C6B_6A69, 0x7C7F_3943_3A3B_DF2D)
    );
    assert_eq!(
        key(b"averyveryverylongword"),
        (0xB223_F130_A76A_5538, 0xF000_7265_7661_0015, 0xBD0C_894D_2D8C_D553)
    );
}

#[test]
fn words_with_checks() {
    assert_eq!(Mark::Live(0, State::Engraved).word(), 0x5DB0_D78C_0000_0003);
    assert_eq!(Mark::Live(3, State::Merged).word(), 0x8911_02B8_0000_001D);
    assert_eq!(dead_word(0), 0x8C28_B28A_0000_0000);
    assert_eq!(dead_word(5), 0xE409_4DC0_0000_0005);
    assert_eq!(chain_word(0), 0xC514_CFAD_0000_0001);
    assert_eq!(chain_word(76), 0xBC32_8228_0000_004D);
    assert_eq!(NOWHERE, 0x8C28_B28A_0000_0000);
    assert_eq!(Link::new(3, 4096).0, 3 << 33 | 128);
    let sea = Term::new(FieldId(0), b"sea").unwrap().key;
    let entry = Entry { segment: SegmentId(6), postings: 2, payload: 17, ..Entry::NONE };
    let node = Node::new(entry, 5, sea).linked(Link::new(1, 96), 76);
    assert_eq!(node.words(), [1 << 33 | 3, 2 << 32 | 6, 5 << 32 | 17, 76 << 32 | 0xCD7B_C0B2]);
}

/// Positions of postings that are asked for one after the other.
struct Given(std::vec::IntoIter<Vec<u32>>, Vec<u32>);

impl PositionsOf for Given {
    fn next(&mut self, _posting: u32) -> &[u32] {
        self.1 = self.0.next().unwrap_or_default();
        &self.1
    }
}

#[test]
fn packed_rows() {
    let rows = [
        Fields { sequence: 7, holes: 0, key: RowKey::automatic(5) },
        Fields { sequence: 9, holes: 3, key: RowKey::default() },
    ];
    let (mut head, mut words) = (Head::of(&rows), Vec::new());
    head.deaths = 4096;
    head.write(&rows, &mut words);
    assert_eq!(words, [5, 0x0301_0201_0000_0007, 4096, 0xF0]);
}

#[test]
fn stamps_of_packed_rows() {
    assert_eq!(word_of_stamps([0, 0]), 0xFFFF_FFFF_FFFF_FFFF);
    assert_eq!(word_of_stamps([3, 0]), 0xFFFF_FFFF_FFFF_FFFC);
    assert_eq!(word_of_stamps([0, 0xFFFF_FFFE]), 0x0000_0001_FFFF_FFFF);
}

#[test]
fn a_page_check() {
    let mut sections = Sections::default();
    sections.set(Kind::Rows, Section { start: 4160, bytes: 48, check: 0 });
    sections.set(Kind::KeyHashes, Section { start: 4224, bytes: 8, check: 0 });
    let pages = Pages::new(&sections, (4096, 4096), (8192, 0));
    // Two rows, of which the first is dead, and the hash of a key.
    let rows = [7, 3 | 9 << 32, 0x1D, 0x4_0000_0008, 4, 0x0079_626F_6D12];
    let check = |rows: [u64; 6]| {
        pages.check_of(4096, |kind, _, out| match kind {
            Kind::Rows => out.copy_from_slice(&rows),
            _ => out.copy_from_slice(&[0xBBBD_1369_1694_E647]),
        })
    };
    let words = [7, 3, 0x1D, 0x4_0000_0008, 4, 0x0079_626F_6D12, 0xBBBD_1369_1694_E647];
    assert_eq!(check(rows), Some(checksum(0, &words)));
    assert_eq!(check(rows), Some(0x0669_45E1));
}

#[test]
fn packed_lists() {
    let list = [(9, 1), (7, 2)].map(|(local, count)| AtomicU32::new(rank_of(local) << 8 | count));
    let mut positions = Given(vec![vec![3], vec![4, 7]].into_iter(), Vec::new());
    let mut words = Vec::new();
    assert_eq!(pack_list(&list, rank_of(9), &[], Some(&mut positions), &mut words), 0);
    assert_eq!(words, [0x0002_0300, 0x0000_A303]);
}

#[test]
fn packed_terms() {
    let one = Entry { postings: 1, payload: posting(5), alone: ALONE | 3, ..Entry::NONE };
    let list = Entry { postings: 300, payload: PACKED | 70, ..Entry::NONE };
    let (mut writer, mut out) = (PackedTermsWriter::default(), Vec::new());
    writer.add(FieldId(0), b"sea", one, &mut out);
    writer.add(FieldId(0), b"seat", list, &mut out);
    let head = writer.finish(&mut out);
    let words: Vec<u64> = out.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
    assert_eq!(head, 0x0000_0002_0000_0002);
    assert_eq!(words[..2], [0x0305_0061_6573_0030, 0x0000_0046_02AD_7404]);
    assert_eq!(words[2..], [0x0073_6561_0000_0000, 0x559C_37A6_0000_0000]);
}

#[test]
fn block_maxima() {
    let three = [(1, 20), (3, 100), (2, 30)];
    assert_eq!(Maxima::of(three).word(), 0x1E02_4903);
    let five = [(2, 15), (10, 200), (6, 70), (8, 120), (4, 40)];
    assert_eq!(Maxima::of(five).word(), 0x520A_4106_2804_0F02);
}

#[test]
fn rows_postings_and_vectors() {
    assert_eq!(posting(0), 0xFFFF_FF01);
    assert_eq!(posting(5), 0xFFFF_FA01);
    assert_eq!(RowKey::automatic(7).0, 29);
    assert_eq!(RowKey::inline(b"moby").0, 0x0000_0079_626F_6D12);
    assert_eq!(RowKey::stored(9, 20).0, 0x0000_0009_0000_0053);
    let units: [AtomicU16; 6] = Default::default();
    let mut at = vector::put(&units, 0, 0);
    at = vector::put_holes(&units, at, 1);
    at = vector::put(&units, at, 0x1_2344);
    at = vector::put_holes(&units, at, 100);
    let units = units.map(|unit| unit.into_inner());
    assert_eq!((at, units), (6, [1, 0, 0x8001, 0x2345, 0x8000, 100]));
}

#[test]
fn a_block_of_texts() {
    let texts = ["sea", "", "sky"];
    let length = |row: u32| texts[row as usize].len() as u32;
    let (cut, mut raw) = (Cutter::new(3).next(length).unwrap(), Vec::new());
    begin(&cut, length, &mut raw);
    raw.extend_from_slice(texts.concat().as_bytes());
    let words = [3, 3, 0x7361_6573_0000_0003, 0x796Bu64].map(u64::to_le_bytes);
    assert_eq!(raw, words.as_flattened()[..26]);
    let entry = TextEntry::new(0, 26, 0, 26, words.as_flattened());
    assert_eq!(entry.words(), [26 << 32, 26 << 32, 0x74CF_3EDD]);
    // One text of 24 times `a`, compressed: 13 bytes as they are, 18 that are each the one before, 5 as they are.
    let mut stored = vec![0xDE, 1, 0, 0, 0, 0, 0, 0, 0, 24, 0, 0, 0, b'a', 1, 0, 0x50];
    stored.extend_from_slice(b"aaaaa");
    let mut back = Vec::new();
    assert!(unpack(&stored, 36, &mut back));
    assert_eq!(Unpacked::of(&back).unwrap().text(0), [b'a'; 24]);
}

/// Of a segment of three rows, the newest of which has 300 in a field, the next nothing, the oldest 5, and in another field no and yes.
#[test]
fn columns() {
    let value = |field, kind: ValueKind, bits| RowValue {
        field: FieldId(field),
        kind,
        bits: kind.sortable(bits),
    };
    let (views, both) = (ValueKind::Integer, ValueKind::Boolean);
    let values = [
        (0, value(5, views, 300)),
        (2, value(5, views, 5)),
        (2, value(6, both, 0)),
        (2, value(6, both, 1)),
    ];
    let region = Region::reserve(1 << 16, Residency::OnTouch).unwrap();
    let mut plan = Plan::new();
    values.iter().for_each(|(row, value)| plan.add(*row, *value));
    let layout = plan.layout(3).unwrap();
    let mut writer = layout.begin(&region, 4096);
    values.iter().for_each(|(row, value)| writer.put(*row, *value));
    let words = region.view(Span::<AtomicU64>::new(4096, layout.bytes() / 8));
    let found: Vec<u64> = words.iter().map(|word| word.load(Relaxed)).collect();
    let directory = [3 << 32 | 2, 2 << 32 | 0x0002_3005, 9 << 32 | 2, 1 << 63 | 5, 1 << 63 | 300];
    let second = [1 << 32 | 0x0101_6006, 11 << 32 | 2, 0, 1];
    let contents = [0b101, 295, 2 << 32 | 2, 0x0100];
    assert_eq!(found, [&directory[..], &second[..], &contents[..]].concat());
}

/// Of a segment of three rows, of which the second newest has four tokens of a field of text.
#[test]
fn a_column_of_lengths() {
    let region = Region::reserve(1 << 16, Residency::OnTouch).unwrap();
    let length = RowValue { field: FieldId(7), kind: ValueKind::Text, bits: 4 };
    let mut plan = Plan::new();
    plan.add(1, length);
    let layout = plan.layout(3).unwrap();
    layout.begin(&region, 4096).put(1, length);
    let words = region.view(Span::<AtomicU64>::new(4096, layout.bytes() / 8));
    let found: Vec<u64> = words.iter().map(|word| word.load(Relaxed)).collect();
    assert_eq!(found, [3 << 32 | 1, 1 << 32 | 0x0001_1007, 5 << 32 | 1, 4, 4, 0b010, 0x0400]);
}

/// The first words of the region's log, and the operations of a record of two documents.
fn two_documents() -> (Region, LogSpace, Operations) {
    let region = Region::reserve(1 << 16, Residency::OnTouch).unwrap();
    let space = LogSpace { start: 4096, bytes: 8192, salt: 7 };
    let mut operations = Operations::default();
    operations.push(LoggedKey::Automatic(5), b"sea", &[]);
    operations.push(LoggedKey::Bytes(b"k1"), b"sky", &[1, 3, 34]);
    (region, space, operations)
}

const OF_TWO_DOCUMENTS: Header = Header {
    kind: RecordKind::Add,
    operations: 2,
    sequence: 9,
    row: 4,
    documents: 6,
    arrived_ms: 0,
};
const TWO_DOCUMENTS: [u64; 9] = [
    0x0001_0000_0000_0003,
    5,
    0x0061_6573,
    0x0022_0002_0000_0003,
    0,
    0x316B,
    0x0079_6B73,
    3,
    0x0022_0301,
];

fn logged(header: Header, words: u64) -> Vec<u64> {
    let (region, space, operations) = two_documents();
    let door = Door::new(Barrier::Order);
    LogWriter::new(space, 0, 1).append(&door, &region, header, operations.first(2));
    let words = region.view(Span::<AtomicU64>::new(4096, words));
    words.iter().map(|word| word.load(Relaxed)).collect()
}

#[test]
fn a_log_record() {
    let header = [0x004B_44A2_0000_000F, 0, 0x0000_0201_0000_0001, 9, 4, 6];
    assert_eq!(logged(OF_TWO_DOCUMENTS, 15), [&header[..], &TWO_DOCUMENTS].concat());
}

#[test]
fn a_log_record_that_says_when_its_documents_arrived() {
    let header = Header { arrived_ms: 1_764_064_800_000, ..OF_TWO_DOCUMENTS };
    let words = [0x3DEC_9506_0000_0010, 0, 0x0000_0211_0000_0001, 9, 4, 6, 0x0000_019A_BA74_AD00];
    assert_eq!(logged(header, 16), [&words[..], &TWO_DOCUMENTS].concat());
}

#[test]
fn a_list_of_fields() {
    let region = Region::reserve(PARTS_START, Residency::OnTouch).unwrap();
    let list = FieldList { generation: 1, bytes: b"\x03\0\x05views".into() };
    field_list::write(&region, &Door::new(Barrier::Order), &list);
    let words = region.view(Span::<AtomicU64>::new(106_496, 3));
    let found: Vec<u64> = words.iter().map(|word| word.load(Relaxed)).collect();
    assert_eq!(found, [0xEE29_2930_0000_0008, 1, 0x7377_6569_7605_0003]);
}

#[test]
fn a_layout() {
    let settings = NvmSettings { bytes: 1 << 20, log_bytes: 64 << 10, parts: Parts::default() };
    let layout = NvmLayout::new(settings, 64 << 10);
    assert_eq!((layout.slots_max, layout.log), (64, (16_384, 65_536)));
    assert_eq!((layout.bucket_count.start(), layout.bucket_bits), (81_920, (4, 10)));
    assert_eq!((layout.buckets.start(), layout.buckets.len()), (81_984, 2_032));
    assert_eq!((layout.lines.start(), layout.lines.len()), (98_240, 1_601));
    assert_eq!(crate::form::merged::count_word(10), 0x5C6B_4C1E_0000_000A);
    assert_eq!((layout.short, layout.long), ((200_704, 192_512), (393_216, 655_360)));
}
