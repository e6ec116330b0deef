// The measuring loop of the task queries: the same steps as in the Rust peers.

package spirit.peer;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.search.Query;

/** Warms, measures and reports every workload. */
final class SearchLoop {
  /** Passes over the first queries of every workload before any is measured. */
  private static final int SHARED_WARM_PASSES = 5;

  /** Queries of each workload in those passes. */
  private static final int SHARED_WARM_QUERIES = 200;

  private final Searches searches;
  private final Options options;
  private final Reporter reporter;

  /** Answers go here so that no compiler can leave the work out. */
  private long sink;

  SearchLoop(Searches searches, Options options, Reporter reporter) {
    this.searches = searches;
    this.options = options;
    this.reporter = reporter;
  }

  void run(List<Workload> workloads) throws IOException {
    for (int i = 0; i < SHARED_WARM_PASSES; i++) {
      for (Workload workload : workloads) {
        int some = Math.min(workload.queries().size(), SHARED_WARM_QUERIES);
        pass(workload.queries().subList(0, some), options.passSecondsMax);
      }
    }
    for (Workload workload : workloads) {
      measure(workload);
    }
    System.err.println("answers " + sink);
  }

  private void measure(Workload workload) throws IOException {
    int measured = warm(workload.queries());
    List<Query> queries = workload.queries().subList(0, measured);
    List<double[]> rounds = new ArrayList<>();
    Collections collections = new Collections();
    for (int i = 0; i < options.rounds; i++) {
      rounds.add(Stats.summary(pass(queries, Double.POSITIVE_INFINITY)));
    }
    double collected = collections.share();
    System.err.printf("%s: %d of %d queries%n", workload.name(), measured,
        workload.queries().size());
    reporter.latencies(workload.name(), rounds, measured);
    double[] rates = rounds.stream().mapToDouble(round -> 1e6 / round[3]).toArray();
    reporter.measured(workload.name(), "qps", "1/s", rates);
    reporter.measured(workload.name(), "gc_share", "1", collected);
    reportAnswers(workload.name(), queries);
  }

  /** Asks the workload alone until the time is up; returns how many a pass has time for. */
  private int warm(List<Query> queries) throws IOException {
    long start = System.nanoTime();
    int measured = pass(queries, options.passSecondsMax).length;
    while ((System.nanoTime() - start) / 1e9 < options.secondsMin) {
      pass(queries.subList(0, measured), options.secondsMin);
    }
    return measured;
  }

  /** Asks each query once, timed alone, until all are asked or the time is up. */
  private long[] pass(List<Query> queries, double secondsMax) throws IOException {
    long[] nanoseconds = new long[queries.size()];
    double left = secondsMax * 1e9;
    for (int i = 0; i < nanoseconds.length; i++) {
      Query query = queries.get(i);
      long start = System.nanoTime();
      sink += searches.ask(query);
      nanoseconds[i] = System.nanoTime() - start;
      left -= nanoseconds[i];
      if (left <= 0) {
        return Arrays.copyOf(nanoseconds, i + 1);
      }
    }
    return nanoseconds;
  }

  /** Asks once more, untimed, so that the caller can check that engines agree. */
  private void reportAnswers(String name, List<Query> queries) throws IOException {
    long found = 0;
    long keySum = 0;
    for (Query query : queries) {
      found += searches.ask(query);
      keySum += searches.keySum();
    }
    if (options.mode.counts()) {
      reporter.counted(name, "matches", "docs", found);
    } else {
      reporter.counted(name, "hits", "docs", found);
      reporter.counted(name, "checksum", "keys", keySum);
    }
  }
}
