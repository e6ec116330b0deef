//! A batch of documents on its way to a fresh segment. Its tokens are cut and hashed, but not
//! looked up yet.
//!
//! The batch is reused for good. It allocates until it has seen its largest document, and never
//! afterwards.

use std::collections::HashSet;
use std::ops::Range;

use crate::ground::automatic_key::as_number;
use crate::ground::term::{FieldId, TermKey};
use crate::ground::values::{RowValue, ValueKind};
use crate::rows::vector::GAP_MAX;

/// Largest number of bytes of a document's key.
pub const KEY_BYTES_MAX: usize = 512;

/// One token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchToken {
    /// The term's key, or a hole if the token takes a position but is not kept.
    pub key: TermKey,
    /// The key's hash.
    pub hash: u64,
    /// The term's ordinal in the segment, once resolved.
    pub ordinal: u32,
    /// The place of a long term's bytes. For a hole: the number of holes that follow it.
    pub long: u32,
}

impl BatchToken {
    /// Returns the number of holes of a token that is a hole.
    pub(crate) fn holes(&self) -> u32 {
        self.long + 1
    }
}

/// The key of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key<'a> {
    /// The number that it gets when the batch is numbered.
    Next,
    /// The number of documents that the index had accepted before.
    Automatic(u64),
    /// The caller's own key.
    Bytes {
        /// 1 to [`KEY_BYTES_MAX`] bytes.
        bytes: &'a [u8],
        /// Their [hash](crate::keys::hash).
        hash: u64,
    },
}

/// A document's key, as the batch keeps it.
#[derive(Clone, Copy, Debug)]
pub enum BatchKey {
    /// An automatic key that is not known yet.
    Next,
    /// An automatic key.
    Automatic(u64),
    /// Bytes `start .. start + len` of the batch's keys.
    Bytes {
        /// First byte.
        start: u32,
        /// Number of bytes.
        len: u32,
        /// The key's hash.
        hash: u64,
    },
}

impl BatchKey {
    /// Returns the units that the key takes among the vectors.
    pub(crate) fn stored_units(self) -> u32 {
        match self {
            BatchKey::Bytes { len, .. } if len as usize > crate::rows::KEY_INLINE_MAX => {
                len.div_ceil(2)
            }
            _ => 0,
        }
    }
}

/// A document of the batch.
#[derive(Clone, Copy, Debug)]
pub struct Document {
    /// One past its last token.
    pub token_end: u32,
    /// Number of its tokens that are holes.
    pub holes: u32,
    /// Number of positions that its gaps take beyond one each.
    pub gaps: u32,
    /// Number of its kept tokens that belong to other fields than its text.
    pub apart: u32,
    /// One past its last value in the batch's values.
    pub value_end: u32,
    /// Its sequence number.
    pub sequence: u64,
    /// One past the highest number that was drawn for it and the documents before it.
    pub number_end: u64,
    /// Its key.
    pub key: BatchKey,
}

impl Document {
    fn take_numbers(&mut self, sequence: u64, number: u64) {
        (self.sequence, self.number_end) = (sequence, number + 1);
        if let BatchKey::Next = self.key {
            self.key = BatchKey::Automatic(number);
        }
    }
}

/// Byte strings, each behind its length.
#[derive(Debug, Default)]
pub(crate) struct LongTerms(Vec<u8>);

impl LongTerms {
    /// Returns the string whose place `push` returned as `at`.
    pub(crate) fn bytes(&self, at: u32) -> &[u8] {
        let at = at as usize;
        match self.0.get(at) {
            Some(len) => &self.0[at + 1..at + 1 + *len as usize],
            None => &[],
        }
    }

    fn push(&mut self, bytes: &[u8]) -> u32 {
        let at = self.0.len() as u32;
        self.0.push(bytes.len() as u8);
        self.0.extend_from_slice(bytes);
        at
    }
}

