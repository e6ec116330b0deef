//! Where matches go: into a caller's slice until it is full, or only into a count.
//!
//! The intersections are written once over this trait; with [`Tally`] every store folds away.
//! A sink never holds more than it has room for, whatever a kernel claims to have found.

/// Takes matching words, in ascending order.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // Only shells write several at once.
pub(crate) trait Sink {
    /// Whether words are kept; a kernel need not prepare them otherwise.
    const STORES: bool;

    /// Words taken so far.
    fn found(&self) -> usize;

    /// Words that still fit.
    fn room(&self) -> usize;

    /// The part not yet written, for a kernel that writes several words at once and then `take`s
    /// them. Empty if nothing is stored.
    fn tail(&mut self) -> &mut [u32];

    /// Counts `count` words, or as many as there is room for. Returns how many.
    fn take(&mut self, count: usize) -> usize;

    /// Takes the word if `keep`, without a branch on it. Ignored when full.
    fn offer(&mut self, word: u32, keep: bool);

    /// Whether nothing more fits.
    #[inline(always)]
    fn is_full(&self) -> bool {
        self.room() == 0
    }
}

/// Counts without limit.
#[derive(Default)]
pub(crate) struct Tally(usize);

impl Sink for Tally {
    const STORES: bool = false;

    #[inline(always)]
    fn found(&self) -> usize {
        self.0
    }

    #[inline(always)]
    fn room(&self) -> usize {
        usize::MAX
    }

    #[inline(always)]
    fn tail(&mut self) -> &mut [u32] {
        &mut []
    }

    #[inline(always)]
    fn take(&mut self, count: usize) -> usize {
        self.0 += count;
        count
    }

    #[inline(always)]
    fn offer(&mut self, _word: u32, keep: bool) {
        self.0 += usize::from(keep);
    }
}

/// Writes to a slice from its front.
pub(crate) struct Words<'a> {
    out: &'a mut [u32],
    /// Never above `out.len()`.
    found: usize,
}

impl<'a> Words<'a> {
    pub(crate) fn new(out: &'a mut [u32]) -> Self {
        Self { out, found: 0 }
    }
}

impl Sink for Words<'_> {
    const STORES: bool = true;

    #[inline(always)]
    fn found(&self) -> usize {
        self.found
    }

    #[inline(always)]
    fn room(&self) -> usize {
        self.out.len() - self.found
    }

    #[inline(always)]
    fn tail(&mut self) -> &mut [u32] {
        &mut self.out[self.found..]
    }

    #[inline(always)]
    fn take(&mut self, count: usize) -> usize {
        let taken = count.min(self.room());
        self.found += taken;
        taken
    }

    #[inline(always)]
    fn offer(&mut self, word: u32, keep: bool) {
        if let Some(slot) = self.out.get_mut(self.found) {
            *slot = word;
            self.found += usize::from(keep);
        }
    }
}
