//! The fields of indexes: `_field_caps`, and the mapping of single fields.

use axum::body::Body;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use spirit_opensearch::error::Refusal;
use spirit_opensearch::fields;
use spirit_opensearch::json::Json;

use super::answer::filtered;
use super::mapping;
use super::names;
use super::parameters::Parameters;
use super::refused::Answered;
use crate::api::body;
use crate::api::server::{Server, State};

pub(super) async fn capabilities(
    State(server): State<Server>,
    index: Option<Path<String>>,
    mut parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let may_be_missing = parameters.flag("ignore_unavailable")?;
    let include_unmapped = parameters.flag("include_unmapped")?;
    let asked = parameters.take("fields");
    let parameters = parameters.end_of_indexes()?;
    let body = body::read(&server, &headers, body).await?;
    let asked = asked.map(|text| listed(&text));
    let patterns = patterns(asked, &body)?;
    let served = names::resolve(&server, names::in_path(index.as_ref()), may_be_missing)?;
    let schemas: Vec<_> = served.iter().map(|served| served.index.schema()).collect();
    let indexes: Vec<_> = served
        .iter()
        .zip(&schemas)
        .map(|(served, schema)| (served.name.as_str(), &**schema))
        .collect();
    let body = fields::capabilities(&indexes, &patterns, include_unmapped).to_string();
    Ok(filtered(&parameters, 200, body))
}

/// Returns the patterns of a list with commas.
fn listed(text: &str) -> Vec<String> {
    text.split(',').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Returns the patterns of the URL or of the body. Clients of version 8 and newer send a body.
fn patterns(of_url: Option<Vec<String>>, body: &[u8]) -> Answered<Vec<String>> {
    let of_body = match body.trim_ascii() {
        b"" => None,
        body => of_body(&Json::parse(body)?)?,
    };
    if of_url.is_some() && of_body.is_some() {
        let reason = "can't specify a request body and [fields] request parameter, either specify \
                      a request body or the [fields] request parameter";
        return Err(Refusal::illegal_argument(reason).into());
    }
    let patterns = of_url.or(of_body).filter(|patterns| !patterns.is_empty());
    let missing = || Refusal::illegal_argument("specified fields can't be null or empty");
    Ok(patterns.ok_or_else(missing)?)
}

fn of_body(body: &Json) -> Answered<Option<Vec<String>>> {
    let Json::Object(members) = body else {
        return Err(Refusal::parsing("Expected an object in the body").into());
    };
    let mut patterns = None;
    for (name, value) in members {
        match (&**name, value) {
            ("fields", Json::String(text)) => patterns = Some(vec![text.clone()]),
            ("fields", Json::Array(names)) => {
                patterns = Some(names.iter().filter_map(Json::as_str).map(str::to_owned).collect());
            }
            ("index_filter", value) if value.get("match_all").is_some() => {}
            ("index_filter", _) => return Err(Refusal::unsupported("[index_filter]").into()),
            (name, _) => {
                let reason = format!("request does not support [{name}]");
                return Err(Refusal::parsing(reason).into());
            }
        }
    }
    Ok(patterns)
}

/// Shows the mapping of fields whose names match a list of patterns.
pub(super) async fn of_mapping(
    State(server): State<Server>,
    Path(path): Path<Vec<String>>,
    mut parameters: Parameters,
) -> Answered<Response> {
    let may_be_missing = parameters.flag("ignore_unavailable")?;
    if parameters.flag("include_defaults")? {
        return Err(Refusal::unsupported("[include_defaults]").into());
    }
    let parameters = parameters.end_of_indexes()?;
    let (index, patterns) = match &path[..] {
        [index, fields] => (&**index, listed(fields)),
        [fields] => ("*", listed(fields)),
        _ => ("*", Vec::new()),
    };
    let mut shown = Vec::new();
    for served in names::resolve(&server, index, may_be_missing)? {
        let fields = mapping::fields_json(&served.index.schema(), &patterns);
        shown.push(format!(r#""{}":{{"mappings":{fields}}}"#, served.name));
    }
    Ok(filtered(&parameters, 200, format!("{{{}}}", shown.join(","))))
}