/// Documents with their tokens.
#[derive(Debug, Default)]
pub struct Batch {
    tokens: Vec<BatchToken>,
    documents: Vec<Document>,
    long: LongTerms,
    keys: Vec<u8>,
    /// The texts of all documents, dropped ones included, and the end of each, if texts are kept.
    texts: Vec<u8>,
    text_ends: Vec<usize>,
    /// Number of holes since the last document.
    holes: u32,
    /// The values of all documents, dropped ones included.
    values: Vec<RowValue>,
    /// Number of positions of gaps since the last document, beyond one each.
    gaps: u32,
    /// Number of kept tokens of other fields than the text since the last document.
    apart: u32,
    /// True if a document was given a key of its own.
    keyed: bool,
    /// True if a document has no key yet.
    unnamed: bool,
    /// Number of tokens of the documents dropped from the front.
    dropped_tokens: usize,
    dropped_documents: usize,
}

impl Batch {
    /// Makes a batch that holds `tokens` tokens before it grows.
    pub fn with_capacity(tokens: usize, documents: usize) -> Batch {
        Batch {
            tokens: Vec::with_capacity(tokens),
            documents: Vec::with_capacity(documents),
            long: LongTerms(Vec::with_capacity(4096)),
            keys: Vec::with_capacity(KEY_BYTES_MAX * 16),
            texts: Vec::new(),
            text_ends: Vec::new(),
            holes: 0,
            values: Vec::new(),
            gaps: 0,
            apart: 0,
            keyed: false,
            unnamed: false,
            dropped_tokens: 0,
            dropped_documents: 0,
        }
    }

    /// Reserves `bytes` bytes for the documents' texts as well.
    pub fn with_texts(mut self, bytes: usize) -> Batch {
        self.texts.reserve(bytes);
        if bytes > 0 {
            self.text_ends.reserve(self.documents.capacity());
        }
        self
    }

    /// Empties the batch.
    pub fn clear(&mut self) {
        self.tokens.clear();
        self.documents.clear();
        self.long.0.clear();
        self.keys.clear();
        self.texts.clear();
        self.text_ends.clear();
        self.holes = 0;
        self.values.clear();
        (self.gaps, self.apart) = (0, 0);
        (self.keyed, self.unnamed) = (false, false);
        self.dropped_tokens = 0;
        self.dropped_documents = 0;
    }

    /// Adds a token of a short term to the document that the next [`finish`](Self::finish) ends.
    /// Returns its hash.
    #[inline(always)]
    pub fn push(&mut self, key: TermKey) -> u64 {
        debug_assert!(!key.is_long());
        let hash = key.hash();
        self.tokens.push(BatchToken { key, hash, ordinal: 0, long: 0 });
        hash
    }

    /// Like [`push`](Self::push), but for a term of any length. `bytes` are the whole term.
    #[cold]
    pub fn push_any(&mut self, key: TermKey, bytes: &[u8]) -> u64 {
        let hash = key.hash();
        let long = if key.is_long() { self.long.push(bytes) } else { 0 };
        self.tokens.push(BatchToken { key, hash, ordinal: 0, long });
        hash
    }

    /// Adds a position without a term.
    pub fn push_hole(&mut self) {
        self.holes += 1;
        self.tokens.push(BatchToken { key: TermKey::HOLE, hash: 0, ordinal: 0, long: 0 });
    }

    /// Adds a gap of 1 to [`GAP_MAX`] positions.
    pub fn push_gap(&mut self, positions: u32) {
        debug_assert!((1..=GAP_MAX).contains(&positions));
        self.push_hole();
        if let Some(gap) = self.tokens.last_mut() {
            gap.long = positions - 1;
            self.gaps += positions - 1;
        }
    }

    /// Returns the index of the first token of the document that the next [`finish`](Self::finish)
    /// ends.
    pub fn document_start(&self) -> usize {
        self.documents.last().map_or(0, |document| document.token_end as usize)
    }

    /// Returns the number of kept tokens from `first` on.
    pub fn kept_since(&self, first: usize) -> usize {
        let tokens = &self.tokens[self.dropped_tokens + first..];
        tokens.iter().filter(|token| !token.key.is_hole()).count()
    }

    /// Adds a value to the document that the next [`finish`](Self::finish) ends.
    pub fn push_value(&mut self, field: FieldId, kind: ValueKind, bits: u64) {
        self.values.push(RowValue { field, kind, bits });
    }

