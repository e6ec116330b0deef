// What documents have beside their text: a column for each member of their objects.

package spirit.peer;

import com.google.gson.JsonPrimitive;
import java.util.ArrayList;
import java.util.List;

/** The values of one member, by document: all of them integers or all of them keywords. */
final class Column {
  final String name;
  final boolean keywords;
  private final List<Object> values = new ArrayList<>();

  Column(String name, boolean keywords) {
    this.name = name;
    this.keywords = keywords;
  }

  /** A Long or a String, or null where the document has none. */
  Object get(int key) {
    return key < values.size() ? values.get(key) : null;
  }

  void set(int key, JsonPrimitive value) throws Failure {
    if (value.isString() != keywords) {
      throw new Failure(name + " is no " + (keywords ? "string: " : "integer: ") + value);
    }
    while (values.size() < key) {
      values.add(null);
    }
    values.add(keywords ? value.getAsString().intern() : integer(value));
  }

  private Long integer(JsonPrimitive value) throws Failure {
    try {
      return Long.valueOf(value.toString());
    } catch (NumberFormatException error) {
      throw new Failure(name + " is no integer: " + value);
    }
  }
}
