// A query tree as Lucene's own objects.

package spirit.peer;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.document.LongField;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.ConstantScoreQuery;
import org.apache.lucene.search.FuzzyQuery;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.MatchNoDocsQuery;
import org.apache.lucene.search.MultiTermQuery;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.PrefixQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermInSetQuery;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.WildcardQuery;
import org.apache.lucene.util.BytesRef;

/** Makes queries for an index with these fields. */
final class Form {
  private final FieldInfos fields;

  /** What must match is a filter where no scores are wanted. */
  private final Occur must;

  Form(FieldInfos fields, boolean scored) {
    this.fields = fields;
    this.must = scored ? Occur.MUST : Occur.FILTER;
  }

  Query of(JsonObject tree) throws Failure {
    Node node = new Node(tree);
    return switch (node.kind) {
      case "term" -> term(node.only("field", "value"));
      case "phrase" -> phrase(node.only("field", "terms", "slop"));
      case "phrase_prefix" -> phrasePrefix(node.only("field", "terms"));
      case "prefix" -> new PrefixQuery(words(node.only("field", "value")));
      case "wildcard" -> wildcard(node.only("field", "value"));
      case "fuzzy" -> fuzzy(
          node.only("field", "value", "distance", "transpositions", "prefix_length"));
      case "bool" -> clauses(node.only("must", "should", "not", "minimum_should_match"));
      case "constant" -> constant(node.only("query", "score"));
      case "boost" -> new BoostQuery(
          of(node.only("query", "by").tree("query")), node.number("by"));
      case "all" -> all(node.only());
      case "one_of" -> oneOf(node.only("field", "values"));
      case "range" -> range(node.only("field", "from", "to", "include_from", "include_to"));
      default -> throw new Failure("no such kind of query: " + node.kind);
    };
  }

  private static Query all(Node node) {
    return new MatchAllDocsQuery();
  }

  private static String field(Node node) throws Failure {
    return node.text("field", Index.TEXT);
  }

  private FieldInfo info(String field) throws Failure {
    FieldInfo info = fields.fieldInfo(field);
    if (info == null) {
      throw new Failure.Unsupported("no field " + field);
    }
    return info;
  }

  private boolean hasPositions(String field) throws Failure {
    return info(field).getIndexOptions() == IndexOptions.DOCS_AND_FREQS_AND_POSITIONS;
  }

  /** The node's value in a field that has terms. */
  private Term words(Node node) throws Failure {
    String field = field(node);
    if (info(field).getIndexOptions() == IndexOptions.NONE) {
      throw new Failure.Unsupported(field + " is a column of integers");
    }
    return new Term(field, node.text("value"));
  }

  private Query term(Node node) throws Failure {
    return term(words(node));
  }

  /** A keyword has no frequency to speak of: its score is 1. */
  private Query term(Term term) throws Failure {
    Query query = new TermQuery(term);
    return hasPositions(term.field()) ? query : new ConstantScoreQuery(query);
  }

  private Query phrase(Node node) throws Failure {
    String field = field(node);
    List<JsonElement> terms = node.list("terms");
    if (terms.isEmpty()) {
      throw new Failure("a phrase of no terms");
    }
    if (!hasPositions(field)) {
      throw new Failure.Unsupported(field + " has no positions");
    }
    if (terms.size() == 1) {
      return term(new Term(field, terms.get(0).getAsString()));
    }
    String[] words = terms.stream().map(JsonElement::getAsString).toArray(String[]::new);
    return new PhraseQuery(node.integer("slop", 0), field, words);
  }

  private Query phrasePrefix(Node node) throws Failure {
    String field = field(node);
    List<JsonElement> terms = node.list("terms");
    if (terms.isEmpty()) {
      throw new Failure("a phrase of no terms");
    }
    if (!hasPositions(field)) {
      throw new Failure.Unsupported(field + " has no positions");
    }
    if (terms.size() == 1) {
      return new PrefixQuery(new Term(field, terms.get(0).getAsString()));
    }
    return new PhrasePrefix(field, terms.stream().map(JsonElement::getAsString).toList());
  }

  /** Only stars and question marks are special. */
  private Query wildcard(Node node) throws Failure {
    Term pattern = words(node);
    return new WildcardQuery(new Term(pattern.field(), pattern.text().replace("\\", "\\\\")));
  }

  /** Rewritten as prefixes are: Lucene's own choice would keep only the 50 nearest terms. */
  private Query fuzzy(Node node) throws Failure {
    int distance = node.integer("distance");
    if (distance > 2) {
      throw new Failure("more than two edits");
    }
    return new FuzzyQuery(
        words(node),
        distance,
        node.integer("prefix_length", 0),
        Integer.MAX_VALUE,
        node.flag("transpositions", true),
        MultiTermQuery.CONSTANT_SCORE_BLENDED_REWRITE);
  }

  private Query clauses(Node node) throws Failure {
    BooleanQuery.Builder query = new BooleanQuery.Builder();
    add(query, node.list("must"), must);
    add(query, node.list("should"), Occur.SHOULD);
    add(query, node.list("not"), Occur.MUST_NOT);
    // Where nothing must match, Lucene takes 0 for 1.
    query.setMinimumNumberShouldMatch(node.integer("minimum_should_match", 0));
    return query.build();
  }

  private void add(BooleanQuery.Builder query, List<JsonElement> trees, Occur occur)
      throws Failure {
    for (JsonElement tree : trees) {
      query.add(of(tree.getAsJsonObject()), occur);
    }
  }

  private Query constant(Node node) throws Failure {
    return new BoostQuery(new ConstantScoreQuery(of(node.tree("query"))), node.number("score"));
  }

  private Query oneOf(Node node) throws Failure {
    String field = node.text("field");
    if (hasPositions(field) || info(field).getIndexOptions() == IndexOptions.NONE) {
      throw new Failure.Unsupported(field + " is no column of keywords");
    }
    List<BytesRef> values = new ArrayList<>();
    for (JsonElement value : node.list("values")) {
      values.add(new BytesRef(value.getAsString()));
    }
    return new ConstantScoreQuery(new TermInSetQuery(field, values));
  }

  private Query range(Node node) throws Failure {
    String field = node.text("field");
    if (info(field).getPointDimensionCount() == 0) {
      throw new Failure.Unsupported(field + " is no column of integers");
    }
    long from = node.bound("from", Long.MIN_VALUE);
    long to = node.bound("to", Long.MAX_VALUE);
    boolean without = !node.flag("include_from", true);
    boolean withoutLast = !node.flag("include_to", true);
    if (without && from == Long.MAX_VALUE || withoutLast && to == Long.MIN_VALUE) {
      return new MatchNoDocsQuery();
    }
    return LongField.newRangeQuery(field, without ? from + 1 : from, withoutLast ? to - 1 : to);
  }
}
