//! The meaning of texts, and the errors of invalid ones.

use std::ops::Bound;
use std::sync::Arc;

use proptest::prelude::*;
use spirit_index::ground::ValueKind;
use spirit_schema::{FieldKind, Schema, TimeUnit};
use spirit_text::Analyzer;

use super::{Operator, Parser};
use crate::clause::Clause;
use crate::pattern::{Edge, PatternKind};
use crate::query::{Kind, NONE, NodeId, Occur, Query};

mod each_field;
mod expressions;
mod lenient;
mod typed;

fn schema() -> Schema {
    let mut schema = Schema::new(Analyzer::Simple, false);
    schema.add("by", FieldKind::Keyword).unwrap();
    schema.add("stems", FieldKind::Text(Analyzer::English)).unwrap();
    schema.add("views", FieldKind::Integer).unwrap();
    schema.add("score", FieldKind::Float).unwrap();
    schema.add("@at", FieldKind::Time(TimeUnit::Seconds)).unwrap();
    schema.add("flag", FieldKind::Boolean).unwrap();
    schema
}

/// Returns a parser that looks for words without a field's name in the text only.
fn parser() -> Parser {
    parser_of(Operator::Or)
}

fn parser_of(operator: Operator) -> Parser {
    let mut parser = Parser::new(Arc::new(schema()), 1 << 20, operator);
    parser.within_fields(Some(1));
    parser
}

/// Writes a query out in full.
fn shown(query: &Query) -> String {
    if query.root == NONE { "nothing".to_owned() } else { node(query, query.root) }
}

fn node(query: &Query, id: NodeId) -> String {
    let found = &query.nodes[id as usize];
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let children = |sign: fn(Occur) -> &'static str| -> String {
        let child =
            |id: NodeId| format!("{}{}", sign(query.nodes[id as usize].occur), node(query, id));
        query.children(id).map(child).collect::<Vec<_>>().join(" ")
    };
    let plain = match found.kind {
        Kind::Nothing => "∅!".to_owned(),
        Kind::Blank => "∅".to_owned(),
        Kind::Everything => "*".to_owned(),
        Kind::Term(term) => text(query.bytes_of(&query.terms[term as usize])),
        Kind::Key(term) => format!("key:{}", text(query.bytes_of(&query.terms[term as usize]))),
        Kind::Phrase { slop } => format!("\"{}\"~{slop}", children(|_| "")),
        Kind::PhrasePrefix(pattern) => {
            let prefix = text(query.pattern_bytes(&query.patterns[pattern as usize]));
            format!("\"{} {}:{prefix}…\"", children(|_| ""), found.at)
        }
        Kind::Pattern(pattern) => {
            let pattern = &query.patterns[pattern as usize];
            let bytes = text(query.pattern_bytes(pattern));
            match pattern.kind {
                PatternKind::Prefix => format!("{bytes}…"),
                PatternKind::Wildcard => format!("/{bytes}/"),
                PatternKind::Fuzzy(fuzzy) => format!("{bytes}~{}", fuzzy.distance),
                PatternKind::Regex(_) => format!("regex<{bytes}>"),
                PatternKind::Range { from, to, split } => {
                    let (low, high) = bytes.split_at(split as usize);
                    let open = if from == Edge::Excluded { '{' } else { '[' };
                    let close = if to == Edge::Excluded { '}' } else { ']' };
                    let end = |edge, text| if edge == Edge::Open { "*" } else { text };
                    format!("{open}{} TO {}{close}", end(from, low), end(to, high))
                }
            }
        }
        Kind::Range(range) => {
            let range = &query.ranges[range as usize];
            let intervals = query.intervals(range).iter().map(|(first, last)| {
                let [first, last] = [first, last].map(|value| number(range.kind, *value));
                if first == last { first } else { format!("{first}..{last}") }
            });
            format!("#{}:{}", range.field.0, intervals.collect::<Vec<_>>().join(","))
        }
        Kind::Clauses { minimum } => {
            let inside = children(|occur| match occur {
                Occur::Must => "+",
                Occur::Should => "",
                Occur::Not => "-",
            });
            match (minimum, found.tie) {
                (1, Some(tie)) => format!("best({inside})~{tie}"),
                (0, None) => format!("({inside})"),
                (minimum, None) => format!("({inside})~{minimum}"),
                (_, Some(_)) => panic!("the best of clauses that are counted"),
            }
        }
    };
    match (found.constant, found.boost) {
        (true, score) => format!("{plain}^={score}"),
        (false, 1.0) => plain,
        (false, by) => format!("{plain}^{by}"),
    }
}

