//! The engines by name, and how each is made.

use std::path::Path;

use crate::Fallible;
use crate::dictionary::engine::{DictionaryEngine, Room};
use crate::dictionary::hollow::Hollow;
use crate::dictionary::lsm::Lsm;
use crate::dictionary::own::Own;
use crate::dictionary::tree::Tree;

/// The engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Memory,
    EachPut,
    Tree,
    Lsm,
    Hollow,
}

impl Kind {
    #[cfg(test)]
    pub(crate) const ALL: [Kind; 6] =
        [Kind::File, Kind::Memory, Kind::EachPut, Kind::Tree, Kind::Lsm, Kind::Hollow];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::File => "own, in the file",
            Kind::Memory => "own, in memory",
            Kind::EachPut => "own, each put",
            Kind::Tree => "B-tree",
            Kind::Lsm => "LSM",
            Kind::Hollow => "hollow",
        }
    }

    /// Makes an empty dictionary in a directory, which is made too.
    pub(crate) fn create(
        self,
        directory: &Path,
        room: Room,
    ) -> Fallible<Box<dyn DictionaryEngine>> {
        std::fs::create_dir_all(directory)?;
        Ok(match self {
            Kind::File => Box::new(Own::in_file(directory, room)?),
            Kind::Memory => Box::new(Own::in_memory(directory, room)?),
            Kind::EachPut => Box::new(Own::durable(directory, room)?),
            Kind::Tree => Box::new(Tree::create(directory)?),
            Kind::Lsm => Box::new(Lsm::create(directory)?),
            Kind::Hollow => Box::new(Hollow),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use spirit_door::sim::Random;
    use spirit_index::ground::{FieldId, Term};

    use super::*;
    use crate::scratch::Scratch;

    /// A key of a number: many are too long for a key word, and some have another field.
    fn key(number: u64) -> (FieldId, Vec<u8>) {
        let text = format!("{number:x}").repeat(1 + number as usize % 40);
        (FieldId((number % 300) as u16), text.into_bytes())
    }

    #[test]
    fn an_engine_has_what_was_put_last() {
        for kind in Kind::ALL {
            let (mut random, scratch) = (Random::named(7, kind.name()), Scratch::new().unwrap());
            let room = Room { keys: 5_000, lines: 50_000 };
            let mut engine = kind.create(scratch.path(), room).unwrap();
            let mut expected = BTreeMap::new();
            for _ in 0..20_000 {
                let ((field, bytes), head) = (key(random.below(5_000)), random.next());
                engine.put(Term::new(field, &bytes).unwrap(), head).unwrap();
                expected.insert((field, bytes), head);
            }
            engine.finish().unwrap();
            let mut found = BTreeMap::new();
            let mut take = |field, bytes: &[u8], head| {
                assert_eq!(found.insert((field, bytes.to_vec()), head), None, "twice");
            };
            engine.iterate(&mut take).unwrap();
            if kind == Kind::Hollow {
                expected.clear();
            }
            assert_eq!(found, expected, "{}", kind.name());
            for number in 0..6_000 {
                let (field, bytes) = key(number);
                let head = engine.get(Term::new(field, &bytes).unwrap()).unwrap();
                assert_eq!(head, expected.get(&(field, bytes)).copied(), "{}", kind.name());
            }
        }
    }
}
