// The two orders in which an index stores its documents.

package spirit.peer;

/** The order in which an index stores its documents. */
enum Layout {
  /** As they arrive. */
  OLDEST_FIRST("oldest-first"),
  /** The other way round. */
  NEWEST_FIRST("newest-first");

  final String text;

  Layout(String text) {
    this.text = text;
  }
}
