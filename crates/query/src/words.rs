//! Words of a text: the terms that a field's own analyzer makes of them, each at its place. Typed
//! queries and programs' queries share this code, so both find the indexed terms.

use spirit_index::ground::TERM_BYTES_MAX;
use spirit_schema::FieldKind;
use spirit_text::{Tokenizer, push_term};

use crate::problem::Problem;
use crate::query::{Kind, Node, NodeId, Occur, Query, Siblings, TooLarge};
use crate::target::Target;

/// Bytes of the text of words that a clause may have, at most.
pub const WORDS_BYTES_MAX: usize = 1 << 20;

impl Query {
    /// Compiles a text of words in a field with words, like a phrase in the query language: a
    /// single term, or a phrase. `tokenizers` has one for the field's analyzer, if the field has an
    /// analyzer.
    pub(crate) fn phrase_of(
        &mut self,
        field: Target,
        text: &str,
        slop: u32,
        tokenizers: &mut [Tokenizer],
    ) -> Result<NodeId, TooLarge> {
        let (mut list, mut place) = (Siblings::default(), 0);
        if field.is_verbatim() {
            self.cut(field, text, tokenizers, &mut list, &mut place)?;
        } else {
            self.cut_words(field, text, tokenizers, &mut list, &mut place)?;
        }
        self.phrase(list, slop)
    }

    /// Like [`phrase_of`](Self::phrase_of), but the last word is a prefix. `word` is an empty
    /// buffer. In a verbatim field the whole text is the prefix.
    pub(crate) fn phrase_prefix_of(
        &mut self,
        field: Target,
        text: &str,
        tokenizers: &mut [Tokenizer],
        word: &mut String,
    ) -> Result<NodeId, TooLarge> {
        let (words, mut last) = if field.is_verbatim() { ("", text) } else { split_last(text) };
        if last.is_empty() {
            return self.push(Node::leaf(Kind::Blank));
        }
        let (mut list, mut place) = (Siblings::default(), 0);
        self.cut_words(field, words, tokenizers, &mut list, &mut place)?;
        if !field.is_verbatim()
            && let Some(tokenizer) = tokenizers.iter_mut().find(|t| field.is_cut_by(t.analyzer()))
        {
            // Of a word that is cut, such as `wi-f`, only the last piece is a prefix.
            let (head, piece) = last.split_at(last_piece(tokenizer, last));
            self.cut(field, head, tokenizers, &mut list, &mut place)?;
            last = piece;
        }
        if last.is_empty() {
            return self.phrase(list, 0);
        }
        push_normalized(field, last, word);
        self.phrase_prefix(list, place, field.id, word.as_bytes())
    }

    /// Appends the terms of a text to a phrase that has `place` places. Words are cut one by one,
    /// so that a word `*` can stand for any word.
    pub(crate) fn cut_words(
        &mut self,
        field: Target,
        text: &str,
        tokenizers: &mut [Tokenizer],
        list: &mut Siblings,
        place: &mut u32,
    ) -> Result<(), TooLarge> {
        for word in text.split_whitespace() {
            match word {
                "*" => *place += 1,
                word => self.cut(field, word, tokenizers, list, place)?,
            }
        }
        Ok(())
    }

    /// Like [`cut_words`](Self::cut_words), for a text that is cut as a whole.
    pub(crate) fn cut(
        &mut self,
        field: Target,
        text: &str,
        tokenizers: &mut [Tokenizer],
        list: &mut Siblings,
        place: &mut u32,
    ) -> Result<(), TooLarge> {
        let FieldKind::Text(analyzer) = field.kind else {
            let kind = self.keyword(field, text)?;
            let node = self.push(Node { at: *place, ..Node::leaf(kind) })?;
            self.link(list, node, Occur::Must);
            *place += 1;
            return Ok(());
        };
        let mut result = Ok(());
        let first = *place;
        let tokenizer = tokenizers.iter_mut().find(|t| t.analyzer() == analyzer);
        let tokenizer = tokenizer.expect("each field of text has a tokenizer");
        let cut = tokenizer.for_each(text, |token| {
            if result.is_ok() {
                let at = first + token.position();
                result = self
                    .term(field.id, token.bytes())
                    .and_then(|kind| self.push(Node { at, ..Node::leaf(kind) }))
                    .map(|node| self.link(list, node, Occur::Must));
            }
        });
        result?;
        let Ok(summary) = cut else {
            return Err(TooLarge::Bytes { max: tokenizer.document_bytes_max() });
        };
        *place += summary.tokens;
        if summary.skipped > 0 {
            // Such a term is too long for every document.
            let node = self.push(Node::leaf(Kind::Nothing))?;
            self.link(list, node, Occur::Must);
        }
        Ok(())
    }

