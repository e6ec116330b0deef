// The rows: one JSON object a line on standard output.

package spirit.peer;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.lucene.util.Version;

/** Writes the rows of one task. */
final class Reporter {
  private final StringBuilder always = new StringBuilder();

  Reporter(String task) {
    add("task", task);
    add("system", "lucene");
    add("version", Version.LATEST.toString());
    add("java", System.getProperty("java.version"));
  }

  /** Adds a name and value that every later row bears. */
  void add(String name, String value) {
    always.append(quoted(name)).append(':').append(quoted(value)).append(',');
  }

  /** A measure: its median over the rounds and all of them. */
  void measured(String workload, String metric, String unit, double... runs) {
    row(workload, metric, unit, number(Stats.median(runs)), numbers(runs), "");
  }

  /** A measure of an engine that becomes warm: the median of the last half of the rounds. */
  void warmed(String workload, String metric, String unit, double... runs) {
    int warmFrom = runs.length / 2;
    double value = Stats.median(Arrays.copyOfRange(runs, warmFrom, runs.length));
    row(workload, metric, unit, number(value), numbers(runs), ",\"warm_from\":" + warmFrom);
  }

  /** A count that is the same in every round. */
  void counted(String workload, String metric, String unit, long value) {
    row(workload, metric, unit, Long.toString(value), "[" + value + "]", "");
  }

  /** The four rows of a latency, n operations a round; each round is a Stats.summary. */
  void latencies(String workload, List<double[]> rounds, int n) {
    for (int i = 0; i < Stats.METRICS.length; i++) {
      int metric = i;
      double[] runs = rounds.stream().mapToDouble(round -> round[metric]).toArray();
      String value = number(Stats.median(runs));
      row(workload, Stats.METRICS[i], "us", value, numbers(runs), ",\"n\":" + n);
    }
  }

  private void row(
      String workload, String metric, String unit, String value, String runs, String more) {
    System.out.println(
        "{" + always
            + "\"workload\":" + quoted(workload)
            + ",\"metric\":" + quoted(metric)
            + ",\"unit\":" + quoted(unit)
            + ",\"value\":" + value
            + ",\"runs\":" + runs
            + more + "}");
    System.out.flush();
  }

  private static String numbers(double[] values) {
    return Arrays.stream(values)
        .mapToObj(Reporter::number)
        .collect(Collectors.joining(",", "[", "]"));
  }

  private static String number(double value) {
    return Double.toString(value);
  }

  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (c < ' ') {
        quoted.append(String.format("\\u%04x", (int) c));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }
}
