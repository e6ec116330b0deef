// Task ingest: all documents into a fresh index with one thread, round after round in one JVM.

package spirit.peer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.store.Directory;

/** Measures adding everything, and adding and committing everything. */
final class Ingest {
  /** What one round took; the first rounds run code that is not compiled yet. */
  private record Round(double add, double addCommit, long bytes) {}

  private Ingest() {}

  static void run(Options options, Corpus corpus) throws Exception {
    long tokens = countTokens(corpus);
    List<Round> rounds = rounds(options, corpus);
    Reporter reporter = new Reporter(options.task);
    reporter.counted("corpus", "docs", "docs", corpus.size());
    reporter.counted("corpus", "tokens", "tokens", tokens);
    report(reporter, "add", each(rounds, Round::add), corpus.size(), tokens);
    report(reporter, "add_commit", each(rounds, Round::addCommit), corpus.size(), tokens);
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
  private static List<Round> rounds(Options options, Corpus corpus) throws IOException {
    List<Round> rounds = new ArrayList<>();
    double spent = 0;
    while (rounds.size() < options.rounds || spent < options.secondsMin) {
      Round round = round(options, corpus);
      spent += round.addCommit;
      System.err.printf("round %d: %.2f s%n", rounds.size(), round.addCommit);
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
}
