//! Damage that a thread has found in data that it read.
//!
//! Reading does not stop at damage, since any bytes give some answer. So a reader [clears](clear)
//! the notes first. At the end it asks for new notes before it returns the answer. Threads share no
//! notes.

use std::cell::Cell;

use spirit_mem::Region;

use crate::ground::corrupt::Corrupt;

/// The damage, and its region.
struct Damage {
    region: usize,
    what: Corrupt,
}

thread_local! {
    /// True if there is damage. Every query reads this; a sound index needs nothing else.
    static IS_ANY: Cell<bool> = const { Cell::new(false) };
    static FIRST: Cell<Option<Damage>> = const { Cell::new(None) };
}

fn name(region: &Region) -> usize {
    std::ptr::from_ref(region).addr()
}

/// Notes damage in a region, if it is the first since this thread cleared its notes.
#[cold]
pub fn note(region: &Region, what: Corrupt) {
    IS_ANY.set(true);
    FIRST.with(|first| {
        let noted = first.take();
        first.set(noted.or(Some(Damage { region: name(region), what })));
    });
}

/// Clears this thread's notes.
#[inline]
pub fn clear() {
    if is_any() {
        forget();
    }
}

#[cold]
fn forget() {
    FIRST.set(None);
    IS_ANY.set(false);
}

/// Returns the first damage that this thread noted, if it is in this region.
pub fn found(region: &Region) -> Option<Corrupt> {
    FIRST.with(|first| {
        let noted = first.take();
        let what = noted.as_ref().filter(|damage| damage.region == name(region));
        let what = what.map(|damage| damage.what.clone());
        first.set(noted);
        what
    })
}

/// True if this thread noted any damage.
#[inline]
pub fn is_any() -> bool {
    IS_ANY.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_a_region_is_found_until_it_is_cleared() {
        let regions = [(); 2].map(|()| Region::reserve(4096, Default::default()).unwrap());
        let at = |at| Corrupt { what: "page", at, why: "it is damaged" };
        clear();
        assert!(!is_any());
        note(&regions[0], at(1));
        note(&regions[1], at(2));
        assert!(is_any());
        assert_eq!([found(&regions[0]), found(&regions[1])], [Some(at(1)), None]);
        clear();
        assert_eq!(found(&regions[0]), None);
    }
}
