//! A simulator of power cuts. From the [trace](crate::trace) of a run it makes the images that a
//! cut may leave on the medium.
//!
//! A [`Simulator`] repeats the events, one by one. Between two events it knows which stores are
//! *pending*: done, but possibly not durable. A store is durable once its line was written back
//! after it, and the thread that wrote it back has fenced after that, or once the whole file was
//! synced. Each pending store may have arrived or not. The fault model orders them:
//!
//! | [`Model`] | end of the run | pending stores arrive |
//! |---|---|---|
//! | K | the process is killed | all of them; those of the last event word by word, in order |
//! | X | a power cut, x86 | line by line: of each line, those up to some point in program order |
//! | T | a power cut, any medium | each word has any of its values since it was durable |
//!
//! So in every model the pending stores form independent groups. A group arrives in order, up to
//! some store. The images of a cut are all choices of such a store in each group.
//!
//! A cut at position `n` lies after event `n`, counted from 1, **or inside it**. A bulk store whose
//! words arrived in part is among the images in each model.
//!
//! The simulator does not run the program. A run gives one trace, with the order that its threads
//! had.
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
//!
//! [`SlowMedium`] simulates another thing: the time that stores and barriers take on a slower medium.

mod cuts;
mod image;
mod images;
mod lint;
mod overlay;
mod pending;
mod random;
mod simulator;
mod slow;

pub use cuts::{Quota, cuts};
pub use image::Image;
pub use images::Images;
pub use lint::{Finding, Lint};
pub use pending::Pending;
pub use random::Random;
pub use simulator::Simulator;
pub(crate) use slow::Brake;
pub use slow::SlowMedium;

/// A fault model: which stores may be lost. Each model allows the losses of those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Model {
    /// A killed process: everything executed is there.
    K,
    /// A power cut on x86: of each line, a prefix of its pending stores arrives.
    X,
    /// A power cut anywhere: any subset of the pending words arrives.
    T,
}

impl Model {
    /// All models.
    pub const ALL: [Model; 3] = [Model::K, Model::X, Model::T];
}
