// Task queries: searches on a finished index of one segment.

package spirit.peer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.Scorer;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.apache.lucene.search.Weight;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.Directory;

/** The index, opened, and the last answer. */
final class Searches {
  private final IndexSearcher searcher;
  private final LeafReaderContext leaf;
  private final Mode mode;
  private final Options options;
  private final int[] answer;
  private int answered;

  private Searches(DirectoryReader reader, Options options) throws Failure {
    if (reader.leaves().size() != 1) {
      throw new Failure(reader.leaves().size() + " segments, not one");
    }
    this.searcher = searcher(reader, options);
    this.leaf = reader.leaves().get(0);
    this.mode = options.mode;
    this.options = options;
    this.answer = new int[Math.max(options.k, Collectors.WANTED)];
  }

  /** A searcher without a cache that scores as the caller wants. */
  static IndexSearcher searcher(DirectoryReader reader, Options options) {
    IndexSearcher searcher = new IndexSearcher(reader);
    searcher.setQueryCache(null);
    searcher.setSimilarity(new BM25Similarity(options.k1, options.b));
    return searcher;
  }

  /** The documents are needed only for a new index, so that the index of an earlier run can be asked from a small heap. */
  static void run(Options options) throws Exception {
    Path path = Index.cached(options, options.mode.layout);
    Reporter reporter = new Reporter(options.task);
    reporter.add("mode", options.mode.text);
    try (Directory directory = Index.open(path);
        DirectoryReader reader = DirectoryReader.open(directory)) {
      Searches searches = new Searches(reader, options);
      searches.checkOrder();
      Form form = new Form(FieldInfos.getMergedFieldInfos(reader), options.mode == Mode.TOP);
      List<Workload> workloads = Workload.read(options.queriesFile(), form);
      new SearchLoop(searches, options, reporter).run(workloads);
    }
  }

  /** Answers the query, keeps the answer and says how many it collected or counted. */
  long ask(Query query) throws IOException {
    return switch (mode) {
      case NEWEST_SORTED -> newestSorted(query);
      case NEWEST -> newest(query);
      case COUNT -> count(query);
      case COUNT_FAST -> searcher.count(query);
      case TOP -> top(query);
    };
  }

  /** The sum of the keys of the documents in the last answer; 0 in the counting modes. */
  long keySum() throws IOException {
    int[] docs = Arrays.copyOf(answer, answered);
    Arrays.sort(docs);
    NumericDocValues keys = leaf.reader().getNumericDocValues(Index.KEY);
    long sum = 0;
    for (int doc : docs) {
      keys.advanceExact(doc);
      sum += keys.longValue();
    }
    return sum;
  }

  /** Stops after ten documents of an index that begins with the newest. */
  private long newestSorted(Query query) throws IOException {
    ScoreMode mode = ScoreMode.COMPLETE_NO_SCORES;
    Weight weight = searcher.createWeight(searcher.rewrite(query), mode, 1);
    answered = 0;
    Scorer scorer = weight.scorer(leaf);
    if (scorer == null) {
      return 0;
    }
    DocIdSetIterator matches = scorer.iterator();
    while (answered < Collectors.WANTED) {
      int doc = matches.nextDoc();
      if (doc == DocIdSetIterator.NO_MORE_DOCS) {
        break;
      }
      answer[answered++] = doc;
    }
    return answered;
  }

  @SuppressWarnings("deprecation") // The call with a manager does the same in more steps.
  private long newest(Query query) throws IOException {
    Collectors.Newest newest = new Collectors.Newest();
    searcher.search(query, newest);
    answered = newest.filled();
    System.arraycopy(newest.docs, 0, answer, 0, answered);
    return answered;
  }

  private long top(Query query) throws IOException {
    var best = new TopScoreDocCollectorManager(options.k, null, options.hitsThreshold);
    ScoreDoc[] found = searcher.search(query, best).scoreDocs;
    for (answered = 0; answered < found.length; answered++) {
      answer[answered] = found[answered].doc;
    }
    return answered;
  }

  @SuppressWarnings("deprecation") // The call with a manager does the same in more steps.
  private long count(Query query) throws IOException {
    Collectors.Visited visited = new Collectors.Visited();
    searcher.search(query, visited);
    return visited.count();
  }

  /** Early stopping and "the last ten" are right only in this order. */
  private void checkOrder() throws IOException, Failure {
    int documents = leaf.reader().maxDoc();
    if (leaf.reader().hasDeletions()) {
      throw new Failure("documents are deleted");
    }
    NumericDocValues keys = leaf.reader().getNumericDocValues(Index.KEY);
    for (int doc = 0; doc < documents; doc++) {
      int key = mode.layout == Layout.OLDEST_FIRST ? doc : documents - 1 - doc;
      if (!keys.advanceExact(doc) || keys.longValue() != key) {
        throw new Failure("document " + doc + " is not the one with key " + key);
      }
    }
  }
}
