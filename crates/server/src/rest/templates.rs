//! Templates: put, shown and deleted.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::{Map, Value, json};
use spirit_opensearch::error::Refusal;
use spirit_opensearch::json::Json;

use super::aliases::{self, ACKNOWLEDGED};
use super::answer::{empty, filtered};
use super::composed::{number, patterns, value};
use super::index_settings;
use super::mapping::Mapped;
use super::parameters::Parameters;
use super::refused::{Answered, Refused};
use crate::api::body;
use crate::api::server::{Server, State};
use crate::pattern::{matches, overlap};
use crate::registry::Registered;

/// A kind of template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Index,
    Component,
    Legacy,
}

impl Kind {
    fn all(self, registered: &Registered) -> &BTreeMap<String, Value> {
        match self {
            Kind::Index => &registered.index_templates,
            Kind::Component => &registered.component_templates,
            Kind::Legacy => &registered.templates,
        }
    }

    fn all_mut(self, registered: &mut Registered) -> &mut BTreeMap<String, Value> {
        match self {
            Kind::Index => &mut registered.index_templates,
            Kind::Component => &mut registered.component_templates,
            Kind::Legacy => &mut registered.templates,
        }
    }

    /// Returns its name in errors.
    fn name(self) -> &'static str {
        match self {
            Kind::Index => "index template",
            Kind::Component => "component template",
            Kind::Legacy => "index_template",
        }
    }

    /// The members of a template of this kind.
    fn members(self) -> &'static [&'static str] {
        match self {
            Kind::Index => &[
                "index_patterns",
                "template",
                "composed_of",
                "priority",
                "version",
                "_meta",
                "data_stream",
                "allow_auto_create",
            ],
            Kind::Component => &["template", "version", "_meta"],
            Kind::Legacy => {
                &["index_patterns", "order", "settings", "mappings", "aliases", "version"]
            }
        }
    }
}

/// Reads a template. One that would make no index is refused.
pub(super) fn read(kind: Kind, body: &Json) -> Result<Value, Refusal> {
    let Json::Object(members) = body else {
        return Err(Refusal::parse("Expected an object for a template"));
    };
    if let Some((name, _)) = members.iter().find(|(name, _)| !kind.members().contains(&&**name)) {
        let kind = kind.name().replace(' ', "_");
        return Err(Refusal::content(format!("[{kind}] unknown field [{name}]")));
    }
    let mut template = value(body)?;
    if kind != Kind::Component {
        if template["index_patterns"].is_null() {
            return Err(Refusal::illegal_argument("Required [index_patterns]"));
        }
        if patterns(&template).is_empty() {
            let reason = "There must be at least one pattern, zero given";
            return Err(Refusal::illegal_argument(reason));
        }
    }
    if template["allow_auto_create"] == false {
        return Err(Refusal::unsupported("[allow_auto_create: false] of a template"));
    }
    let part =
        if kind == Kind::Legacy { body } else { body.get("template").unwrap_or(&Json::Null) };
    if let Json::Object(members) = part {
        let known = ["mappings", "settings", "aliases"];
        let of_index = members.iter().filter(|(name, _)| known.contains(&&**name)).cloned();
        let other = members.iter().find(|(name, _)| !known.contains(&&**name));
        if let Some((name, _)) = other.filter(|_| kind != Kind::Legacy) {
            return Err(Refusal::content(format!("[template] unknown field [{name}]")));
        }
        let of_index = Json::Object(of_index.collect());
        Mapped::read(&of_index)?;
        of_index.get("aliases").map(aliases::of_index).transpose()?;
    }
    complete(kind, &mut template);
    Ok(template)
}

/// Adds what a template has without saying so.
fn complete(kind: Kind, template: &mut Value) {
    let part = if kind == Kind::Legacy { &mut *template } else { &mut template["template"] };
    if part["settings"].is_object() {
        part["settings"] = json!({"index": index_settings::normal(&part["settings"])});
    }
    let Value::Object(members) = template else { return };
    members.retain(|_, value| !value.is_null());
    if let Some(Value::Object(part)) = members.get_mut("template") {
        part.retain(|_, value| !value.is_null());
    }
    match kind {
        Kind::Index => {
            members.entry("composed_of").or_insert(json!([]));
            if let Some(stream) = members.get_mut("data_stream") {
                *stream = json!({"timestamp_field": {"name": "@timestamp"}});
            }
        }
        Kind::Component => {}
        Kind::Legacy => {
            members.entry("order").or_insert(json!(0));
            for part in ["settings", "mappings", "aliases"] {
                members.entry(part).or_insert(json!({}));
            }
        }
    }
}

