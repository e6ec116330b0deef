//! Mappings: the fields of an index in OpenSearch's words, read and shown.
//!
//! What an index cannot have is refused when it is made: an option that is ignored would find other
//! documents than its maker expects.

use std::collections::BTreeMap;

use spirit::schema::{Schema, TimeUnit};
use spirit::{Analyzer, Builder, FieldKind};
use spirit_opensearch::error::Refusal;
use spirit_opensearch::fields::{self, Leaf};
use spirit_opensearch::json::Json;

use super::index_settings;
/// Options of a field that change nothing here.
const ACCEPTED: [&str; 9] = [
    "doc_values",
    "norms",
    "store",
    "ignore_above",
    "ignore_malformed",
    "coerce",
    "eager_global_ordinals",
    "fielddata",
    "meta",
];
/// Formats of moments that are understood in milliseconds.
const FORMATS: [&str; 6] = [
    "strict_date_optional_time",
    "date_optional_time",
    "strict_date_time",
    "date_time",
    "strict_date_optional_time_nanos",
    "epoch_millis",
];

/// What the maker of an index asked for.
#[derive(Debug, Default)]
pub(super) struct Mapped {
    fields: Vec<(String, FieldKind)>,
    is_strict: bool,
}

impl Mapped {
    /// Reads the body with which an index is made, but for its aliases.
    pub(super) fn read(body: &Json) -> Result<Mapped, Refusal> {
        let mut mapped = Mapped::default();
        for (name, value) in object(body)? {
            match &**name {
                "mappings" => mapped.take(value)?,
                "settings" => index_settings::check(value)?,
                // They are no part of the index.
                "aliases" => {}
                other => {
                    let reason = format!("unknown key [{other}] for create index");
                    return Err(Refusal::parse(reason));
                }
            }
        }
        Ok(mapped)
    }

    /// Returns a builder of an index with these fields.
    pub(super) fn added_to(self, builder: Builder) -> Builder {
        let builder = builder.strict(self.is_strict);
        self.fields.into_iter().fold(builder, |builder, (name, kind)| builder.field(name, kind))
    }

    fn take(&mut self, mappings: &Json) -> Result<(), Refusal> {
        for (name, value) in object(mappings)? {
            match (&**name, value) {
                ("properties", value) => self.properties("", value)?,
                ("dynamic", Json::String(text)) if text == "strict" => self.is_strict = true,
                ("dynamic" | "date_detection", Json::Bool(true)) | ("_meta", _) => {}
                ("dynamic" | "date_detection", Json::String(text)) if text == "true" => {}
                ("_source", Json::Object(source)) if source.is_empty() => {}
                ("dynamic_templates", Json::Array(templates)) => {
                    templates.iter().try_for_each(check_dynamic)?;
                }
                ("dynamic" | "date_detection" | "_source", value) => {
                    return Err(Refusal::unsupported(format!("[{name}: {value}] of a mapping")));
                }
                (other, _) => {
                    let reason =
                        format!("Root mapping definition has unsupported parameters:  [{other}]");
                    return Err(Refusal::mapper_parsing(reason));
                }
            }
        }
        Ok(())
    }

    fn properties(&mut self, within: &str, value: &Json) -> Result<(), Refusal> {
        for (name, mapping) in object(value)? {
            let name = if within.is_empty() { name.clone() } else { format!("{within}.{name}") };
            if let Some(inner) = mapping.get("properties") {
                self.properties(&name, inner)?;
                continue;
            }
            let kind = mapping.get("type").and_then(Json::as_str).unwrap_or("object");
            check_options(&name, mapping)?;
            let kind = match kind_of(&name, kind, mapping)? {
                // A text with keywords is what documents bring along.
                Some(FieldKind::Text(_)) if has_keywords(&name, mapping)? => None,
                other => other,
            };
            self.fields.extend(kind.map(|kind| (name, kind)));
        }
        Ok(())
    }
}

