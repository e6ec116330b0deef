// The one exception whose message is meant for the caller as it is.

package spirit.peer;

/** A failure explained in one line. */
final class Failure extends Exception {
  private static final long serialVersionUID = 1L;

  Failure(String line) {
    super(line);
  }
}
