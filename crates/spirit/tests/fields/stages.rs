//! What becomes of columns where segments go: rewritten, engraved, read by another process, backed up and restored.

use spirit::backup::Backup;
use spirit::{Analyzer, Builder, Document, FieldKind, Index, Mode, OnFull, Value};
use spirit_index::snapshot::Snapshot;

use crate::support::columns::check_columns;
use crate::support::directory::Directory;
use crate::support::field_lengths::check_field_lengths;
use crate::support::following::follow;
use crate::support::{Chance, size_of_run, tiny};

const CHANNELS: [&str; 4] = ["news", "talk", "a channel with a long name", "z"];

fn steps() -> u64 {
    size_of_run("SPIRIT_STEPS", 1500)
}

fn put(index: &Index, key: &str, chance: &mut Chance) {
    let number = chance.next() as i64 >> chance.below(64);
    let channels = [(); 2].map(|()| CHANNELS[chance.below(4) as usize]);
    let rare = format!("rare{}", chance.below(9));
    // Words of the text come before all keywords, so that these have other places in each segment.
    let text = format!("red w{}", chance.below(2000));
    let title = "sea ".repeat(chance.below(5) as usize) + "sky";
    let mut document = Document::new().key(key).text(&text).field("views", number);
    if number % 2 == 0 {
        document = document.field("title", &*title);
    }
    document = document.field("channel", channels[0]).field("score", number as f64 / 7.0);
    if number % 3 == 0 {
        document = document.field("channel", channels[1]).field("flag", number % 2 == 0);
    }
    if number % 7 == 0 {
        document = document.field("views", 3).field(&rare, number);
    }
    // Whole numbers, until a rare one makes the field wider.
    let rating = match chance.below(400) {
        0 => Value::Float(0.5),
        _ => Value::Integer(number),
    };
    index.add(document.field("rating", rating)).unwrap();
}

fn with_keywords(options: Builder) -> Builder {
    let options = options.store(true).field("channel", FieldKind::Keyword);
    options.field("title", FieldKind::Text(Analyzer::Simple))
}

/// Keys are given again and again, so that most rows die, and some documents stay for long.
fn churn(index: &Index, documents: u64, chance: &mut Chance) {
    for number in 0..documents {
        let key = if number % 50 == 0 { number } else { chance.below(80) };
        put(index, &format!("k{key}"), chance);
        if number % 200 == 0 {
            check_columns(index).unwrap();
            check_field_lengths(index);
        }
    }
    index.settle();
    let [lengths, blocks] = check_field_lengths(index);
    assert!(lengths > 0 && blocks > 0);
}

/// Equal floating-point numbers are one value, and NaN is above all.
#[test]
fn what_is_no_number_is_above_all_numbers() {
    let index = tiny(1, 2 << 20).store(true).open().unwrap();
    let ascending = [f64::NEG_INFINITY, f64::MIN, -1.5, -5e-324, 0.0, 5e-324, f64::INFINITY];
    let nan = [f64::NAN, -f64::NAN, f64::from_bits(0x7FF0_0000_0000_0001)];
    let document = Document::new().field("score", 0.0).field("score", -0.0);
    let scores = ascending.into_iter().chain(nan).rev();
    let document = scores.fold(document, |document, score| document.field("score", score));
    index.add(&document).unwrap();
    index.flush().unwrap();
    index.settle();
    assert_eq!(check_columns(&index).unwrap(), 12);
    let memory = index.memories().next().unwrap();
    let segment = Snapshot::take(memory).registered().next().unwrap();
    let column = segment.columns().next().unwrap();
    let values: Vec<u64> = column.of(column.base_rank()).collect();
    let of = |value: &u64| f64::from_bits(column.kind().from_sortable(*value));
    assert_eq!(values[..4].iter().map(of).collect::<Vec<_>>(), ascending[..4]);
    assert!(values[4..7].iter().all(|value| of(value).to_bits() == 0));
    assert_eq!(values[7..9].iter().map(of).collect::<Vec<_>>(), ascending[5..]);
    assert!(values[9..].iter().all(|value| of(value).is_nan() && *value == values[9]));
}

#[test]
fn what_is_rewritten_keeps_its_columns() {
    let options = tiny(1, 2 << 20).mode(Mode::Volatile).on_full(OnFull::Wait);
    let index = with_keywords(options).open().unwrap();
    churn(&index, 8 * steps(), &mut Chance::new(1));
    let rewritten = index.stats().unwrap().rewritten_segments;
    assert!(rewritten > 3, "{rewritten}");
    assert!(check_columns(&index).unwrap() > 0);
}

#[test]
fn columns_go_where_segments_go() {
    let directory = Directory::new();
    let options = || {
        let options = tiny(2, 3 << 20).directory(directory.path()).merge_after(2);
        let options = options.nvm_bytes(16 << 20).log_bytes(256 << 10);
        with_keywords(options.document_bytes_max(64 << 10))
    };
    let index = options().open().unwrap();
    let follower = follow(directory.path());
    churn(&index, steps(), &mut Chance::new(9));
    index.flush().unwrap();
    let values = check_columns(&index).unwrap();
    let red = follower.reader().unwrap().count("red").unwrap();
    assert_eq!(red, index.stats().unwrap().documents);
    let backup = directory.path().join("backup");
    index.backup(&backup).unwrap();
    let restored = Directory::new();
    Backup::at(&backup).restore(restored.path()).unwrap();
    let again = Index::builder().directory(restored.path()).dram_bytes(6 << 20).open().unwrap();
    assert_eq!(check_columns(&again).unwrap(), values);
    let killed = directory.killed();
    let again = Index::builder().directory(killed.path()).dram_bytes(6 << 20).open().unwrap();
    assert_eq!(check_columns(&again).unwrap(), values);
    index.close().unwrap();
    let index = options().open().unwrap();
    assert_eq!(check_columns(&index).unwrap(), values);
}
