//! The rules: what each route requires, by its path and method.
//!
//! A request is judged by the route that it matched, never by its text. A route without a rule is
//! refused where keys are in force. Names of actions are OpenSearch's, for its errors.

use axum::http::Method;

use super::scope::Need::{self, AnyKey, Metrics, Open, Server};
use super::scope::Scope;

const SEARCH: Need = Need::Scope(Scope::Search);
const WRITE: Need = Need::Scope(Scope::Write);
const ADMIN: Need = Need::Scope(Scope::Admin);

/// The methods of a route, its path, and what they require.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The methods, with blanks between. `GET` is `HEAD` too.
    pub methods: &'static str,
    /// The path, as the router has it.
    pub path: &'static str,
    /// What a request needs.
    pub need: Need,
    /// What OpenSearch calls it.
    pub action: &'static str,
}

const fn rule(methods: &'static str, path: &'static str, need: Need, action: &'static str) -> Rule {
    Rule { methods, path, need, action }
}

const MAIN: &str = "cluster:monitor/main";
const HEALTH: &str = "cluster:monitor/health";
const STATS: &str = "indices:monitor/stats";
const READ: &str = "indices:data/read/search";
const READ_MANY: &str = "indices:data/read/msearch";
const GET: &str = "indices:data/read/get";
const MGET: &str = "indices:data/read/mget";
const INDEX: &str = "indices:data/write/index";
const BULK: &str = "indices:data/write/bulk";
const UPDATE: &str = "indices:data/write/update";
const DELETE: &str = "indices:data/write/delete";
const CREATE: &str = "indices:admin/create";
const DROP: &str = "indices:admin/delete";
const SHOW: &str = "indices:admin/get";
const MAPPING: &str = "indices:admin/mappings/get";
const REFRESH: &str = "indices:admin/refresh";
const NODES: &str = "cluster:monitor/nodes/info";
const FIELDS: &str = "indices:data/read/field_caps";
const SETTINGS: &str = "indices:monitor/settings/get";
const SETTINGS_CHANGED: &str = "indices:admin/settings/update";
const SCROLL: &str = "indices:data/read/scroll";
const PIT: &str = "indices:data/read/point_in_time";
const ALIASES: &str = "indices:admin/aliases";
const ALIASES_SHOWN: &str = "indices:admin/aliases/get";
const TEMPLATES: &str = "indices:admin/index_template/put";
const SIMULATE: &str = "indices:admin/index_template/simulate";
const TEMPLATES_SHOWN: &str = "indices:admin/index_template/get";

