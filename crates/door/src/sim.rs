//! A simulator of power cuts: from the [trace](crate::trace) of a run to the images that a cut may leave on the medium.
//!
//! A [`Simulator`] does the events again, one by one. Between two of them it knows which stores are *pending*: done,
//! but not surely durable. A store is durable once its line was written back after it, and the thread that wrote back
//! has fenced after that. Each pending store may have arrived or not; what orders them is the fault model:
//!
//! | [`Model`] | what ends the run | pending stores arrive |
//! |---|---|---|
//! | K | the process is killed | all of them; the last event's, word by word in order |
//! | X | a power cut, x86 | line by line: of each line, those up to some point in the order of the program |
//! | T | a power cut, any medium | word by word: each word has any of the values it had since it was durable |
//!
//! So in every model the pending stores fall into groups that are independent of each other, and a group arrives in
//! order, up to some store. The images of a cut are all choices of such a store in each group.
//!
//! A cut at position `n` lies after event `n`, counted from 1, **or inside it**: a bulk store whose words arrived in
//! part is among the images in each model.
//!
//! Nothing here runs the program: a run gives one trace, and the order of its threads is the one that it had.
//!
//! ```
//! use spirit_door::Site;
//! use spirit_door::sim::{Image, Model, Simulator};
//! use spirit_door::trace::{Action, Event};
//!
//! let event = |site, action| Event { space: 0, thread: 0, site: Some(site), action };
//! let run = [
//!     event(Site::LogRecord, Action::Store { at: 0, words: [7, 8].into() }),
//!     event(Site::LogWriteBack, Action::WriteBack { at: 0, bytes: 16 }),
//!     event(Site::LogFence, Action::Fence),
//! ];
//! let mut simulator = Simulator::new(Image::new(vec![vec![0; 8]]), &run, None);
//! simulator.advance_to(2);
//! let mut images = simulator.images(Model::T, 64, 0);
//! let mut seen = Vec::new();
//! while let Some(image) = images.next_image() {
//!     seen.push([image.words(0)[0], image.words(0)[1]]);
//! }
//! assert_eq!(seen, [[0, 0], [7, 0], [0, 8], [7, 8]]);
//! ```

mod cuts;
mod image;
mod images;
mod lint;
mod overlay;
mod pending;
mod random;
mod simulator;

pub use cuts::{Quota, cuts};
pub use image::Image;
pub use images::Images;
pub use lint::{Finding, Lint};
pub use pending::Pending;
pub use simulator::Simulator;

/// What may be lost. Each model allows what those before it allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Model {
    /// A killed process: everything executed is there.
    K,
    /// A power cut on x86: of each line, a prefix of its pending stores.
    X,
    /// A power cut anywhere: any subset of the pending words.
    T,
}

impl Model {
    /// All of them.
    pub const ALL: [Model; 3] = [Model::K, Model::X, Model::T];
}
