//! Lists of the newest matches, as they are read from entries. Their words go to the desk's value.

use std::ops::Range;

use spirit_cache::Value;
use spirit_index::ground::Position;
use spirit_index::memory::Window;
use spirit_query::Joint;

use super::footing::{Footing, Stand};
use super::matching::Shared;

/// What is known of registered segments, beside the matches that were read.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub(super) segments: Window,
    /// True if these have more matches than were read.
    pub(super) is_cut: bool,
    /// Matches in segments below this position are not known any more.
    pub(super) from: Position,
    /// True if these are not all matches down to the last one.
    pub(super) is_approximate: bool,
}

/// What an entry gave. The words of both lists are in the desk's value.
#[derive(Clone, Copy)]
pub(super) struct KnownPair {
    /// The first list.
    first: Known,
    is_second_cut: bool,
    /// Words of the first list.
    first_len: usize,
}

impl Known {
    /// Reads the words of a list into `out`.
    pub(super) fn read(footing: Footing, value: Value<'_>, out: &mut Vec<u64>) -> Option<Known> {
        let Stand { number, from, words } = footing.read(value)?;
        let (segments, matches) = (Window::from_word(words.get(0)?), words.split_at(2).1);
        out.clear();
        out.extend(matches.iter().take(out.capacity()));
        let is_cut = number != 0 || segments.oldest < from;
        Some(Known { segments, is_cut, from, is_approximate: false })
    }

    /// Reads the words of the list that another question's entry has for a question with this joint.
    pub(super) fn read_shared(
        shared: Shared,
        joint: Joint,
        footing: Footing,
        value: Value<'_>,
        out: &mut Vec<u64>,
    ) -> Option<Known> {
        let known = match shared.joint {
            Joint::Any => KnownPair::read_one(footing, value, shared.term, out)?,
            Joint::One | Joint::All => Known::read(footing, value, out)?,
        };
        let is_approximate = (joint, shared.joint) != (Joint::One, Joint::Any);
        Some(Known { is_approximate, ..known })
    }
}

impl KnownPair {
    /// Reads the words of both lists into `out`.
    pub(super) fn read(
        footing: Footing,
        value: Value<'_>,
        out: &mut Vec<u64>,
    ) -> Option<KnownPair> {
        let Stand { number, from, words } = footing.read(value)?;
        let (segments, first_len) = (Window::from_word(words.get(0)?), words.get(1)?);
        let is_reached = segments.oldest < from;
        out.clear();
        out.extend(words.split_at(2).1.iter().take(out.capacity()));
        let first_len = usize::try_from(first_len).ok().filter(|len| *len <= out.len())?;
        let is_cut = [1, 2].map(|bit| number & bit != 0 || is_reached);
        let first = Known { segments, is_cut: is_cut[0], from, is_approximate: false };
        Some(KnownPair { first, is_second_cut: is_cut[1], first_len })
    }

    /// Reads the words of one of the lists into `out`.
    pub(super) fn read_one(
        footing: Footing,
        value: Value<'_>,
        number: usize,
        out: &mut Vec<u64>,
    ) -> Option<Known> {
        let pair = KnownPair::read(footing, value, out)?;
        let (known, of_list) = pair.list(number);
        out.truncate(of_list.end);
        out.drain(..of_list.start);
        Some(known)
    }

    pub(super) fn segments(&self) -> Window {
        self.first.segments
    }

    /// Returns what is known of a list, and where its words are.
    pub(super) fn list(&self, number: usize) -> (Known, Range<usize>) {
        match number {
            0 => (self.first, 0..self.first_len),
            _ => (Known { is_cut: self.is_second_cut, ..self.first }, self.first_len..usize::MAX),
        }
    }
}
