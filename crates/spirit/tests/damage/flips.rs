//! Bits to flip: of every kind of place some, or all if there are few.

use std::collections::BTreeMap;

use super::atlas::{Place, Promise};
use crate::support::Chance;

/// A bit of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flip {
    pub(crate) what: &'static str,
    pub(crate) promise: Promise,
    pub(crate) at: u64,
    pub(crate) bit: u8,
}

/// Bits of the places, at most `each` of every kind.
pub(crate) fn flips(places: &[Place], each: u64, chance: &mut Chance) -> Vec<Flip> {
    let mut kinds: BTreeMap<(&str, Promise), Vec<&Place>> = BTreeMap::new();
    for place in places {
        kinds.entry((place.what, place.promise)).or_default().push(place);
    }
    let mut flips = Vec::new();
    for places in kinds.into_values() {
        let bits: u64 = places.iter().map(|place| place.len * 8).sum();
        let mut add = |index| flips.push(nth(&places, index));
        if bits <= each {
            (0..bits).for_each(&mut add);
        } else {
            (0..each).for_each(|_| add(chance.below(bits)));
        }
    }
    flips
}

/// The bit at `index` of all the places'.
fn nth(places: &[&Place], mut index: u64) -> Flip {
    for place in places {
        if index < place.len * 8 {
            let Place { what, promise, at, .. } = **place;
            return Flip { what, promise, at: at + index / 8, bit: (index % 8) as u8 };
        }
        index -= place.len * 8;
    }
    panic!("there are fewer bits")
}
