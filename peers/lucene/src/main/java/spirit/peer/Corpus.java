// The documents: one a line of a UTF-8 file, all in memory before any clock starts.

package spirit.peer;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** All documents; the line number, from 0, is the document's key. */
final class Corpus {
  private final List<String> texts = new ArrayList<>();

  private Corpus() {}

  static Corpus load(Path path) throws Failure {
    Corpus corpus = new Corpus();
    try (InputStream in = new BufferedInputStream(Files.newInputStream(path), 1 << 20)) {
      corpus.read(in);
    } catch (IOException error) {
      throw new Failure("cannot read the documents " + path + ": " + error);
    }
    if (corpus.texts.isEmpty()) {
      throw new Failure(path + " holds no documents");
    }
    System.err.println(corpus.size() + " documents in memory");
    return corpus;
  }

  /** Only a line feed ends a line: Java's own readers also split at carriage returns. */
  private void read(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int b = in.read(); b >= 0; b = in.read()) {
      if (b != '\n') {
        line.write(b);
      } else {
        texts.add(line.toString(StandardCharsets.UTF_8));
        line.reset();
      }
    }
    if (line.size() > 0) {
      texts.add(line.toString(StandardCharsets.UTF_8));
    }
  }

  int size() {
    return texts.size();
  }

  String get(int key) {
    return texts.get(key);
  }

  /** The turn-th document to add later: the last ones in turn, each with its marker. */
  String again(int tail, int turn) {
    int some = Math.max(1, Math.min(tail, size()));
    return get(size() - some + turn % some) + " " + marker(turn);
  }

  /** The word that marks the turn-th added document and no other. */
  static String marker(int turn) {
    return "peermarker" + turn + "x";
  }
}
