// A node of a query tree: an object with one member, the kind, and the kind's own members.

package spirit.peer;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** Reads members, each with what holds if it is not there. */
final class Node {
  final String kind;
  private final JsonObject members;

  Node(JsonObject tree) throws Failure {
    if (tree.size() != 1) {
      throw new Failure("a query has one member, its kind: " + tree);
    }
    kind = tree.keySet().iterator().next();
    if (!tree.get(kind).isJsonObject()) {
      throw new Failure(kind + " is no object: " + tree);
    }
    members = tree.getAsJsonObject(kind);
  }

  /** Fails on a member that is none of these: it would be overlooked. */
  Node only(String... names) throws Failure {
    Set<String> allowed = Set.of(names);
    for (String name : members.keySet()) {
      if (!allowed.contains(name)) {
        throw new Failure(kind + " has no " + name);
      }
    }
    return this;
  }

  String text(String name) throws Failure {
    return needed(name, JsonElement::getAsString);
  }

  String text(String name, String otherwise) throws Failure {
    return members.has(name) ? text(name) : otherwise;
  }

  float number(String name) throws Failure {
    return needed(name, JsonElement::getAsFloat);
  }

  int integer(String name) throws Failure {
    return needed(name, JsonElement::getAsInt);
  }

  int integer(String name, int otherwise) throws Failure {
    return has(name) ? integer(name) : otherwise;
  }

  long bound(String name, long otherwise) throws Failure {
    return has(name) ? needed(name, JsonElement::getAsLong) : otherwise;
  }

  boolean flag(String name, boolean otherwise) throws Failure {
    return has(name) ? needed(name, JsonElement::getAsBoolean) : otherwise;
  }

  JsonObject tree(String name) throws Failure {
    return needed(name, JsonElement::getAsJsonObject);
  }

  List<JsonElement> list(String name) throws Failure {
    List<JsonElement> list = new ArrayList<>();
    if (has(name)) {
      needed(name, JsonElement::getAsJsonArray).forEach(list::add);
    }
    return list;
  }

  private boolean has(String name) {
    return members.has(name) && !members.get(name).isJsonNull();
  }

  private <T> T needed(String name, Function<JsonElement, T> reading) throws Failure {
    if (!has(name)) {
      throw new Failure(kind + " needs " + name);
    }
    try {
      return reading.apply(members.get(name));
    } catch (IllegalStateException | UnsupportedOperationException | NumberFormatException error) {
      throw new Failure(kind + ": " + name + " is something else: " + members.get(name));
    }
  }
}
