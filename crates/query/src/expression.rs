//! Regular expressions: from the text between two slashes to the set of terms that it matches.
//!
//! The syntax is that of the crate `regex`. An expression matches whole terms, so `^` and `$` add
//! nothing at its ends, and boundaries of words are refused. Where terms are folded, capital and
//! small letters are the same.

use std::borrow::Cow;
use std::sync::Arc;

use regex_syntax::ast::{self, Ast, Flag, FlagsItemKind, Span};
use regex_syntax::hir::translate::TranslatorBuilder;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};
use spirit_index::ground::FieldId;
use spirit_text::push_term;

use crate::automaton::Automaton;
use crate::limits::{AUTOMATA_BYTES_MAX, EXPRESSIONS_BYTES_MAX};
use crate::pattern::PatternKind;
use crate::problem::Problem;
use crate::query::{Kind, Query, TooLarge};
use crate::target::Target;

/// Groups within groups of an expression, at most.
const NESTED_MAX: u32 = 50;
/// Characters of a class that are compared with their folded form one by one, at most. `k` in both
/// cases has three.
const CLASS_MAX: usize = 8;

/// A regular expression that was read.
#[derive(Debug)]
pub(crate) struct Expression<'t> {
    /// The text, in which `/` and blanks stand without a `\`.
    pub(crate) text: Cow<'t, str>,
    pub(crate) hir: Hir,
}

impl<'t> Expression<'t> {
    /// Reads the text of an expression for the terms of a field.
    pub(crate) fn new(field: Target, raw: &'t str) -> Result<Expression<'t>, Problem> {
        if raw.len() > EXPRESSIONS_BYTES_MAX {
            return Err(TooLarge::Expressions { max: EXPRESSIONS_BYTES_MAX }.into());
        }
        let text = bare(raw);
        let folds = !field.is_verbatim();
        let located = |problem| match problem {
            Problem::Expression { at, what } => {
                Problem::Expression { at: place_in_raw(raw, at), what }
            }
            other => other,
        };
        let mut hir = read(&text, folds).map_err(located)?;
        if folds {
            if !text.is_ascii() {
                hir = read(&with_folded_runs(&text), folds)?;
            }
            hir = in_small_letters(hir);
        }
        Ok(Expression { text, hir })
    }

    /// Calls `take` with the characters that each match contains.
    pub(crate) fn each_required(&self, mut take: impl FnMut(char)) {
        each_required(&self.hir, &mut take);
    }
}

impl Query {
    /// Returns a leaf for the terms of a field that a regular expression matches.
    pub(crate) fn regex(
        &mut self,
        field: FieldId,
        expression: &Expression<'_>,
    ) -> Result<Kind, Problem> {
        let taken: usize = self.automata.iter().map(|automaton| automaton.bytes()).sum();
        let left = AUTOMATA_BYTES_MAX.saturating_sub(taken);
        let Some(automaton) = Automaton::new(&expression.hir, left) else {
            return Err(TooLarge::Automata { max: AUTOMATA_BYTES_MAX }.into());
        };
        let kind = PatternKind::Regex(self.automata.len() as u32);
        let leaf = self.pattern(field, kind, expression.text.as_bytes())?;
        self.automata.push(Arc::new(automaton));
        Ok(leaf)
    }
}

fn each_required(hir: &Hir, take: &mut impl FnMut(char)) {
    match hir.kind() {
        HirKind::Literal(literal) => {
            let chunks = literal.0.utf8_chunks();
            chunks.flat_map(|chunk| chunk.valid().chars()).for_each(take);
        }
        HirKind::Repetition(repetition) if repetition.min > 0 => {
            each_required(&repetition.sub, take);
        }
        HirKind::Capture(group) => each_required(&group.sub, take),
        HirKind::Concat(parts) => parts.iter().for_each(|part| each_required(part, take)),
        _ => {}
    }
}

/// True if a text has an operator of expressions. Other texts stand for themselves.
pub(crate) fn has_operator(text: &str) -> bool {
    text.contains(['.', '[', ']', '(', ')', '{', '}', '|', '?', '*', '+', '\\', '^', '$'])
}

/// Removes the `\` before each `/` and blank. All other escapes are the expression's own.
fn bare(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return raw.into();
    }
    let mut text = String::with_capacity(raw.len());
    each_bare(raw, |_, piece| text.push_str(piece));
    text.into()
}

/// Calls `take` with each piece of the text without those `\`, and its place in the raw text. A
/// piece is a character, or an escape.
fn each_bare<'r>(raw: &'r str, mut take: impl FnMut(usize, &'r str)) {
    let mut rest = raw.char_indices();
    while let Some((at, c)) = rest.next() {
        let escaped = if c == '\\' { rest.next() } else { None };
        let is_ours = |c: char| c == '/' || c.is_whitespace();
        let begin = escaped.filter(|(_, c)| is_ours(*c)).map_or(at, |(at, _)| at);
        take(begin, &raw[begin..rest.offset()]);
    }
}