    /// Compiles a clause's text, like `field:"text"~slop` in the query language.
    pub(crate) fn compile_words(
        &mut self,
        field: Target,
        text: &str,
        slop: u32,
    ) -> Result<NodeId, Problem> {
        fits(text)?;
        match field.kind {
            FieldKind::Text(analyzer) => {
                let mut tokenizer = [Tokenizer::new(analyzer, text.len())];
                Ok(self.phrase_of(field, text, slop, &mut tokenizer)?)
            }
            FieldKind::Keyword => Ok(self.phrase_of(field, text, slop, &mut [])?),
            kind if slop > 0 => Err(Problem::NoWords { kind }),
            _ => {
                let kind = self.value(field, text)?;
                Ok(self.push(Node::leaf(kind))?)
            }
        }
    }

    /// Compiles a clause's text whose last word is a prefix, like `field:"text"*` in the query
    /// language.
    pub(crate) fn compile_words_prefix(
        &mut self,
        field: Target,
        text: &str,
    ) -> Result<NodeId, Problem> {
        fits(text)?;
        let mut word = String::new();
        match field.kind {
            FieldKind::Text(analyzer) => {
                let mut tokenizer = [Tokenizer::new(analyzer, text.len() + LONGER_BYTES)];
                Ok(self.phrase_prefix_of(field, text, &mut tokenizer, &mut word)?)
            }
            FieldKind::Keyword => Ok(self.phrase_prefix_of(field, text, &mut [], &mut word)?),
            kind => Err(Problem::NoWords { kind }),
        }
    }
}

/// Fails if a text is longer than [`WORDS_BYTES_MAX`].
fn fits(text: &str) -> Result<(), TooLarge> {
    let max = WORDS_BYTES_MAX;
    if text.len() > max { Err(TooLarge::Text { max }) } else { Ok(()) }
}

/// Appends `word` to a buffer in the form of terms: normalized and folded, unless they are verbatim.
pub(crate) fn push_normalized(field: Target, word: &str, buffer: &mut String) {
    if field.is_verbatim() {
        buffer.push_str(word);
    } else {
        push_term(word, buffer);
    }
}

/// Splits a text before its last word. Words `*` at the end are dropped.
fn split_last(text: &str) -> (&str, &str) {
    let mut text = text.trim_end();
    while let Some(before) = text.strip_suffix('*')
        && (before.is_empty() || before.ends_with(char::is_whitespace))
    {
        text = before.trim_end();
    }
    text.rsplit_once(char::is_whitespace).unwrap_or(("", text))
}

