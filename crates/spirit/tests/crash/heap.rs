//! The file of an index, as an image and back.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use spirit_door::sim::Image;

use crate::setup::Setup;
use crate::support::directory::Directory;
use crate::support::roots::make_original;

/// A directory with the file of an index, into which one image after the other is put.
pub(crate) struct Heap {
    directory: Directory,
    file: File,
    setup: Setup,
    bytes: Vec<u8>,
}

impl Heap {
    pub(crate) fn new(setup: Setup) -> Heap {
        let directory = Directory::new();
        let path = directory.path().join("heap");
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create_new(true).open(path).unwrap();
        file.set_len(setup.spaces().iter().sum()).unwrap();
        Heap { directory, file, setup, bytes: Vec::new() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Makes the file what `image` is.
    pub(crate) fn put(&mut self, image: &Image) {
        self.bytes.clear();
        for space in 0..self.setup.spaces().len() {
            for word in image.words(space as u8) {
                self.bytes.extend_from_slice(&word.to_le_bytes());
            }
        }
        self.file.write_all_at(&self.bytes, 0).unwrap();
        make_original(&self.directory.path().join("heap"));
    }
}

/// The index file in `directory`.
pub(crate) fn read(directory: &Path, setup: Setup) -> Image {
    let bytes = std::fs::read(directory.join("heap")).unwrap();
    let words = bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
    let mut words: Vec<u64> = words.collect();
    let mut spaces = Vec::new();
    for bytes in setup.spaces() {
        let rest = words.split_off(bytes as usize / 8);
        spaces.push(std::mem::replace(&mut words, rest));
    }
    Image::new(spaces)
}
