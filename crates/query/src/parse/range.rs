//! Ranges and sets of values: `[a TO b]`, `{a TO *]`, `>=a`, `IN [a b]`.

use super::grammar::{Parse, Parsed};
use super::marks::unescaped;
use super::value::split_boost;
use crate::pattern::Edge;
use crate::problem::Problem;
use crate::query::{Kind, NodeId, Occur, Siblings};
use crate::range::valued;
use crate::target::Target;

/// The signs of ranges with one end: true for a lower end, and the kind of the end.
const SIGNS: [(&str, bool, Edge); 4] = [
    (">=", true, Edge::Included),
    ("<=", false, Edge::Included),
    (">", true, Edge::Excluded),
    ("<", false, Edge::Excluded),
];

/// The ends of a range. Their values are concatenated in the parser's buffer.
struct Ends {
    from: Edge,
    to: Edge,
    split: usize,
}

impl Parse<'_> {
    /// Parses a range or a set, if one begins here.
    pub(super) fn range_or_set(&mut self, field: Target) -> Parsed<Option<NodeId>> {
        let rest = self.rest();
        let set = rest.strip_prefix("IN").map(str::trim_start);
        if let Some(set) = set.filter(|set| set.starts_with('[')) {
            self.at = self.text.len() - set.len();
            let node = self.set(field);
            return self.or_nothing(node, true).map(Some);
        }
        if rest.starts_with(['[', '{']) {
            let ends = self.between_brackets(field);
            let node = ends.and_then(|ends| self.between(field, &ends));
            return self.or_nothing(node, true).map(Some);
        }
        let Some((sign, is_from, edge)) = SIGNS.iter().find(|(sign, ..)| rest.starts_with(sign))
        else {
            return Ok(None);
        };
        self.at += sign.len();
        self.skip_space();
        let node = self.one_sided(field, *is_from, *edge);
        self.or_nothing(node, false).map(Some)
    }

    /// Returns a node with the boost that follows it. A lenient parser skips an erroneous range, up
    /// to its end.
    fn or_nothing(&mut self, node: Parsed<NodeId>, in_brackets: bool) -> Parsed<NodeId> {
        match node {
            Ok(node) => self.boosted(node),
            Err(limit @ Problem::TooLarge(_)) => Err(limit),
            Err(problem) => {
                self.complain(self.at, problem)?;
                let rest = self.rest();
                if in_brackets {
                    self.at += rest.find([']', '}']).map_or(rest.len(), |at| at + 1);
                } else {
                    self.take_raw_word();
                }
                self.skip_space();
                self.leaf(Kind::Blank)
            }
        }
    }

    fn between(&mut self, field: Target, ends: &Ends) -> Parsed<NodeId> {
        let (low, high) = self.parser.word.split_at(ends.split);
        let kind = self.query.between(field, ends.from.at(low), ends.to.at(high))?;
        self.leaf(kind)
    }

    /// Parses the value after `>`, `>=`, `<` or `<=`.
    fn one_sided(&mut self, field: Target, is_from: bool, edge: Edge) -> Parsed<NodeId> {
        self.parser.word.clear();
        if self.at_quote() {
            self.end(field)?;
        } else {
            let start = self.at;
            let (raw, _) = split_boost(self.take_raw_word());
            if raw.is_empty() {
                return Err(Problem::Expected("a value"));
            }
            // The boost follows.
            self.at = start + raw.len();
            self.take_end(field, start, &unescaped(raw))?;
        }
        let split = if is_from { self.parser.word.len() } else { 0 };
        let [from, to] = if is_from { [edge, Edge::Open] } else { [Edge::Open, edge] };
        self.between(field, &Ends { from, to, split })
    }

    fn between_brackets(&mut self, field: Target) -> Parsed<Ends> {
        self.parser.word.clear();
        let belongs = |bracket| if bracket { Edge::Included } else { Edge::Excluded };
        let first = belongs(self.rest().starts_with('['));
        self.at += 1;
        self.skip_space();
        let from = if self.end(field)? { first } else { Edge::Open };
        let split = self.parser.word.len();
        self.skip_space();
        if !self.take_word("TO") {
            return Err(Problem::Expected("`TO`"));
        }
        let is_closed = self.end(field)?;
        self.skip_space();
        if !self.rest().starts_with([']', '}']) {
            return Err(Problem::Expected("`]` or `}`"));
        }
        let last = belongs(self.rest().starts_with(']'));
        self.at += 1;
        Ok(Ends { from, to: if is_closed { last } else { Edge::Open }, split })
    }

    /// Appends an end of a range to the parser's buffer, unless it is open. Returns false if it is
    /// open.
    fn end(&mut self, field: Target) -> Parsed<bool> {
        let start = self.at;
        if self.at_quote() {
            let inside = unescaped(self.quoted()?);
            return self.take_end(field, start, &inside).map(|()| true);
        }
        let raw = self.take_in_brackets();
        if raw == "*" {
            return Ok(false);
        }
        if raw.is_empty() {
            return Err(Problem::Expected("a value, or `*`"));
        }
        self.take_end(field, start, &unescaped(raw)).map(|()| true)
    }

    fn take_end(&mut self, field: Target, start: usize, text: &str) -> Parsed<()> {
        self.check_value(field, start, text)?;
        self.append_normalized(field, text);
        Ok(())
    }

    /// Fails if a field without words cannot have a text as its value.
    fn check_value(&mut self, field: Target, start: usize, text: &str) -> Parsed<()> {
        if !field.has_words()
            && let Err(problem) = valued(field.kind, text)
        {
            self.at = start;
            return Err(problem);
        }
        Ok(())
    }

    /// Parses the values in brackets: a set. Documents with any of them match.
    fn set(&mut self, field: Target) -> Parsed<NodeId> {
        self.take('[');
        let first = self.query.intervals.len();
        let mut words = Siblings::default();
        while !self.rest().starts_with(']') {
            if self.rest().is_empty() {
                return Err(Problem::Expected("`]`"));
            }
            self.member(field, &mut words)?;
            self.skip_space();
        }
        self.at += 1;
        if field.has_words() {
            self.closed = self.query.any_alike(words)?;
            return Ok(self.closed);
        }
        let kind = self.query.close_range(field, first)?;
        self.leaf(kind)
    }

    fn member(&mut self, field: Target, words: &mut Siblings) -> Parsed<()> {
        let start = self.at;
        let quoted = self.at_quote();
        let text = unescaped(if quoted { self.quoted()? } else { self.take_in_brackets() });
        self.check_value(field, start, &text)?;
        if field.has_words() {
            let (mut list, mut place) = (Siblings::default(), 0);
            self.cut(field, &text, &mut list, &mut place)?;
            let node = self.together(list)?;
            self.query.link(words, node, Occur::Should);
        } else {
            let (first, last) = valued(field.kind, &text)?.into_inner();
            self.query.push_interval((first, last))?;
        }
        Ok(())
    }
}
