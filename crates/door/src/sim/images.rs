//! The images of one cut: all if they are few, otherwise the most useful ones, then random ones.

use std::collections::HashSet;

use super::image::Image;
use super::overlay::Overlay;
use super::random::Random;

/// The images that a power cut may leave, none of them twice.
///
/// If the pending stores allow no more images than the budget, these are all. Otherwise they are:
///
/// - the image without any pending store;
/// - the image with all of them;
/// - for each line (in model T: word), the image with only its stores;
/// - for each line or word, the image without its stores;
/// - random images for the rest of the budget.
///
/// The two kinds for each line find every missing write-back and every missing order of two lines.
/// If they exceed the budget, they are taken at even distances from a random beginning.
///
/// The simulator's image is edited in place, and restored when this is dropped.
#[derive(Debug)]
pub struct Images<'s> {
    overlay: Overlay<'s>,
    states: u64,
    exhaustive: bool,
    /// The number of images left.
    budget: usize,
    seen: HashSet<u64>,
    plan: Plan,
    /// The number of arrangements so far.
    turn: usize,
    random: Random,
}

/// The plan of a sample: none and all, then single groups, then random choices.
#[derive(Debug)]
struct Plan {
    /// The number of groups that are taken alone, and left out alone.
    singles: usize,
    /// The beginning of the even distances.
    phase: usize,
    /// The number of turns after which the search for another image ends.
    turns: usize,
}

impl Plan {
    fn new(groups: usize, budget: usize, random: &mut Random) -> Plan {
        let singles = groups.min(budget.saturating_sub(2) / 2);
        // If few images are left, most random choices were seen before.
        let turns = budget.saturating_mul(8);
        Plan { singles, phase: random.index(groups.max(1)), turns }
    }
}

impl<'s> Images<'s> {
    pub(super) fn new(overlay: Overlay<'s>, budget: usize, mut random: Random) -> Images<'s> {
        let states = overlay.states();
        let plan = Plan::new(overlay.groups(), budget, &mut random);
        let exhaustive = states <= budget as u64;
        Images { overlay, states, exhaustive, budget, seen: HashSet::new(), plan, turn: 0, random }
    }

    /// Returns the next image; none after the last.
    pub fn next_image(&mut self) -> Option<&Image> {
        while self.budget > 0 && self.arrange() {
            if self.seen.insert(self.overlay.hash()) {
                self.budget -= 1;
                return Some(self.overlay.image());
            }
        }
        None
    }

    /// True if these are all possible images.
    pub fn is_exhaustive(&self) -> bool {
        self.exhaustive
    }

    /// Returns the number of choices of pending stores, at most `u64::MAX`. Choices with equal
    /// images are shown once.
    pub fn states(&self) -> u64 {
        self.states
    }

    /// Arranges another image, possibly one seen before. False after the last.
    fn arrange(&mut self) -> bool {
        let turn = self.turn;
        self.turn += 1;
        let singles = self.plan.singles;
        match turn {
            0 => self.overlay.arrange(|_, _| 0),
            _ if self.exhaustive => return self.overlay.count_up(),
            1 => self.overlay.arrange(|_, length| length),
            _ if turn - 2 < singles => self.arrange_single(turn - 2, true),
            _ if turn - 2 < 2 * singles => self.arrange_single(turn - 2 - singles, false),
            _ => {
                self.arrange_at_random();
                return turn < self.plan.turns;
            }
        }
        true
    }

    /// Arranges all stores of one group and none of the others, or the other way round.
    fn arrange_single(&mut self, nth: usize, alone: bool) {
        let Plan { singles, phase, .. } = self.plan;
        let single = (nth * self.overlay.groups() + phase) / singles;
        self.overlay.arrange(|group, length| if (group == single) == alone { length } else { 0 });
    }

    /// Arranges few, half or most of the groups, whole or in part.
    fn arrange_at_random(&mut self) {
        let random = &mut self.random;
        let eighths = [1, 4, 7][random.index(3)];
        self.overlay.arrange(|_, length| match (random.index(8) < eighths, random.index(2)) {
            (false, _) => 0,
            (true, 0) => length,
            (true, _) => 1 + random.index(length),
        });
    }
}
