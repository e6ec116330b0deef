// Task merge: segments of equal numbers of documents, merged into one by forceMerge.

package spirit.peer;

import java.io.IOException;
import java.nio.file.Path;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.store.Directory;

/** Measures the commits of --segments segments, and forceMerge(1) of them. */
final class Merge {
  private Merge() {}

  static void run(Options options, Corpus corpus) throws Exception {
    double[] seconds = new double[options.rounds];
    double[] committing = new double[options.rounds];
    int segments = 0;
    for (int round = 0; round < options.rounds; round++) {
      Path path = Index.fresh(options.work, "lucene-merge");
      System.gc();
      try (Directory directory = Index.open(path);
          IndexWriter writer = new IndexWriter(directory, Index.patientSettings())) {
        committing[round] = fill(writer, corpus, options.segments);
        segments = segments(directory);
        long start = System.nanoTime();
        writer.forceMerge(1);
        seconds[round] = (System.nanoTime() - start) / 1e9;
      }
      System.err.printf("round %d: %.2f s%n", round, seconds[round]);
      Index.remove(path);
    }
    Reporter reporter = new Reporter(options.task);
    reporter.counted("merge", "segments", "segments", segments);
    reporter.warmed("merge", "seconds", "s", seconds);
    reporter.warmed("merge", "committing", "s", committing);
  }

  /** Adds everything in so many segments, each flushed and committed; says how many seconds that took. */
  private static double fill(IndexWriter writer, Corpus corpus, int segments) throws IOException {
    long nanoseconds = 0;
    Adder adder = new Adder(writer);
    for (int segment = 0, key = 0; segment < segments; segment++) {
      int end = (int) ((segment + 1L) * corpus.size() / segments);
      adder.addAll(corpus, key, end);
      key = end;
      long start = System.nanoTime();
      writer.flush();
      writer.commit();
      nanoseconds += System.nanoTime() - start;
    }
    return nanoseconds / 1e9;
  }

  private static int segments(Directory directory) throws IOException {
    try (DirectoryReader reader = DirectoryReader.open(directory)) {
      return reader.leaves().size();
    }
  }
}