/// Returns the place in the raw text of a place in the bare one.
fn place_in_raw(raw: &str, place: usize) -> usize {
    let (mut bare, mut found) = (0, raw.len());
    each_bare(raw, |at, piece| {
        if (bare..bare + piece.len()).contains(&place) {
            found = at + (place - bare);
        }
        bare += piece.len();
    });
    found
}

fn read(text: &str, folds: bool) -> Result<Hir, Problem> {
    let problem = |span: &Span, what: String| Problem::Expression { at: span.start.offset, what };
    let mut parser = ast::parse::ParserBuilder::new().nest_limit(NESTED_MAX).build();
    let parsed = parser.parse(text).map_err(|e| problem(e.span(), e.kind().to_string()))?;
    ast::visit(&parsed, Refusals).map_err(|(span, what)| problem(&span, what.to_owned()))?;
    let mut translator = TranslatorBuilder::new().case_insensitive(folds).build();
    translator.translate(text, &parsed).map_err(|e| problem(e.span(), e.kind().to_string()))
}

/// Finds what has no meaning in terms.
struct Refusals;

impl ast::Visitor for Refusals {
    type Output = ();
    type Err = (Span, &'static str);

    fn finish(self) -> Result<(), Self::Err> {
        Ok(())
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Self::Err> {
        use ast::AssertionKind::{EndLine, EndText, StartLine, StartText};
        let flags = match ast {
            Ast::Assertion(found) => match found.kind {
                StartLine | EndLine | StartText | EndText => return Ok(()),
                _ => return Err((found.span, "boundaries of words have no meaning within a term")),
            },
            Ast::Flags(found) => &found.flags,
            Ast::Group(group) => match &group.kind {
                ast::GroupKind::NonCapturing(flags) => flags,
                _ => return Ok(()),
            },
            _ => return Ok(()),
        };
        let ignores = FlagsItemKind::Flag(Flag::IgnoreWhitespace);
        match flags.items.iter().find(|item| item.kind == ignores) {
            Some(item) => Err((item.span, "the flag `x` is not supported: blanks are characters")),
            None => Ok(()),
        }
    }
}

/// Folds the runs of letters that have characters beyond ASCII. Classes and escapes are left, since
/// ignoring case is enough for them.
fn with_folded_runs(text: &str) -> String {
    let (mut folded, mut run) = (String::with_capacity(text.len()), String::new());
    let (mut depth, mut escaped) = (0u32, false);
    for c in text.chars() {
        if (c.is_ascii_alphabetic() || !c.is_ascii()) && depth == 0 && !escaped {
            run.push(c);
            continue;
        }
        push_run(&mut folded, &mut run);
        match c {
            '[' if !escaped => depth += 1,
            ']' if !escaped => depth = depth.saturating_sub(1),
            _ => {}
        }
        escaped = c == '\\' && !escaped;
        folded.push(c);
    }
    push_run(&mut folded, &mut run);
    folded
}

/// Appends a run in its folded form, and empties it. If its last character becomes several, they are
/// a group for the operator behind it.
fn push_run(folded: &mut String, run: &mut String) {
    if run.is_ascii() {
        folded.push_str(run);
        return run.clear();
    }
    let [mut whole, mut before] = [String::new(), String::new()];
    push_term(run, &mut whole);
    run.pop();
    push_term(run, &mut before);
    match whole.strip_prefix(&before) {
        Some(last) if last.chars().count() > 1 => {
            folded.push_str(&before);
            folded.push_str("(?:");
            folded.push_str(last);
            folded.push(')');
        }
        _ => folded.push_str(&whole),
    }
    run.clear();
}

/// Removes the characters from classes that are never in a folded term. So an expression without
/// classes begins with known bytes, though it ignores case.
fn in_small_letters(hir: Hir) -> Hir {
    match hir.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Look(look) => Hir::look(look),
        HirKind::Class(Class::Unicode(class)) => Hir::class(Class::Unicode(small(class))),
        HirKind::Class(class) => Hir::class(class),
        HirKind::Repetition(mut repetition) => {
            repetition.sub = Box::new(in_small_letters(*repetition.sub));
            Hir::repetition(repetition)
        }
        // No one asks what a group matched.
        HirKind::Capture(group) => in_small_letters(*group.sub),
        HirKind::Concat(parts) => Hir::concat(parts.into_iter().map(in_small_letters).collect()),
        HirKind::Alternation(parts) => {
            Hir::alternation(parts.into_iter().map(in_small_letters).collect())
        }
    }
}

/// Returns a class without its capital letters. A class of nothing else is left.
fn small(class: ClassUnicode) -> ClassUnicode {
    let characters = || class.iter().flat_map(|range| range.start()..=range.end());
    let mut less = if characters().nth(CLASS_MAX).is_none() {
        let is_folded = |c: &char| {
            let mut term = String::new();
            push_term(c.encode_utf8(&mut [0; 4]), &mut term);
            term.chars().eq([*c])
        };
        let kept = characters().filter(is_folded);
        ClassUnicode::new(kept.map(|c| ClassUnicodeRange::new(c, c)))
    } else {
        let mut less = class.clone();
        less.difference(&ClassUnicode::new([ClassUnicodeRange::new('A', 'Z')]));
        less
    };
    if less.ranges().is_empty() {
        less = class;
    }
    less
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use spirit_schema::FieldKind;
    use spirit_text::Analyzer;

    use super::*;
    use crate::verdict::Verdict;

    fn target(kind: FieldKind) -> Target {
        Target { id: FieldId(1), kind }
    }

    const FOLDED: FieldKind = FieldKind::Text(Analyzer::Simple);

    fn matches(kind: FieldKind, expression: &str, term: &str) -> bool {
        let expression = Expression::new(target(kind), expression).unwrap();
        let automaton = Automaton::new(&expression.hir, 1 << 20).unwrap();
        automaton.test(term.as_bytes()) == Verdict::Match
    }

    #[test]
    fn expressions_match_whole_terms() {
        for (expression, term, expected) in [
            ("her(on|ring)s?", "herrings", true),
            ("her(on|ring)s?", "her", false),
            ("a|ab", "ab", true),
            ("a*?", "aaa", true),
            ("^sea$", "sea", true),
            ("ea", "sea", false),
            ("", "", true),
            (r"\/", "/", true),
            (r"\\/", "\\/", true),
            (r"a\/b", "a/b", true),
            (r"a\ b", "a b", true),
            (r"[\/]", "/", true),
            (".", "é", true),
            (".", "ab", false),
            (r"\d{3}-\w+", "998-é", true),
            ("(?P<Name>a)b", "ab", true),
            (r"\p{Greek}+", "λόγος", true),
        ] {
            assert_eq!(matches(FieldKind::Keyword, expression, term), expected, "{expression}");
        }
    }

    #[test]
    fn capital_letters_are_small_ones_where_terms_are_folded() {
        for (expression, term) in [
            ("HER.N", "heron"),
            ("[A-H]eron", "heron"),
            (r"\W?HERON\W?", "heron"),
            ("STRAßE", "strasse"),
            ("ß+", "ssss"),
            ("É[ÈÉ]", "éè"),
            ("e\u{301}.", "éa"),
            (r"\x48eron", "heron"),
            ("don’t", "don't"),
            ("(?P<Name>Ä)b", "äb"),
        ] {
            assert!(matches(FOLDED, expression, term), "{expression}");
        }
        for (expression, term) in [("HERON", "heron"), ("heron", "Heron"), ("É", "é")] {
            assert!(!matches(FieldKind::Keyword, expression, term), "{expression}");
        }
        assert!(!matches(FOLDED, "[^A-C]", "b"));
        // They begin with what all their matches begin with.
        let expression = Expression::new(target(FOLDED), "Kéron.*").unwrap();
        let automaton = Automaton::new(&expression.hir, 1 << 20).unwrap();
        assert_eq!(automaton.first(), "kéron".as_bytes());
    }

    #[test]
    fn errors_have_a_place_in_the_raw_text() {
        for (raw, at, what) in [
            ("a(b", 1, "unclosed group"),
            (r"\/a(?=b)", 3, "look-around"),
            (r"\/\/\ (a)\1", 9, "backreferences"),
            (r"a\b", 1, "boundaries of words"),
            (r"é\/(?x)a b", 6, "the flag `x`"),
            (r"(?x:a)", 2, "the flag `x`"),
            ("*a", 0, "repetition operator missing expression"),
            (r"\pX", 0, "property not found"),
            ("a\\", 1, "incomplete escape"),
            ("[b-a]", 1, "range"),
        ] {
            let Err(Problem::Expression { at: found, what: said }) =
                Expression::new(target(FOLDED), raw)
            else {
                panic!("{raw} was read")
            };
            assert!(said.contains(what), "{raw}: {said}");
            assert_eq!(found, at, "{raw}: {said}");
        }
        assert!(Expression::new(target(FOLDED), &"(".repeat(60)).is_err());
        let long = "a".repeat(EXPRESSIONS_BYTES_MAX + 1);
        let limit = Expression::new(target(FOLDED), &long).unwrap_err();
        assert!(matches!(limit, Problem::TooLarge(_)));
    }

    #[test]
    fn required_characters_are_in_each_match() {
        let required = |text| {
            let mut found = String::new();
            let expression = Expression::new(target(FOLDED), text).unwrap();
            expression.each_required(|c| found.push(c));
            found
        };
        assert_eq!(required("ord-[0-9]+"), "ord-");
        assert_eq!(required("a(b|c)d?(e-)+"), "ae-");
        assert_eq!(required("a|b"), "");
    }

    proptest! {
        /// No text makes it fail but by an error with a place in the text.
        #[test]
        fn every_text_is_an_expression_or_an_error(raw in "[a-cÉß/ \\\\\\[\\](){}|?*+^$.:=!<>0-9-]{0,12}") {
            for kind in [FOLDED, FieldKind::Keyword] {
                match Expression::new(target(kind), &raw) {
                    Ok(expression) => drop(Automaton::new(&expression.hir, 64 << 10)),
                    Err(Problem::Expression { at, .. }) => {
                        prop_assert!(raw.is_char_boundary(at), "{} of {}", at, raw);
                    }
                    Err(other) => panic!("{other}"),
                }
            }
        }
    }
}
