// What a document is in the index: its text, its key, and its columns if it has any.

package spirit.peer;

import java.io.IOException;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.document.LongField;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexWriter;

/** Adds documents one after the other, reusing the objects as Lucene recommends. */
final class Adder {
  private final IndexWriter writer;
  private final Field text;
  private final NumericDocValuesField key = new NumericDocValuesField(Index.KEY, 0);
  private final Document document = new Document();

  Adder(IndexWriter writer) {
    this(writer, false);
  }

  Adder(IndexWriter writer, boolean stored) {
    this.writer = writer;
    text = new Field(Index.TEXT, "", textType(stored));
  }

  /** Adds a text. */
  void add(long key, String text) throws IOException {
    begin(key, text);
    writer.addDocument(document);
  }

  /** Adds documents of the corpus with all they have. */
  void addAll(Corpus corpus, int from, int to) throws IOException {
    for (int key = from; key < to; key++) {
      begin(key, corpus.get(key));
      for (Column column : corpus.columns()) {
        addValue(column.name, column.get(key));
      }
      writer.addDocument(document);
    }
  }

  private void begin(long key, String text) {
    this.text.setStringValue(text);
    this.key.setLongValue(key);
    document.clear();
    document.add(this.text);
    document.add(this.key);
  }

  private void addValue(String name, Object value) {
    if (value instanceof Long integer) {
      document.add(new LongField(name, integer, Field.Store.NO));
    } else if (value instanceof String keyword) {
      document.add(new StringField(name, keyword, Field.Store.NO));
    }
  }

  private static FieldType textType(boolean stored) {
    FieldType type = new FieldType();
    type.setStored(stored);
    type.setTokenized(true);
    type.setIndexOptions(IndexOptions.DOCS_AND_FREQS_AND_POSITIONS);
    type.freeze();
    return type;
  }
}
