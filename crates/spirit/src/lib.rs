//! A real-time full-text search engine: a document is found the instant it is added.
