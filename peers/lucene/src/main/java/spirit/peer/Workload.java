// The queries: lines NAME KIND TERM [TERM]..., grouped into workloads by NAME.

package spirit.peer;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;

/** The queries of one name, in the order of the file, as Lucene's own objects. */
record Workload(String name, List<Query> queries) {

  static List<Workload> read(Path path) throws Failure {
    Map<String, Workload> workloads = new LinkedHashMap<>();
    int number = 0;
    for (String line : lines(path)) {
      number++;
      String[] words = line.strip().split("\\s+");
      if (line.isBlank()) {
        continue;
      }
      try {
        Query query = parse(words);
        workloads.computeIfAbsent(words[0], Workload::empty).queries.add(query);
      } catch (Failure failure) {
        throw new Failure(path + " line " + number + ": " + failure.getMessage());
      }
    }
    if (workloads.isEmpty()) {
      throw new Failure(path + " holds no queries");
    }
    return List.copyOf(workloads.values());
  }

  private static Workload empty(String name) {
    return new Workload(name, new ArrayList<>());
  }

  private static String[] lines(Path path) throws Failure {
    try {
      return new String(Files.readAllBytes(path), StandardCharsets.UTF_8).split("\n");
    } catch (IOException error) {
      throw new Failure("cannot read the queries " + path + ": " + error);
    }
  }

  private static Query parse(String[] words) throws Failure {
    if (words.length < 2) {
      throw new Failure("a query is NAME KIND TERM [TERM]...");
    }
    String kind = words[1];
    if (!List.of("term", "and", "or", "phrase").contains(kind)) {
      throw new Failure("no such kind of query: " + kind);
    }
    if (words.length < 3 || kind.equals("term") != (words.length == 3)) {
      throw new Failure("a term query has one term, any other at least two");
    }
    List<String> terms = List.of(words).subList(2, words.length);
    return switch (kind) {
      case "term" -> term(terms.get(0));
      case "and" -> bool(Occur.FILTER, terms);
      case "or" -> bool(Occur.SHOULD, terms);
      default -> new PhraseQuery(Index.TEXT, terms.toArray(String[]::new));
    };
  }

  private static Query term(String term) {
    return new TermQuery(new Term(Index.TEXT, term));
  }

  private static Query bool(Occur occur, List<String> terms) {
    BooleanQuery.Builder query = new BooleanQuery.Builder();
    terms.forEach(term -> query.add(term(term), occur));
    return query.build();
  }
}
