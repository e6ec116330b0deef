//! Checks the merged dictionary: chains have sound records, each line is used once, and each record
//! leads to its term's nodes. Then checks that a record leads to each node of merged segments.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Acquire;

use spirit_mem::{Region, Span};

use crate::check::seen::{Found, Segment};
use crate::check::terms::is_key_of;
use crate::check::{Checked, Part};
use crate::form::merged::{Merged, RECORD_BYTES, chained, check_count, long_lines};
use crate::form::node::Nodes;
use crate::ground::ids::Position;
use crate::ground::section::Kind;
use crate::ground::term::Term;
use crate::merge::gather::RUN_MAX;

pub(super) fn check(part: &Part<'_>, found: &Found, segments: &[Segment], checked: &mut Checked) {
    let is_linked =
        |segment: &Segment| segment.is_merged && segment.sections.get(Kind::Nodes).bytes > 0;
    let is_needed = segments.iter().any(is_linked);
    if let Err(corrupt) = check_count(part.region, &part.layout, is_needed) {
        return checked.add(corrupt);
    }
    let merged = Merged::new(part.region, &part.layout);
    let mut walk = Walk {
        region: part.region,
        merged,
        taken: vec![false; merged.lines()],
        oldest: found.oldest(),
        linked_end: linked_end(found),
        reached: segments.iter().map(|segment| Reached::of(part, segment)).collect(),
        is_whole: segments.len() == found.live.len(),
        checked,
    };
    walk.chains();
    if walk.is_whole {
        walk.check_reached();
    }
}

/// Returns one past the newest segment that a record may lead to. A run of segments that are not
/// merged yet may be half entered.
fn linked_end(found: &Found) -> Position {
    let newest = found.live.last().map_or(0, |(position, _)| *position);
    found.merged_end().saturating_add(RUN_MAX as Position).min(newest.saturating_add(1))
}

/// A segment's nodes, with a flag for each that was reached.
struct Reached<'a> {
    segment: &'a Segment,
    nodes: Nodes<'a>,
    reached: Vec<bool>,
}

impl<'a> Reached<'a> {
    fn of(part: &'a Part<'_>, segment: &'a Segment) -> Reached<'a> {
        let nodes = Nodes::of(part.region, &segment.sections);
        Reached { segment, nodes, reached: vec![false; nodes.len()] }
    }
}

/// A walk through the dictionary, chain by chain.
struct Walk<'a> {
    region: &'a Region,
    merged: Merged<'a>,
    /// True for each line that a record or a long term uses.
    taken: Vec<bool>,
    oldest: Position,
    linked_end: Position,
    /// The nodes by segment, in the order of the segments.
    reached: Vec<Reached<'a>>,
    /// True if all segments can be followed. Otherwise a chain of nodes ends at one that cannot,
    /// which has its own finding.
    is_whole: bool,
    checked: &'a mut Checked,
}

type Verdict = Result<(), &'static str>;