fn number(kind: ValueKind, sortable: u64) -> String {
    let bits = kind.from_sortable(sortable);
    match kind {
        ValueKind::Float => f64::from_bits(bits).to_string(),
        ValueKind::Integer | ValueKind::Time => match bits.cast_signed() {
            i64::MIN => "min".to_owned(),
            i64::MAX => "max".to_owned(),
            number => number.to_string(),
        },
        _ => bits.to_string(),
    }
}

fn strict(text: &str) -> Result<String, (usize, String)> {
    let parsed = parser().parse(text);
    parsed.map(|query| shown(&query)).map_err(|error| (error.offset, error.problem.to_string()))
}

#[test]
fn texts_mean_what_users_of_lucene_expect() {
    for (text, expected) in [
        ("", "nothing"),
        ("Sea", "sea"),
        ("sea star", "(sea star)"),
        ("+sea -star fish", "(+sea -star fish)"),
        ("sea AND star fish", "((+sea +star) fish)"),
        ("fish sea AND star", "(fish (+sea +star))"),
        ("sea AND NOT star fish", "((+sea -star) fish)"),
        ("+sea AND star -fish", "((+sea +star) -fish)"),
        ("-sea AND star", "(-sea +star)"),
        ("sea star AND fish OR heron", "((sea (+star +fish)) heron)"),
        ("*:*", "*"),
        ("*:* -sea", "(* -sea)"),
        ("sea AND star OR fish", "((+sea +star) fish)"),
        ("sea && star || fish", "((+sea +star) fish)"),
        ("NOT sea", "(-sea)"),
        ("!sea star", "(-sea star)"),
        ("sea AND NOT star", "(+sea -star)"),
        ("(sea star)~2", "(sea star)~2"),
        ("\"Grey  Heron\"", "\"grey heron\"~0"),
        ("\"grey heron\"~3", "\"grey heron\"~3"),
        ("\"heron\"", "heron"),
        ("\"Grey  HER\"*", "\"grey 1:her…\""),
        ("\"a grey * her\"* sea", "(\"a grey 3:her…\" sea)"),
        ("\"grey her\"*^2", "\"grey 1:her…\"^2"),
        ("(\"grey her\"*)^=3", "\"grey 1:her…\"^=3"),
        ("\"wi-fi Wi-Fi\"*", "\"wi fi wi 3:fi…\""),
        ("\"HER\"*", "her…"),
        ("\" her * \"*", "her…"),
        ("\"- her\"*", "her…"),
        ("\"* her\"*", "her…"),
        ("\"her\\* *\"*", "her"),
        ("\"*\"*", "∅"),
        ("\"\"*", "∅"),
        ("\"grey her\" *", "(\"grey her\"~0 *)"),
        ("\"grey her\"*on", "(\"grey her\"~0 /*on/)"),
        ("\"grey her\"~2 *", "(\"grey her\"~2 *)"),
        ("wi-fi", "\"wi fi\"~0"),
        ("heron^2.5", "heron^2.5"),
        ("(sea star)^2", "(sea star)^2"),
        ("\"grey heron\"^=3", "\"grey heron\"~0^=3"),
        ("HER*", "her…"),
        ("h?r*n", "/h?r*n/"),
        ("heron~", "heron~2"),
        ("heron~1", "heron~1"),
        ("\\*", "∅"),
        ("AND\\ OR", "\"and or\"~0"),
        ("text:sea", "sea"),
        ("text:(sea star)", "(sea star)"),
        ("text:\"grey heron\"", "\"grey heron\"~0"),
        ("text:\"grey her\"*", "\"grey 1:her…\""),
        ("stems:\"Herons and Seas\"*", "\"heron 2:seas…\""),
        ("stems:\"of Seas\"*", "seas…"),
        ("stems:(\"grey HER\"*^2)", "\"grey 1:her…\"^2"),
        ("by:\"Ann L\"*", "Ann L…"),
        ("key:17 sea", "(key:17 sea)"),
        ("key:\"a b\"", "key:a b"),
        ("key:17^2", "key:17^2"),
        ("key:\"17\"^2 sea", "(key:17^2 sea)"),
        ("key:\"[17*\"", "key:[17*"),
        ("key:17\\*", "key:17*"),
        ("key:*", "*"),
        ("*", "*"),
        ("text:*", "*"),
        ("10:30", "\"10 30\"~0"),
        ("x^y", "\"x y\"~0"),
        ("by:Ann-Lee", "Ann-Lee"),
        ("by:\"Ann Lee\"", "Ann Lee"),
        ("by:A*", "A…"),
        ("by:*", "…"),
        ("stems:Herons", "heron"),
        ("stems:(Herons seas) Herons", "((heron sea) herons)"),
        ("a~b", "\"a b\"~0"),
    ] {
        assert_eq!(strict(text), Ok(expected.to_owned()), "{text}");
    }
}

