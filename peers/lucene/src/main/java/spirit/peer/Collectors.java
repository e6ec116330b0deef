// The two exhaustive collectors: one keeps the ten last matches, which are the ten newest where
// documents are stored oldest first; the other only counts.

package spirit.peer;

import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.SimpleCollector;

/** Collectors that visit every match. */
final class Collectors {
  /** How many documents a search for the newest wants. */
  static final int WANTED = 10;

  private Collectors() {}

  /** Keeps the last documents seen, in a ring. */
  static final class Newest extends SimpleCollector {
    final int[] docs = new int[WANTED];
    private int next;
    private int filled;
    private int base;

    int filled() {
      return filled;
    }

    @Override
    protected void doSetNextReader(LeafReaderContext leaf) {
      base = leaf.docBase;
    }

    @Override
    public void collect(int doc) {
      docs[next] = base + doc;
      next = next + 1 == WANTED ? 0 : next + 1;
      filled = filled == WANTED ? WANTED : filled + 1;
    }

    @Override
    public ScoreMode scoreMode() {
      return ScoreMode.COMPLETE_NO_SCORES;
    }
  }

  /** Counts match by match; Lucene's own counting collector would not visit them. */
  static final class Visited extends SimpleCollector {
    private long count;

    long count() {
      return count;
    }

    @Override
    public void collect(int doc) {
      count++;
    }

    @Override
    public ScoreMode scoreMode() {
      return ScoreMode.COMPLETE_NO_SCORES;
    }
  }
}
