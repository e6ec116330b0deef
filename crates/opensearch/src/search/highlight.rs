//! `highlight`: the fields whose matches hits show, and how.

use spirit::search::Highlight;

use crate::error::Refusal;
use crate::json::Json;
use crate::read;

/// The fields to highlight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Highlighting {
    /// The fields, in their order.
    pub fields: Vec<MarkedField>,
}

/// A field to highlight, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedField {
    /// The name, in which `*` stands for any characters.
    pub name: String,
    /// The text before a match.
    pub pre_tag: String,
    /// The text behind a match.
    pub post_tag: String,
    /// The characters of a snippet, about.
    pub fragment_size: usize,
    /// The number of snippets. 0 asks for the whole value.
    pub number_of_fragments: usize,
    /// True if the rest of a snippet is escaped for HTML.
    pub is_html: bool,
    /// Characters of the beginning to show without a match.
    pub no_match_size: usize,
    /// True if a field shows matches of any field's words.
    any_field: bool,
    /// True if snippets are ordered by their scores.
    by_score: bool,
}

/// Returns what OpenSearch takes if nothing else is said.
fn usual() -> MarkedField {
    MarkedField {
        name: String::new(),
        pre_tag: "<em>".to_owned(),
        post_tag: "</em>".to_owned(),
        fragment_size: 100,
        number_of_fragments: 5,
        is_html: false,
        no_match_size: 0,
        any_field: false,
        by_score: false,
    }
}

impl MarkedField {
    /// Returns the engine's choices for this field.
    pub fn highlight(&self) -> Highlight {
        // Without a number of snippets, each value is one that is long enough.
        let (characters, snippets) = match self.number_of_fragments {
            0 => (usize::MAX, Highlight::SNIPPETS_MAX),
            snippets => (self.fragment_size, snippets),
        };
        Highlight::default().characters(characters).snippets(snippets)
    }

    /// Reads an option. False if it is another one.
    fn takes(&mut self, name: &str, value: &Json) -> Result<bool, Refusal> {
        match name {
            "pre_tags" => self.pre_tag = tag(name, value)?,
            "post_tags" => self.post_tag = tag(name, value)?,
            "fragment_size" => self.fragment_size = size(value)?,
            "number_of_fragments" => self.number_of_fragments = size(value)?,
            "no_match_size" => self.no_match_size = size(value)?,
            "require_field_match" => self.any_field = !read::boolean(value)?,
            "tags_schema" => {
                if read::shown(value) != "default" {
                    return Err(Refusal::unsupported("[highlight] with another [tags_schema]"));
                }
            }
            "type" => self.check_type(&read::shown(value))?,
            // The engine has one way of finding passages.
            "order" => self.by_score = read::shown(value) == "score",
            "boundary_scanner"
            | "boundary_scanner_locale"
            | "boundary_chars"
            | "boundary_max_scan"
            | "fragmenter"
            | "fragment_offset"
            | "max_analyzer_offset"
            | "max_analyzed_offset"
            | "phrase_limit" => {
                let wrong =
                    || Refusal::content(format!("[highlight] failed to parse field [{name}]"));
                value.scalar().map(drop).ok_or_else(wrong)?;
            }
            "highlight_query" | "matched_fields" | "force_source" | "highlight_filter"
            | "options" => {
                return Err(Refusal::unsupported(format_args!("[highlight] with [{name}]")));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the beginning of a value without a match, to the end of a word.
    pub fn beginning(&self, text: &str) -> String {
        let at = text.char_indices().nth(self.no_match_size).map_or(text.len(), |(at, _)| at);
        let rest = &text[at..];
        let word = rest.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(rest.len());
        text[..at + word].to_owned()
    }

    /// Refuses what the engine cannot show.
    fn check(&self) -> Result<(), Refusal> {
        let what = match self {
            Self { any_field: true, .. } => "[highlight] without [require_field_match]".to_owned(),
            Self { by_score: true, number_of_fragments: 2.., .. } => {
                "[highlight] in the order of scores".to_owned()
            }
            Self { number_of_fragments, .. } if *number_of_fragments > Highlight::SNIPPETS_MAX => {
                format!("[highlight] with more than {} fragments", Highlight::SNIPPETS_MAX)
            }
            _ => return Ok(()),
        };
        Err(Refusal::unsupported(what))
    }

    fn check_type(&self, name: &str) -> Result<(), Refusal> {
        match name {
            "unified" | "plain" | "fvh" => Ok(()),
            _ => Err(Refusal::illegal_argument(format!(
                "unknown highlighter type [{name}] for the field [{}]",
                self.name
            ))),
        }
    }
}

impl Highlighting {
    pub(super) fn read(value: &Json) -> Result<Highlighting, Refusal> {
        let Json::Object(members) = value else {
            return Ok(Highlighting { fields: Vec::new() });
        };
        tags(members)?;
        let (mut shared, mut fields) = (usual(), Vec::new());
        for (name, value) in members {
            match name.as_str() {
                "fields" => fields = listed(value)?,
                "encoder" => shared.is_html = read::shown(value) == "html",
                name if shared.takes(name, value)? => {}
                name => {
                    return Err(Refusal::content(format!("[highlight] unknown field [{name}]")));
                }
            }
        }
        let field = |(name, options): (&String, &Json)| field(name, options, &shared);
        let fields = fields.into_iter().map(field).collect::<Result<_, _>>()?;
        Ok(Highlighting { fields })
    }
}

/// Returns the fields of an object, or of an array of objects.
fn listed(value: &Json) -> Result<Vec<(&String, &Json)>, Refusal> {
    match value {
        Json::Object(members) => Ok(members.iter().map(|(name, value)| (name, value)).collect()),
        Json::Array(values) => {
            let lists = values.iter().map(listed).collect::<Result<Vec<_>, _>>()?;
            Ok(lists.into_iter().flatten().collect())
        }
        other => {
            let token = other.token();
            let what = format!("fields doesn't support values of type: {token}");
            Err(Refusal::content(format!("[highlight] {what}")))
        }
    }
}

fn field(name: &str, options: &Json, shared: &MarkedField) -> Result<MarkedField, Refusal> {
    let mut field = MarkedField { name: name.to_owned(), ..shared.clone() };
    if let Json::Object(members) = options {
        tags(members)?;
        for (name, value) in members {
            if !field.takes(name, value)? {
                return Err(Refusal::content(format!("[highlight_field] unknown field [{name}]")));
            }
        }
    }
    field.check()?;
    Ok(field)
}

/// Checks that both tags are there, or neither.
fn tags(members: &[(String, Json)]) -> Result<(), Refusal> {
    let has = |wanted: &str| members.iter().any(|(name, _)| name == wanted);
    if has("pre_tags") && !has("post_tags") {
        return Err(Refusal::parsing("pre_tags are set but post_tags are not set"));
    }
    Ok(())
}

/// Returns the first tag. Further ones are for less important matches, which are marked alike.
fn tag(name: &str, value: &Json) -> Result<String, Refusal> {
    let first = read::strings(value).and_then(|tags| tags.into_iter().next());
    first.ok_or_else(|| Refusal::content(format!("[highlight] failed to parse field [{name}]")))
}

fn size(value: &Json) -> Result<usize, Refusal> {
    Ok(usize::try_from(read::integer(value)?).unwrap_or(0))
}
