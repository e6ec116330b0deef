//! The text of a page without its markup, by the tokenizer that browsers have.

use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};

/// Elements within a line. All others end it.
const INLINE: [&str; 37] = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "img", "ins", "kbd", "label", "mark", "meter", "nobr", "q", "s", "samp", "small",
    "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr", "blink",
];
/// Elements whose content is no text of the page.
const HIDDEN: [&str; 5] = ["script", "style", "iframe", "noembed", "noframes"];

/// What is left of a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Markup {
    pub(crate) title: String,
    /// Lines with single blanks between words.
    pub(crate) text: String,
}

impl Markup {
    pub(crate) fn taken_off(page: &str) -> Markup {
        let tokenizer = Tokenizer::new(Sink::default(), TokenizerOpts::default());
        let input = BufferQueue::default();
        input.push_back(StrTendril::from_slice(page));
        // What a tokenizer returns on the way is for those who run scripts.
        let _ = tokenizer.feed(&input);
        tokenizer.end();
        tokenizer.sink.0.take().into()
    }
}

/// Takes what the tokenizer finds.
#[derive(Default)]
struct Sink(RefCell<Found>);

#[derive(Default)]
struct Found {
    title: Words,
    text: Words,
    within: Within,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Within {
    #[default]
    Text,
    Title,
    Hidden,
}

/// Words with single blanks between them.
#[derive(Default)]
struct Words {
    text: String,
    /// What comes before the next word.
    gap: Option<char>,
}

impl Words {
    fn add(&mut self, text: &str) {
        for (number, word) in text.split(char::is_whitespace).enumerate() {
            if number > 0 {
                self.gap.get_or_insert(' ');
            }
            if word.is_empty() {
                continue;
            }
            let gap = self.gap.take().filter(|_| !self.text.is_empty());
            self.text.extend(gap);
            self.text.push_str(word);
        }
    }

    fn end_line(&mut self) {
        self.gap = Some('\n');
    }
}

impl From<Found> for Markup {
    fn from(found: Found) -> Markup {
        Markup { title: found.title.text.replace('\n', " "), text: found.text.text }
    }
}

impl Found {
    fn tag(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let name = &*tag.name;
        let begins = tag.kind == TagKind::StartTag;
        if begins && name == "title" && self.title.text.is_empty() {
            self.within = Within::Title;
        } else if begins && HIDDEN.contains(&name) {
            self.within = Within::Hidden;
        } else if !begins && (name == "title" || HIDDEN.contains(&name)) {
            self.within = Within::Text;
        }
        if !INLINE.contains(&name) {
            self.text.end_line();
        }
        match name {
            _ if !begins => TokenSinkResult::Continue,
            "script" => TokenSinkResult::RawData(RawKind::ScriptData),
            "style" | "xmp" | "iframe" | "noembed" | "noframes" => {
                TokenSinkResult::RawData(RawKind::Rawtext)
            }
            "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
            "plaintext" => TokenSinkResult::Plaintext,
            _ => TokenSinkResult::Continue,
        }
    }
}

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut found = self.0.borrow_mut();
        match token {
            Token::TagToken(tag) => return found.tag(&tag),
            Token::CharacterTokens(text) => match found.within {
                Within::Text => found.text.add(&text),
                Within::Title => found.title.add(&text),
                Within::Hidden => {}
            },
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(page: &str) -> String {
        Markup::taken_off(page).text
    }

    #[test]
    fn what_is_read_is_what_a_browser_shows() {
        let page = "<!DOCTYPE html><html><head><title>Grey &amp; white\n herons</title>
            <style>p > b { color: red }</style><script>if (a < b) { \"</p>\" }</script></head>
            <body><!-- not this --><h1>Her<b>on</b>s</h1><p>One<br>two &eacute;t&#233;
            <p>three&nbsp;four<table><tr><td>five<td>six</table></body></html>";
        let found = Markup::taken_off(page);
        assert_eq!(found.title, "Grey & white herons");
        assert_eq!(found.text, "Herons\nOne\ntwo été\nthree four\nfive\nsix");
    }

    #[test]
    fn wrong_markup_is_read_too() {
        assert_eq!(text("a < b and <b>c"), "a < b and c");
        assert_eq!(text("<p>open <a href=\"x>y\">z</a"), "open z");
        assert_eq!(text("a<script>never closed <p>b"), "a");
        assert_eq!(text("<SCRIPT>x</SCRIPT><P CLASS=y>Up</P>"), "Up");
        assert_eq!(text("<title>one</title><title>two</title>x"), "two\nx");
        assert_eq!(text("<textarea>kept <b>as it is</b></textarea>"), "kept <b>as it is</b>");
        assert_eq!(text(""), "");
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_a_text(page: String) {
            Markup::taken_off(&page);
        }

        #[test]
        fn escaped_texts_come_back(words in proptest::collection::vec("[a-z<>&\"']{1,6}", 0..20)) {
            let words = words.join(" ");
            let escaped = words.replace('&', "&amp;").replace('<', "&lt;");
            proptest::prop_assert_eq!(text(&format!("<p>{escaped}</p>")), words);
        }
    }
}
