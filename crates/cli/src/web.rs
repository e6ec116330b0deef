//! Pages of the web, as archives and collections keep them: from a record to a text.

mod http;
mod markup;
mod page;

pub(crate) use http::header;
pub(crate) use markup::Markup;
pub(crate) use page::{Page, of_trec, of_warc};