/// All rules.
pub static RULES: &[Rule] = &[
    rule("GET", "/health/live", Open, HEALTH),
    rule("GET", "/health/ready", AnyKey, HEALTH),
    rule("GET", "/metrics", Metrics, STATS),
    rule("GET", "/api/v1", SEARCH, STATS),
    rule("GET", "/api/v1/version", AnyKey, MAIN),
    rule("GET", "/api/v1/openapi.json", AnyKey, MAIN),
    rule("GET", "/api/v1/{index}", SEARCH, SHOW),
    rule("PUT", "/api/v1/{index}", ADMIN, CREATE),
    rule("DELETE", "/api/v1/{index}", ADMIN, DROP),
    rule("GET", "/api/v1/{index}/stats", SEARCH, STATS),
    rule("POST", "/api/v1/{index}/backup", ADMIN, "cluster:admin/snapshot/create"),
    rule("POST", "/api/v1/{index}/grow", ADMIN, SETTINGS_CHANGED),
    rule("GET", "/api/v1/{index}/schema", SEARCH, MAPPING),
    rule("POST", "/api/v1/{index}/documents", WRITE, BULK),
    rule("GET", "/api/v1/{index}/documents/{*key}", SEARCH, GET),
    rule("PUT", "/api/v1/{index}/documents/{*key}", WRITE, INDEX),
    rule("DELETE", "/api/v1/{index}/documents/{*key}", WRITE, DELETE),
    rule("GET POST", "/api/v1/{index}/search", SEARCH, READ),
    rule("GET", "/api/v1/{index}/count", SEARCH, READ),
    rule("GET", "/api/v1/{index}/tail", SEARCH, READ),
    rule("GET", "/api/v1/{index}/socket", SEARCH, READ),
    rule("GET", "/api/v1/{index}/queries", SEARCH, READ),
    rule("POST", "/api/v1/{index}/queries", WRITE, INDEX),
    rule("GET", "/api/v1/{index}/queries/{name}", SEARCH, READ),
    rule("PUT", "/api/v1/{index}/queries/{name}", WRITE, INDEX),
    rule("DELETE", "/api/v1/{index}/queries/{name}", WRITE, DELETE),
    rule("POST", "/api/v1/{index}/percolate", SEARCH, READ),
    rule("GET", "/", AnyKey, MAIN),
    rule("GET", "/_page/{file}", Open, MAIN),
    rule("GET", "/_license", AnyKey, MAIN),
    rule("GET", "/_cluster/health", AnyKey, HEALTH),
    rule("GET", "/_cluster/health/{index}", SEARCH, HEALTH),
    rule("POST PUT", "/_bulk", WRITE, BULK),
    rule("POST PUT", "/{index}/_bulk", WRITE, BULK),
    rule("GET POST", "/_search", SEARCH, READ),
    rule("GET POST", "/{index}/_search", SEARCH, READ),
    rule("GET POST", "/_msearch", SEARCH, READ_MANY),
    rule("GET POST", "/{index}/_msearch", SEARCH, READ_MANY),
    rule("GET POST", "/_count", SEARCH, READ),
    rule("GET POST", "/{index}/_count", SEARCH, READ),
    rule("GET", "/{index}", SEARCH, SHOW),
    rule("PUT", "/{index}", ADMIN, CREATE),
    rule("DELETE", "/{index}", ADMIN, DROP),
    rule("POST", "/{index}/_doc", WRITE, INDEX),
    rule("GET", "/{index}/_doc/{id}", SEARCH, GET),
    rule("PUT POST", "/{index}/_doc/{id}", WRITE, INDEX),
    rule("DELETE", "/{index}/_doc/{id}", WRITE, DELETE),
    rule("PUT POST", "/{index}/_create/{id}", WRITE, INDEX),
    rule("POST", "/{index}/_update/{id}", WRITE, UPDATE),
    rule("GET", "/{index}/_source/{id}", SEARCH, GET),
    rule("GET POST", "/_mget", SEARCH, MGET),
    rule("GET POST", "/{index}/_mget", SEARCH, MGET),
    rule("GET POST", "/_refresh", WRITE, REFRESH),
    rule("GET POST", "/{index}/_refresh", WRITE, REFRESH),
    rule("GET POST", "/{index}/_flush", WRITE, REFRESH),
    rule("GET", "/_mapping", SEARCH, MAPPING),
    rule("GET", "/{index}/_mapping", SEARCH, MAPPING),
    rule("GET", "/_cat/indices", SEARCH, STATS),
    rule("GET", "/_cat/indices/{index}", SEARCH, STATS),
    rule("GET", "/_cat/count", SEARCH, READ),
    rule("GET", "/_cat/count/{index}", SEARCH, READ),
    rule("GET", "/_cat/health", AnyKey, HEALTH),
    rule("GET", "/_mapping/field/{fields}", SEARCH, MAPPING),
    rule("GET", "/{index}/_mapping/field/{fields}", SEARCH, MAPPING),
    rule("GET POST", "/_field_caps", SEARCH, FIELDS),
    rule("GET POST", "/{index}/_field_caps", SEARCH, FIELDS),
    rule("GET", "/_settings", SEARCH, SETTINGS),
    rule("PUT", "/_settings", ADMIN, SETTINGS_CHANGED),
    rule("GET", "/_settings/{name}", SEARCH, SETTINGS),
    rule("GET", "/{index}/_settings", SEARCH, SETTINGS),
    rule("PUT", "/{index}/_settings", ADMIN, SETTINGS_CHANGED),
    rule("GET", "/{index}/_settings/{name}", SEARCH, SETTINGS),
    rule("GET", "/_stats", SEARCH, STATS),
    rule("GET", "/_stats/{metrics}", SEARCH, STATS),
    rule("GET", "/{index}/_stats", SEARCH, STATS),
    rule("GET", "/{index}/_stats/{metrics}", SEARCH, STATS),
    rule("GET POST DELETE", "/_search/scroll", SEARCH, SCROLL),
    rule("GET POST DELETE", "/_search/scroll/{id}", SEARCH, SCROLL),
    rule("POST", "/{index}/_search/point_in_time", SEARCH, PIT),
    rule("DELETE", "/_search/point_in_time", SEARCH, PIT),
    rule("GET", "/_search/point_in_time/_all", SEARCH, PIT),
    rule("DELETE", "/_search/point_in_time/_all", Server, PIT),
    rule("POST", "/{index}/_pit", SEARCH, PIT),
    rule("DELETE", "/_pit", SEARCH, PIT),
    rule("POST", "/{index}/_delete_by_query", WRITE, "indices:data/write/delete/byquery"),
    rule("POST", "/{index}/_update_by_query", WRITE, "indices:data/write/update/byquery"),
    rule("GET", "/_tasks", Server, "cluster:monitor/tasks/lists"),
    rule("GET", "/_tasks/{id}", Server, "cluster:monitor/task/get"),
    rule("POST", "/_tasks/{id}/_cancel", Server, "cluster:admin/tasks/cancel"),
    rule("POST", "/_tasks/_cancel", Server, "cluster:admin/tasks/cancel"),
    rule("POST", "/_aliases", ADMIN, ALIASES),
    rule("GET", "/_alias", Server, ALIASES_SHOWN),
    rule("GET", "/_alias/{alias}", Server, ALIASES_SHOWN),
    rule("GET", "/{index}/_alias", SEARCH, ALIASES_SHOWN),
    rule("GET", "/{index}/_alias/{alias}", SEARCH, ALIASES_SHOWN),
    rule("PUT POST DELETE", "/{index}/_alias/{alias}", ADMIN, ALIASES),
    rule("PUT POST DELETE", "/{index}/_aliases/{alias}", ADMIN, ALIASES),
    rule("GET", "/_cat/aliases", Server, ALIASES_SHOWN),
    rule("GET", "/_cat/aliases/{alias}", Server, ALIASES_SHOWN),
    rule("GET", "/_index_template", AnyKey, TEMPLATES_SHOWN),
    rule("GET", "/_index_template/{name}", AnyKey, TEMPLATES_SHOWN),
    rule("PUT POST DELETE", "/_index_template/{name}", Server, TEMPLATES),
    rule("POST", "/_index_template/_simulate", AnyKey, SIMULATE),
    rule("POST", "/_index_template/_simulate/{name}", AnyKey, SIMULATE),
    rule("POST", "/_index_template/_simulate_index/{name}", AnyKey, SIMULATE),
    rule("GET", "/_component_template", AnyKey, TEMPLATES_SHOWN),
    rule("GET", "/_component_template/{name}", AnyKey, TEMPLATES_SHOWN),
    rule("PUT POST DELETE", "/_component_template/{name}", Server, TEMPLATES),
    rule("GET", "/_template", AnyKey, TEMPLATES_SHOWN),
    rule("GET", "/_template/{name}", AnyKey, TEMPLATES_SHOWN),
    rule("PUT POST DELETE", "/_template/{name}", Server, TEMPLATES),
    rule("GET", "/_data_stream", Server, "indices:admin/data_stream/get"),
    rule("GET", "/_data_stream/{name}", Server, "indices:admin/data_stream/get"),
    rule("PUT", "/_data_stream/{name}", Server, "indices:admin/data_stream/create"),
    rule("DELETE", "/_data_stream/{name}", Server, "indices:admin/data_stream/delete"),
    rule("GET", "/_ilm/policy/{name}", AnyKey, "cluster:admin/ilm/get"),
    rule("PUT", "/_ilm/policy/{name}", Server, "cluster:admin/ilm/put"),
    rule("GET POST", "/_validate/query", SEARCH, "indices:admin/validate/query"),
    rule("GET POST", "/{index}/_validate/query", SEARCH, "indices:admin/validate/query"),
    rule("GET POST", "/{index}/_explain/{id}", SEARCH, "indices:data/read/explain"),
    rule("GET POST", "/_analyze", AnyKey, "indices:admin/analyze"),
    rule("GET POST", "/{index}/_analyze", SEARCH, "indices:admin/analyze"),
    rule("POST", "/_forcemerge", WRITE, "indices:admin/forcemerge"),
    rule("POST", "/{index}/_forcemerge", WRITE, "indices:admin/forcemerge"),
    rule("GET PUT", "/_cluster/settings", Server, "cluster:admin/settings/update"),
    rule("GET", "/_cluster/stats", Server, "cluster:monitor/stats"),
    rule("GET", "/_nodes", Server, NODES),
    rule("GET", "/_nodes/http", Server, NODES),
    rule("GET", "/_nodes/stats", Server, NODES),
    rule("GET", "/_resolve/index/{names}", Server, "indices:admin/resolve/index"),
    rule("GET POST", "/{index}/_search_shards", SEARCH, "indices:admin/shards/search_shards"),
];

impl Rule {
    /// True if it is of a method.
    pub fn is_of(&self, method: &Method) -> bool {
        let method = if method == Method::HEAD { "GET" } else { method.as_str() };
        self.methods.split(' ').any(|known| known == method)
    }

    /// Returns the rule of a route and a method.
    pub(crate) fn find(path: &str, method: &Method) -> Option<&'static Rule> {
        RULES.iter().find(|rule| rule.path == path && rule.is_of(method))
    }

    /// True if a route has a rule for some method.
    pub(crate) fn is_known(path: &str) -> bool {
        RULES.iter().any(|rule| rule.path == path)
    }
}
