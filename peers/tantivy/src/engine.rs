//! The index every task uses: schema, analyzer, writer, and the forced order of documents.

use spirit_peer_protocol::{Corpus, Fallible, Kind, LONGEST_TOKEN, Layout, Query};
use std::path::Path;
use tantivy::index::SegmentId;
use tantivy::indexer::NoMergePolicy;
use tantivy::query::{BooleanQuery, PhraseQuery, TermQuery};
use tantivy::schema::{
    FAST, Field, IndexRecordOption, Schema, SchemaBuilder, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{LowerCaser, RemoveLongFilter, SimpleTokenizer, TextAnalyzer};
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, TantivyDocument, Term};

/// tantivy's version, as in `Cargo.toml`.
pub(crate) const VERSION: &str = "0.27.0";

/// Memory of the one indexing thread when many documents are added between commits.
pub(crate) const BULK_BYTES: usize = 256 << 20;

/// The same when each document is committed alone: the least tantivy takes. Every commit sets up
/// tables in proportion to this.
pub(crate) const SINGLE_BYTES: usize = 15_000_000;

const ANALYZER: &str = "simple-lower";

/// An index and its two fields.
pub(crate) struct Engine {
    pub(crate) index: Index,
    text: Field,
    key: Field,
}

impl Engine {
    /// A new index in an empty folder.
    pub(crate) fn create(path: &Path) -> Fallible<Engine> {
        Ok(Engine::with(Index::create_in_dir(path, schema())?)?)
    }

    /// The index in this folder.
    pub(crate) fn open(path: &Path) -> Fallible<Engine> {
        Ok(Engine::with(Index::open_in_dir(path)?)?)
    }

    fn with(index: Index) -> tantivy::Result<Engine> {
        // The filter keeps tokens shorter than its limit.
        let analyzer = TextAnalyzer::builder(SimpleTokenizer::default())
            .filter(LowerCaser)
            .filter(RemoveLongFilter::limit(LONGEST_TOKEN + 1))
            .build();
        index.tokenizers().register(ANALYZER, analyzer);
        let (text, key) = (index.schema().get_field("text")?, index.schema().get_field("key")?);
        Ok(Engine { index, text, key })
    }

    /// One indexing thread with this much memory.
    pub(crate) fn writer(&self, bytes: usize) -> tantivy::Result<IndexWriter> {
        self.index.writer_with_num_threads(1, bytes)
    }

    /// A reader that changes only when told to.
    pub(crate) fn reader(&self) -> tantivy::Result<IndexReader> {
        self.index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()
    }

    /// Hands one document to the indexing thread.
    pub(crate) fn add(&self, writer: &IndexWriter, key: u64, text: &str) -> tantivy::Result<()> {
        let mut document = TantivyDocument::new();
        document.add_text(self.text, text);
        document.add_u64(self.key, key);
        writer.add_document(document)?;
        Ok(())
    }

    /// Adds all documents in the order of the layout and merges them into one segment.
    pub(crate) fn build_one_segment(&self, corpus: &Corpus, layout: Layout) -> Fallible<()> {
        let mut writer = self.writer(BULK_BYTES)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        match layout {
            Layout::OldestFirst => self.add_all(&writer, corpus.iter())?,
            Layout::NewestFirst => self.add_all(&writer, corpus.iter().rev())?,
        }
        writer.commit()?;
        let segments = self.segments_in(layout)?;
        if segments.len() > 1 {
            writer.merge(&segments).wait()?;
            writer.garbage_collect_files().wait()?;
        }
        writer.wait_merging_threads()?;
        Ok(())
    }

    /// Adds and commits the first documents; segments and merges are tantivy's own choice.
    pub(crate) fn build_base(&self, corpus: &Corpus, documents: usize) -> Fallible<()> {
        let mut writer = self.writer(BULK_BYTES)?;
        self.add_all(&writer, corpus.iter().take(documents))?;
        writer.commit()?;
        writer.wait_merging_threads()?;
        Ok(())
    }

    fn add_all<'a>(
        &self,
        writer: &IndexWriter,
        documents: impl Iterator<Item = (u64, &'a str)>,
    ) -> tantivy::Result<()> {
        for (key, text) in documents {
            self.add(writer, key, text)?;
        }
        Ok(())
    }

    /// The segments in the order in which merging keeps the layout.
    fn segments_in(&self, layout: Layout) -> Fallible<Vec<SegmentId>> {
        let searcher = self.reader()?.searcher();
        let mut segments = Vec::new();
        for segment in searcher.segment_readers() {
            let key = segment.fast_fields().u64("key")?.first(0).ok_or("a document has no key")?;
            segments.push((key, segment.segment_id()));
        }
        segments.sort_unstable();
        if layout == Layout::NewestFirst {
            segments.reverse();
        }
        Ok(segments.into_iter().map(|(_, segment)| segment).collect())
    }

    pub(crate) fn term(&self, term: &str) -> Term {
        Term::from_field_text(self.text, term)
    }

    /// The query as tantivy's own object.
    pub(crate) fn query(&self, query: &Query) -> Box<dyn tantivy::query::Query> {
        let term = |term: &String| -> Box<dyn tantivy::query::Query> {
            Box::new(TermQuery::new(self.term(term), IndexRecordOption::Basic))
        };
        match query.kind {
            Kind::Term => term(&query.terms[0]),
            Kind::And => {
                Box::new(BooleanQuery::intersection(query.terms.iter().map(term).collect()))
            }
            Kind::Or => Box::new(BooleanQuery::union(query.terms.iter().map(term).collect())),
            Kind::Phrase => {
                Box::new(PhraseQuery::new(query.terms.iter().map(|word| self.term(word)).collect()))
            }
        }
    }
}

fn schema() -> Schema {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(ANALYZER)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let mut schema = SchemaBuilder::default();
    schema.add_text_field("text", TextOptions::default().set_indexing_options(indexing));
    schema.add_u64_field("key", FAST);
    schema.build()
}
