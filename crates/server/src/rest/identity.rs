//! What clients ask before anything else: who answers, and how it is.

use axum::extract::Path;
use axum::response::Response;

use super::answer::filtered;
use super::names;
use super::parameters::Parameters;
use super::refused::Answered;
use crate::api::server::{Server, State};

/// The version that official clients, shippers and dashboards accept.
pub(super) const VERSION: &str = "8.19.0";

/// The identity that all official clients accept.
pub(super) async fn root(mut parameters: Parameters) -> Answered<Response> {
    parameters.rest();
    let body = format!(
        concat!(
            r#"{{"name":"spirit","cluster_name":"spirit","cluster_uuid":"c3Bpcml0","version":{{"#,
            r#""number":"{}","build_flavor":"default","build_type":"tar","build_hash":"unknown","#,
            r#""build_date":"2026-01-01T00:00:00.000Z","build_snapshot":false,"lucene_version":"9.12.0","#,
            r#""minimum_wire_compatibility_version":"7.17.0","minimum_index_compatibility_version":"7.0.0","#,
            r#""distribution":"spirit"}},"tagline":"You Know, for Search"}}"#
        ),
        VERSION
    );
    Ok(filtered(&parameters, 200, body))
}

/// Logstash sends nothing to a server without a license.
pub(super) async fn license(parameters: Parameters) -> Answered<Response> {
    let body = concat!(
        r#"{"license":{"status":"active","uid":"00000000-0000-0000-0000-000000000000","type":"basic","#,
        r#""issue_date":"2026-01-01T00:00:00.000Z","issue_date_in_millis":1767225600000,"max_nodes":1000,"#,
        r#""issued_to":"spirit","issuer":"spirit","start_date_in_millis":-1}}"#
    );
    Ok(filtered(&parameters, 200, body.to_owned()))
}

pub(super) async fn health(
    State(server): State<Server>,
    index: Option<Path<String>>,
    parameters: Parameters,
) -> Answered<Response> {
    if let Some(Path(index)) = index {
        let serving = names::resolve(&server, &index, false)?.len();
        return Ok(filtered(&parameters, 200, health_json("green", serving, 0, 0)));
    }
    let Health { status, serving, starting, failed, .. } = health_of(&server);
    Ok(filtered(&parameters, 200, health_json(status, serving, starting, failed)))
}

/// How the indexes are: those that answer, that start, and that are out of service.
pub(super) struct Health {
    pub(super) status: &'static str,
    pub(super) serving: usize,
    pub(super) starting: usize,
    pub(super) failed: usize,
    /// The part that answers, in percent.
    pub(super) percent: f64,
}

pub(super) fn health_of(server: &Server) -> Health {
    let readiness = server.catalog().readiness();
    let (serving, starting, failed) =
        (readiness.serving, readiness.starting, readiness.failed.len());
    let status = match (starting, failed) {
        (0, 0) => "green",
        (_, 0) => "yellow",
        _ => "red",
    };
    Health { status, serving, starting, failed, percent: percent(serving, starting + failed) }
}

fn percent(serving: usize, others: usize) -> f64 {
    let all = serving + others;
    if all == 0 { 100.0 } else { serving as f64 * 100.0 / all as f64 }
}

fn health_json(status: &str, serving: usize, starting: usize, failed: usize) -> String {
    let percent = percent(serving, starting + failed);
    format!(
        concat!(
            r#"{{"cluster_name":"spirit","status":"{}","timed_out":false,"number_of_nodes":1,"#,
            r#""number_of_data_nodes":1,"active_primary_shards":{},"active_shards":{},"#,
            r#""relocating_shards":0,"initializing_shards":{},"unassigned_shards":{},"#,
            r#""delayed_unassigned_shards":0,"number_of_pending_tasks":0,"number_of_in_flight_fetch":0,"#,
            r#""task_max_waiting_in_queue_millis":0,"active_shards_percent_as_number":{:.1}}}"#
        ),
        status, serving, serving, starting, failed, percent
    )
}
