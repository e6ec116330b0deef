// A phrase whose last term is any that begins so: Lucene has no such query of its own.

package spirit.peer;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.MultiTerms;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.search.ConstantScoreQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchNoDocsQuery;
import org.apache.lucene.search.MultiPhraseQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.QueryVisitor;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.StringHelper;

/** Rewritten for the reader that is searched, to all terms that it has of the last one, however many. */
final class PhrasePrefix extends Query {
  private final String field;
  private final List<String> terms;

  PhrasePrefix(String field, List<String> terms) {
    this.field = field;
    this.terms = List.copyOf(terms);
  }

  @Override
  public Query rewrite(IndexSearcher searcher) throws IOException {
    int last = terms.size() - 1;
    Term[] ends = begunBy(searcher.getIndexReader(), new BytesRef(terms.get(last)));
    if (ends.length == 0) {
      return new MatchNoDocsQuery();
    }
    MultiPhraseQuery.Builder phrase = new MultiPhraseQuery.Builder();
    terms.subList(0, last).forEach(term -> phrase.add(new Term(field, term)));
    return new ConstantScoreQuery(phrase.add(ends).build());
  }

  private Term[] begunBy(IndexReader reader, BytesRef prefix) throws IOException {
    List<Term> found = new ArrayList<>();
    Terms all = MultiTerms.getTerms(reader, field);
    TermsEnum next = all == null ? TermsEnum.EMPTY : all.iterator();
    if (next.seekCeil(prefix) != TermsEnum.SeekStatus.END) {
      BytesRef term = next.term();
      while (term != null && StringHelper.startsWith(term, prefix)) {
        found.add(new Term(field, BytesRef.deepCopyOf(term)));
        term = next.next();
      }
    }
    return found.toArray(Term[]::new);
  }

  @Override
  public void visit(QueryVisitor visitor) {
    visitor.visitLeaf(this);
  }

  @Override
  public String toString(String field) {
    return "\"" + String.join(" ", terms) + "\"*";
  }

  @Override
  public boolean equals(Object other) {
    return sameClassAs(other)
        && field.equals(((PhrasePrefix) other).field)
        && terms.equals(((PhrasePrefix) other).terms);
  }

  @Override
  public int hashCode() {
    return Objects.hash(classHash(), field, terms);
  }
}
