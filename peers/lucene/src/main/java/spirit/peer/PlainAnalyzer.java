// The analysis that all engines share: runs of alphanumeric characters, lower-cased.

package spirit.peer;

import java.io.IOException;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.CharacterUtils;
import org.apache.lucene.analysis.FilteringTokenFilter;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.Tokenizer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.analysis.util.CharTokenizer;
import org.apache.lucene.util.UnicodeUtil;

/** Maximal runs of characters with the property Alphabetic or a numeric category. */
final class PlainAnalyzer extends Analyzer {
  /** Tokens with more UTF-8 bytes than this (lower-cased) are skipped; the position is kept. */
  private static final int LONGEST_TOKEN = 255;

  /** Lucene would cut longer runs in two, so this must be as large as it takes. */
  private static final int LONGEST_RUN = 1024 * 1024;

  @Override
  protected TokenStreamComponents createComponents(String field) {
    Tokenizer runs = new Runs();
    return new TokenStreamComponents(runs, new LowerCased(runs));
  }

  /** The number of tokens indexed for this text. */
  int countTokens(String text) throws IOException {
    try (TokenStream tokens = tokenStream(Index.TEXT, text)) {
      tokens.reset();
      int count = 0;
      while (tokens.incrementToken()) {
        count++;
      }
      tokens.end();
      return count;
    }
  }

  private static final class Runs extends CharTokenizer {
    Runs() {
      super(DEFAULT_TOKEN_ATTRIBUTE_FACTORY, LONGEST_RUN);
    }

    @Override
    protected boolean isTokenChar(int c) {
      if (c < 128) {
        return (c | 32) >= 'a' && (c | 32) <= 'z' || c >= '0' && c <= '9';
      }
      return Character.isAlphabetic(c) || isNumeric(c) || isCombiningLetter(c);
    }

    /** Small letters above others, found in real posts: Alphabetic only since Unicode 16. */
    private static boolean isCombiningLetter(int c) {
      return c >= 0x363 && c <= 0x36f;
    }

    private static boolean isNumeric(int c) {
      int type = Character.getType(c);
      return type == Character.DECIMAL_DIGIT_NUMBER
          || type == Character.LETTER_NUMBER
          || type == Character.OTHER_NUMBER;
    }
  }

  private static final class LowerCased extends FilteringTokenFilter {
    /** The only character whose lower case is two: i and a combining dot. */
    private static final char DOTTED_I = '\u0130';

    private final CharTermAttribute term = addAttribute(CharTermAttribute.class);

    LowerCased(TokenStream runs) {
      super(runs);
    }

    @Override
    protected boolean accept() {
      if (hasDottedI()) {
        String text = term.toString().replace("\u0130", "i\u0307");
        term.setEmpty().append(text);
      }
      CharacterUtils.toLowerCase(term.buffer(), 0, term.length());
      return isShort();
    }

    private boolean hasDottedI() {
      char[] buffer = term.buffer();
      for (int i = 0; i < term.length(); i++) {
        if (buffer[i] == DOTTED_I) {
          return true;
        }
      }
      return false;
    }

    /** A Java char is at most three bytes of UTF-8, so most terms need no look. */
    private boolean isShort() {
      return term.length() * 3 <= LONGEST_TOKEN
          || UnicodeUtil.calcUTF16toUTF8Length(term, 0, term.length()) <= LONGEST_TOKEN;
    }
  }
}
