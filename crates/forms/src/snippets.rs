//! Passages of texts with their matches marked, as HTML.

use serde::{Serialize, Serializer};
use spirit::search::Snippet;

/// The sign that stands where the document's text goes on.
const MORE: &str = "…";

/// Writes snippets as JSON has them: HTML, with matches in `<em>`.
pub(crate) fn as_html<S: Serializer>(
    snippets: &Option<Vec<Snippet>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let html = |snippet: &Snippet| framed(snippet, &snippet.marked_html("<em>", "</em>"));
    let html: Vec<String> = snippets.iter().flatten().map(html).collect();
    html.serialize(serializer)
}

/// Returns `text`, which is the snippet's, with a sign at each end where the document goes on.
pub fn framed(snippet: &Snippet, text: &str) -> String {
    let sign = |more| if more { MORE } else { "" };
    format!("{}{text}{}", sign(snippet.more_before), sign(snippet.more_after))
}
