// The exceptions whose messages are meant for the caller as they are.

package spirit.peer;

/** A failure explained in one line. */
class Failure extends Exception {
  private static final long serialVersionUID = 1L;

  Failure(String line) {
    super(line);
  }

  /** The index has nothing that such a query could be asked of. */
  static final class Unsupported extends Failure {
    private static final long serialVersionUID = 1L;

    Unsupported(String line) {
      super(line);
    }
  }
}
