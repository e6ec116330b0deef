//! Indexes: made, shown, deleted; their mappings; `_cat/indices`.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use spirit::FieldKind;
use spirit::schema::Schema;
use spirit_opensearch::error::Refusal;
use spirit_opensearch::json::Json;

use super::answer::filtered;
use super::document::empty;
use super::names;
use super::parameters::Parameters;
use super::refused::{Answered, Refused, absent, json, not_made};
use crate::api::body;
use crate::api::server::Server;
use crate::served::Served;

/// What every request has that changes nothing, since all is visible and durable already.
const REFRESHED: &str = r#"{"_shards":{"total":1,"successful":1,"failed":0}}"#;

pub(super) async fn refresh_all(parameters: Parameters) -> Answered<Response> {
    let parameters = parameters.end_of_indexes()?;
    Ok(filtered(&parameters, 200, REFRESHED.to_owned()))
}

pub(super) async fn refresh(
    State(server): State<Server>,
    Path(index): Path<String>,
    mut parameters: Parameters,
) -> Answered<Response> {
    let may_be_missing = parameters.flag("ignore_unavailable")?;
    for accepted in ["force", "wait_if_ongoing"] {
        parameters.take(accepted);
    }
    let parameters = parameters.end_of_indexes()?;
    names::resolve(&server, &index, may_be_missing)?;
    Ok(filtered(&parameters, 200, REFRESHED.to_owned()))
}

pub(super) async fn exists(
    State(server): State<Server>,
    Path(index): Path<String>,
) -> Answered<Response> {
    let found = names::resolve(&server, &index, false).is_ok_and(|found| !found.is_empty());
    Ok(empty(if found { 200 } else { StatusCode::NOT_FOUND.as_u16() }))
}