fn object(value: &Json) -> Result<&[(String, Json)], Refusal> {
    match value {
        Json::Object(members) => Ok(members),
        _ => Err(Refusal::mapper_parsing("Expected an object in the body of a new index")),
    }
}

/// Checks a template of dynamic fields. It is accepted if strings become what they become anyhow.
fn check_dynamic(template: &Json) -> Result<(), Refusal> {
    let unsupported = |what: &str| Err(Refusal::unsupported(format!("[{what}] of a mapping")));
    let Json::Object(named) = template else { return unsupported("dynamic_templates") };
    for (name, template) in named {
        let text = |member: &str| template.get(member).and_then(Json::as_str);
        let mapping = template.get("mapping");
        let is_text = mapping.and_then(|m| m.get("type")).and_then(Json::as_str) == Some("text");
        match mapping {
            Some(mapping) if text("match_mapping_type") == Some("string") && is_text => {
                check_options(name, mapping)?;
                has_keywords(name, mapping)?;
                if mapping.get("analyzer").is_some() {
                    return unsupported("analyzer in dynamic_templates");
                }
            }
            _ => return unsupported(&format!("dynamic_templates: {name}")),
        }
    }
    Ok(())
}

fn check_options(name: &str, mapping: &Json) -> Result<(), Refusal> {
    for (option, value) in object(mapping)? {
        match (&**option, value) {
            ("type" | "fields" | "analyzer" | "format", _) => {}
            ("index" | "enabled", Json::Bool(true)) | ("dynamic", Json::Bool(true)) => {}
            (option, _) if ACCEPTED.contains(&option) => {}
            (option, value) => {
                return Err(Refusal::unsupported(format!("[{option}: {value}] of field [{name}]")));
            }
        }
    }
    Ok(())
}

/// True if a field of text has a field of keywords within, as documents bring it along. Other fields
/// within are refused.
fn has_keywords(name: &str, mapping: &Json) -> Result<bool, Refusal> {
    let Some(Json::Object(fields)) = mapping.get("fields") else { return Ok(false) };
    let is_usual = |(name, mapping): &(String, Json)| {
        name == "keyword" && mapping.get("type").and_then(Json::as_str) == Some("keyword")
    };
    match fields.iter().find(|field| !is_usual(field)) {
        None => Ok(!fields.is_empty()),
        Some((within, _)) => {
            Err(Refusal::unsupported(format!("the field [{within}] within [{name}]")))
        }
    }
}

fn kind_of(name: &str, kind: &str, mapping: &Json) -> Result<Option<FieldKind>, Refusal> {
    Ok(Some(match kind {
        "text" | "match_only_text" => FieldKind::Text(analyzer(name, mapping)?),
        "keyword" | "constant_keyword" | "wildcard" | "ip" => FieldKind::Keyword,
        "long" | "integer" | "short" | "byte" | "unsigned_long" => FieldKind::Integer,
        "double" | "float" | "half_float" | "scaled_float" => FieldKind::Float,
        "date" | "date_nanos" => FieldKind::Time(unit(name, mapping)?),
        "boolean" => FieldKind::Boolean,
        "object" | "nested" => return Ok(None),
        other => {
            let reason = format!("No handler for type [{other}] declared on field [{name}]");
            return Err(Refusal::mapper_parsing(reason));
        }
    }))
}

fn analyzer(name: &str, mapping: &Json) -> Result<Analyzer, Refusal> {
    let Some(asked) = mapping.get("analyzer").and_then(Json::as_str) else {
        return Ok(Analyzer::default());
    };
    asked.parse().map_err(|_| {
        Refusal::mapper_parsing(format!(
            "analyzer [{asked}] has not been configured in mappings of [{name}]"
        ))
    })
}