/// A suffix that looks like a word's number must be one, and a name that looks like a field must be
/// one.
#[test]
fn a_strict_parser_takes_no_mistake_for_a_word() {
    for (text, offset, expected) in [
        ("sea^-1", 4, "a number ≥ 0"),
        ("sea^=-1", 4, "a number ≥ 0"),
        ("sea^1.5.2", 4, "a number ≥ 0"),
        ("sea^", 4, "a number ≥ 0"),
        ("sea^2^3", 4, "a number ≥ 0"),
        ("a sea^99999999999999999999999999999999999999999999999999", 6, "a number ≥ 0"),
        ("^2", 0, "a word before `^`"),
        ("heron~0.5", 6, "a distance of 0, 1 or 2"),
        ("heron~-1", 6, "a distance of 0, 1 or 2"),
        ("heron~1~1", 8, "a distance of 0, 1 or 2"),
        ("heron~1*", 6, "a distance of 0, 1 or 2"),
        ("~1", 1, "a distance of 0, 1 or 2"),
        ("heron^2~1", 6, "a number ≥ 0"),
        ("\"a b\"~1.5", 6, "a whole number of 32 bits"),
        ("\"a b\"~4294967296", 6, "a whole number of 32 bits"),
        ("(a b)~1.5", 6, "a whole number of 32 bits"),
        ("NOT NOT sea", 4, "not another `NOT`"),
        ("+NOT sea", 1, "not another `NOT`"),
        ("sea\\", 3, "a character after"),
        ("no.body:3", 0, "no such field"),
        ("Nobody:3", 0, "no such field"),
        ("a.b:\"c d\"", 0, "no such field"),
        ("key:[a TO b]", 4, "one key: keys have no ranges, sets or patterns"),
        ("key:IN [a]", 4, "one key: keys have no ranges, sets or patterns"),
        ("key:41*", 4, "one key: keys have no ranges, sets or patterns"),
        ("(a AND b)~1", 9, "optional clauses before `~`"),
        ("(+a -b)~1", 7, "optional clauses before `~`"),
    ] {
        let (at, problem) = strict(text).unwrap_err();
        assert_eq!(at, offset, "{text}: {problem}");
        assert!(problem.contains(expected), "{text}: {problem}");
    }
}

/// Juxtaposed clauses that must all match become optional by a minimum.
#[test]
fn at_least_so_many_are_those_side_by_side() {
    let mut parser = parser_of(Operator::And);
    for (text, expected) in [
        ("a b", "(+a +b)"),
        ("a b OR c", "((+a +b) c)"),
        ("a b AND c", "(+a +(+b +c))"),
        ("(a b c)~2", "(a b c)~2"),
        ("(a (b c) d)~2", "(a (+b +c) d)~2"),
        ("(a OR b)~1", "(a b)~1"),
        ("(a b)~1 c", "(+(a b)~1 +c)"),
    ] {
        assert_eq!(shown(&parser.parse(text).unwrap()), expected, "{text}");
    }
    for text in ["(+a b)~1", "(a AND b)~1"] {
        assert!(parser.parse(text).is_err(), "{text}");
    }
}

