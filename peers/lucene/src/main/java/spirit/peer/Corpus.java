// The documents: one a line of a UTF-8 file, all in memory before any clock starts.

package spirit.peer;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** All documents; the line number, from 0, is the document's key. */
final class Corpus {
  /** Members that are no columns: the text, and what the line number stands in for. */
  private static final Set<String> NO_COLUMNS = Set.of(Index.TEXT, Index.KEY, "id");

  private final List<String> texts = new ArrayList<>();
  private final Map<String, Column> columns = new LinkedHashMap<>();

  private Corpus() {}

  /** Reads the file: JSON objects if its name ends in .jsonl, else texts. */
  static Corpus load(Path path) throws Failure {
    Corpus corpus = new Corpus();
    try (InputStream in = new BufferedInputStream(Files.newInputStream(path), 1 << 20)) {
      corpus.read(in, path.toString().endsWith(".jsonl"));
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
  private void read(InputStream in, boolean objects) throws IOException, Failure {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int b = in.read(); b >= 0; b = in.read()) {
      if (b != '\n') {
        line.write(b);
      } else {
        add(line.toString(StandardCharsets.UTF_8), objects);
        line.reset();
      }
    }
    if (line.size() > 0) {
      add(line.toString(StandardCharsets.UTF_8), objects);
    }
  }

  private void add(String line, boolean object) throws Failure {
    if (!object) {
      texts.add(line);
      return;
    }
    try {
      addObject(JsonParser.parseString(line).getAsJsonObject());
    } catch (Failure | JsonParseException | IllegalStateException error) {
      throw new Failure("document " + texts.size() + ": " + error.getMessage());
    }
  }

  private void addObject(JsonObject object) throws Failure {
    if (!object.has(Index.TEXT)) {
      throw new Failure("no member `text`");
    }
    for (Map.Entry<String, JsonElement> member : object.entrySet()) {
      String name = member.getKey();
      if (!NO_COLUMNS.contains(name) && !member.getValue().isJsonNull()) {
        var value = member.getValue().getAsJsonPrimitive();
        columns.computeIfAbsent(name, n -> new Column(n, value.isString())).set(size(), value);
      }
    }
    texts.add(object.get(Index.TEXT).getAsString());
  }

  /** What the documents have beside their text. */
  Iterable<Column> columns() {
    return columns.values();
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
