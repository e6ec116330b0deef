//! Parameters of a URL. Those that change nothing here are accepted, unknown ones refused.

use super::refused::Refused;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use spirit_opensearch::error::Refusal;
use spirit_opensearch::filter_path::FilterPath;

/// Parameters that every request may have, and that change nothing.
const COMMON: [&str; 3] = ["pretty", "human", "error_trace"];
/// Parameters of writes that change nothing: what is acknowledged is visible and durable.
const OF_WRITES: [&str; 7] = [
    "refresh",
    "timeout",
    "wait_for_active_shards",
    "routing",
    "require_alias",
    "master_timeout",
    "cluster_manager_timeout",
];
/// Parameters of requests to several indexes.
const OF_INDEXES: [&str; 9] = [
    "allow_no_indices",
    "expand_wildcards",
    "local",
    "flat_settings",
    "master_timeout",
    "cluster_manager_timeout",
    "preference",
    "routing",
    "realtime",
];

/// The parameters of a request.
#[derive(Debug, Default)]
pub(super) struct Parameters {
    pub(super) path: String,
    pub(super) filter_path: Option<FilterPath>,
    format: Option<String>,
    others: Vec<(String, String)>,
}

impl<S: Sync> FromRequestParts<S> for Parameters {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refused> {
        let query = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
        let pairs = query.map_err(|error| Refusal::illegal_argument(error.body_text()))?.0;
        let mut parameters =
            Parameters { path: parts.uri.path().to_owned(), ..Parameters::default() };
        for (name, value) in pairs {
            match &*name {
                "filter_path" => parameters.filter_path = Some(FilterPath::parse(&value)),
                "format" => parameters.format = Some(value),
                name if COMMON.contains(&name) => {}
                _ => parameters.others.push((name, value)),
            }
        }
        Ok(parameters)
    }
}

impl Parameters {
    /// True if the request has a parameter.
    pub(super) fn has(&self, name: &str) -> bool {
        self.others.iter().any(|(known, _)| known == name)
    }

    /// Takes a parameter; none if the request does not have it.
    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        let place = self.others.iter().position(|(known, _)| known == name)?;
        Some(self.others.swap_remove(place).1)
    }

    /// Takes a parameter that is `true` or `false`; one without a value is true.
    pub(super) fn flag(&mut self, name: &str) -> Result<bool, Refused> {
        match self.take(name).as_deref() {
            None | Some("false") => Ok(false),
            Some("" | "true") => Ok(true),
            Some(other) => Err(Refused(Refusal::illegal_argument(format!(
                "Failed to parse value [{other}] as only [true] or [false] are allowed."
            )))),
        }
    }

    /// Returns an error if a pipeline is named: there are none.
    pub(super) fn no_pipeline(&mut self) -> Result<(), Refused> {
        match self.take("pipeline").filter(|name| !name.is_empty() && name != "_none") {
            Some(name) => Err(Refused(Refusal::illegal_argument(format!(
                "pipeline with id [{name}] does not exist"
            )))),
            None => Ok(()),
        }
    }

    /// Takes a number.
    pub(super) fn number(&mut self, name: &str) -> Result<Option<u64>, Refused> {
        let number = |text: String| {
            text.parse().map_err(|_| {
                let reason = format!("Failed to parse long parameter [{name}] with value [{text}]");
                Refused(Refusal::illegal_argument(reason))
            })
        };
        self.take(name).map(number).transpose()
    }

    /// True if an answer of `_cat` is text.
    pub(super) fn is_text(&self) -> bool {
        self.format.as_deref() != Some("json")
    }

    /// Returns the format of a table that is neither text nor JSON.
    pub(super) fn other_format(&self) -> Option<&str> {
        self.format.as_deref().filter(|format| !matches!(*format, "json" | "text" | "txt"))
    }

    /// Returns all that were not taken.
    pub(super) fn rest(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.others)
    }

    /// Returns an error if a parameter is left that a write does not have.
    pub(super) fn end_of_write(mut self) -> Result<Parameters, Refused> {
        self.others.retain(|(name, _)| !OF_WRITES.contains(&&**name));
        self.end()
    }

    /// Returns an error if a parameter is left that a request to indexes does not have.
    pub(super) fn end_of_indexes(mut self) -> Result<Parameters, Refused> {
        self.others.retain(|(name, _)| !OF_INDEXES.contains(&&**name));
        self.end_of_write()
    }

    fn end(self) -> Result<Parameters, Refused> {
        match self.others.first() {
            Some((name, _)) => Err(Refused(Refusal::unrecognized_parameter(&self.path, name))),
            None => Ok(self),
        }
    }

    /// Returns the error of a parameter that the request does not have.
    pub(super) fn unknown(&self, name: &str) -> Refused {
        Refused(Refusal::unrecognized_parameter(&self.path, name))
    }
}
