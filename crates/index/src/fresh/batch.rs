//! A batch of documents on its way into a fresh segment: tokens cut and hashed, not yet looked up.
//!
//! Reused for ever: it allocates until it has seen its largest document, and never afterwards.

use crate::ground::term::{FieldId, TermKey};
use crate::ground::values::{RowValue, ValueKind};
use crate::rows::vector::GAP_MAX;

/// Longest key of a document, in bytes.
pub const KEY_BYTES_MAX: usize = 512;

/// One token.
#[derive(Clone, Copy, Debug)]
pub struct BatchToken {
    /// The term's key; a hole if the token takes a position but is not kept.
    pub key: TermKey,
    /// The key's hash.
    pub hash: u64,
    /// The term's ordinal in the segment, once resolved.
    pub ordinal: u32,
    /// Where a long term's bytes are; of a hole, how many more holes follow it.
    pub long: u32,
}

impl BatchToken {
    /// How many holes it is, if it is any.
    pub(crate) fn holes(&self) -> u32 {
        self.long + 1
    }
}

/// How a document is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key<'a> {
    /// By the number that it is given when the batch is numbered.
    Next,
    /// The number of documents that the index had accepted before.
    Automatic(u64),
    /// What the caller chose.
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
        /// Bytes.
        len: u32,
        /// Their hash.
        hash: u64,
    },
}

impl BatchKey {
    /// Units that the key takes with the vectors.
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
    /// Of its tokens, those that are holes.
    pub holes: u32,
    /// Positions that its tokens take beyond one each: those of gaps.
    pub gaps: u32,
    /// Of the tokens that are kept, those that are not of its text but of other fields.
    pub apart: u32,
    /// One past the last of its values among those of the batch.
    pub value_end: u32,
    /// Its sequence number.
    pub sequence: u64,
    /// Its key.
    pub key: BatchKey,
}

/// Byte strings, length first.
#[derive(Debug, Default)]
pub struct LongTerms(Vec<u8>);

