//! Limits of all analyzers: term length, text length, the end of the buffer, emptiness.

use spirit_text::{Analyzer, Summary, TERM_BYTES_MAX, TextTooLong, Tokenizer};

use crate::support::{place, run, tokens};

/// Those for which a run of `x` or `é` is one token as it stands.
const LOWERING: [Analyzer; 4] =
    [Analyzer::Simple, Analyzer::Standard, Analyzer::Social, Analyzer::Code];

#[test]
fn no_text_no_tokens() {
    for analyzer in Analyzer::ALL {
        assert_eq!(tokens(analyzer, ""), (vec![], Summary::default()));
        let mut tokenizer = Tokenizer::new(analyzer, 0);
        assert_eq!(run(&mut tokenizer, ""), (vec![], Summary::default()));
    }
}

#[test]
fn terms_of_every_length_that_matters() {
    for analyzer in LOWERING {
        for len in
            [1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 254, 255, 256, 257, 500]
        {
            for word in [
                "x".repeat(len),
                format!("é{}", "x".repeat(len.max(3) - 2)),
                "a1".repeat(len / 2 + 1),
            ] {
                assert_eq!(tokens(analyzer, &word), place(&[&word]), "{analyzer}");
                let text = format!("{word} b {word}");
                assert_eq!(tokens(analyzer, &text), place(&[&*word, "b", &word]), "{analyzer}");
            }
        }
    }
}

/// `Ⱥ` takes two bytes and its small letter three, `ﬃ` three and its fold three, a syllable of jamo
/// nine and composed three: it is the final form that has to fit.
#[test]
fn the_limit_counts_bytes_of_the_term() {
    for analyzer in LOWERING {
        for count in [84, 85, 86, 127, 128, 254, 255, 256, 400, 2000] {
            for (source, term) in [
                ("Ⱥ", "ⱥ"),
                ("İ", "i"),
                ("ﬃ", "ffi"),
                ("\u{1112}\u{1161}\u{11ab}", "한"),
                ("a\u{ad}\u{ad}", "a"),
                ("ǰ", "ǰ"),
                ("ᾂ", "ἂι"),
            ] {
                let expected = place(&[term.repeat(count)]);
                assert_eq!(tokens(analyzer, &source.repeat(count)), expected, "{source} {count}");
            }
        }
    }
}

#[test]
fn a_joined_word_can_be_too_long() {
    for analyzer in [Analyzer::Standard, Analyzer::Social] {
        let word = "ab.".repeat(85) + "c";
        assert_eq!(word.len(), TERM_BYTES_MAX + 1);
        assert_eq!(tokens(analyzer, &format!("{word} x")), place(&[&*word, "x"]));
        assert_eq!(tokens(analyzer, &word[1..]), place(&[&word[1..]]));
    }
    let url = format!("http://{}", "x".repeat(300));
    assert_eq!(tokens(Analyzer::Social, &format!("{url} x")), place(&[&*url, "x"]));
}

/// The text fills the tokenizer to the last byte, so a head must be read from the padding.
#[test]
fn a_token_at_the_very_end_of_the_longest_text() {
    for analyzer in Analyzer::ALL {
        for bytes in 1..200 {
            let mut tokenizer = Tokenizer::new(analyzer, bytes);
            for word in ["z", "q9", "é"] {
                if word.len() > bytes {
                    continue;
                }
                let text = "-".repeat(bytes - word.len()) + word;
                let expected = if analyzer == Analyzer::Keyword { &*text } else { word };
                assert_eq!(run(&mut tokenizer, &text), place(&[expected]));
            }
        }
    }
}

#[test]
fn a_text_that_is_too_long_is_refused_whole() {
    for analyzer in Analyzer::ALL {
        let mut tokenizer = Tokenizer::new(analyzer, 10);
        let result = tokenizer.for_each("eleven byte", |_| panic!("the sink saw a token"));
        let error = result.unwrap_err();
        assert!(matches!(error, TextTooLong { bytes: 11, max: 10, .. }));
        assert_eq!(
            error.to_string(),
            "the text has 11 bytes and the limit is 10; split it or raise the limit"
        );
        assert_eq!(run(&mut tokenizer, "ten bytes!").1.skipped, 0);
    }
}