    /// Sets the number of kept tokens of a field of text of the current document.
    pub fn push_length(&mut self, field: FieldId, kept: u64) {
        // The other value of the field is only known when its record is written.
        [0, kept].into_iter().for_each(|bits| self.push_value(field, ValueKind::Text, bits));
    }

    /// Sets the number of the current document's kept tokens outside its text.
    pub fn set_apart(&mut self, tokens: usize) {
        self.apart = tokens as u32;
    }

    /// Adds the last token, which is a whole term, as a value.
    pub fn push_keyword(&mut self, field: FieldId) {
        // Its ordinal is not known yet. Until then its place in the document identifies it.
        let place = self.token_count() - self.document_start() - 1;
        self.push_value(field, ValueKind::Keyword, place as u64);
    }

    /// Sorts the values of the current document by field.
    pub fn sort_values(&mut self) {
        let first = self.documents.last().map_or(0, |document| document.value_end as usize);
        self.values[first..].sort_by_key(|value| value.field);
    }

    /// Keeps the text of the document that the next [`finish`](Self::finish) ends. If texts are
    /// kept, each document has one.
    #[inline]
    pub fn keep_text(&mut self, text: &[u8]) {
        self.keep_parts([text]);
    }

    /// Like [`keep_text`](Self::keep_text), but for a text that consists of `parts`.
    #[inline]
    pub fn keep_parts<const N: usize>(&mut self, parts: [&[u8]; N]) {
        parts.into_iter().for_each(|part| self.texts.extend_from_slice(part));
        self.text_ends.push(self.texts.len());
    }

    /// Returns the bytes of the texts that were kept since the last [`clear`](Self::clear).
    pub fn text_bytes(&self) -> usize {
        self.texts.len()
    }

    /// Ends a document with the tokens since the last one. Its sequence number is set later.
    #[inline]
    pub fn finish(&mut self, key: Key<'_>) {
        let key = match key {
            Key::Next => {
                self.unnamed = true;
                BatchKey::Next
            }
            Key::Automatic(number) => BatchKey::Automatic(number),
            Key::Bytes { bytes, hash } => {
                self.keyed = true;
                let start = self.keys.len() as u32;
                self.keys.extend_from_slice(bytes);
                BatchKey::Bytes { start, len: bytes.len() as u32, hash }
            }
        };
        let token_end = (self.tokens.len() - self.dropped_tokens) as u32;
        let [holes, gaps, apart] =
            [&mut self.holes, &mut self.gaps, &mut self.apart].map(std::mem::take);
        let value_end = self.values.len() as u32;
        self.documents.push(Document {
            token_end,
            holes,
            gaps,
            apart,
            value_end,
            sequence: 0,
            number_end: 0,
            key,
        });
    }

    /// Gives the last document numbers that were drawn for it before.
    pub fn take_drawn(&mut self, sequence: u64, number: u64) {
        if let Some(document) = self.documents.last_mut() {
            document.take_numbers(sequence, number);
        }
    }

    /// Forgets the tokens and values since the last document.
    pub fn unfinish(&mut self) {
        let last = self.documents.last();
        let end = last.map_or(0, |d| d.token_end as usize);
        self.values.truncate(last.map_or(0, |d| d.value_end as usize));
        self.tokens.truncate(end + self.dropped_tokens);
        (self.holes, self.gaps, self.apart) = (0, 0, 0);
    }

    /// True if a document was given a key of its own.
    pub fn is_keyed(&self) -> bool {
        self.keyed
    }

    /// True if a document has no key yet.
    pub fn is_unnamed(&self) -> bool {
        self.unnamed
    }

    /// Returns the documents that are left.
    pub fn documents(&self) -> &[Document] {
        &self.documents[self.dropped_documents..]
    }

    /// Returns the number that was drawn for the first document before it came here, if any.
    pub fn first_number(&self) -> Option<u64> {
        match self.documents().first()?.key {
            BatchKey::Automatic(number) => Some(number),
            _ => None,
        }
    }

    /// Gives the documents sequence numbers from `sequence` on, and document numbers from `number`
    /// on. A document without a key gets its number as its key; others keep theirs.
    pub fn number(&mut self, sequence: u64, number: u64) {
        for ((document, sequence), number) in
            self.documents.iter_mut().zip(sequence..).zip(number..)
        {
            document.take_numbers(sequence, number);
        }
    }