impl LongTerms {
    /// The string that `push` named `at`.
    pub fn bytes(&self, at: u32) -> &[u8] {
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
    /// The documents' texts one behind the other, and where each ends, if they are kept; the dropped ones included.
    texts: Vec<u8>,
    text_ends: Vec<usize>,
    /// Holes since the last document.
    holes: u32,
    /// The documents' values one behind the other; those of the dropped ones included.
    values: Vec<RowValue>,
    /// Positions of gaps since the last document, beyond one each.
    gaps: u32,
    /// Kept tokens of other fields than the text since the last document.
    apart: u32,
    /// Whether a document was given a key of its own.
    keyed: bool,
    /// Tokens of the documents that were dropped from the front.
    dropped_tokens: usize,
    dropped_documents: usize,
}

impl Batch {
    /// A batch that holds `tokens` tokens before it grows.
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
            dropped_tokens: 0,
            dropped_documents: 0,
        }
    }

    /// The same, and `bytes` bytes of texts of as many documents.
    pub fn with_texts(mut self, bytes: usize) -> Batch {
        self.texts.reserve(bytes);
        if bytes > 0 {
            self.text_ends.reserve(self.documents.capacity());
        }
        self
    }

    /// Empties it.
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
        self.keyed = false;
        self.dropped_tokens = 0;
        self.dropped_documents = 0;
    }

    /// Adds a token of a short term to the document that the next [`finish`](Self::finish) ends; returns its
    /// hash.
    #[inline(always)]
    pub fn push(&mut self, key: TermKey) -> u64 {
        debug_assert!(!key.is_long());
        let hash = key.hash();
        self.tokens.push(BatchToken { key, hash, ordinal: 0, long: 0 });
        hash
    }

    /// The same for a term of any length: `bytes` are all of it.
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

    /// The first of the tokens of the document that the next [`finish`](Self::finish) ends.
    pub fn document_start(&self) -> usize {
        self.documents.last().map_or(0, |document| document.token_end as usize)
    }

    /// How many of the tokens from `first` on are kept.
    pub fn kept_since(&self, first: usize) -> usize {
        let tokens = &self.tokens[self.dropped_tokens + first..];
        tokens.iter().filter(|token| !token.key.is_hole()).count()
    }

    /// Adds a value to the document that the next [`finish`](Self::finish) ends.
    pub fn push_value(&mut self, field: FieldId, kind: ValueKind, bits: u64) {
        self.values.push(RowValue { field, kind, bits });
    }

    /// The current document has this many tokens of a field of text that are kept.
    pub fn push_length(&mut self, field: FieldId, kept: u64) {
        // What else its record says is known when it is written.
        [0, kept].into_iter().for_each(|bits| self.push_value(field, ValueKind::Text, bits));
    }

    /// Of the current document this many tokens that are kept are not of its text.
    pub fn set_apart(&mut self, tokens: usize) {
        self.apart = tokens as u32;
    }

    /// Adds the last token as a value: a whole one, which is a term.
    pub fn push_keyword(&mut self, field: FieldId) {
        // Which ordinal it gets shows later: until then it is known by its place in the document.
        let place = self.token_count() - self.document_start() - 1;
        self.push_value(field, ValueKind::Keyword, place as u64);
    }

    /// Brings the values of the current document in the order of their fields.
    pub fn sort_values(&mut self) {
        let first = self.documents.last().map_or(0, |document| document.value_end as usize);
        self.values[first..].sort_by_key(|value| value.field);
    }

    /// Keeps the text of the document that the next [`finish`](Self::finish) ends. If texts are kept, each has one.
    #[inline]
    pub fn keep_text(&mut self, text: &[u8]) {
        self.keep_parts([text]);
    }

    /// The same of one that consists of `parts`.
    #[inline]
    pub fn keep_parts<const N: usize>(&mut self, parts: [&[u8]; N]) {
        parts.into_iter().for_each(|part| self.texts.extend_from_slice(part));
        self.text_ends.push(self.texts.len());
    }

    /// Bytes of the texts that were kept, since the last [`clear`](Self::clear).
    pub fn text_bytes(&self) -> usize {
        self.texts.len()
    }

    /// Ends a document: it has the tokens since the last one. Its sequence number comes later.
    #[inline]
    pub fn finish(&mut self, key: Key<'_>) {
        let key = match key {
            Key::Next => BatchKey::Next,
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
            key,
        });
    }

    /// Forgets the tokens and values since the last document.
    pub fn unfinish(&mut self) {
        let last = self.documents.last();
        let end = last.map_or(0, |d| d.token_end as usize);
        self.values.truncate(last.map_or(0, |d| d.value_end as usize));
        self.tokens.truncate(end + self.dropped_tokens);
        (self.holes, self.gaps, self.apart) = (0, 0, 0);
    }

    /// Whether a document was given a key of its own.
    pub fn is_keyed(&self) -> bool {
        self.keyed
    }

    /// The documents that are left.
    pub fn documents(&self) -> &[Document] {
        &self.documents[self.dropped_documents..]
    }

    /// The number that was drawn for the first document before it came here, if it was.
    pub fn first_number(&self) -> Option<u64> {
        match self.documents().first()?.key {
            BatchKey::Automatic(number) => Some(number),
            _ => None,
        }
    }

    /// Gives the documents sequence numbers from `sequence` on, and numbers from `number` on; a document that has a key
    /// keeps it.
    pub fn number(&mut self, sequence: u64, number: u64) {
        for ((document, sequence), number) in
            self.documents.iter_mut().zip(sequence..).zip(number..)
        {
            document.sequence = sequence;
            if let BatchKey::Next = document.key {
                document.key = BatchKey::Automatic(number);
            }
        }
    }

    /// Tokens that are left.
    pub fn token_count(&self) -> usize {
        self.tokens.len() - self.dropped_tokens
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.documents.len() == self.dropped_documents
    }

    /// The key of a document.
    pub fn key(&self, document: &Document) -> Key<'_> {
        match document.key {
            BatchKey::Next => Key::Next,
            BatchKey::Automatic(number) => Key::Automatic(number),
            BatchKey::Bytes { start, len, hash } => {
                Key::Bytes { bytes: &self.keys[start as usize..(start + len) as usize], hash }
            }
        }
    }

    pub(crate) fn tokens_mut(&mut self) -> (&mut [BatchToken], &LongTerms) {
        (&mut self.tokens[self.dropped_tokens..], &self.long)
    }

    pub(crate) fn tokens_of(&self, index: usize) -> &[BatchToken] {
        let documents = self.documents();
        let start = if index == 0 { 0 } else { documents[index - 1].token_end as usize };
        let tokens = &self.tokens[self.dropped_tokens..];
        &tokens[start..documents[index].token_end as usize]
    }

    /// The values of a document. Those that are terms are known by their tokens' places among the document's.
    pub(crate) fn values_of(&self, index: usize) -> &[RowValue] {
        let index = self.dropped_documents + index;
        let start = index.checked_sub(1).map_or(0, |before| self.documents[before].value_end);
        &self.values[start as usize..self.documents[index].value_end as usize]
    }

    /// The text of a document; none if texts are not kept.
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

/// Why a batch was not taken whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The segment is full: seal it and go on with the next.
    SegmentFull,
    /// The long-term partition has no room for more rows, vectors or texts now.
    HeapFull,
}
