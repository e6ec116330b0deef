// The ways in which the task queries asks.

package spirit.peer;

/** How the task queries asks, and the index it asks. */
enum Mode {
  /** The ten newest, on an index that stores the newest first: stop after ten. */
  NEWEST_SORTED("newest-sorted", Layout.NEWEST_FIRST),
  /** The ten newest, on the index as documents arrived: visit every match. */
  NEWEST("newest", Layout.OLDEST_FIRST),
  /** The number of matches, visiting every match. */
  COUNT("count", Layout.OLDEST_FIRST),
  /** The number of matches by the engine's own counting call. */
  COUNT_FAST("count-fast", Layout.OLDEST_FIRST),
  /** The best by BM25, by the engine's own call, which need not visit every match. */
  TOP("top", Layout.OLDEST_FIRST);

  final String text;
  final Layout layout;

  Mode(String text, Layout layout) {
    this.text = text;
    this.layout = layout;
  }

  boolean counts() {
    return this == COUNT || this == COUNT_FAST;
  }

  static Mode named(String name) throws Failure {
    for (Mode mode : values()) {
      if (mode.text.equals(name)) {
        return mode;
      }
    }
    throw new Failure("no such mode: " + name);
  }
}