    /// Like [`number`](Self::number), but passes over numbers that documents have as their explicit
    /// keys: documents before in this batch, and those for which `is_taken` returns true. Returns
    /// one past the last number.
    pub fn number_around(
        &mut self,
        sequence: u64,
        first: u64,
        mut is_taken: impl FnMut(u64) -> bool,
    ) -> u64 {
        let (mut number, mut given) = (first, HashSet::new());
        for (index, sequence) in (0..self.documents.len()).zip(sequence..) {
            match self.key(&self.documents[index]) {
                Key::Next => {
                    while given.contains(&number) || is_taken(number) {
                        number += 1;
                    }
                }
                // A number drawn before decided the executor. It is free, and this document's.
                Key::Automatic(drawn) => number = drawn,
                Key::Bytes { bytes, .. } => given.extend(as_number(bytes)),
            }
            self.documents[index].take_numbers(sequence, number);
            number += 1;
        }
        number
    }

    /// Returns the number of tokens that are left.
    pub fn token_count(&self) -> usize {
        self.tokens.len() - self.dropped_tokens
    }

    /// True if no document is left.
    pub fn is_empty(&self) -> bool {
        self.documents.len() == self.dropped_documents
    }

    /// Returns the key of a document.
    pub fn key(&self, document: &Document) -> Key<'_> {
        match document.key {
            BatchKey::Next => Key::Next,
            BatchKey::Automatic(number) => Key::Automatic(number),
            BatchKey::Bytes { start, len, hash } => {
                Key::Bytes { bytes: &self.keys[start as usize..(start + len) as usize], hash }
            }
        }
    }

    /// Returns the hash of a document's explicit key.
    #[inline]
    pub fn key_hash(&self, place: usize) -> Option<u64> {
        match self.documents().get(place)?.key {
            BatchKey::Bytes { hash, .. } => Some(hash),
            BatchKey::Next | BatchKey::Automatic(_) => None,
        }
    }

    pub(crate) fn tokens_mut(&mut self) -> (&mut [BatchToken], &LongTerms) {
        (&mut self.tokens[self.dropped_tokens..], &self.long)
    }

    /// Returns the first token of the document at `index`.
    pub(crate) fn token_start(&self, index: usize) -> usize {
        index.checked_sub(1).map_or(0, |before| self.documents()[before].token_end as usize)
    }

    /// Returns the tokens in this range of those that are left.
    pub(crate) fn tokens(&self, range: Range<usize>) -> &[BatchToken] {
        &self.tokens[self.dropped_tokens..][range]
    }

    pub(crate) fn tokens_of(&self, index: usize) -> &[BatchToken] {
        self.tokens(self.token_start(index)..self.documents()[index].token_end as usize)
    }

    /// Returns the values of a document. Keywords hold their tokens' places in the document.
    pub(crate) fn values_of(&self, index: usize) -> &[RowValue] {
        let index = self.dropped_documents + index;
        let start = index.checked_sub(1).map_or(0, |before| self.documents[before].value_end);
        &self.values[start as usize..self.documents[index].value_end as usize]
    }

    /// Returns the text of a document. It is empty if texts are not kept.
    pub(crate) fn text_of(&self, index: usize) -> &[u8] {
        let index = self.dropped_documents + index;
        let Some(end) = self.text_ends.get(index) else { return &[] };
        let start = index.checked_sub(1).map_or(0, |before| self.text_ends[before]);
        &self.texts[start..*end]
    }

    /// Drops the first `documents` documents.
    pub fn drop_front(&mut self, documents: usize) {
        if documents == 0 {
            return;
        }
        let tokens = self.documents()[documents - 1].token_end;
        self.dropped_documents += documents;
        self.dropped_tokens += tokens as usize;
        for document in &mut self.documents[self.dropped_documents..] {
            document.token_end -= tokens;
        }
    }
}

/// The reason why a batch was not taken whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The segment is full: seal it and continue with the next.
    SegmentFull,
    /// The long-term partition has no room for more rows, vectors or texts now.
    HeapFull,
}
