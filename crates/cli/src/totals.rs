//! How much went in.

/// What went in.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) documents: u64,
    pub(crate) refused: u64,
    /// Records that hold no text.
    pub(crate) without_text: u64,
    /// Bytes of the texts that went in.
    pub(crate) bytes: u64,
}
