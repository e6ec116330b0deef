//! `_cat/aliases`: the aliases as a table.

use axum::extract::Path;
use axum::http::HeaderValue;
use axum::response::Response;

use super::answer::filtered;
use super::parameters::Parameters;
use super::refused::{Answered, json};
use crate::api::server::{Server, State};
use crate::pattern::matches;

/// The columns.
const COLUMNS: [&str; 6] =
    ["alias", "index", "filter", "routing.index", "routing.search", "is_write_index"];

pub(super) async fn show(
    State(server): State<Server>,
    alias: Option<Path<String>>,
    mut parameters: Parameters,
) -> Answered<Response> {
    let wanted = parameters.take("h");
    let has_head = parameters.flag("v")?;
    let is_text = parameters.is_text();
    let parameters = parameters.end_of_indexes()?;
    let columns: Vec<&str> = match &wanted {
        Some(names) => names.split(',').filter(|name| COLUMNS.contains(name)).collect(),
        None => COLUMNS.to_vec(),
    };
    let patterns = alias.map_or("*".to_owned(), |Path(alias)| alias);
    let is_it = |name: &str| patterns.split(',').any(|pattern| matches(pattern, name));
    let registered = server.catalog().registry().now();
    let mut rows: Vec<[String; 6]> = Vec::new();
    for (alias, indexes) in registered.aliases.iter().filter(|(alias, _)| is_it(alias)) {
        for (index, is_write) in indexes {
            let is_write = is_write.map_or("-".to_owned(), |yes| yes.to_string());
            let none = || "-".to_owned();
            rows.push([alias.clone(), index.clone(), none(), none(), none(), is_write]);
        }
    }
    let place = |column: &str| COLUMNS.iter().position(|known| *known == column).unwrap_or(0);
    if !is_text {
        let object = |row: &[String; 6]| -> serde_json::Map<String, serde_json::Value> {
            let member = |column: &&str| ((*column).to_owned(), row[place(column)].clone().into());
            columns.iter().map(member).collect()
        };
        let rows: Vec<_> = rows.iter().map(object).collect();
        return Ok(filtered(&parameters, 200, serde_json::json!(rows).to_string()));
    }
    let head = has_head.then(|| COLUMNS.map(str::to_owned));
    let line = |row: [String; 6]| {
        columns.iter().map(|column| &*row[place(column)]).collect::<Vec<_>>().join(" ") + "\n"
    };
    let mut response = json(200, head.into_iter().chain(rows).map(line).collect());
    let kind = HeaderValue::from_static("text/plain; charset=UTF-8");
    response.headers_mut().insert("content-type", kind);
    Ok(response)
}
