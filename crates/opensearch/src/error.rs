//! Refusals: errors in the words and the form in which OpenSearch answers them.

use std::fmt;

use serde::{Serialize, Serializer};
use spirit::SearchError;

/// A request that cannot be answered: kind, reason and HTTP status.
///
/// ```
/// use spirit_opensearch::error::Refusal;
///
/// let refusal = Refusal::parsing("unknown query [foo]");
/// assert_eq!(
///     refusal.to_json(),
///     concat!(
///         r#"{"error":{"root_cause":[{"type":"parsing_exception","reason":"unknown query [foo]"}],"#,
///         r#""type":"parsing_exception","reason":"unknown query [foo]"},"status":400}"#
///     ),
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The type of the error, such as `parsing_exception`.
    pub kind: &'static str,
    /// The reason, for people.
    pub reason: String,
    /// The status of the HTTP answer.
    pub status: u16,
    /// The index that the error is about.
    pub index: Option<String>,
    /// The unique id of that index; `_na_` if it does not exist.
    pub index_uuid: Option<String>,
    /// The kind of the resource that is missing, such as `index_or_alias`.
    pub resource: Option<&'static str>,
}

/// The uuid of an index that does not exist.
const NO_UUID: &str = "_na_";

impl Refusal {
    /// Returns a refusal without an index.
    pub fn new(kind: &'static str, status: u16, reason: impl Into<String>) -> Refusal {
        let (index, index_uuid, resource) = (None, None, None);
        Refusal { kind, reason: reason.into(), status, index, index_uuid, resource }
    }

    /// Names the index that the error is about.
    pub fn in_index(mut self, index: &str, uuid: &str) -> Refusal {
        (self.index, self.index_uuid) = (Some(index.into()), Some(uuid.into()));
        self
    }

    /// Returns the error of a body that is valid JSON but no valid request.
    pub fn parsing(reason: impl Into<String>) -> Refusal {
        Refusal::new("parsing_exception", 400, reason)
    }

    /// Returns the error of a body that is no valid JSON.
    pub fn json(reason: impl Into<String>) -> Refusal {
        Refusal::new("json_parse_exception", 400, reason)
    }

    /// Returns the error of a body that is missing or malformed as a whole.
    pub fn parse(reason: impl Into<String>) -> Refusal {
        Refusal::new("parse_exception", 400, reason)
    }

    /// Returns the error of an object that has a member of the wrong kind, or an unknown one.
    pub fn content(reason: impl Into<String>) -> Refusal {
        Refusal::new("x_content_parse_exception", 400, reason)
    }

    /// Returns the error of a value that is out of range or unknown.
    pub fn illegal_argument(reason: impl Into<String>) -> Refusal {
        Refusal::new("illegal_argument_exception", 400, reason)
    }

    /// Returns the error of text where a number is required.
    pub fn number_format(text: &str) -> Refusal {
        let reason = format!("For input string: \"{text}\"");
        Refusal::new("number_format_exception", 400, reason)
    }

    /// Returns the error of a query that does not suit the fields of the index.
    pub fn query_shard(reason: impl Into<String>) -> Refusal {
        Refusal::new("query_shard_exception", 400, reason)
    }

    /// Returns the error of a query that OpenSearch has but this engine cannot answer.
    pub fn unsupported(what: impl fmt::Display) -> Refusal {
        Refusal::illegal_argument(format!("{what} is not supported by this server"))
    }

    /// Returns the error of a query with more clauses than `max`.
    pub fn too_many_clauses(max: usize) -> Refusal {
        let reason = format!("maxClauseCount is set to {max}");
        Refusal::new("too_many_clauses", 400, reason)
    }

    /// Returns the error of an index that does not exist.
    pub fn index_not_found(index: &str) -> Refusal {
        let reason = format!("no such index [{index}]");
        let refusal = Refusal::new("index_not_found_exception", 404, reason);
        Refusal { resource: Some("index_or_alias"), ..refusal.in_index(index, NO_UUID) }
    }

    /// Returns the error of an index that exists already.
    pub fn resource_already_exists(index: &str, uuid: &str) -> Refusal {
        let reason = format!("index [{index}/{uuid}] already exists");
        Refusal::new("resource_already_exists_exception", 400, reason).in_index(index, uuid)
    }

    /// Returns the error of a name that no index may have. `why` completes the sentence, such as
    /// `must be lowercase`.
    pub fn invalid_index_name(index: &str, why: &str) -> Refusal {
        let reason = format!("Invalid index name [{index}], {why}");
        Refusal::new("invalid_index_name_exception", 400, reason).in_index(index, NO_UUID)
    }

    /// Returns the error of a document that has another version than was required.
    pub fn version_conflict(id: &str, why: &str) -> Refusal {
        let reason = format!("[{id}]: version conflict, {why}");
        Refusal::new("version_conflict_engine_exception", 409, reason)
    }

    /// Returns the error of a document whose fields do not fit the mapping.
    pub fn mapper_parsing(reason: impl Into<String>) -> Refusal {
        Refusal::new("mapper_parsing_exception", 400, reason)
    }

    /// Returns the error of a strict index for a field that its mapping does not have.
    pub fn strict_mapping(field: &str) -> Refusal {
        let reason = format!(
            "mapping set to strict, dynamic introduction of [{field}] within [_doc] is not allowed"
        );
        Refusal::new("strict_dynamic_mapping_exception", 400, reason)
    }

    /// Returns the error of a document that does not exist.
    pub fn document_missing(id: &str) -> Refusal {
        Refusal::new("document_missing_exception", 404, format!("[{id}]: document missing"))
    }

