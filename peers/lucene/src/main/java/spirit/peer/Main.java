// Apache Lucene as a peer of SPIRIT's benchmarks; see peers/README.md.

package spirit.peer;

/** Parses the command line, runs the task, and ends with one line when anything fails. */
public final class Main {
  private Main() {}

  interface Task {
    void run(Options options) throws Exception;
  }

  interface TaskOfCorpus {
    void run(Options options, Corpus corpus) throws Exception;
  }

  public static void main(String[] arguments) {
    try {
      Options options = Options.parse(arguments);
      Task task = taskNamed(options.task);
      task.run(options);
    } catch (Exception | Error error) {
      String line = error instanceof Failure ? error.getMessage() : error.toString();
      System.err.println("spirit-peer-lucene: " + line.replace('\n', ' '));
      System.exit(1);
    }
  }

  private static Task taskNamed(String name) throws Failure {
    return switch (name) {
      case "ingest" -> loaded(Ingest::run);
      case "bulk" -> loaded(Ingest::runBulk);
      case "queries" -> Searches::run;
      case "answers" -> Answers::run;
      case "visible" -> loaded(Visible::run);
      case "freshness" -> loaded(Freshness::run);
      case "merge" -> loaded(Merge::run);
      case "window" -> loaded(Windowed::run);
      default -> throw new Failure("no such task: " + name);
    };
  }

  /** A task that begins with all documents in memory. */
  private static Task loaded(TaskOfCorpus task) {
    return options -> task.run(options, Corpus.load(options.docs));
  }
}
