//! The index every task uses: schema, analyzer, writer, and the forced order of documents.

use crate::form::Form;
use spirit_peer_protocol::{
    Column, Corpus, Fallible, LONGEST_TOKEN, Layout, Query, TEXT, Unsupported, Values,
};
use std::path::Path;
use tantivy::index::SegmentId;
use tantivy::indexer::NoMergePolicy;
use tantivy::schema::{
    FAST, Field, IndexRecordOption, STRING, Schema, SchemaBuilder, TextFieldIndexing, TextOptions,
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

/// The field with the document's number.
pub(crate) const KEY: &str = "key";

/// An index and its fields.
pub(crate) struct Engine {
    pub(crate) index: Index,
    text: Field,
    key: Field,
    /// In the order of the corpus.
    columns: Vec<Field>,
}

impl Engine {
    /// A new index in an empty folder, for documents with these columns.
    pub(crate) fn create(path: &Path, columns: &[Column]) -> Fallible<Engine> {
        Ok(Engine::with(Index::create_in_dir(path, schema(columns, false))?)?)
    }

    /// The same, and texts are kept.
    pub(crate) fn create_stored(path: &Path, columns: &[Column]) -> Fallible<Engine> {
        Ok(Engine::with(Index::create_in_dir(path, schema(columns, true))?)?)
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
        let (text, key) = (index.schema().get_field(TEXT)?, index.schema().get_field(KEY)?);
        let fields = index.schema();
        let columns = fields.fields().map(|(field, _)| field).filter(|f| ![text, key].contains(f));
        Ok(Engine { text, key, columns: columns.collect(), index })
    }

    /// One indexing thread with this much memory.
    pub(crate) fn writer(&self, bytes: usize) -> tantivy::Result<IndexWriter> {
        self.index.writer_with_num_threads(1, bytes)
    }

    /// This many indexing threads, each with this much memory.
    pub(crate) fn writer_of(&self, threads: usize, bytes: usize) -> tantivy::Result<IndexWriter> {
        self.index.writer_with_num_threads(threads, threads * bytes)
    }

    /// A reader that changes only on request.
    pub(crate) fn reader(&self) -> tantivy::Result<IndexReader> {
        self.index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()
    }

    /// Hands one text to the indexing thread.
    pub(crate) fn add(&self, writer: &IndexWriter, key: u64, text: &str) -> tantivy::Result<()> {
        writer.add_document(self.document(key, text))?;
        Ok(())
    }

    /// The same for documents of the corpus with all they have.
    pub(crate) fn add_all(
        &self,
        writer: &IndexWriter,
        corpus: &Corpus,
        keys: impl Iterator<Item = usize>,
    ) -> tantivy::Result<()> {
        for key in keys {
            let mut document = self.document(key as u64, corpus.get(key));
            for (field, column) in self.columns.iter().zip(corpus.columns()) {
                match &column.values {
                    Values::Integers(values) => {
                        values[key].inspect(|value| document.add_i64(*field, *value));
                    }
                    Values::Keywords(values) => {
                        values[key].as_ref().inspect(|value| document.add_text(*field, value));
                    }
                }
            }
            writer.add_document(document)?;
        }
        Ok(())
    }

    fn document(&self, key: u64, text: &str) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        document.add_text(self.text, text);
        document.add_u64(self.key, key);
        document
    }

    /// Adds all documents in the order of the layout and merges them into one segment.
    pub(crate) fn build_one_segment(&self, corpus: &Corpus, layout: Layout) -> Fallible<()> {
        let mut writer = self.writer(BULK_BYTES)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        match layout {
            Layout::OldestFirst => self.add_all(&writer, corpus, 0..corpus.len())?,
            Layout::NewestFirst => self.add_all(&writer, corpus, (0..corpus.len()).rev())?,
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
        self.add_all(&writer, corpus, 0..documents)?;
        writer.commit()?;
        writer.wait_merging_threads()?;
        Ok(())
    }

    /// The segments in the order in which merging keeps the layout.
    fn segments_in(&self, layout: Layout) -> Fallible<Vec<SegmentId>> {
        let searcher = self.reader()?.searcher();
        let mut segments = Vec::new();
        for segment in searcher.segment_readers() {
            let key = segment.fast_fields().u64(KEY)?.first(0).ok_or("a document has no key")?;
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

    /// The query as tantivy's own object, with what scores need or without.
    pub(crate) fn query(
        &self,
        query: &Query,
        scored: bool,
    ) -> Result<Box<dyn tantivy::query::Query>, Unsupported> {
        Form { schema: &self.index.schema(), scored }.of(query)
    }
}

fn schema(columns: &[Column], stored: bool) -> Schema {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(ANALYZER)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let mut schema = SchemaBuilder::default();
    let mut text = TextOptions::default().set_indexing_options(indexing);
    if stored {
        text = text.set_stored();
    }
    schema.add_text_field(TEXT, text);
    schema.add_u64_field(KEY, FAST);
    for column in columns {
        match column.values {
            Values::Integers(_) => schema.add_i64_field(&column.name, FAST),
            Values::Keywords(_) => schema.add_text_field(&column.name, STRING),
        };
    }
    schema.build()
}