    /// Returns the error of a server that has no room for the request now.
    pub fn rejected(reason: impl Into<String>) -> Refusal {
        Refusal::new("es_rejected_execution_exception", 429, reason)
    }

    /// Returns the error of a URL parameter that the endpoint does not have.
    pub fn unrecognized_parameter(path: &str, parameter: &str) -> Refusal {
        let reason = format!("request [{path}] contains unrecognized parameter: [{parameter}]");
        Refusal::illegal_argument(reason)
    }

    /// Returns the refusal as a JSON answer.
    pub fn to_json(&self) -> String {
        // Writing strings and numbers to memory cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the error alone, as an item of a bulk answer has it.
    pub fn error_json(&self) -> String {
        serde_json::to_string(&Cause::of(self)).unwrap_or_default()
    }
}

/// What OpenSearch says of one error, in its order.
#[derive(Serialize)]
struct Cause<'r> {
    #[serde(rename = "type")]
    kind: &'r str,
    reason: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<&'r str>,
    #[serde(rename = "resource.id", skip_serializing_if = "Option::is_none")]
    resource_id: Option<&'r str>,
    #[serde(rename = "resource.type", skip_serializing_if = "Option::is_none")]
    resource_type: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    index_uuid: Option<&'r str>,
}

impl Cause<'_> {
    fn of(refusal: &Refusal) -> Cause<'_> {
        let index = refusal.index.as_deref();
        Cause {
            kind: refusal.kind,
            reason: &refusal.reason,
            index,
            resource_id: refusal.resource.and(index),
            resource_type: refusal.resource,
            index_uuid: refusal.index_uuid.as_deref(),
        }
    }
}

/// An error with the list of its root causes, of which there is one: itself.
#[derive(Serialize)]
struct WithRoot<'r> {
    root_cause: [Cause<'r>; 1],
    #[serde(flatten)]
    cause: Cause<'r>,
}

#[derive(Serialize)]
struct Answer<'r> {
    error: WithRoot<'r>,
    status: u16,
}

impl Serialize for Refusal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let error = WithRoot { root_cause: [Cause::of(self)], cause: Cause::of(self) };
        Answer { error, status: self.status }.serialize(serializer)
    }
}

impl From<&SearchError> for Refusal {
    /// Returns the answer to a search that the engine refused or ended.
    fn from(error: &SearchError) -> Refusal {
        let reason = error.to_string();
        match error {
            SearchError::Readers { .. } => Refusal::rejected(reason),
            SearchError::TimedOut | SearchError::Cancelled => {
                Refusal::new("task_cancelled_exception", 400, reason)
            }
            SearchError::TooManyBuckets { .. } | SearchError::FacetMemory { .. } => {
                Refusal::new("too_many_buckets_exception", 503, reason)
            }
            SearchError::Closed => Refusal::new("index_closed_exception", 400, reason),
            SearchError::Corrupt(_) | SearchError::Unreadable { .. } => {
                Refusal::new("exception", 500, reason)
            }
            _ => Refusal::query_shard(format!("failed to create query: {reason}")),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.reason)
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_index_is_named_as_opensearch_does() {
        let cause = concat!(
            r#""type":"index_not_found_exception","reason":"no such index [logs]","index":"logs","#,
            r#""resource.id":"logs","resource.type":"index_or_alias","index_uuid":"_na_""#
        );
        let json = format!(r#"{{"error":{{"root_cause":[{{{cause}}}],{cause}}},"status":404}}"#);
        assert_eq!(Refusal::index_not_found("logs").to_json(), json);
        assert_eq!(Refusal::index_not_found("logs").error_json(), format!("{{{cause}}}"));
    }

    #[test]
    fn each_kind_has_its_status_and_words() {
        for (refusal, status, kind, reason) in [
            (
                Refusal::version_conflict("7", "document already exists (current version [1])"),
                409,
                "version_conflict_engine_exception",
                "[7]: version conflict, document already exists (current version [1])",
            ),
            (
                Refusal::resource_already_exists("logs", "u1"),
                400,
                "resource_already_exists_exception",
                "index [logs/u1] already exists",
            ),
            (
                Refusal::invalid_index_name("Logs", "must be lowercase"),
                400,
                "invalid_index_name_exception",
                "Invalid index name [Logs], must be lowercase",
            ),
            (
                Refusal::unrecognized_parameter("/i/_search", "bogus"),
                400,
                "illegal_argument_exception",
                "request [/i/_search] contains unrecognized parameter: [bogus]",
            ),
            (Refusal::rejected("full"), 429, "es_rejected_execution_exception", "full"),
            (
                Refusal::number_format("x"),
                400,
                "number_format_exception",
                "For input string: \"x\"",
            ),
            (
                Refusal::strict_mapping("size"),
                400,
                "strict_dynamic_mapping_exception",
                "mapping set to strict, dynamic introduction of [size] within [_doc] is not allowed",
            ),
        ] {
            assert_eq!((refusal.status, refusal.kind, &*refusal.reason), (status, kind, reason));
            assert_eq!(refusal.to_string(), format!("{kind}: {reason}"));
        }
    }

    #[test]
    fn errors_of_the_engine_have_a_kind() {
        let of = |error: SearchError| {
            let refusal = Refusal::from(&error);
            (refusal.kind, refusal.status)
        };
        assert_eq!(of(SearchError::TimedOut), ("task_cancelled_exception", 400));
        assert_eq!(of(SearchError::TooManyBuckets { max: 1 }), ("too_many_buckets_exception", 503));
        assert_eq!(of(SearchError::NoPositions), ("query_shard_exception", 400));
    }
}