pub(super) async fn make(
    State(server): State<Server>,
    Path(index): Path<String>,
    parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let parameters = parameters.end_of_indexes()?;
    let body = body::read(&server, &headers, body).await?;
    let fields = match body.trim_ascii() {
        b"" => Vec::new(),
        body => mapped(&Json::parse(body)?)?,
    };
    let name = names::parsed(&index)?;
    let catalog = server.catalog().clone();
    let made = server.write(move || {
        let sizes = catalog.default_sizes();
        Ok(catalog.make(&name, sizes, |builder| {
            fields.into_iter().fold(builder, |builder, (name, kind)| builder.field(name, kind))
        }))
    });
    made.await?.map_err(|error| not_made(&index, &error))?;
    let index = serde_json::to_string(&index).unwrap_or_default();
    let body = format!(r#"{{"acknowledged":true,"shards_acknowledged":true,"index":{index}}}"#);
    Ok(filtered(&parameters, 200, body))
}

/// Reads the fields of a mapping. Settings are accepted: an index has one shard and no replica.
fn mapped(body: &Json) -> Answered<Vec<(String, FieldKind)>> {
    let Json::Object(members) = body else {
        return Err(Refusal::parse("request body is not an object").into());
    };
    let mut fields = Vec::new();
    for (name, value) in members {
        match &**name {
            "mappings" => {
                let Json::Object(mappings) = value else { continue };
                for (name, value) in mappings {
                    match &**name {
                        "properties" => properties("", value, &mut fields)?,
                        "dynamic" | "_source" | "date_detection" | "_meta" => {}
                        other => {
                            let reason = format!(
                                "Root mapping definition has unsupported parameters:  [{other}]"
                            );
                            return Err(Refusal::mapper_parsing(reason).into());
                        }
                    }
                }
            }
            "settings" => {}
            "aliases" if matches!(value, Json::Object(aliases) if aliases.is_empty()) => {}
            other => {
                return Err(
                    Refusal::parse(format!("unknown key [{other}] for create index")).into()
                );
            }
        }
    }
    Ok(fields)
}

fn properties(within: &str, value: &Json, fields: &mut Vec<(String, FieldKind)>) -> Answered<()> {
    let Json::Object(members) = value else {
        return Err(Refusal::mapper_parsing("Expected map for property [properties]").into());
    };
    for (name, mapping) in members {
        let name = if within.is_empty() { name.clone() } else { format!("{within}.{name}") };
        if let Some(inner) = mapping.get("properties") {
            properties(&name, inner, fields)?;
            continue;
        }
        let kind = mapping.get("type").and_then(Json::as_str).unwrap_or("object");
        match kind_of(&name, kind)? {
            // A text with keywords is what documents bring along.
            Some(FieldKind::Text(_)) if mapping.get("fields").is_some() => {}
            Some(kind) => fields.push((name, kind)),
            None => {}
        }
    }
    Ok(())
}

fn kind_of(name: &str, kind: &str) -> Answered<Option<FieldKind>> {
    Ok(Some(match kind {
        "text" | "match_only_text" => FieldKind::Text(spirit::Analyzer::default()),
        "keyword" | "constant_keyword" | "wildcard" | "ip" => FieldKind::Keyword,
        "long" | "integer" | "short" | "byte" | "unsigned_long" => FieldKind::Integer,
        "double" | "float" | "half_float" | "scaled_float" => FieldKind::Float,
        "date" | "date_nanos" => FieldKind::Time(spirit::schema::TimeUnit::Milliseconds),
        "boolean" => FieldKind::Boolean,
        "object" | "nested" => return Ok(None),
        other => {
            let reason = format!("No handler for type [{other}] declared on field [{name}]");
            return Err(Refused(Refusal::mapper_parsing(reason)));
        }
    }))
}

pub(super) async fn delete(
    State(server): State<Server>,
    Path(index): Path<String>,
    mut parameters: Parameters,
) -> Answered<Response> {
    let may_be_missing = parameters.flag("ignore_unavailable")?;
    let parameters = parameters.end_of_indexes()?;
    let served = names::resolve(&server, &index, may_be_missing)?;
    let names: Vec<_> = served.iter().map(|served| served.name.clone()).collect();
    drop(served);
    let catalog = server.catalog().clone();
    let deleted = server.write(move || {
        let delete = |name| match catalog.delete(&name) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                Err(Refused(Refusal::new("engine_exception", 500, format!("{name}: {error}"))))
            }
            Err(why) => Err(absent(name.as_str(), &why)),
        };
        Ok(names.into_iter().try_for_each(delete))
    });
    deleted.await??;
    Ok(filtered(&parameters, 200, r#"{"acknowledged":true}"#.to_owned()))
}

pub(super) async fn show(
    State(server): State<Server>,
    Path(index): Path<String>,
    mut parameters: Parameters,
) -> Answered<Response> {
    let may_be_missing = parameters.flag("ignore_unavailable")?;
    let parameters = parameters.end_of_indexes()?;
    let show = |served: &Served| {
        let mapping = mapping_json(&served.index.schema());
        let name = &served.name;
        format!(
            r#""{name}":{{"aliases":{{}},"mappings":{mapping},"settings":{{"index":{{"number_of_shards":"1","number_of_replicas":"0","provided_name":"{name}","uuid":"{name}"}}}}}}"#
        )
    };
    let shown: Vec<_> = names::resolve(&server, &index, may_be_missing)?
        .iter()
        .map(|served| show(served))
        .collect();
    Ok(filtered(&parameters, 200, format!("{{{}}}", shown.join(","))))
}

pub(super) async fn mappings(
    State(server): State<Server>,
    parameters: Parameters,
) -> Answered<Response> {
    mapping_of(&server, "*", parameters)
}

pub(super) async fn mapping(
    State(server): State<Server>,
    Path(index): Path<String>,
    parameters: Parameters,
) -> Answered<Response> {
    mapping_of(&server, &index, parameters)
}

fn mapping_of(server: &Server, index: &str, mut parameters: Parameters) -> Answered<Response> {
    let may_be_missing = parameters.flag("ignore_unavailable")?;
    let parameters = parameters.end_of_indexes()?;
    let show = |served: &Served| {
        format!(r#""{}":{{"mappings":{}}}"#, served.name, mapping_json(&served.index.schema()))
    };
    let shown: Vec<_> =
        names::resolve(server, index, may_be_missing)?.iter().map(|served| show(served)).collect();
    Ok(filtered(&parameters, 200, format!("{{{}}}", shown.join(","))))
}

/// The fields within an object, by name.
#[derive(Default)]
struct Level {
    own: Option<String>,
    within: BTreeMap<String, Level>,
}

impl Level {
    fn json(&self) -> String {
        if self.within.is_empty() {
            return self.own.clone().unwrap_or_else(|| r#"{"type":"object"}"#.to_owned());
        }
        format!(r#"{{"properties":{}}}"#, self.members())
    }

    fn members(&self) -> String {
        let member = |(name, level): (&String, &Level)| {
            format!("{}:{}", serde_json::to_string(name).unwrap_or_default(), level.json())
        };
        format!("{{{}}}", self.within.iter().map(member).collect::<Vec<_>>().join(","))
    }
}

fn mapping_json(schema: &Schema) -> String {
    let mut root = Level::default();
    for field in schema.fields().iter().skip(1).filter(|field| !field.name.starts_with("_version"))
    {
        let kind = match field.kind {
            FieldKind::Text(_) if field.keywords().is_some() => {
                r#"{"type":"text","fields":{"keyword":{"type":"keyword","ignore_above":256}}}"#
            }
            FieldKind::Text(_) => r#"{"type":"text"}"#,
            FieldKind::Keyword => r#"{"type":"keyword"}"#,
            FieldKind::Integer => r#"{"type":"long"}"#,
            FieldKind::Float => r#"{"type":"double"}"#,
            FieldKind::Time(_) => r#"{"type":"date"}"#,
            FieldKind::Boolean => r#"{"type":"boolean"}"#,
        };
        let level = field
            .name
            .split('.')
            .fold(&mut root, |level, part| level.within.entry(part.to_owned()).or_default());
        level.own = Some(kind.to_owned());
    }
    if root.within.is_empty() {
        "{}".to_owned()
    } else {
        format!(r#"{{"properties":{}}}"#, root.members())
    }
}

pub(super) async fn cat_all(
    State(server): State<Server>,
    parameters: Parameters,
) -> Answered<Response> {
    cat_of(&server, "*", parameters)
}

pub(super) async fn cat(
    State(server): State<Server>,
    Path(index): Path<String>,
    parameters: Parameters,
) -> Answered<Response> {
    cat_of(&server, &index, parameters)
}

/// The columns of `_cat/indices`.
const COLUMNS: [&str; 10] = [
    "health",
    "status",
    "index",
    "uuid",
    "pri",
    "rep",
    "docs.count",
    "docs.deleted",
    "store.size",
    "pri.store.size",
];

fn cat_of(server: &Server, index: &str, mut parameters: Parameters) -> Answered<Response> {
    let wanted = parameters.take("h");
    let has_head = parameters.flag("v")?;
    let is_text = parameters.is_text();
    for accepted in ["s", "bytes", "health", "ts", "time", "include_unloaded_segments", "pri"] {
        parameters.take(accepted);
    }
    let parameters = parameters.end_of_indexes()?;
    let columns: Vec<&str> = match &wanted {
        Some(names) => names.split(',').collect(),
        None => COLUMNS.to_vec(),
    };
    let mut rows = Vec::new();
    for served in names::resolve(server, index, false)? {
        rows.push(row(&served)?);
    }
    let value = |row: &[String], column: &str| {
        let place = COLUMNS.iter().position(|known| *known == column || known.starts_with(column));
        place.map_or(String::new(), |place| row[place].clone())
    };
    if is_text {
        let mut lines: Vec<Vec<String>> = Vec::new();
        if has_head {
            lines.push(columns.iter().map(|column| (*column).to_owned()).collect());
        }
        lines.extend(
            rows.iter().map(|row| columns.iter().map(|column| value(row, column)).collect()),
        );
        let lines: String = lines.into_iter().map(|line| line.join(" ") + "\n").collect();
        let mut response = json(200, lines);
        let kind = axum::http::HeaderValue::from_static("text/plain; charset=UTF-8");
        response.headers_mut().insert("content-type", kind);
        return Ok(response);
    }
    let text = |text: &str| serde_json::to_string(text).unwrap_or_default();
    let object = |row: &Vec<String>| {
        let members: Vec<_> = columns
            .iter()
            .map(|column| format!("{}:{}", text(column), text(&value(row, column))))
            .collect();
        format!("{{{}}}", members.join(","))
    };
    let body = format!("[{}]", rows.iter().map(object).collect::<Vec<_>>().join(","));
    Ok(filtered(&parameters, 200, body))
}

fn row(served: &Served) -> Answered<Vec<String>> {
    let (accepted, deleted) = (served.index.accepted(), served.index.deleted());
    let stats = served.index.stats();
    let bytes = stats.map_err(|error| Refusal::new("engine_exception", 500, error.to_string()))?;
    let size = format!("{}b", bytes.bytes.index());
    let name = served.name.to_string();
    let documents = accepted.saturating_sub(deleted).to_string();
    Ok(["green", "open", &name, &name, "1", "0", &documents, &deleted.to_string(), &size, &size]
        .map(str::to_owned)
        .to_vec())
}
