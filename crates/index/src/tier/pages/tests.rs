//! Page checks against a reader that follows the format byte by byte.

use proptest::prelude::*;
use spirit_mem::Residency;

use crate::ground::section::SECTIONS;
use crate::tier::pages::*;

const BLOCK: u64 = 16 * PAGE;
const LONG: u64 = 2 * PAGE;
const SHORT: u64 = LONG + BLOCK;

/// Sections that follow each other in both blocks with gaps of lines.
fn sections_of(sizes: &[(u64, u64)]) -> Sections {
    let mut sections = Sections::default();
    let (mut long, mut short) = (LONG + 512, SHORT);
    for (kind, (gap, words)) in Kind::ALL.into_iter().zip(sizes) {
        let (at, end) = match kind.is_short_term() {
            true => (&mut short, SHORT + BLOCK),
            false => (&mut long, SHORT),
        };
        let start = (*at + gap * 64).min(end);
        let bytes = (words * 8).min(end - start);
        sections.set(kind, Section { start, bytes, check: 0 });
        *at = (start + bytes).next_multiple_of(64).min(end);
    }
    sections
}

/// The check of a page, byte by byte.
fn naive(sections: &Sections, byte: impl Fn(u64) -> u8, page: u64) -> u32 {
    let mut bytes = Vec::new();
    for kind in Kind::ALL {
        let Section { start, bytes: len, .. } = sections.get(kind);
        for at in start..start + len {
            if kind == Kind::PageChecks || !(page..page + PAGE).contains(&at) {
                continue;
            }
            let (word, inside) = ((at - start) / 8, (at - start) % 8);
            let changes = match kind {
                Kind::Rows if !sections.are_packed() => word % 3 == 1 && inside >= 4,
                Kind::Nodes => word % 4 == 0 || (word % 4 == 3 && inside >= 4),
                Kind::Deaths => true,
                _ => false,
            };
            bytes.push(if changes { 0 } else { byte(at) });
        }
    }
    crc32c::crc32c(&bytes)
}

proptest! {
    #[test]
    fn checks_are_those_of_a_naive_reader(
        sizes in prop::collection::vec((0u64..4, prop_oneof![Just(0), 1u64..1500]), SECTIONS),
        seed in 1u64..,
        flips in prop::collection::vec((0..2 * BLOCK, 0u32..8), 1..12),
    ) {
        let region = Region::reserve(1 << 20, Residency::OnTouch).unwrap();
        let words = region.view(Span::<AtomicU64>::new(LONG, 2 * BLOCK / 8));
        for (at, word) in (0u64..).zip(words) {
            word.store((at + 1).wrapping_mul(seed | 1).wrapping_mul(0x9E37_79B9_7F4A_7C15), Relaxed);
        }
        let sections = sections_of(&sizes);
        let pages = Pages::new(&sections, (LONG, BLOCK), (SHORT, BLOCK));
        let byte = |at: u64| (words[(at - LONG) as usize / 8].load(Relaxed) >> (at % 8 * 8)) as u8;
        for page in pages.long().chain(pages.short()) {
            let check = pages.check_in(&region, page);
            prop_assert_eq!(check, Some(naive(&sections, byte, page)));
        }
        let before = pages.checks_in(&region);
        prop_assert_eq!(before.len() as u64 * 8, check_bytes(pages.count()));
        // A bit that counts changes the check of its page, and no other check.
        for (at, bit) in flips {
            let at = LONG + at;
            let page = at / PAGE * PAGE;
            let old = naive(&sections, byte, page);
            words[(at - LONG) as usize / 8].fetch_xor(1 << (at % 8 * 8 + u64::from(bit)), Relaxed);
            let new = naive(&sections, byte, page);
            for other in pages.long().chain(pages.short()) {
                let index = pages.index(other).unwrap() as usize;
                let stored = (before[index / 2] >> (index % 2 * 32)) as u32;
                let is_same = pages.check_in(&region, other) == Some(stored);
                prop_assert_eq!(is_same, other != page || old == new);
            }
            words[(at - LONG) as usize / 8].fetch_xor(1 << (at % 8 * 8 + u64::from(bit)), Relaxed);
        }
    }

    #[test]
    fn all_pages_of_a_section_are_its(
        gap in 0u64..60,
        words in prop_oneof![Just(0), 1u64..4000],
    ) {
        let mut sections = Sections::default();
        let (start, bytes) = (LONG + 512 + gap * 64, words * 8);
        sections.set(Kind::Texts, Section { start, bytes, check: 0 });
        let pages = Pages::new(&sections, (LONG, BLOCK), (SHORT, BLOCK));
        let of_section: Vec<u64> = pages.of_section(Kind::Texts).collect();
        let all = pages.long().filter(|page| start < page + PAGE && start + bytes > *page);
        prop_assert_eq!(of_section, all.filter(|_| bytes > 0).collect::<Vec<_>>());
    }
}
