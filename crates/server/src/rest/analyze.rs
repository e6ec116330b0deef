//! `_analyze`: the tokens of a text.

use axum::body::Body;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use spirit::schema::Schema;
use spirit::{Analyzer, FieldKind};
use spirit_opensearch::analyze::tokens;
use spirit_opensearch::error::Refusal;
use spirit_opensearch::json::Json;

use super::answer::filtered;
use super::names;
use super::parameters::Parameters;
use super::refused::Answered;
use crate::api::body;
use crate::api::server::{Server, State};

pub(super) async fn analyze(
    State(server): State<Server>,
    index: Option<Path<String>>,
    mut parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let (mut analyzer, mut field) = (parameters.take("analyzer"), parameters.take("field"));
    let mut texts: Vec<String> = parameters.take("text").into_iter().collect();
    let parameters = parameters.end_of_indexes()?;
    let body = body::read(&server, &headers, body).await?;
    if !body.trim_ascii().is_empty() {
        let Json::Object(members) = Json::parse(&body)? else {
            return Err(Refusal::parsing("Expected an object").into());
        };
        for (name, value) in members {
            match (&*name, value) {
                ("analyzer", Json::String(name)) => analyzer = Some(name),
                ("field", Json::String(name)) => field = Some(name),
                ("text", Json::String(text)) => texts = vec![text],
                ("text", Json::Array(all)) if all.iter().all(|text| text.as_str().is_some()) => {
                    texts = all.iter().filter_map(Json::as_str).map(str::to_owned).collect();
                }
                ("explain", Json::Bool(false)) => {}
                (
                    "tokenizer" | "filter" | "char_filter" | "normalizer" | "explain"
                    | "attributes",
                    _,
                ) => {
                    return Err(Refusal::unsupported(format!("[{name}] of _analyze")).into());
                }
                (name, _) => {
                    let reason = format!("[analyze_request] unknown field [{name}]");
                    return Err(Refusal::content(reason).into());
                }
            }
        }
    }
    if texts.is_empty() {
        let reason = "Validation Failed: 1: text is missing;";
        return Err(Refusal::new("action_request_validation_exception", 400, reason).into());
    }
    let served = index.map(|Path(index)| names::named(&server, &index)).transpose()?;
    let schema = served.map(|served| served.index.schema());
    let analyzer = match (&analyzer, &schema, &field) {
        (Some(name), ..) => known(name)?,
        (None, Some(schema), Some(field)) => of_field(schema, field)?,
        (None, None, Some(_)) => {
            let reason = "analysis based on a specific field requires an index";
            return Err(Refusal::illegal_argument(reason).into());
        }
        (None, schema, None) => schema.as_ref().map_or(Analyzer::Standard, |s| s.analyzer()),
    };
    let found = tokens(analyzer, &texts)?;
    Ok(filtered(&parameters, 200, serde_json::json!({ "tokens": found }).to_string()))
}

fn known(name: &str) -> Result<Analyzer, Refusal> {
    let wrong = |_| Refusal::illegal_argument(format!("failed to find global analyzer [{name}]"));
    name.parse().map_err(wrong)
}

/// Returns the analyzer of a field. An unknown field has that of the index.
fn of_field(schema: &Schema, field: &str) -> Result<Analyzer, Refusal> {
    match schema.asked(field) {
        None => Ok(schema.analyzer()),
        Some((_, FieldKind::Text(analyzer))) => Ok(analyzer),
        Some((_, FieldKind::Keyword)) => Ok(Analyzer::Keyword),
        Some(_) => Err(Refusal::illegal_argument(format!(
            "Can't process field [{field}], Analysis requests are only supported on tokenized fields"
        ))),
    }
}
