// Task freshness: one thread adds documents, another refreshes before each query. How long after
// the start of its addition does a document turn up in an answer?

package spirit.peer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;

/** A writer and an asking thread on one index. */
final class Freshness {
  /** A sleep may end later than asked by about this much; the rest is waited for awake. */
  private static final long SLEEP_ERROR = 100_000;

  /** Two threads and their merges run more code than one search: the warm-up is longer. */
  private static final double WARM_FACTOR = 4;

  /** A document that is being added and that the asking thread is to find. */
  private record Marked(int turn, long start) {}

  private final Live live;
  private final Corpus corpus;
  private final int base;
  private final double rate;

  /** Filled by the writer if it is empty, emptied by the asking thread. */
  private final AtomicReference<Marked> marked = new AtomicReference<>();

  private final LongStream.Builder fresh = LongStream.builder();
  private final LongStream.Builder searches = LongStream.builder();
  private volatile boolean stop;
  private volatile Throwable failure;
  private volatile int adds;

  private Freshness(Live live, Corpus corpus, int base, double rate) {
    this.live = live;
    this.corpus = corpus;
    this.base = base;
    this.rate = rate;
  }

  static void run(Options options, Corpus corpus) throws Exception {
    int base = corpus.size() / 5 * 4;
    Path path = Index.fresh(options.work, "lucene-freshness");
    try (Live live = new Live(path, corpus, base)) {
      List<Query> queries =
          Workload.read(options.queriesFile(), live.form()).stream()
              .flatMap(workload -> workload.queries().stream())
              .toList();
      int warmed = warm(live, corpus, queries, base, options);
      Freshness freshness = new Freshness(live, corpus, base, options.rate);
      freshness.bothThreads(queries, options.seconds, warmed);
      freshness.report(options);
    }
    Index.remove(path);
  }

  /** The same for some time, not measured, so that the code is compiled. */
  private static int warm(
      Live live, Corpus corpus, List<Query> queries, int base, Options options) throws Exception {
    Freshness warm = new Freshness(live, corpus, base, options.rate);
    if (options.secondsMin > 0) {
      warm.bothThreads(queries, WARM_FACTOR * options.secondsMin, 0);
    }
    return warm.adds;
  }

  private void bothThreads(List<Query> queries, double seconds, int firstTurn) throws Exception {
    Thread writer = new Thread(() -> write(seconds, firstTurn), "writer");
    writer.start();
    try {
      ask(queries);
    } finally {
      stop = true;
      writer.join();
    }
    if (failure != null) {
      throw new Failure("the writing thread failed: " + failure);
    }
  }

  private void write(double seconds, int firstTurn) {
    try {
      writeUntil(System.nanoTime(), (long) (seconds * 1e9), firstTurn);
    } catch (Exception | Error error) {
      failure = error;
    } finally {
      stop = true;
    }
  }

  private void writeUntil(long start, long nanoseconds, int firstTurn) throws IOException {
    int added = 0;
    while (!stop && System.nanoTime() - start < nanoseconds) {
      await(start + (long) (added / rate * 1e9));
      int turn = firstTurn + added;
      String text = corpus.again(corpus.size() - base, turn);
      if (marked.get() == null) {
        marked.set(new Marked(turn, System.nanoTime()));
      }
      live.adder.add((long) corpus.size() + turn, text);
      added++;
    }
    adds = added;
  }

  /** Waits until the document is due; a writer that is late does not wait. */
  private static void await(long due) {
    for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
      if (left > 2 * SLEEP_ERROR) {
        LockSupport.parkNanos(left - SLEEP_ERROR);
      } else {
        Thread.yield();
      }
    }
  }

  /** Looks for the marked document, and after each one found asks an ordinary query. */
  private void ask(List<Query> queries) throws IOException {
    for (int next = 0; !stop; ) {
      if (lookForMarked()) {
        continue;
      }
      long start = System.nanoTime();
      live.refresh();
      live.search(queries.get(next));
      searches.add(System.nanoTime() - start);
      next = next + 1 == queries.size() ? 0 : next + 1;
    }
  }

  /** Asks for the marked document; true if there is one and it is not found yet. */
  private boolean lookForMarked() throws IOException {
    Marked sought = marked.get();
    if (sought == null) {
      return false;
    }
    live.refresh();
    Query query = new TermQuery(new Term(Index.TEXT, Corpus.marker(sought.turn)));
    if (live.search(query) == 0) {
      return true;
    }
    fresh.add(System.nanoTime() - sought.start);
    marked.set(null);
    return false;
  }

  private void report(Options options) throws Failure {
    long[] found = fresh.build().toArray();
    long[] asked = searches.build().toArray();
    if (found.length == 0 || asked.length == 0) {
      throw new Failure("nothing was found in the time given; raise --seconds");
    }
    Reporter reporter = new Reporter(options.task);
    reporter.latencies("fresh", List.of(Stats.summary(found)), found.length);
    reporter.latencies("search", List.of(Stats.summary(asked)), asked.length);
    reporter.measured("writer", "docs_per_s", "1/s", adds / options.seconds);
    reporter.measured("search", "qps", "1/s", asked.length / options.seconds);
  }
}
