// Tasks ingest and bulk: all documents into a fresh index, round after round in one JVM.

package spirit.peer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToDoubleFunction;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.store.Directory;

/** Measures adding, committing and merging everything. */
final class Ingest {
  /** What one round took; the first rounds run code that is not compiled yet. */
  private record Round(double first, double whole, long bytes) {}

  private interface Rounds {
    Round next() throws Exception;
  }

  /** Documents that a thread takes at once. */
  private static final int TAKEN = 256;

  private Ingest() {}

  /** One thread adds, then everything is committed. */
  static void run(Options options, Corpus corpus) throws Exception {
    measure(options, corpus, "add", "add_commit", () -> round(options, corpus));
  }

  /** Several threads add texts that are kept; everything is committed, and merged into one segment. */
  static void runBulk(Options options, Corpus corpus) throws Exception {
    measure(options, corpus, "committed", "merged", () -> bulkRound(options, corpus));
  }

  private static void measure(
      Options options, Corpus corpus, String first, String whole, Rounds source) throws Exception {
    long tokens = countTokens(corpus);
    List<Round> rounds = rounds(options, source);
    Reporter reporter = new Reporter(options.task);
    reporter.counted("corpus", "docs", "docs", corpus.size());
    reporter.counted("corpus", "tokens", "tokens", tokens);
    report(reporter, first, each(rounds, Round::first), corpus.size(), tokens);
    report(reporter, whole, each(rounds, Round::whole), corpus.size(), tokens);
    reporter.warmed("index", "index_bytes", "bytes", each(rounds, Round::bytes));
  }

  private static void report(
      Reporter reporter, String workload, double[] seconds, long documents, long tokens) {
    double[] rates = new double[seconds.length];
    double[] costs = new double[seconds.length];
    for (int i = 0; i < seconds.length; i++) {
      rates[i] = documents / seconds[i];
      costs[i] = seconds[i] * 1e9 / tokens;
    }
    reporter.warmed(workload, "docs_per_s", "1/s", rates);
    reporter.warmed(workload, "ns_per_token", "ns", costs);
  }

  private static double[] each(List<Round> rounds, ToDoubleFunction<Round> value) {
    return rounds.stream().mapToDouble(value).toArray();
  }

  private static long countTokens(Corpus corpus) throws IOException {
    try (PlainAnalyzer analyzer = new PlainAnalyzer()) {
      long tokens = 0;
      for (int key = 0; key < corpus.size(); key++) {
        tokens += analyzer.countTokens(corpus.get(key));
      }
      return tokens;
    }
  }

  /** At least --rounds rounds, and at least --seconds-min seconds of them. */
  private static List<Round> rounds(Options options, Rounds source) throws Exception {
    List<Round> rounds = new ArrayList<>();
    double spent = 0;
    while (rounds.size() < options.rounds || spent < options.secondsMin) {
      Round round = source.next();
      spent += round.whole;
      System.err.printf("round %d: %.2f s%n", rounds.size(), round.whole);
      rounds.add(round);
    }
    return rounds;
  }

  private static Round round(Options options, Corpus corpus) throws IOException {
    Path path = Index.fresh(options.work, "lucene-ingest");
    System.gc();
    Round round;
    try (Directory directory = Index.open(path);
        IndexWriter writer = new IndexWriter(directory, Index.serialSettings())) {
      Adder adder = new Adder(writer);
      long start = System.nanoTime();
      adder.addAll(corpus, 0, corpus.size());
      double add = (System.nanoTime() - start) / 1e9;
      writer.commit();
      double addCommit = (System.nanoTime() - start) / 1e9;
      round = new Round(add, addCommit, Index.bytes(path));
    }
    Index.remove(path);
    return round;
  }

  private static Round bulkRound(Options options, Corpus corpus) throws Exception {
    Path path = Index.fresh(options.work, "lucene-bulk");
    System.gc();
    Round round;
    try (Directory directory = Index.open(path);
        IndexWriter writer = new IndexWriter(directory, Index.patientSettings())) {
      long start = System.nanoTime();
      addSideBySide(writer, corpus, options.threads);
      writer.commit();
      double committed = (System.nanoTime() - start) / 1e9;
      writer.forceMerge(1);
      writer.commit();
      double merged = (System.nanoTime() - start) / 1e9;
      round = new Round(committed, merged, Index.bytes(path));
    }
    Index.remove(path);
    return round;
  }

  /** Each thread takes the next documents in turn, so that all of them end together. */
  private static void addSideBySide(IndexWriter writer, Corpus corpus, int threads)
      throws Exception {
    AtomicInteger next = new AtomicInteger();
    List<Callable<Void>> tasks = new ArrayList<>();
    for (int thread = 0; thread < threads; thread++) {
      Adder adder = new Adder(writer, true);
      tasks.add(
          () -> {
            int from;
            while ((from = next.getAndAdd(TAKEN)) < corpus.size()) {
              adder.addAll(corpus, from, Math.min(from + TAKEN, corpus.size()));
            }
            return null;
          });
    }
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      for (Future<Void> task : pool.invokeAll(tasks)) {
        task.get();
      }
    } finally {
      pool.shutdown();
    }
  }
}