/// Returns an error if a template does not go with those that are there.
pub(super) fn check(
    kind: Kind,
    name: &str,
    template: &Value,
    registered: &Registered,
) -> Result<(), Refusal> {
    if kind != Kind::Index {
        return Ok(());
    }
    let components = template["composed_of"].as_array().into_iter().flatten();
    let missing: Vec<&str> = components
        .filter_map(Value::as_str)
        .filter(|name| !registered.component_templates.contains_key(*name))
        .collect();
    if !missing.is_empty() {
        let missing = missing.join(", ");
        let reason = format!(
            "index_template [{name}] invalid, cause [index template [{name}] specifies component \
             templates [{missing}] that do not exist]"
        );
        return Err(Refusal::new("invalid_index_template_exception", 400, reason));
    }
    let (own, priority) = (patterns(template), number(template, "priority"));
    for (other, known) in registered.index_templates.iter().filter(|(other, _)| *other != name) {
        let theirs = patterns(known);
        let is_shared = |a: &&str| theirs.iter().any(|b| overlap(a, b));
        if number(known, "priority") == priority && own.iter().any(is_shared) {
            let (own, theirs) = (own.join(", "), theirs.join(", "));
            return Err(Refusal::illegal_argument(format!(
                "index template [{name}] has index patterns [{own}] matching patterns from existing \
                 templates [{other}] with patterns ({other} => [{theirs}]) that have the same priority \
                 [{priority}], multiple index templates may not match during index creation, please \
                 use a different priority"
            )));
        }
    }
    Ok(())
}

async fn put(
    server: Server,
    kind: Kind,
    name: String,
    mut parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let is_new = parameters.flag("create")?;
    parameters.take("cause");
    let order = parameters.number("order")?.filter(|_| kind == Kind::Legacy);
    let parameters = parameters.end_of_write()?;
    let body = Json::parse(&body::read(&server, &headers, body).await?)?;
    let mut template = read(kind, &body)?;
    if let Some(order) = order {
        template["order"] = json!(order);
    }
    let catalog = server.catalog().clone();
    let written = server.write(move || {
        Ok(catalog.registry().change(|registered| {
            if is_new && kind.all(registered).contains_key(&name) {
                let reason = format!("{} [{name}] already exists", kind.name());
                return Err(Refused(Refusal::illegal_argument(reason)));
            }
            check(kind, &name, &template, registered)?;
            kind.all_mut(registered).insert(name, template);
            Ok(())
        }))
    });
    written.await??;
    Ok(filtered(&parameters, 200, ACKNOWLEDGED.to_owned()))
}

fn show(
    server: &Server,
    kind: Kind,
    name: Option<&str>,
    parameters: Parameters,
) -> Answered<Response> {
    let parameters = parameters.end_of_indexes()?;
    let registered = server.catalog().registry().now();
    let found = named(kind.all(&registered), name);
    let is_pattern = name.is_none_or(|name| name.contains('*'));
    if kind == Kind::Legacy {
        let status = if found.is_empty() && !is_pattern { 404 } else { 200 };
        let found: Map<String, Value> =
            found.into_iter().map(|(name, template)| (name.clone(), template.clone())).collect();
        return Ok(filtered(&parameters, status, Value::Object(found).to_string()));
    }
    if found.is_empty() && !is_pattern {
        let name = name.unwrap_or_default();
        let reason = format!("{} matching [{name}] not found", kind.name());
        return Err(Refusal::new("resource_not_found_exception", 404, reason).into());
    }
    let (all, one) = match kind {
        Kind::Index => ("index_templates", "index_template"),
        _ => ("component_templates", "component_template"),
    };
    let found: Vec<Value> =
        found.into_iter().map(|(name, template)| json!({"name": name, one: template})).collect();
    Ok(filtered(&parameters, 200, json!({ all: found }).to_string()))
}

