//! `highlight`: the matches of a search in the fields of its hits.

use spirit::schema::Schema;
use spirit::search::{Highlighter, Snippet};
use spirit::{Clause, FieldKind, HitError, Reader, SearchError, Value};
use spirit_opensearch::fields;
use spirit_opensearch::search::{MarkedField, SearchBody};

/// The fields that are highlighted, each with the highlighter of its matches.
#[derive(Default)]
pub(super) struct Marks(Vec<(String, MarkedField, Highlighter)>);

impl Marks {
    /// Finds the fields of an index that a search highlights.
    pub(super) fn new(
        reader: &mut Reader,
        body: &SearchBody,
        clause: &Clause,
        schema: &Schema,
    ) -> Result<Marks, SearchError> {
        let Some(asked) = &body.highlight else { return Ok(Marks::default()) };
        let query = reader.parse(clause)?;
        let mut marks = Marks::default();
        for field in &asked.fields {
            for name in names(schema, &field.name) {
                let highlighter = reader.highlighter_in(&name, &query, field.highlight())?;
                // A later field of the same name is stronger.
                marks.0.retain(|(known, ..)| *known != name);
                marks.0.push((name, field.clone(), highlighter));
            }
        }
        Ok(marks)
    }

    /// Returns the member `highlight` of a hit; none without matches.
    pub(super) fn of(&mut self, hit: &spirit::Hit<'_>) -> Result<Option<String>, HitError> {
        let mut members = Vec::new();
        for (name, field, highlighter) in &mut self.0 {
            let snippets = hit.snippets(highlighter)?;
            let marked = snippets.iter().filter(|snippet| !snippet.marks.is_empty());
            let mut shown: Vec<String> = marked.map(|snippet| written(snippet, field)).collect();
            if shown.is_empty() && field.no_match_size > 0 {
                let beginning = hit.get(name)?.and_then(Value::as_str);
                shown.extend(beginning.map(|text| field.beginning(text)));
            }
            if !shown.is_empty() {
                let text = |text: &str| serde_json::to_string(text).unwrap_or_default();
                let list: Vec<String> = shown.iter().map(|shown| text(shown)).collect();
                members.push(format!("{}:[{}]", text(name), list.join(",")));
            }
        }
        Ok((!members.is_empty()).then(|| format!("{{{}}}", members.join(","))))
    }
}

/// Returns the fields of text and of keywords whose names match a pattern.
fn names(schema: &Schema, pattern: &str) -> Vec<String> {
    let pattern = [pattern.to_owned()];
    let mut names = Vec::new();
    for leaf in fields::leaves(schema) {
        if leaf.has_keywords {
            names.push(format!("{}.keyword", leaf.name));
        }
        if matches!(leaf.kind, FieldKind::Text(_) | FieldKind::Keyword) {
            names.push(leaf.name);
        }
    }
    names.retain(|name| fields::is_asked(name, &pattern));
    names
}

fn written(snippet: &Snippet, field: &MarkedField) -> String {
    match field.is_html {
        true => snippet.marked_html(&field.pre_tag, &field.post_tag),
        false => snippet.marked(&field.pre_tag, &field.post_tag),
    }
}