/// A bar stands between clauses of which the best counts.
#[test]
fn the_best_of_several_clauses_counts() {
    for (text, expected) in [
        ("a | b", "best(a b)~0"),
        ("(a | b c | views:3)~0.25^2", "best(a (b c) #3:3)~0.25^2"),
        ("(a | b)~1 +c", "(best(a b)~1 +c)"),
        ("((a | b))~2", "(best(a b)~0)~2"),
        ("(a | (b OR c) | d)", "best(a (b c) d)~0"),
        ("stems:(sea | star)", "best(sea star)~0"),
        ("a|b", "\"a b\"~0"),
    ] {
        assert_eq!(strict(text).unwrap(), expected, "{text}");
    }
    for (text, offset, expected) in [
        ("a | b OR c", 6, "the same operator between all"),
        ("a OR b | c", 7, "the same operator between all"),
        ("(a | b)~1.5", 8, "a factor from 0 to 1"),
        ("(a | b)~x", 8, "a factor from 0 to 1"),
        ("(a OR b)~0.5", 9, "a whole number"),
        ("| a", 0, "a word before the operator"),
        ("a |", 3, "a word"),
    ] {
        let (at, problem) = strict(text).unwrap_err();
        assert_eq!(at, offset, "{text}: {problem}");
        assert!(problem.contains(expected), "{text}: {problem}");
    }
}

/// A word that no document can contain is still a word, unlike a stop word.
#[test]
fn what_cannot_be_a_term_is_found_nowhere() {
    let long = "x".repeat(300);
    assert_eq!(strict(&format!("{long} AND sea")).unwrap(), "(+∅! +sea)");
    assert_eq!(strict(&format!("\"sea {long}\"")).unwrap(), "∅!");
    assert_eq!(strict(&format!("\"{long} se\"*")).unwrap(), "∅!");
    assert_eq!(strict("stems:the AND sea").unwrap(), "(+∅ +sea)");
}

#[test]
fn without_positions_a_word_is_all_of_its_terms() {
    let mut parser = parser().without_positions();
    for (text, expected) in [
        ("wi-fi", "(+wi +fi)"),
        ("stems:(wi-fi the)", "((+wi +fi) ∅)"),
        ("stems:IN [wi-fi]", "((+wi +fi))^=1"),
        ("sea", "sea"),
        ("\"wi fi\"", "\"wi fi\"~0"),
    ] {
        assert_eq!(shown(&parser.parse(text).unwrap()), expected, "{text}");
    }
}

#[test]
fn fields_are_asked_for_values() {
    for (text, expected) in [
        ("views:3", "#3:3"),
        ("views:-3 sea", "(#3:-3 sea)"),
        ("views:\"3\"^2", "#3:3^2"),
        ("views:[1 TO 5]", "#3:1..5"),
        ("views:{1 TO 5}", "#3:2..4"),
        ("views:[ 1  TO 5 }^=3 sea", "(#3:1..4^=3 sea)"),
        ("views:[* TO 5]", "#3:min..5"),
        ("views:[5 TO *}", "#3:5..max"),
        ("views:[5 TO 1]", "#3:"),
        ("views:{5 TO 5]", "#3:"),
        ("views:>=3", "#3:3..max"),
        ("views:>3^2", "#3:4..max^2"),
        ("views:<= 3", "#3:min..3"),
        ("views:<3 OR sea", "(#3:min..2 sea)"),
        ("views:<-9223372036854775808", "#3:"),
        ("views:IN [5 1 \"2\" 5]", "#3:1,2,5"),
        ("views:IN []", "#3:"),
        ("views:(3 [5 TO 7] >9)", "(#3:3 #3:5..7 #3:10..max)"),
        ("views:*", "#3:min..max"),
        ("-views:[1 TO 2]", "(-#3:1..2)"),
        ("score:1", "#4:1"),
        ("score:[-inf TO 1e3}", "#4:-inf..999.9999999999999"),
        ("score:[* TO *]", "#4:-inf..inf"),
        ("@at:17", "#5:17000"),
        ("@at:2026-11-22", "#5:1795305600000..1795391999999"),
        ("@at:[2026-11-22 TO 2026-11-23}", "#5:1795305600000..1795391999999"),
        ("@at:>2026-11-22T19:00:00+01:00", "#5:1795370400001..max"),
        ("@at:\"2026-11-22 18:00:00Z\"", "#5:1795370400000"),
        ("flag:true", "#6:1"),
        ("flag:*", "#6:0..18446744073709551615"),
        ("flag:IN [true false]", "#6:0,1"),
        ("by:[Ann TO \"Bo Lee\"]", "[Ann TO Bo Lee]"),
        ("by:{* TO b\\]]", "[* TO b]]"),
        ("by:>=\"Ann Lee\"", "[Ann Lee TO *]"),
        ("by:<b", "[* TO b}"),
        ("by:[\"*\" TO TO]", "[* TO TO]"),
        ("by:IN [Ann \"Bo Lee\"]^2", "(Ann Bo Lee)^=2"),
        ("by:\"\"", ""),
        ("by:IN []", "()^=1"),
        ("(by:IN [a a])~2", "((a^2)^=1)~2"),
        ("by:IN", "IN"),
        ("by:(a >=b IN [c])", "(a [b TO *] (c)^=1)"),
        ("stems:IN [Herons \"seas and skies\"]", "(heron \"sea sky\"~0)^=1"),
        ("text:[A TO Sea]", "[a TO sea]"),
        ("a >b [c TO d]", "(a b c to d)"),
        ("At 10:[x", "(at \"10 x\"~0)"),
    ] {
        assert_eq!(strict(text), Ok(expected.to_owned()), "{text}");
    }
}

