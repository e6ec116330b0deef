// The command line shared by all peers: PROGRAM TASK --docs FILE [--name value]...

package spirit.peer;

import java.nio.file.Path;

/** What the caller asked for; peers/README.md explains each option. */
final class Options {
  final String task;
  Path docs;
  Path queries;
  double secondsMin = 2.5;
  int rounds = 5;
  Path work = Path.of("/dev/shm/spirit-peers");
  Mode mode = Mode.NEWEST_SORTED;

  /** Postings are kept on the heap, not compressed. */
  boolean direct = false;

  double passSecondsMax = 10;
  int adds = 1000;

  /** More than in the other peers: Java compiles the last of the code only after some thousands. */
  int warmAdds = 3000;

  double rate = 1000;
  double seconds = 10;
  int segments = 64;

  /** A reader is refreshed before so many queries; 0: never. */
  int refresh = 1;

  int k = 10;
  int threads = 2;
  boolean byScore = true;
  float k1 = 1.2f;
  float b = 0.75f;

  /** So many matches are counted before any may be skipped; the least stops the earliest. */
  int hitsThreshold = 1;

  private Options(String task) {
    this.task = task;
  }

  static Options parse(String[] arguments) throws Failure {
    if (arguments.length == 0) {
      throw new Failure("say a task: ingest, bulk, queries, answers, visible, freshness, merge or window");
    }
    Options options = new Options(arguments[0]);
    for (int i = 1; i < arguments.length; i += 2) {
      if (i + 1 == arguments.length) {
        throw new Failure(arguments[i] + " needs a value");
      }
      options.set(arguments[i], arguments[i + 1]);
    }
    options.check();
    return options;
  }

  /** The file named by --queries, which the task needs. */
  Path queriesFile() throws Failure {
    if (queries == null) {
      throw new Failure(task + " needs --queries FILE");
    }
    return queries;
  }

  private void set(String name, String value) throws Failure {
    try {
      switch (name) {
        case "--docs" -> docs = Path.of(value);
        case "--queries" -> queries = Path.of(value);
        case "--seconds-min" -> secondsMin = Double.parseDouble(value);
        case "--rounds" -> rounds = Integer.parseInt(value);
        case "--work" -> work = Path.of(value);
        case "--mode" -> mode = Mode.named(value);
        case "--postings" -> direct = isDirect(value);
        case "--pass-seconds-max" -> passSecondsMax = Double.parseDouble(value);
        case "--adds" -> adds = Integer.parseInt(value);
        case "--warm-adds" -> warmAdds = Integer.parseInt(value);
        case "--rate" -> rate = Double.parseDouble(value);
        case "--seconds" -> seconds = Double.parseDouble(value);
        case "--segments" -> segments = Integer.parseInt(value);
        case "--refresh" -> refresh = Integer.parseInt(value);
        case "--threads" -> threads = Integer.parseInt(value);
        case "--k" -> k = Integer.parseInt(value);
        case "--order" -> byScore = isByScore(value);
        case "--k1" -> k1 = Float.parseFloat(value);
        case "--b" -> b = Float.parseFloat(value);
        case "--hits-threshold" -> hitsThreshold = Integer.parseInt(value);
        default -> throw new Failure("no such option: " + name);
      }
    } catch (NumberFormatException error) {
      throw new Failure(name + " takes a number, not " + value);
    }
  }

  private static boolean isDirect(String postings) throws Failure {
    return switch (postings) {
      case "default" -> false;
      case "direct" -> true;
      default -> throw new Failure("no such postings: " + postings);
    };
  }

  private static boolean isByScore(String order) throws Failure {
    return switch (order) {
      case "bm25" -> true;
      case "newest" -> false;
      default -> throw new Failure("no such order: " + order);
    };
  }

  private void check() throws Failure {
    if (docs == null) {
      throw new Failure("--docs FILE is missing");
    }
    if (rounds < 1 || adds < 1 || segments < 1 || k < 1 || threads < 1) {
      throw new Failure("--rounds, --adds, --segments, --threads and --k must be at least 1");
    }
    if (refresh < 0) {
      throw new Failure("--refresh must be at least 0");
    }
    if (!(rate > 0) || !(seconds > 0)) {
      throw new Failure("--rate and --seconds must be above 0");
    }
  }
}
