//! `_settings`: what an index was made with, in OpenSearch's words.

use axum::extract::Path;
use axum::response::Response;
use spirit_opensearch::error::Refusal;

use super::answer::filtered;
use super::identity::VERSION;
use super::names;
use super::parameters::Parameters;
use super::refused::Answered;
use crate::api::server::{Server, State};
use crate::pattern::matches;
use crate::served::Served;

pub(super) async fn show(
    State(server): State<Server>,
    index: Option<Path<String>>,
    parameters: Parameters,
) -> Answered<Response> {
    answer(&server, names::in_path(index.as_ref()), "*", parameters)
}

/// Shows the settings whose names match a list of patterns.
pub(super) async fn show_named(
    State(server): State<Server>,
    Path(path): Path<Vec<String>>,
    parameters: Parameters,
) -> Answered<Response> {
    match &path[..] {
        [index, name] => answer(&server, index, name, parameters),
        [name] => answer(&server, "*", name, parameters),
        _ => answer(&server, "*", "*", parameters),
    }
}

fn answer(
    server: &Server,
    index: &str,
    patterns: &str,
    mut parameters: Parameters,
) -> Answered<Response> {
    let may_be_missing = parameters.flag("ignore_unavailable")?;
    let is_flat = parameters.flag("flat_settings")?;
    if parameters.flag("include_defaults")? {
        return Err(Refusal::unsupported("[include_defaults]").into());
    }
    let parameters = parameters.end_of_indexes()?;
    let pattern = |name: &str| if name == "_all" { "*".to_owned() } else { name.to_owned() };
    let patterns: Vec<String> = patterns.split(',').map(pattern).collect();
    let shown: Vec<String> = names::resolve(server, index, may_be_missing)?
        .iter()
        .map(|served| (served, json(served, &patterns, is_flat)))
        .filter(|(_, settings)| settings != "{}")
        .map(|(served, settings)| format!(r#""{}":{{"settings":{settings}}}"#, served.name))
        .collect();
    Ok(filtered(&parameters, 200, format!("{{{}}}", shown.join(","))))
}

/// Returns the settings of an index whose names match one of some patterns.
pub(super) fn json(served: &Served, patterns: &[String], is_flat: bool) -> String {
    let is_asked = |name: &str| {
        let full = format!("index.{name}");
        patterns.iter().any(|pattern| matches(pattern, &full))
    };
    let settings = all(served).into_iter().filter(|(name, _)| is_asked(name));
    let (head, separator) = if is_flat { ("index.", ".") } else { ("", r#"":{""#) };
    let member = |(name, value): (&str, String)| {
        let end = if is_flat { "" } else { &"}"[..name.matches('.').count()] };
        let name = name.replace('.', separator);
        format!(r#""{head}{name}":{}{end}"#, serde_json::to_string(&value).unwrap_or_default())
    };
    let members: Vec<String> = settings.map(member).collect();
    match (members.join(","), is_flat) {
        (members, _) if members.is_empty() => "{}".to_owned(),
        (members, true) => format!("{{{members}}}"),
        (members, false) => format!(r#"{{"index":{{{members}}}}}"#),
    }
}

/// Returns names and values, without the `index.` in front.
fn all(served: &Served) -> Vec<(&'static str, String)> {
    let name = served.name.as_str();
    let mut settings = vec![
        ("number_of_replicas", "0".to_owned()),
        ("number_of_shards", "1".to_owned()),
        ("provided_name", name.to_owned()),
        ("uuid", name.to_owned()),
        ("version.created", version_number(VERSION)),
    ];
    if let Some(ms) = served.made_ms() {
        settings.insert(0, ("creation_date", ms.to_string()));
    }
    settings
}

/// Returns a version such as `8.19.0` as indexes keep it: two digits a part, and 99 for a release.
fn version_number(version: &str) -> String {
    let digits = |part: &str| format!("{part:0>2}");
    let parts: String = version.split('.').map(digits).collect();
    format!("{}99", parts.trim_start_matches('0'))
}