impl Walk<'_> {
    fn chains(&mut self) {
        let made = if self.merged.is_made() { self.merged.buckets() } else { 0 };
        (0..made).for_each(|bucket| self.chain(bucket));
        self.checked.counts.bytes += made as u64 * 8;
    }

    fn chain(&mut self, bucket: usize) {
        let mut at = self.merged.bucket_place(bucket);
        let mut chain = Vec::new();
        while let Some([word]) = self.region.get(Span::<AtomicU64>::new(at, 1)) {
            let word = word.load(Acquire);
            let line = match chained(word) {
                Ok(None) => return,
                Ok(Some(line)) if (line as usize) < self.taken.len() => line,
                _ => {
                    let why = "its check is wrong, or it leads out of the dictionary";
                    return self.checked.note("word of the merged dictionary", at, why);
                }
            };
            if self.leaves(bucket, line) {
                // The chain was not cut yet. Its bucket may have no record left.
                return;
            }
            if let Err(why) = self.take(line, 1) {
                return self.checked.note("word of the merged dictionary", at, why);
            }
            at = self.merged.place(line);
            self.checked.counts.merged_terms += 1;
            self.checked.counts.bytes += RECORD_BYTES;
            let verdict = self.record(bucket, line, &mut chain).and_then(|()| self.nodes(line));
            if let Err(why) = verdict {
                self.checked.note("record of the merged dictionary", at, why);
            }
        }
    }

    /// True if a record in the chain of `bucket` is a later bucket's.
    fn leaves(&self, bucket: usize, line: u32) -> bool {
        self.merged.is_foreign(bucket, line)
            && self.merged.bucket(self.merged.key(line).hash()) > bucket
    }

    fn take(&mut self, first: u32, lines: u32) -> Verdict {
        for line in &mut self.taken[first as usize..first as usize + lines as usize] {
            if std::mem::replace(line, true) {
                return Err("it leads to a line that is in other use");
            }
        }
        Ok(())
    }

    /// Checks a record. `chain` has the terms before it.
    fn record(
        &mut self,
        bucket: usize,
        line: u32,
        chain: &mut Vec<(u64, u64, Vec<u8>)>,
    ) -> Verdict {
        if !self.merged.is_sound(line) {
            return Err("its checksum is wrong");
        }
        let key = self.merged.key(line);
        let mut long = Vec::new();
        if let Some((first, lines)) = self.merged.apart(line) {
            debug_assert_eq!(lines, long_lines(key.len()));
            self.take(first, lines)?;
            self.merged.long_bytes(line, &mut long);
            self.checked.counts.bytes += lines as u64 * RECORD_BYTES;
        }
        if !is_key_of(key, &long) {
            return Err("its key is not valid, or its long term has other bytes");
        }
        let term = Term { key, bytes: &long };
        if self.merged.bucket(term.key.hash()) != bucket {
            return Err("it is in another bucket's chain");
        }
        let known = (key.low, key.high, long);
        if chain.contains(&known) {
            return Err("its term has two records");
        }
        chain.push(known);
        Ok(())
    }

    /// Follows the links from a record's newest node to its oldest.
    fn nodes(&mut self, line: u32) -> Verdict {
        let key = self.merged.key(line);
        let (mut link, mut newer) = (self.merged.head(line), self.linked_end);
        // Each link leads to an older segment, so that the loop ends.
        while !link.is_none() && link.position() >= self.oldest {
            if link.position() >= newer {
                return Err("a link from it leads to a segment that is not older");
            }
            newer = link.position();
            let index = self.reached.binary_search_by_key(&newer, |s| s.segment.id.position());
            let Ok(index) = index else {
                return if self.is_whole {
                    Err("a link from it leads to no segment")
                } else {
                    Ok(())
                };
            };
            let Reached { segment, nodes, reached } = &mut self.reached[index];
            let index = nodes.index_of(link.place()).ok_or("a link from it leads to no node")?;
            let node = nodes.get(index);
            if node.segment != segment.id || !node.is_of(key) || node.record != line {
                return Err("a link from it leads to another term's node or to a damaged node");
            }
            reached[index] = true;
            link = node.link;
        }
        Ok(())
    }

    /// Reports nodes of merged segments that no record leads to: only records lead to their terms.
    fn check_reached(self) {
        for Reached { nodes, reached, .. } in self.reached.iter().filter(|s| s.segment.is_merged) {
            for (index, _) in reached.iter().enumerate().filter(|(_, reached)| !**reached) {
                let why = "no record of the merged dictionary leads to it";
                self.checked.note("node", nodes.place(index), why);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::{AcqRel, Release};

    use super::*;
    use crate::merge::merged_writer::tests::{Sample, hash};

    /// What is wrong with the chains, and how many records they have.
    fn findings(sample: &Sample) -> (Vec<&'static str>, u64) {
        let (merged, mut checked) = (sample.merged(), Checked::default());
        let mut walk = Walk {
            region: &sample.region,
            merged,
            taken: vec![false; merged.lines()],
            oldest: 10,
            linked_end: 10,
            reached: Vec::new(),
            is_whole: true,
            checked: &mut checked,
        };
        walk.chains();
        let findings = checked.findings.iter().map(|finding| finding.why).collect();
        (findings, checked.counts.merged_terms)
    }

    /// Records leave uncut chains, until some chains have no record of their own.
    #[test]
    fn chains_that_are_not_cut_are_sound_whatever_leaves_them() {
        let sample = Sample::new();
        let (mut writer, mut lines) = sample.filled(2000);
        let _reader = sample.grow_beside_a_reader(&mut writer, 4000);
        let mut emptied = 0;
        for number in 0..2000 {
            let bucket = sample.merged().bucket(hash(number));
            sample.remove(&mut writer, number, lines.remove(&number).unwrap());
            let first = sample.merged().chain(bucket).next();
            emptied += usize::from(
                first.is_some_and(|(_, line)| sample.merged().is_foreign(bucket, line)),
            );
            if number % 100 == 99 {
                assert_eq!(findings(&sample), (vec![], lines.len() as u64));
            }
        }
        assert!(emptied > 100, "{emptied} buckets lead to another's record");
    }

    #[test]
    fn a_record_of_an_earlier_bucket_is_found() {
        let sample = Sample::new();
        sample.filled(2000);
        let merged = sample.merged();
        let used: Vec<usize> = merged.used_buckets().collect();
        let [first, .., last] = used[..] else { unreachable!("2000 terms are in two buckets") };
        let [first, last] = [first, last].map(|bucket| {
            let word = Span::<AtomicU64>::new(merged.bucket_place(bucket), 1);
            &sample.region.view(word)[0]
        });
        last.store(first.swap(last.load(Acquire), AcqRel), Release);
        let (findings, _) = findings(&sample);
        assert!(findings.contains(&"it is in another bucket's chain"), "{findings:?}");
    }
}
