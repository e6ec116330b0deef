// The queries of the file class by class, as Lucene's own objects.

package spirit.peer;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.search.Query;

/** The queries of one class, in the order of the file. */
record Workload(String name, List<Query> queries) {

  static List<Workload> read(Path path, Form form) throws Failure {
    Map<String, Workload> workloads = new LinkedHashMap<>();
    for (Named named : Named.read(path)) {
      workloads.computeIfAbsent(named.name(), Workload::empty).queries.add(form.of(named.query()));
    }
    return List.copyOf(workloads.values());
  }

  private static Workload empty(String name) {
    return new Workload(name, new ArrayList<>());
  }
}