/// True for a run of ASCII letters and digits, which every analyzer leaves whole.
pub(crate) fn is_plain(text: &str) -> bool {
    (1..=TERM_BYTES_MAX).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// Bytes that [`last_piece`] adds to a text for its tokenizer.
pub(crate) const LONGER_BYTES: usize = 3 * char::MAX.len_utf8();

/// Returns where the last piece of a text begins that more letters would make longer: the end of the
/// text if it ends with punctuation.
pub(crate) fn last_piece(tokenizer: &mut Tokenizer, text: &str) -> usize {
    let Some(last) = text.chars().next_back() else { return 0 };
    if is_plain(text) {
        return 0;
    }
    // More of the last letter leaves its piece whole, and makes a stop word none.
    let longer: String = text.chars().chain([last; 3]).collect();
    let mut begins = text.len();
    let cut = tokenizer.for_each_span(&longer, |_, span| {
        if span.end == longer.len() {
            begins = span.start.min(text.len());
        }
    });
    // A text too long for the tokenizer is refused where it is cut.
    if cut.is_ok() { begins } else { 0 }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use spirit_index::ground::FieldId;
    use spirit_schema::Schema;
    use spirit_text::Analyzer;

    use super::*;
    use crate::clause::Clause;
    use crate::parse::{Operator, Parser};

    const FIELDS: [&str; 8] = ["text", "stems", "posts", "words", "codes", "by", "views", "flag"];

    fn schema() -> Schema {
        let mut schema = Schema::new(Analyzer::Simple, false);
        for (name, kind) in FIELDS[1..].iter().zip([
            FieldKind::Text(Analyzer::English),
            FieldKind::Text(Analyzer::Social),
            FieldKind::Text(Analyzer::Standard),
            FieldKind::Text(Analyzer::Keyword),
            FieldKind::Keyword,
            FieldKind::Integer,
            FieldKind::Boolean,
        ]) {
            schema.add(name, kind).unwrap();
        }
        schema
    }

    /// Returns a query in debug format, or its error. The root's role does not matter, so it is
    /// made equal for all.
    fn shown(query: Result<Query, Problem>) -> String {
        let as_must = |mut query: Query| {
            let root = query.root as usize;
            query.nodes[root].occur = Occur::Must;
            query
        };
        format!("{:?}", query.map(as_must))
    }

    fn parsed(text: &str) -> Result<Query, Problem> {
        let mut parser = Parser::new(Arc::new(schema()), WORDS_BYTES_MAX * 3, Operator::Or);
        parser.parse(text).map_err(|error| error.problem)
    }

    /// Returns the terms that an analyzer makes of a text, in the most obvious way. `*` is a gap.
    fn terms(analyzer: Analyzer, text: &str) -> Vec<Option<String>> {
        let mut terms = Vec::new();
        for word in text.split_whitespace() {
            let first = terms.len();
            if word == "*" {
                terms.push(None);
                continue;
            }
            let mut tokenizer = Tokenizer::new(analyzer, 1 << 10);
            let summary = tokenizer.for_each(word, |token| {
                let term = String::from_utf8_lossy(token.bytes()).into_owned();
                terms.resize(first + token.position() as usize, None);
                terms.push(Some(term));
            });
            terms.resize(first + summary.unwrap().tokens as usize, None);
        }
        terms
    }

    #[test]
    fn words_go_through_the_analyzer_of_their_field() {
        let is_of = |words: &Clause, terms: &Clause| {
            let compiled = |clause| shown(Query::in_schema(clause, &schema()));
            assert_eq!(compiled(words), compiled(terms), "{words}");
        };
        let phrase = |field: &str, words: &[Option<&str>], slop| Clause::Phrase {
            field: field.to_owned(),
            words: words.iter().map(|word| word.map(str::to_owned)).collect(),
            slop,
        };
        is_of(&Clause::words("Herons"), &Clause::term("herons"));
        is_of(&Clause::words_in("stems", "Herons"), &Clause::value("stems", "heron"));
        let grey = [Some("grey"), Some("heron")];
        is_of(&Clause::words_in("stems", "Grey Herons"), &phrase("stems", &grey, 0));
        is_of(&Clause::words_near("stems", "Grey Herons", 2), &phrase("stems", &grey, 2));
        let gap = [Some("grey"), None, Some("heron")];
        is_of(&Clause::words_in("stems", "grey * HERONS"), &phrase("stems", &gap, 0));
        is_of(&Clause::words("Don't"), &Clause::phrase(&["don", "t"]));
        // Such a clause takes no part among others, unlike one that matches nothing.
        let blank = Clause::phrase(&[]);
        is_of(&Clause::words(" .,! "), &blank);
        is_of(&Clause::words(""), &blank);
        let long = "n".repeat(256);
        is_of(&Clause::words(&long), &Clause::Nothing);
        let with_long = Clause::words(&format!("grey {long}"));
        let built = Query::in_schema(&with_long, &schema());
        assert_eq!(shown(built), shown(parsed(&format!("{with_long:#}"))));
        is_of(&Clause::words_in("by", "Bo Li"), &Clause::value("by", "Bo Li"));
        is_of(&Clause::words_in("codes", "A * b"), &Clause::value("codes", "A * b"));
        let begins = |words: &[&str], prefix: &str| Clause::PhrasePrefix {
            field: "stems".to_owned(),
            words: words.iter().map(|word| Some((*word).to_owned())).collect(),
            prefix: prefix.to_owned(),
        };
        is_of(
            &Clause::words_prefix("stems", "Grey Herons STAN"),
            &begins(&["grey", "heron"], "stan"),
        );
        is_of(&Clause::words_prefix("stems", "Herons"), &begins(&[], "herons"));
        is_of(&Clause::words_prefix("stems", " * "), &blank);
        is_of(&Clause::words_in("views", "3"), &Clause::value("views", "3"));
    }

    #[test]
    fn words_that_cannot_be_asked_for_are_refused() {
        let refused = |clause| Query::in_schema(&clause, &schema()).unwrap_err();
        assert_eq!(refused(Clause::words_in("nowhere", "a")), Problem::UnknownField);
        let kind = FieldKind::Integer;
        assert_eq!(refused(Clause::words_in("views", "many")), Problem::Misfit { kind });
        assert_eq!(refused(Clause::words_near("views", "3", 1)), Problem::NoWords { kind });
        assert_eq!(refused(Clause::words_prefix("views", "3")), Problem::NoWords { kind });
        let long = " ".repeat(WORDS_BYTES_MAX + 1);
        let limit = TooLarge::Text { max: WORDS_BYTES_MAX };
        assert_eq!(refused(Clause::words(&long)), limit.into());
        assert_eq!(refused(Clause::words_prefix("text", &long)), limit.into());
        assert!(Query::in_schema(&Clause::words(&long[1..]), &schema()).is_ok());
        for many in ["a ".repeat(129), "a ".repeat(5000), "sand ".repeat(1 << 17)] {
            assert!(matches!(refused(Clause::words(&many)), Problem::TooLarge(_)));
        }
    }

    proptest! {
        /// A program's words mean the same as the text in quotation marks in the query language.
        #[test]
        fn words_are_what_the_language_makes_of_them(
            parts in prop::collection::vec(0usize..20, 0..12),
            odd in ".{0,6}",
            field in 0..FIELDS.len(),
            slop in prop::sample::select(vec![0u32, 0, 2]),
        ) {
            let parts = parts.iter().map(|part| {
                [
                    " ", " ", "  ", "\t", "Herons", "grey", "running", "Don't", "e-mail", "#Reed", "@bo",
                    "*", " * ", "\\", "\"", "日本", "3", "true", "~2", ":",
                ][*part]
            });
            let text = parts.chain([&*odd]).collect::<String>();
            let clause = Clause::words_near(FIELDS[field], &text, slop);
            let built = Query::in_schema(&clause, &schema());
            if FIELDS[field] != "views" && FIELDS[field] != "flag" {
                prop_assert_eq!(shown(built.clone()), shown(parsed(&format!("{clause:#}"))), "{}", clause);
            } else if slop == 0 {
                prop_assert_eq!(built.is_ok(), parsed(&format!("{clause:#}")).is_ok(), "{}", clause);
            }
            let begins = Clause::words_prefix(FIELDS[field], &text);
            let built_prefix = Query::in_schema(&begins, &schema());
            if !matches!(FIELDS[field], "views" | "flag") {
                prop_assert_eq!(shown(built_prefix), shown(parsed(&format!("{begins:#}"))), "{}", begins);
            }
            if let FieldKind::Text(analyzer) = schema().by_name(FIELDS[field]).unwrap().kind
                && analyzer != Analyzer::Keyword
            {
                let words = terms(analyzer, &text);
                let twin = Clause::Phrase { field: FIELDS[field].to_owned(), words, slop };
                prop_assert_eq!(shown(built), shown(Query::in_schema(&twin, &schema())), "{}", clause);
            }
        }
    }

    #[test]
    fn without_a_schema_words_are_those_of_the_text() {
        let query = Query::new_of(&Clause::words("Sea")).unwrap();
        assert_eq!(query.terms[0].field(), FieldId::TEXT);
        assert_eq!(query.bytes_of(&query.terms[0]), b"sea");
    }
}
