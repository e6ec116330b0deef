// Task answers: what Lucene answers to each query of the file, untimed, a JSON object a line.

package spirit.peer;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.apache.lucene.store.Directory;

/** Counts, and the best or newest documents. */
final class Answers {
  private static final Sort NEWEST =
      new Sort(new SortField(Index.KEY, SortField.Type.LONG, true));

  private final Options options;
  private final IndexSearcher searcher;
  private final LeafReader leaf;

  private Answers(Options options, DirectoryReader reader) {
    this.options = options;
    this.searcher = Searches.searcher(reader, options);
    this.leaf = reader.leaves().get(0).reader();
  }

  static void run(Options options) throws Exception {
    List<Named> queries = Named.read(options.queriesFile());
    Path path = Index.cached(options, Layout.OLDEST_FIRST);
    try (Directory directory = Index.open(path);
        DirectoryReader reader = DirectoryReader.open(directory);
        PrintStream output =
            new PrintStream(
                new BufferedOutputStream(System.out), false, StandardCharsets.UTF_8)) {
      Answers answers = new Answers(options, reader);
      for (int number = 0; number < queries.size(); number++) {
        output.println(answers.line(queries.get(number), number));
      }
    }
  }

  private JsonObject line(Named named, int number) throws IOException, Failure {
    JsonObject line = new JsonObject();
    line.addProperty("name", named.name());
    line.addProperty("n", number);
    try {
      answer(new Form(leaf.getFieldInfos(), options.byScore).of(named.query()), line);
    } catch (Failure.Unsupported reason) {
      line.addProperty("unsupported", reason.getMessage());
    }
    return line;
  }

  private void answer(Query query, JsonObject line) throws IOException {
    TopDocs found = options.byScore ? best(query) : searcher.search(query, options.k, NEWEST);
    JsonArray keys = new JsonArray();
    JsonArray scores = new JsonArray();
    for (ScoreDoc hit : found.scoreDocs) {
      keys.add(key(hit.doc));
      if (options.byScore) {
        scores.add(hit.score);
      }
    }
    line.addProperty("count", searcher.count(query));
    line.add("keys", keys);
    line.add("scores", scores);
  }

  private TopDocs best(Query query) throws IOException {
    var best = new TopScoreDocCollectorManager(options.k, null, options.hitsThreshold);
    return searcher.search(query, best);
  }

  private long key(int doc) throws IOException {
    NumericDocValues keys = leaf.getNumericDocValues(Index.KEY);
    keys.advanceExact(doc);
    return keys.longValue();
  }
}