#[test]
fn a_repeated_term_stands_once() {
    for (text, expected) in [
        ("to be or not to be", "(to^2 be^2 or not)"),
        ("sea^3 star sea^0.5", "(sea^3.5 star)"),
        ("+sea +sea star", "(+sea^2 star)"),
        ("star -sea -sea", "(star -sea^2)"),
        ("sea Sea SEA", "(sea^3)"),
        ("+sea sea -sea", "(+sea sea -sea)"),
        ("sea (star sea star)", "(sea (star^2 sea))"),
        ("sea^=1 sea sea^=1 sea", "(sea^=1 sea^2 sea^=1)"),
        ("by:sea sea", "(sea sea)"),
        ("(sea sea star)~1", "(sea^2 star)~1"),
        ("(sea sea star)~2", "(sea sea star)~2"),
        ("\"sea sea\"", "\"sea sea\"~0"),
        (
            "sea^300000000000000000000000000000000000000 sea^300000000000000000000000000000000000000",
            "(sea^340282350000000000000000000000000000000)",
        ),
    ] {
        assert_eq!(strict(text), Ok(expected.to_owned()), "{text}");
        assert_eq!(shown(&parser().parse_lenient(text).0), expected, "{text}, leniently");
    }
    let many = |last| format!("{}{last}", (0..63).map(|n| format!("w{n} ")).collect::<String>());
    assert!(strict(&many("w0")).unwrap().starts_with("(w0^2 w1 "));
    assert!(
        strict(&many("x w0")).unwrap().starts_with("(w0 w1 "),
        "each would be compared with each"
    );
}

#[test]
fn a_strict_parser_says_what_is_no_range() {
    for (text, offset, expected) in [
        ("views:x", 6, "a whole number"),
        ("views:3*", 6, "a whole number"),
        ("views:\"a b\"", 6, "a whole number"),
        ("views:[1 2]", 9, "`TO`"),
        ("views:[1 TO 2", 13, "`]` or `}`"),
        ("views:[1 TO 2)", 12, "a whole number"),
        ("views:[ TO 2]", 8, "a whole number"),
        ("views:[1 TO ]", 12, "a value, or `*`"),
        ("views:[1.5 TO 2]", 7, "a whole number"),
        ("views:> ", 8, "a value"),
        ("views:>=3x sea", 8, "a whole number"),
        ("views:IN [1 x]", 12, "a whole number"),
        ("views:IN [1", 11, "`]`"),
        ("score:[a TO b]", 7, "a number"),
        ("@at:[yesterday TO now]", 5, "a time for a field of kind time(seconds)"),
        ("flag:maybe", 5, "`true` or `false`"),
        ("by:[a TO \"b]", 9, "a second `\""),
        ("nobody:[1 TO 2]", 0, "no such field"),
        ("sea @nobody.at:>=2026-11-22", 4, "no such field"),
    ] {
        let (at, problem) = strict(text).unwrap_err();
        assert_eq!(at, offset, "{text}: {problem}");
        assert!(problem.contains(expected), "{text}: {problem}");
    }
}

