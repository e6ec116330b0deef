//! The images of one cut: all of them if they are few, else those that find most, then random ones.

use std::collections::HashSet;

use super::image::Image;
use super::overlay::Overlay;
use super::random::Random;

/// The images that a power cut may leave, none of them twice.
///
/// If the pending stores allow at most as many as the budget, these are all. Else they are: that without any pending
/// store; that with all; for each line (in model T: word) that with its stores alone; for each that with all but its
/// stores; and random ones for the rest of the budget. The two in the middle find every missing write-back and every
/// missing order of two lines. If they are more than the budget, they are taken at even distances from a random
/// beginning.
///
/// The simulator's image is edited in place, and is what it was before once this is dropped.
#[derive(Debug)]
pub struct Images<'s> {
    overlay: Overlay<'s>,
    states: u64,
    exhaustive: bool,
    /// Images to go.
    budget: usize,
    seen: HashSet<u64>,
    plan: Plan,
    /// Arrangements made so far.
    turn: usize,
    random: Random,
}

/// What is sampled: after none and all, single groups, then random choices.
#[derive(Debug)]
struct Plan {
    /// How many groups are taken alone, and left out alone.
    singles: usize,
    /// Where the even distances begin.
    phase: usize,
    /// Turns after which one gives up finding another image.
    turns: usize,
}

impl Plan {
    fn new(groups: usize, budget: usize, random: &mut Random) -> Plan {
        let singles = groups.min(budget.saturating_sub(2) / 2);
        // Where few images are left to find, most random choices were seen before.
        let turns = budget.saturating_mul(8);
        Plan { singles, phase: random.below(groups.max(1)), turns }
    }
}

impl<'s> Images<'s> {
    pub(super) fn new(overlay: Overlay<'s>, budget: usize, mut random: Random) -> Images<'s> {
        let states = overlay.states();
        let plan = Plan::new(overlay.groups(), budget, &mut random);
        let exhaustive = states <= budget as u64;
        Images { overlay, states, exhaustive, budget, seen: HashSet::new(), plan, turn: 0, random }
    }

    /// The next image, until there is none.
    pub fn next_image(&mut self) -> Option<&Image> {
        while self.budget > 0 && self.arrange() {
            if self.seen.insert(self.overlay.hash()) {
                self.budget -= 1;
                return Some(self.overlay.image());
            }
        }
        None
    }

    /// Whether these are all images that there are.
    pub fn is_exhaustive(&self) -> bool {
        self.exhaustive
    }

    /// How many choices the pending stores leave, counted up to `u64::MAX`. Of those that give the same image one is
    /// shown.
    pub fn states(&self) -> u64 {
        self.states
    }

    /// Arranges another image, maybe one that was seen; false if there are no more.
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

    /// All of one group and nothing of the others, or the other way round.
    fn arrange_single(&mut self, nth: usize, alone: bool) {
        let Plan { singles, phase, .. } = self.plan;
        let single = (nth * self.overlay.groups() + phase) / singles;
        self.overlay.arrange(|group, length| if (group == single) == alone { length } else { 0 });
    }

    /// Few, half or most of the groups, whole or in part.
    fn arrange_at_random(&mut self) {
        let random = &mut self.random;
        let eighths = [1, 4, 7][random.below(3)];
        self.overlay.arrange(|_, length| match (random.below(8) < eighths, random.below(2)) {
            (false, _) => 0,
            (true, 0) => length,
            (true, _) => 1 + random.below(length),
        });
    }
}
