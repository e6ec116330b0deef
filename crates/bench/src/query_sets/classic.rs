//! The notation of published queries, Lucene's classic one: `+must -not should "a phrase"~2 (a b) pre* w?ld* fuzzy~1`.

use spirit_peer_protocol::{Clauses, Query as Tree};

use super::terms;

/// The query of a text, or what is wrong with it.
pub(super) fn parse(text: &str) -> Result<Tree, String> {
    let mut rest = text.trim();
    let query = group(&mut rest)?;
    if rest.is_empty() { Ok(query) } else { Err(format!("not understood: {rest}")) }
}

/// Clauses until the end or a parenthesis that closes.
fn group(rest: &mut &str) -> Result<Tree, String> {
    let mut clauses = Clauses::default();
    while !rest.is_empty() && !rest.starts_with(')') {
        let list = match take_any(rest, &['+', '-']) {
            Some('+') => &mut clauses.must,
            Some(_) => &mut clauses.not,
            None => &mut clauses.should,
        };
        list.extend(primary(rest)?);
        *rest = rest.trim_start();
    }
    let Clauses { must, should, not, .. } = &mut clauses;
    match (must.len(), should.len(), not.len()) {
        (0, 0, _) => Err("no words".to_owned()),
        (1, 0, 0) => Ok(must.remove(0)),
        (0, 1, 0) => Ok(should.remove(0)),
        _ => Ok(Tree::Bool(clauses)),
    }
}

/// What a clause is about; nothing, if there are no letters in it.
fn primary(rest: &mut &str) -> Result<Option<Tree>, String> {
    if take_any(rest, &['(']).is_some() {
        let inside = group(rest)?;
        return take_any(rest, &[')']).map(|_| Some(inside)).ok_or_else(|| "no `)`".to_owned());
    }
    if take_any(rest, &['"']).is_some() {
        let end = rest.find('"').ok_or("no second quote")?;
        let words = &rest[..end];
        *rest = &rest[end + 1..];
        let slop = take_near(rest)?;
        return Ok(phrase(words, slop));
    }
    let end = rest.find(|c: char| c.is_whitespace() || c == ')').unwrap_or(rest.len());
    let word = &rest[..end];
    *rest = &rest[end..];
    if word.is_empty() {
        return Err("a sign without a word".to_owned());
    }
    self::word(word)
}

fn phrase(words: &str, slop: u32) -> Option<Tree> {
    match &terms(words)[..] {
        [] => None,
        [term] => Some(Tree::term(term)),
        terms => Some(Tree::phrase(terms, slop)),
    }
}

fn word(word: &str) -> Result<Option<Tree>, String> {
    if let Some((word, distance)) = word.split_once('~') {
        let distance = distance.parse().map_err(|_| format!("no distance: {distance}"))?;
        return Ok(Some(Tree::fuzzy(&one_term(word)?, distance)));
    }
    if let Some(start) = word.strip_suffix('*').filter(|start| !start.contains(['*', '?'])) {
        return Ok(Some(Tree::prefix(&one_term(start)?)));
    }
    if word.contains(['*', '?']) {
        return pattern(word).map(Some);
    }
    let mut terms = terms(word);
    Ok(match terms.len() {
        0 => None,
        1 => Some(Tree::term(&terms.remove(0))),
        _ => Some(Tree::any_of(terms.iter().map(|term| Tree::term(term)).collect())),
    })
}

fn pattern(pattern: &str) -> Result<Tree, String> {
    let mut lower = String::new();
    for part in pattern.split_inclusive(['*', '?']) {
        let letters = part.trim_end_matches(['*', '?']);
        if !letters.is_empty() {
            lower.push_str(&one_term(letters)?);
        }
        lower.push_str(&part[letters.len()..]);
    }
    Ok(Tree::wildcard(&lower))
}

fn one_term(word: &str) -> Result<String, String> {
    let mut terms = terms(word);
    if terms.len() == 1 && word.chars().all(char::is_alphanumeric) {
        return Ok(terms.remove(0));
    }
    Err(format!("not one term: {word}"))
}

/// The number after `~`, if there is one.
fn take_near(rest: &mut &str) -> Result<u32, String> {
    let Some(after) = rest.strip_prefix('~') else { return Ok(0) };
    let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
    *rest = &after[end..];
    after[..end].parse().map_err(|_| "no number after ~".to_owned())
}

fn take_any(rest: &mut &str, signs: &[char]) -> Option<char> {
    let sign = rest.chars().next().filter(|first| signs.contains(first))?;
    *rest = &rest[sign.len_utf8()..];
    Some(sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<Tree> {
        words.iter().map(|word| Tree::term(word)).collect()
    }

    #[test]
    fn leaves_are_what_they_look_like() {
        for (text, tree) in [
            ("The", Tree::term("the")),
            ("\"of the\"", Tree::phrase(&["of", "the"], 0)),
            ("\"in the\"~4", Tree::phrase(&["in", "the"], 4)),
            ("\"the\"", Tree::term("the")),
            ("suc*", Tree::prefix("suc")),
            ("Th*e?", Tree::wildcard("th*e?")),
            ("côte~2", Tree::fuzzy("côte", 2)),
        ] {
            assert_eq!(parse(text), Ok(tree), "{text}");
        }
    }

    #[test]
    fn signs_sort_the_clauses() {
        assert_eq!(parse("+s +have"), Ok(Tree::all_of(words(&["s", "have"]))));
        assert_eq!(parse("to be"), Ok(Tree::any_of(words(&["to", "be"]))));
        let mixed =
            Clauses { should: words(&["several"]), not: words(&["a"]), ..Clauses::default() };
        assert_eq!(parse("-a several"), Ok(Tree::Bool(mixed)));
        let either = Tree::any_of(words(&["b", "c"]));
        let nested = Tree::all_of(vec![Tree::term("a"), either.clone()]);
        assert_eq!(parse("+a +(b c)"), Ok(nested.clone()));
        assert_eq!(parse("+a +b-c"), Ok(nested));
        assert_eq!(parse("+\"the who\" +uk").map(|tree| matches!(tree, Tree::Bool(_))), Ok(true));
    }

    #[test]
    fn what_has_no_words_or_no_end_is_no_query() {
        for text in ["", "-a", "+", "a +", "--", "(a", "a)", "\"a", "\"a b\"~", "a-b*", "a~x"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
