//! How many edits of one character make one word of another, computed plainly.

/// Inserted, deleted and replaced characters; with `transpositions` two neighbours that changed places are one edit, and
/// neither is edited again (optimal string alignment).
pub fn edits(from: &str, to: &str, transpositions: bool) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    // Row i, column j: the edits between the first i and the first j characters.
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            let swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
            if transpositions && swapped {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::edits;

    #[test]
    fn edits_are_of_characters() {
        for (from, to, least) in [
            ("", "", 0),
            ("", "ab", 2),
            ("kitten", "sitting", 3),
            ("côte", "cote", 1),
            ("google", "gogle", 1),
        ] {
            assert_eq!([edits(from, to, true), edits(to, from, false)], [least; 2], "{from} {to}");
        }
    }

    #[test]
    fn a_pair_that_changed_places_is_one_edit_or_two() {
        assert_eq!((edits("word", "wrod", true), edits("word", "wrod", false)), (1, 2));
        // The pair cannot be edited again: true Damerau distance is 2.
        assert_eq!(edits("ca", "abc", true), 3);
    }
}
