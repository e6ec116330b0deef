//! The tokenizers of an ingest role: the text's, and one for each other analyzer of its fields.

use spirit_query::Level;
use spirit_text::{Analyzer, Tokenizer};

/// Tokenizers, one for each analyzer. The others are made when they are first needed.
pub(crate) struct Tokenizers {
    text: Tokenizer,
    others: Vec<Tokenizer>,
    level: Level,
}

impl Tokenizers {
    /// Returns tokenizers for texts of at most `document_bytes_max` bytes, with `analyzer` for the
    /// text.
    pub(crate) fn new(analyzer: Analyzer, document_bytes_max: usize, level: Level) -> Tokenizers {
        let text = Tokenizer::with_level(analyzer, document_bytes_max, level);
        Tokenizers { text, others: Vec::new(), level }
    }

    /// Returns the most bytes of a text.
    pub(crate) fn document_bytes_max(&self) -> usize {
        self.text.document_bytes_max()
    }

    /// Returns the text's tokenizer.
    #[inline(always)]
    pub(crate) fn text(&mut self) -> &mut Tokenizer {
        &mut self.text
    }

    /// Returns the tokenizer of an analyzer, and makes it if needed.
    pub(crate) fn of(&mut self, analyzer: Analyzer) -> &mut Tokenizer {
        if self.text.analyzer() == analyzer {
            return &mut self.text;
        }
        let known = self.others.iter().position(|other| other.analyzer() == analyzer);
        let place = known.unwrap_or_else(|| {
            let bytes_max = self.document_bytes_max();
            self.others.push(Tokenizer::with_level(analyzer, bytes_max, self.level));
            self.others.len() - 1
        });
        &mut self.others[place]
    }
}
