// Task window: queries beside a writer at full speed, on the last fifth of the stream. The reader
// is refreshed before every so many queries.

package spirit.peer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.lucene.search.Query;

/** A window of the stream for each workload, one after the other. */
final class Windowed {
  /** Passes over some queries of every workload before any is measured, without a writer. */
  private static final int WARM_PASSES = 5;

  private static final int WARM_QUERIES = 200;

  private final Live live;
  private final Corpus corpus;
  private final int refresh;
  private volatile boolean isWritten;
  private volatile Throwable failure;

  private Windowed(Live live, Corpus corpus, int refresh) {
    this.live = live;
    this.corpus = corpus;
    this.refresh = refresh;
  }

  static void run(Options options, Corpus corpus) throws Exception {
    int base = corpus.size() / 5 * 4;
    Path path = Index.fresh(options.work, "lucene-window");
    Reporter reporter = new Reporter(options.task);
    try (Live live = new Live(path, corpus, base)) {
      List<Workload> workloads = Workload.read(options.queriesFile(), live.form());
      warm(live, workloads);
      int share = (corpus.size() - base) / workloads.size();
      int from = base;
      for (Workload workload : workloads) {
        new Windowed(live, corpus, options.refresh).measure(workload, from, share, reporter);
        from += share;
      }
    }
    Index.remove(path);
  }

  private static void warm(Live live, List<Workload> workloads) throws IOException {
    for (int pass = 0; pass < WARM_PASSES; pass++) {
      for (Workload workload : workloads) {
        int some = Math.min(workload.queries().size(), WARM_QUERIES);
        for (Query query : workload.queries().subList(0, some)) {
          live.search(query);
        }
      }
    }
  }

  private void measure(Workload workload, int from, int documents, Reporter reporter)
      throws Exception {
    Thread writer = new Thread(() -> write(from, documents), "writer");
    long start = System.nanoTime();
    writer.start();
    long[] asked = ask(workload.queries());
    double seconds = (System.nanoTime() - start) / 1e9;
    writer.join();
    if (failure != null) {
      throw new Failure("the writing thread failed: " + failure);
    }
    reporter.latencies(workload.name(), List.of(Stats.summary(asked)), asked.length);
    reporter.measured(workload.name(), "docs_per_s", "1/s", documents / seconds);
  }

  private void write(int from, int documents) {
    try {
      live.adder.addAll(corpus, from, from + documents);
    } catch (Exception | Error error) {
      failure = error;
    } finally {
      isWritten = true;
    }
  }

  /** Asks one query after the other until all documents are written, and one at least. */
  private long[] ask(List<Query> queries) throws IOException {
    LongStream.Builder asked = LongStream.builder();
    int next = 0;
    do {
      long start = System.nanoTime();
      if (refresh > 0 && next % refresh == 0) {
        live.refresh();
      }
      live.search(queries.get(next % queries.size()));
      asked.add(System.nanoTime() - start);
      next++;
    } while (!isWritten);
    return asked.build().toArray();
  }
}