fn any_range() -> impl Strategy<Value = Clause> {
    let number = || (-5i64..50).prop_map(|number| number.to_string());
    let float = || (-9.0..9.0f64).prop_map(|number| number.to_string());
    let moment = || prop_oneof![number(), Just("2026-11-22".to_owned())];
    let word = || "[ -~é]{0,6}";
    let ends = |value: BoxedStrategy<String>| {
        let end = prop_oneof![
            Just(Bound::Unbounded),
            value.clone().prop_map(Bound::Included),
            value.prop_map(Bound::Excluded),
        ];
        (end.clone(), end)
    };
    let all = [
        ("views", number().boxed()),
        ("score", float().boxed()),
        ("@at", moment().boxed()),
        ("flag", any::<bool>().prop_map(|yes| yes.to_string()).boxed()),
        ("by", word().boxed()),
    ];
    prop::sample::select(all.to_vec()).prop_flat_map(move |(field, value)| {
        let name = field.to_owned();
        prop_oneof![
            ends(value.clone())
                .prop_map(move |(from, to)| { Clause::Range { field: name.clone(), from, to } }),
            prop::collection::vec(value.clone(), 0..4)
                .prop_map(move |values| Clause::one_of(field, values)),
            value.prop_map(move |value| Clause::value(field, value)),
            Just(Clause::exists(field)),
        ]
    })
}

proptest! {
    /// A clause is parsed from its text as it is compiled.
    #[test]
    fn ranges_and_values_are_read_as_they_are_written(clause in any_range(), boosted in any::<bool>()) {
        let clause = if boosted { clause.boost(2.0) } else { clause };
        let built = Query::in_schema(&clause, &schema()).unwrap();
        let parsed = parser().parse(&clause.to_string()).unwrap();
        prop_assert_eq!(shown(&parsed), shown(&built), "{}", clause);
    }

    /// Every value is read as it is written, whatever the language makes of its characters.
    #[test]
    fn values_are_read_as_they_are_written(value in "[-/:*?~^+\\\\\"ab ]{1,5}") {
        let clause = Clause::value("by", &value);
        let built = Query::in_schema(&clause, &schema()).unwrap();
        let parsed = parser().parse(&clause.to_string()).unwrap();
        prop_assert_eq!(shown(&parsed), shown(&built), "{}", clause);
    }

    /// Every text is a query, or an error with a place in the text.
    #[test]
    fn no_text_is_too_strange(text in "(views|by|@at|text|x)?:?[a-c1-3 :><=\\[\\]{}\"*^~ITNO()\\\\]{0,16}") {
        match parser().parse(&text) {
            Ok(_) => {}
            Err(error) => prop_assert!(text.is_char_boundary(error.offset), "{}", error),
        }
        parser().parse_lenient(&text);
    }
}

#[test]
fn a_strict_parser_says_where_and_what() {
    for (text, offset, expected) in [
        ("sea AND", 7, "a word"),
        ("AND sea", 0, "a word before the operator"),
        ("(sea", 4, "`)`"),
        ("sea)", 3, "a word, or the end"),
        ("()", 1, "a word, not `)`"),
        ("+ -sea", 2, "a word after"),
        ("a \"grey heron", 2, "a second `\""),
        ("title:sea", 0, "no such field"),
        ("text: sea", 5, "a value after `:`"),
        ("key:", 4, "a value after `:`"),
        ("heron~7", 6, "a distance of 0, 1 or 2"),
        ("\"a b\"~x", 6, "a whole number"),
        ("\"a b\"~2*", 5, "no slop: a phrase prefix has none"),
        ("sea \"a b\"*~2 sky", 10, "no slop: a phrase prefix has none"),
        ("views:\"3\"*", 9, "a field of kind integer has no words"),
        ("(a b)^x", 6, "a number ≥ 0"),
    ] {
        let (at, problem) = strict(text).unwrap_err();
        assert_eq!(at, offset, "{text}: {problem}");
        assert!(problem.contains(expected), "{text}: {problem}");
    }
}
