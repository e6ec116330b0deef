//! Collecting: text becomes a batch of tokens, which are cut and hashed, and whose table slots are
//! prefetched.
//!
//! A collector lives for one batch. So state that does not change between documents is looked up
//! once.

mod fields;
mod objects;

pub(crate) use fields::KnownSchema;

use spirit_index::fresh::Extent;
use spirit_index::fresh::{Batch, Key};
use spirit_index::ground::Gauge;
use spirit_index::ground::{FieldId, INLINE_BYTES_MAX, TermKey};
use spirit_index::keys;
use spirit_index::keys::Keys;
use spirit_text::{Sink, Token};

use crate::config::error::WriteError;
use crate::storage::shared::Shared;
use crate::write::contents::{Called, Contents, Drawn};
use crate::write::journal::Journal;
use crate::write::timer::Samples;
use crate::write::tokenizers::Tokenizers;

/// The bytes of stored texts from which a batch is full, even with few tokens.
pub(crate) const TEXT_BYTES_MAX: usize = 256 << 10;

/// How many documents ahead the lines of the key table are prefetched.
pub(crate) const KEYS_PREFETCHED: usize = 8;

/// The size from which a batch is full.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchSize {
    pub(crate) tokens: usize,
    pub(crate) documents: usize,
}

impl BatchSize {
    /// Large enough to overlap the cache misses of all tokens.
    pub(crate) const USUAL: BatchSize = BatchSize { tokens: 512, documents: 256 };
    /// Large enough to share the fixed cost of a log record.
    pub(crate) const LOGGED: BatchSize = BatchSize { tokens: 1536, documents: 256 };
    /// Large enough to share the cost of waiting for a disk.
    pub(crate) const SYNCED: BatchSize = BatchSize { tokens: 16_384, documents: 1024 };
}

/// A collector, which cuts documents into a batch for the segment with `extent`.
pub(crate) struct Collector<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) extent: Extent<'a>,
    pub(crate) tokenizers: &'a mut Tokenizers,
    /// True if texts are kept and not cut.
    pub(crate) opaque_text: bool,
    pub(crate) schema: &'a mut KnownSchema,
    pub(crate) batch: &'a mut Batch,
    pub(crate) size: BatchSize,
    /// The journal that gathers documents to be logged, if any are.
    pub(crate) journal: Option<&'a mut Journal>,
    /// The documents that are timed.
    pub(crate) collects: &'a mut Samples,
}

impl Collector<'_> {
    /// True if the batch should be committed before more is collected.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.batch.token_count() >= self.size.tokens
            || self.batch.documents().len() >= self.size.documents
            || self.batch.text_bytes() >= TEXT_BYTES_MAX
            || self.journal.as_ref().is_some_and(|journal| journal.is_full())
    }

    /// Cuts a document into the batch. A document that is refused leaves nothing there.
    #[inline]
    pub(crate) fn collect(
        &mut self,
        called: Called<'_>,
        contents: Contents<'_>,
    ) -> Result<(), WriteError> {
        let timer = self.collects.begin(self.shared);
        let collected = self.collect_drawn(called, contents, None);
        if let Some(timer) = timer {
            timer.end(self.shared);
        }
        collected
    }

    /// Like [`collect`](Self::collect), for a document whose numbers were drawn before. They ascend
    /// in the batch. Its time is not taken.
    #[inline]
    pub(crate) fn collect_drawn(
        &mut self,
        called: Called<'_>,
        contents: Contents<'_>,
        drawn: Option<Drawn>,
    ) -> Result<(), WriteError> {
        let Contents { text, fields, .. } = contents;
        called.check()?;
        if !self.opaque_text {
            self.cut_text(text)?;
        }
        if !fields.is_empty() {
            self.collect_fields(text, fields)?;
        }
        if let Some(journal) = &mut self.journal {
            let before = self.batch.documents().last().map(|document| document.sequence + 1);
            let gap = drawn.zip(before).map_or(0, |(drawn, before)| drawn.sequence - before);
            journal.push(called, contents, gap);
        }
        if self.shared.memory.geometry().settings.store {
            self.keep(text, fields);
        }
        let key = match called {
            Called::By(key) => self.hashed(key.as_bytes()),
            Called::Next => Key::Next,
            Called::Number(number) => Key::Automatic(number),
        };
        self.batch.finish(key);
        if let Some(Drawn { sequence, number }) = drawn {
            self.batch.take_drawn(sequence, number);
        }
        Ok(())
    }

    /// Cuts a document's text into the batch.
    #[inline(always)]
    fn cut_text(&mut self, text: &str) -> Result<(), WriteError> {
        let first = self.batch.token_count();
        let mut sink = ToBatch { extent: self.extent, batch: self.batch, first };
        let summary = self.tokenizers.text().feed(text, &mut sink).map_err(|_| {
            let bytes_max = self.tokenizers.document_bytes_max();
            WriteError::DocumentTooLong { bytes: text.len(), bytes_max }
        })?;
        sink.holes_to(summary.tokens);
        if summary.skipped > 0 {
            self.shared.add(Gauge::SkippedTokens, summary.skipped as u64);
        }
        Ok(())
    }

    /// Returns a key with its hash. Prefetches its line of the key table for the first documents of
    /// a batch. By the end of a large batch, lines of the others would be gone from the caches.
    fn hashed<'k>(&self, bytes: &'k [u8]) -> Key<'k> {
        let (memory, hash) = (&self.shared.memory, keys::hash(bytes));
        if self.batch.documents().len() < KEYS_PREFETCHED {
            Keys::new(memory.geometry()).prefetch(memory, hash);
        }
        Key::Bytes { bytes, hash }
    }
}

/// The receiver of one document's tokens.
struct ToBatch<'a> {
    extent: Extent<'a>,
    batch: &'a mut Batch,
    /// The number of the batch's tokens before the document's. Each position of the document adds
    /// one.
    first: usize,
}

impl ToBatch<'_> {
    /// Adds holes up to `position`.
    #[cold]
    fn holes_to(&mut self, position: u32) {
        while self.batch.token_count() - self.first < position as usize {
            self.batch.push_hole();
        }
    }
}

impl Sink for &mut ToBatch<'_> {
    // Always inlined: this is the body of the tokenizer's loop.
    #[inline(always)]
    fn token(&mut self, token: Token<'_>) {
        if self.batch.token_count() - self.first != token.position() as usize {
            self.holes_to(token.position());
        }
        let hash = if token.len() <= INLINE_BYTES_MAX {
            self.batch.push(TermKey::short(FieldId::TEXT, token.head(), token.len()))
        } else {
            let bytes = token.bytes();
            let key = TermKey::new(FieldId::TEXT, token.head(), bytes);
            self.batch.push_any(key, bytes)
        };
        self.extent.prefetch(hash);
    }
}
