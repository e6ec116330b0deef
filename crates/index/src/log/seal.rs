//! The seal: the end of an executor's log and its newest segment at the time when the index was
//! closed. Without it, a zeroed log would look like a shorter one. Zeroed slots would look like
//! slots that were never used.
//!
//! The seal is two words behind the merged dictionary's count of buckets. It counts if it was ever
//! written and the root says that the index is closed.
//!
//! | word | |
//! |---|---|
//! | 1 | position in the log at which it ended |
//! | 2 | one past the newest segment's position (low half), checksum with word 1 (high half) |

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_door::Site;
use spirit_mem::{Region, Span};

use crate::ground::corrupt::{Corrupt, checksum};
use crate::ground::layout::NvmLayout;
use crate::ground::slot::{Mark, Slots};
use crate::log::LogSpace;
use crate::log::log_reader::LogReader;
use crate::tier::Nvm;

/// The contents of a seal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seal {
    log_end: u64,
    segments_end: u64,
}

impl Seal {
    /// Returns the seal that matches the present contents. If operations are logged, `log` has the
    /// log's place and the incarnation of the last start.
    fn of(
        region: &Region,
        layout: &NvmLayout,
        log: Option<(LogSpace, u32)>,
    ) -> Result<Seal, Corrupt> {
        let slots = Slots::new(region, layout);
        let mut newest = None;
        for index in 0..slots.count() {
            newest = match slots.mark(index)? {
                Mark::Empty => newest,
                Mark::Live(position, _) | Mark::Retired(position) => newest.max(Some(position)),
            };
        }
        let log_end = match log {
            None => 0,
            Some((space, incarnation)) => {
                let entry = newest.map(|newest| slots.entry(newest)).transpose()?;
                let from = entry.map_or(0, |entry| entry.log_from);
                let mut reader = LogReader::new(region, space, from, incarnation);
                // The loop ends at the first place without a valid record.
                while reader.next_record().is_some() {}
                reader.position()
            }
        };
        Ok(Seal { log_end, segments_end: newest.map_or(0, |newest| u64::from(newest) + 1) })
    }

    fn words(self) -> [u64; 2] {
        let Seal { log_end, segments_end } = self;
        let check = checksum(0, &[log_end, segments_end]);
        [log_end, segments_end | u64::from(check) << 32]
    }
}

fn place(layout: &NvmLayout) -> Span<AtomicU64> {
    Span::new(layout.bucket_count.end(), 2)
}

/// Seals the part, unless its seal is right already. Nothing is stored in the part afterwards. The
/// caller syncs the file before the root says closed.
pub fn write(region: &Region, nvm: &Nvm, log: Option<(LogSpace, u32)>) -> Result<(), Corrupt> {
    let words = Seal::of(region, nvm.layout(), log)?.words();
    if stored(region, nvm.layout()) != words {
        let at = place(nvm.layout()).start();
        nvm.door().write_words(Site::Seal, region, at, &words);
    }
    Ok(())
}

fn stored(region: &Region, layout: &NvmLayout) -> [u64; 2] {
    let words = region.view(place(layout));
    [0, 1].map(|word: usize| words[word].load(Relaxed))
}

/// Compares a part of a closed index with its seal, if it has one.
pub fn check(
    region: &Region,
    layout: &NvmLayout,
    log: Option<(LogSpace, u32)>,
) -> Result<(), Corrupt> {
    let stored = stored(region, layout);
    if stored == [0; 2] {
        return Ok(());
    }
    let at = place(layout).start();
    let corrupt = |what, at, why| Err(Corrupt { what, at, why });
    let [log_end, rest] = stored;
    let sealed = Seal { log_end, segments_end: rest & 0xFFFF_FFFF };
    if sealed.words() != stored {
        return corrupt("seal", at, "its check is wrong");
    }
    let now = Seal::of(region, layout, log)?;
    if now.segments_end != sealed.segments_end {
        let why = "the newest segment is not the one at the index's closing";
        return corrupt("segment slots", layout.slots.start(), why);
    }
    if now.log_end != sealed.log_end {
        let (start, bytes) = layout.log;
        let why = "the log's end is not the one at the index's closing";
        return corrupt("log record", start + now.log_end % bytes, why);
    }
    Ok(())
}