fn named<'t>(all: &'t BTreeMap<String, Value>, name: Option<&str>) -> Vec<(&'t String, &'t Value)> {
    let is_it =
        |own: &str| name.is_none_or(|names| names.split(',').any(|pattern| matches(pattern, own)));
    all.iter().filter(|(own, _)| is_it(own)).collect()
}

async fn delete(
    server: Server,
    kind: Kind,
    name: String,
    parameters: Parameters,
) -> Answered<Response> {
    let parameters = parameters.end_of_write()?;
    let catalog = server.catalog().clone();
    let deleted = server.write(move || {
        Ok(catalog.registry().change(|registered| {
            let found = named(kind.all(registered), Some(&name));
            let found: Vec<String> = found.into_iter().map(|(name, _)| name.clone()).collect();
            if found.is_empty() && !name.contains('*') {
                let reason = format!("index_template [{name}] missing");
                let refusal = Refusal::new("index_template_missing_exception", 404, reason);
                return Err(Refused(refusal));
            }
            check_use(kind, &found, registered)?;
            kind.all_mut(registered).retain(|name, _| !found.contains(name));
            Ok(())
        }))
    });
    deleted.await??;
    Ok(filtered(&parameters, 200, ACKNOWLEDGED.to_owned()))
}

/// Returns an error if templates are in use.
fn check_use(kind: Kind, names: &[String], registered: &Registered) -> Result<(), Refusal> {
    let names_of = |users: Vec<&String>| -> String {
        users.into_iter().map(|name| &**name).collect::<Vec<&str>>().join(", ")
    };
    let (users, what) = match kind {
        Kind::Index => {
            let uses = registered.streams.iter().filter(|(_, template)| names.contains(template));
            (uses.map(|(stream, _)| stream).collect::<Vec<_>>(), "a data streams")
        }
        Kind::Component => {
            let has = |template: &Value| {
                let own = template["composed_of"].as_array().into_iter().flatten();
                own.filter_map(Value::as_str).any(|own| names.iter().any(|name| name == own))
            };
            let uses = registered.index_templates.iter().filter(|(_, template)| has(template));
            (uses.map(|(name, _)| name).collect(), "index templates")
        }
        Kind::Legacy => return Ok(()),
    };
    if users.is_empty() {
        return Ok(());
    }
    let (names, users) = (names.join(", "), names_of(users));
    Err(Refusal::illegal_argument(match kind {
        Kind::Index => format!(
            "unable to remove composable templates [{names}] as they are in use by {what} [{users}]"
        ),
        _ => format!(
            "component templates [{names}] cannot be removed as they are still in use by {what} [{users}]"
        ),
    }))
}

/// Makes the handlers of a kind of template.
macro_rules! handlers {
    ($module:ident, $kind:expr) => {
        pub(super) mod $module {
            use super::*;

            pub(in crate::rest) async fn put(
                State(server): State<Server>,
                Path(name): Path<String>,
                parameters: Parameters,
                headers: HeaderMap,
                body: Body,
            ) -> Answered<Response> {
                super::put(server, $kind, name, parameters, headers, body).await
            }

            pub(in crate::rest) async fn show(
                State(server): State<Server>,
                name: Option<Path<String>>,
                parameters: Parameters,
            ) -> Answered<Response> {
                let name = name.map(|Path(name)| name);
                super::show(&server, $kind, name.as_deref(), parameters)
            }

            pub(in crate::rest) async fn exists(
                State(server): State<Server>,
                Path(name): Path<String>,
            ) -> Answered<Response> {
                let registered = server.catalog().registry().now();
                let is_there = !named($kind.all(&registered), Some(&name)).is_empty();
                Ok(empty(if is_there { 200 } else { 404 }))
            }

            pub(in crate::rest) async fn delete(
                State(server): State<Server>,
                Path(name): Path<String>,
                parameters: Parameters,
            ) -> Answered<Response> {
                super::delete(server, $kind, name, parameters).await
            }
        }
    };
}

handlers!(of_indexes, Kind::Index);
handlers!(components, Kind::Component);
handlers!(legacy, Kind::Legacy);
