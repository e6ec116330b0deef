// The query file: a line a query, {"name": CLASS, "query": TREE}.

package spirit.peer;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A query of the file: its class, for instance MM, and what is asked. */
record Named(String name, JsonObject query) {

  /** Reads a query file in its order. */
  static List<Named> read(Path path) throws Failure {
    List<Named> queries = new ArrayList<>();
    int number = 0;
    for (String line : lines(path)) {
      number++;
      if (line.isBlank()) {
        continue;
      }
      try {
        queries.add(parse(line));
      } catch (JsonParseException | IllegalStateException | NullPointerException error) {
        throw new Failure(path + " line " + number + ": a query has a name and a query");
      }
    }
    if (queries.isEmpty()) {
      throw new Failure(path + " holds no queries");
    }
    return queries;
  }

  private static Named parse(String line) {
    JsonObject object = JsonParser.parseString(line).getAsJsonObject();
    return new Named(object.get("name").getAsString(), object.getAsJsonObject("query"));
  }

  private static String[] lines(Path path) throws Failure {
    try {
      return new String(Files.readAllBytes(path), StandardCharsets.UTF_8).split("\n");
    } catch (IOException error) {
      throw new Failure("cannot read the queries " + path + ": " + error);
    }
  }
}
