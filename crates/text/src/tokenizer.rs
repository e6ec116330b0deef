//! The tokenizer: an analyzer with its working memory.
//!
//! One tokenizer serves one thread. It cuts documents and the words of queries alike, so that both
//! become the same terms. It keeps nothing of a text after [`Tokenizer::for_each`] returns.

use std::error::Error;
use std::fmt;
use std::ops::Range;

use spirit_kernel::Level;

use crate::emitter::{Emitter, Summary};
use crate::english::English;
use crate::fold::Fold;
use crate::scan::Scan;
use crate::token::{Each, EachSpan, Sink, SpanSink, Token};
use crate::{Analyzer, code, simple, social, standard};

/// A tokenizer, which cuts texts of bounded length into tokens.
pub struct Tokenizer {
    analyzer: Analyzer,
    level: Level,
    document_bytes_max: usize,
    scan: Scan,
    fold: Fold,
    english: English,
}

impl Tokenizer {
    /// Returns a tokenizer for texts of up to `document_bytes_max` bytes (less than 2 GiB), for the
    /// machine's best vector unit.
    ///
    /// It takes about 1.3 bytes of memory for each byte of the longest text; almost nothing for
    /// `keyword`.
    ///
    /// # Panics
    /// If `document_bytes_max` is 2 GiB - 1 or more.
    pub fn new(analyzer: Analyzer, document_bytes_max: usize) -> Tokenizer {
        Tokenizer::with_level(analyzer, document_bytes_max, Level::detect())
    }

    /// Returns a tokenizer like [`new`](Self::new), but with a vector level of the caller's choice.
    /// For tests and measurements: the tokens do not depend on it.
    pub fn with_level(analyzer: Analyzer, document_bytes_max: usize, level: Level) -> Tokenizer {
        assert!(document_bytes_max < i32::MAX as usize, "offsets in a text are 31 bits wide");
        let scan_bytes_max = if analyzer == Analyzer::Keyword { 0 } else { document_bytes_max };
        Tokenizer {
            analyzer,
            level,
            document_bytes_max,
            scan: Scan::new(scan_bytes_max),
            fold: Fold::new(),
            english: English::new(),
        }
    }

    /// Returns the analyzer of this tokenizer.
    pub fn analyzer(&self) -> Analyzer {
        self.analyzer
    }

    /// Returns the most bytes of a text.
    pub fn document_bytes_max(&self) -> usize {
        self.document_bytes_max
    }

    /// Calls `visit` for each token of `text`, in order. Otherwise like [`feed`](Self::feed).
    #[inline]
    pub fn for_each<F>(&mut self, text: &str, visit: F) -> Result<Summary, TextTooLong>
    where
        F: FnMut(Token<'_>),
    {
        self.feed(text, Each(visit))
    }

    /// Gives `sink` the tokens of `text`, in order.
    ///
    /// # Errors
    /// If the text is too long. The sink gets no token then.
    #[inline]
    pub fn feed<S: Sink>(&mut self, text: &str, sink: S) -> Result<Summary, TextTooLong> {
        self.cut(text, sink)
    }

    /// Calls `visit` for each token of `text`, in order, with the range of `text` that it was cut
    /// from. Otherwise like [`feed`](Self::feed).
    ///
    /// The ranges are in the text as given, before normalizing, folding and stemming. They lie on character
    /// boundaries, ascend and do not overlap. `english` gives the range of the whole word, with its
    /// ending.
    ///
    /// ```
    /// # use spirit_text::{Analyzer, Tokenizer};
    /// let mut tokenizer = Tokenizer::new(Analyzer::English, 1 << 10);
    /// let (text, mut words) = ("The HERON’s wings", Vec::new());
    /// tokenizer.for_each_span(text, |token, span| words.push((token.text().to_owned(), &text[span])))?;
    /// assert_eq!(words, [("heron".to_owned(), "HERON’s"), ("wing".to_owned(), "wings")]);
    /// # Ok::<(), spirit_text::TextTooLong>(())
    /// ```
    pub fn for_each_span<F>(&mut self, text: &str, visit: F) -> Result<Summary, TextTooLong>
    where
        F: FnMut(Token<'_>, Range<usize>),
    {
        self.cut(text, EachSpan(visit))
    }

    #[inline(always)]
    fn cut<S: SpanSink>(&mut self, text: &str, sink: S) -> Result<Summary, TextTooLong> {
        if text.len() > self.document_bytes_max {
            return Err(TextTooLong { bytes: text.len(), max: self.document_bytes_max });
        }
        let mut out = Emitter::new(sink);
        if self.analyzer == Analyzer::Keyword {
            self.fold.emit_verbatim(text, &mut out);
            return Ok(out.summary);
        }
        let (lower, runs) = self.scan.read(self.level, text.as_bytes());
        let fold = &mut self.fold;
        match self.analyzer {
            Analyzer::Simple => simple::words(text, lower, runs, fold, &mut out),
            Analyzer::Standard => standard::words(text, lower, runs, fold, &mut out),
            Analyzer::Social => social::words(text, lower, runs, fold, &mut out),
            Analyzer::Code => code::words(text, lower, runs, fold, &mut out),
            Analyzer::English => {
                let stems = |token: Token<'_>, span| self.english.emit(token, span, &mut out);
                let mut words = Emitter::new(EachSpan(stems));
                standard::words(text, lower, runs, fold, &mut words);
                return Ok(words.summary);
            }
            Analyzer::Keyword => unreachable!("returned above"),
        }
        Ok(out.summary)
    }
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokenizer")
            .field("analyzer", &self.analyzer)
            .field("document_bytes_max", &self.document_bytes_max)
            .finish_non_exhaustive()
    }
}

/// A text is longer than its tokenizer allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextTooLong {
    /// The length of the text, in bytes.
    pub bytes: usize,
    /// The most bytes allowed.
    pub max: usize,
}

impl fmt::Display for TextTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TextTooLong { bytes, max } = self;
        write!(f, "the text has {bytes} bytes and the limit is {max}; split it or raise the limit")
    }
}

impl Error for TextTooLong {}
