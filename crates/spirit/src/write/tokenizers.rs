//! The tokenizers of an ingest role: that of the text, and one for each other analyzer that some field has.

use spirit_query::Level;
use spirit_text::{Analyzer, Tokenizer};

/// One for each analyzer, made when it is first needed.
pub(crate) struct Tokenizers {
    text: Tokenizer,
    others: Vec<Tokenizer>,
    level: Level,
}

impl Tokenizers {
    /// For texts of at most `document_bytes_max` bytes, which `analyzer` cuts.
    pub(crate) fn new(analyzer: Analyzer, document_bytes_max: usize, level: Level) -> Tokenizers {
        let text = Tokenizer::with_level(analyzer, document_bytes_max, level);
        Tokenizers { text, others: Vec::new(), level }
    }

    /// Longest text that they take, in bytes.
    pub(crate) fn document_bytes_max(&self) -> usize {
        self.text.document_bytes_max()
    }

    /// That of the text.
    #[inline(always)]
    pub(crate) fn text(&mut self) -> &mut Tokenizer {
        &mut self.text
    }

    /// That of an analyzer.
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
