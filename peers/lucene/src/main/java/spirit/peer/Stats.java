// Percentiles of one round, medians over rounds.

package spirit.peer;

import java.util.Arrays;

/** Sums up durations; the same rules as in the Rust peers. */
final class Stats {
  static final String[] METRICS = {"p50_us", "p95_us", "p99_us", "mean_us"};

  private Stats() {}

  /** The values of METRICS for one round, which must hold at least one duration. */
  static double[] summary(long[] nanoseconds) {
    long[] sorted = nanoseconds.clone();
    Arrays.sort(sorted);
    double mean = (double) Arrays.stream(sorted).sum() / sorted.length;
    return new double[] {
      percentile(sorted, 0.50) / 1e3,
      percentile(sorted, 0.95) / 1e3,
      percentile(sorted, 0.99) / 1e3,
      mean / 1e3
    };
  }

  /** The smallest value that at least this share of the values do not exceed. */
  private static long percentile(long[] sorted, double share) {
    int rank = (int) Math.ceil(share * sorted.length);
    return sorted[Math.max(1, Math.min(rank, sorted.length)) - 1];
  }

  /** The middle value, or the mean of the two in the middle. */
  static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    if (sorted.length % 2 == 1) {
      return sorted[middle];
    }
    return (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