fn unit(name: &str, mapping: &Json) -> Result<TimeUnit, Refusal> {
    let Some(format) = mapping.get("format").and_then(Json::as_str) else {
        return Ok(TimeUnit::Milliseconds);
    };
    let formats: Vec<&str> = format.split("||").collect();
    let is_known = |format: &&str| FORMATS.contains(format) || *format == "epoch_second";
    match formats.iter().find(|format| !is_known(format)) {
        Some(unknown) => {
            Err(Refusal::unsupported(format!("the format [{unknown}] of field [{name}]")))
        }
        None if formats.contains(&"epoch_second") => Ok(TimeUnit::Seconds),
        None => Ok(TimeUnit::Milliseconds),
    }
}

/// The fields within an object, by name.
#[derive(Default)]
struct Level {
    own: Option<String>,
    within: BTreeMap<String, Level>,
}

impl Level {
    fn own_json(&self) -> String {
        if self.within.is_empty() {
            return self.own.clone().unwrap_or_else(|| r#"{"type":"object"}"#.to_owned());
        }
        format!(r#"{{"properties":{}}}"#, self.members())
    }

    fn members(&self) -> String {
        let member = |(name, level): (&String, &Level)| {
            format!("{}:{}", serde_json::to_string(name).unwrap_or_default(), level.own_json())
        };
        format!("{{{}}}", self.within.iter().map(member).collect::<Vec<_>>().join(","))
    }
}

/// Returns the mapping of a field.
fn leaf_json(leaf: &Leaf) -> &'static str {
    match leaf.kind {
        FieldKind::Text(_) if leaf.has_keywords => {
            r#"{"type":"text","fields":{"keyword":{"type":"keyword","ignore_above":256}}}"#
        }
        FieldKind::Text(_) => r#"{"type":"text"}"#,
        FieldKind::Keyword => r#"{"type":"keyword"}"#,
        FieldKind::Integer => r#"{"type":"long"}"#,
        FieldKind::Float => r#"{"type":"double"}"#,
        FieldKind::Time(_) => r#"{"type":"date"}"#,
        FieldKind::Boolean => r#"{"type":"boolean"}"#,
    }
}

/// Returns the mapping of a schema.
pub(super) fn json(schema: &Schema) -> String {
    let mut root = Level::default();
    for leaf in fields::leaves(schema) {
        let level = leaf
            .name
            .split('.')
            .fold(&mut root, |level, part| level.within.entry(part.to_owned()).or_default());
        level.own = Some(leaf_json(&leaf).to_owned());
    }
    if root.within.is_empty() {
        "{}".to_owned()
    } else {
        format!(r#"{{"properties":{}}}"#, root.members())
    }
}

/// Returns the mapping of each field whose name matches one of some patterns.
pub(super) fn fields_json(schema: &Schema, patterns: &[String]) -> String {
    let text = |text: &str| serde_json::to_string(text).unwrap_or_default();
    let mut shown = BTreeMap::new();
    let mut show = |name: String, mapping: &str| {
        if fields::is_asked(&name, patterns) {
            let last = name.rsplit('.').next().unwrap_or(&name);
            let mapping = format!("{{{}:{mapping}}}", text(last));
            shown.insert(name, mapping);
        }
    };
    for leaf in fields::leaves(schema) {
        if leaf.has_keywords {
            show(format!("{}.keyword", leaf.name), r#"{"type":"keyword","ignore_above":256}"#);
        }
        show(leaf.name.clone(), leaf_json(&leaf));
    }
    // As in OpenSearch, fields of every document have no mapping to show.
    for name in patterns.iter().filter(|name| fields::is_of_every_document(name)) {
        shown.insert(name.clone(), "{}".to_owned());
    }
    let member = |(name, mapping): (&String, &String)| {
        let name = text(name);
        format!(r#"{name}:{{"full_name":{name},"mapping":{mapping}}}"#)
    };
    format!("{{{}}}", shown.iter().map(member).collect::<Vec<_>>().join(","))
}
