//! Documents, searches and their comparison with a real OpenSearch node.

pub(crate) mod aggregations;
pub(crate) mod chance;
pub(crate) mod compare;
pub(crate) mod differences;
pub(crate) mod documents;
pub(crate) mod node;
pub(crate) mod queries;
pub(crate) mod searches;
