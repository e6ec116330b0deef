//! A snippet: a passage of a text, and a query's matches in it.

use std::ops::Range;

/// A passage of a document's text, and a query's matches in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snippet {
    /// The passage, unchanged.
    pub text: String,
    /// Its bytes in the document's text.
    pub range: Range<usize>,
    /// The matches: bytes of `text`, ascending. No two touch, and each lies on character
    /// boundaries.
    pub marks: Vec<Range<usize>>,
    /// True if more than white space precedes it in the document.
    pub more_before: bool,
    /// True if more than white space follows it in the document.
    pub more_after: bool,
}

impl Snippet {
    /// Returns `range` of `document` with the marks in it. `marks` are bytes of `document`, in
    /// order.
    pub(super) fn new(
        document: &str,
        range: Range<usize>,
        marks: impl IntoIterator<Item = Range<usize>>,
    ) -> Snippet {
        let within = marks.into_iter().filter_map(|mark| {
            let (start, end) = (mark.start.max(range.start), mark.end.min(range.end));
            (start < end).then(|| start - range.start..end - range.start)
        });
        Snippet {
            text: document[range.clone()].to_owned(),
            marks: merged(within),
            more_before: !document[..range.start].trim_end().is_empty(),
            more_after: !document[range.end..].trim_start().is_empty(),
            range,
        }
    }

    /// Returns the text in pieces, each with true if it is marked. No piece is empty.
    pub fn pieces(&self) -> impl Iterator<Item = (&str, bool)> {
        let mut at = 0;
        let ends = self.marks.iter().flat_map(|mark| [(mark.start, false), (mark.end, true)]);
        let ends = ends.chain([(self.text.len(), false)]);
        ends.filter_map(move |(end, marked)| {
            let piece = &self.text[at..end];
            at = end;
            (!piece.is_empty()).then_some((piece, marked))
        })
    }

    /// Returns the text with `pre` and `post` around each mark.
    pub fn marked(&self, pre: &str, post: &str) -> String {
        self.write(pre, post, |piece, to| to.push_str(piece))
    }

    /// Like [`marked`](Self::marked), as HTML: the text is escaped. `pre` and `post` are markup,
    /// and stay as they are.
    pub fn marked_html(&self, pre: &str, post: &str) -> String {
        self.write(pre, post, |piece, to| piece.chars().for_each(|c| push_escaped(c, to)))
    }

    fn write(&self, pre: &str, post: &str, push: impl Fn(&str, &mut String)) -> String {
        let mut to =
            String::with_capacity(self.text.len() + self.marks.len() * (pre.len() + post.len()));
        for (piece, marked) in self.pieces() {
            let (before, behind) = if marked { (pre, post) } else { ("", "") };
            to.push_str(before);
            push(piece, &mut to);
            to.push_str(behind);
        }
        to
    }
}

/// Appends a character, escaped for text between tags and in quoted attributes.
fn push_escaped(c: char, to: &mut String) {
    match c {
        '&' => to.push_str("&amp;"),
        '<' => to.push_str("&lt;"),
        '>' => to.push_str("&gt;"),
        '"' => to.push_str("&quot;"),
        '\'' => to.push_str("&#39;"),
        c => to.push(c),
    }
}

/// Joins ranges that touch. The ranges ascend.
pub(super) fn merged(ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_merged_clipped_and_written_around() {
        let document = "  <a> grey heron's \"nest\"";
        let snippet = Snippet::new(document, 2..18, [0..3, 6..10, 10..11, 14..30]);
        assert_eq!(snippet.text, "<a> grey heron's");
        assert_eq!(snippet.marks, [0..1, 4..9, 12..16]);
        assert_eq!((snippet.more_before, snippet.more_after), (false, true));
        assert_eq!(snippet.marked("[", "]"), "[<]a> [grey ]her[on's]");
        let html = "<em>&lt;</em>a&gt; <em>grey </em>her<em>on&#39;s</em>";
        assert_eq!(snippet.marked_html("<em>", "</em>"), html);
        let pieces: Vec<_> = snippet.pieces().collect();
        assert_eq!(pieces[..3], [("<", true), ("a> ", false), ("grey ", true)]);
    }

    #[test]
    fn a_snippet_without_marks_is_its_text() {
        let snippet = Snippet::new("a & b", 0..5, []);
        assert_eq!(snippet.marked("[", "]"), "a & b");
        assert_eq!(snippet.marked_html("[", "]"), "a &amp; b");
        assert!(!snippet.more_before && !snippet.more_after);
        assert_eq!(Snippet::new("", 0..0, []).pieces().next(), None);
    }
}
