// Task visible: what it takes to make one more document visible: add it, reopen the reader.

package spirit.peer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.TermQuery;

/** Adds single documents to an index that already holds the others. */
final class Visible {
  /** So many of the last documents are not in the index at first and are added one at a time. */
  private static final int TAIL = 200;

  private final Live live;
  private final Corpus corpus;
  private int turn;
  private int found;

  private Visible(Live live, Corpus corpus) {
    this.live = live;
    this.corpus = corpus;
  }

  static void run(Options options, Corpus corpus) throws Exception {
    Path path = Index.fresh(options.work, "lucene-visible");
    try (Live live = new Live(path, corpus, Math.max(0, corpus.size() - TAIL))) {
      Visible visible = new Visible(live, corpus);
      visible.add(options.warmAdds);
      List<double[]> rounds = new ArrayList<>();
      for (int i = 0; i < options.rounds; i++) {
        rounds.add(Stats.summary(visible.add(options.adds)));
      }
      Reporter reporter = new Reporter(options.task);
      reporter.latencies("visible", rounds, options.adds);
      reporter.counted("visible", "found", "docs", visible.found);
    }
    Index.remove(path);
  }

  /** Makes so many documents visible, one at a time. */
  private long[] add(int documents) throws IOException, Failure {
    long[] nanoseconds = new long[documents];
    for (int i = 0; i < documents; i++) {
      String text = corpus.again(TAIL, turn);
      long start = System.nanoTime();
      live.adder.add((long) corpus.size() + turn, text);
      live.refresh();
      nanoseconds[i] = System.nanoTime() - start;
      check();
      turn++;
    }
    return nanoseconds;
  }

  private void check() throws IOException, Failure {
    if (live.search(new TermQuery(new Term(Index.TEXT, Corpus.marker(turn)))) != 1) {
      throw new Failure("added document " + turn + " is not visible");
    }
    found++;
  }
}
