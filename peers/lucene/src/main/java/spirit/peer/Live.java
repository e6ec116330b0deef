// An index that is being written and its reader, which sees what is not committed yet.

package spirit.peer;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.store.Directory;

/** A writer with Lucene's background merges and a near-real-time reader. */
final class Live implements Closeable {
  final Adder adder;
  private final Directory directory;
  private final IndexWriter writer;
  private DirectoryReader reader;
  private IndexSearcher searcher;

  /** Begins with the first documents of the corpus, committed. */
  Live(Path path, Corpus corpus, int documents) throws IOException {
    directory = Index.openLive(path);
    writer = new IndexWriter(directory, Index.liveSettings());
    adder = new Adder(writer);
    adder.addAll(corpus, 0, documents);
    writer.commit();
    reader = DirectoryReader.open(writer);
    searcher = searcherOf(reader);
  }

  /** Lucene's objects for queries, without scores. */
  Form form() {
    return new Form(FieldInfos.getMergedFieldInfos(reader), false);
  }

  /** Makes everything added so far visible. */
  void refresh() throws IOException {
    DirectoryReader newer = DirectoryReader.openIfChanged(reader, writer);
    if (newer != null) {
      reader.close();
      reader = newer;
      searcher = searcherOf(newer);
    }
  }

  /** The newest ten by exhaustive collection; returns how many were found. */
  @SuppressWarnings("deprecation") // The call with a manager does the same in more steps.
  int search(Query query) throws IOException {
    Collectors.Newest newest = new Collectors.Newest();
    searcher.search(query, newest);
    return newest.filled();
  }

  private static IndexSearcher searcherOf(DirectoryReader reader) {
    IndexSearcher searcher = new IndexSearcher(reader);
    searcher.setQueryCache(null);
    return searcher;
  }

  @Override
  public void close() throws IOException {
    reader.close();
    writer.close();
    directory.close();
  }
}
