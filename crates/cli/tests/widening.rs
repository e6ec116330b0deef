//! A field of whole numbers that grew from documents takes other numbers later, one that was declared does not.

mod common;

use common::{Folder, keys, spirit};

#[test]
fn a_number_with_a_fraction_widens_a_field_that_has_grown() {
    let folder = Folder::new();
    let index = folder.path("index");
    let file = folder.file("a.jsonl", "{\"key\": \"a\", \"text\": \"red\", \"price\": 20}\n");
    spirit(&["ingest", "-d", &index, &file]).done();
    let more = "{\"key\": \"b\", \"text\": \"red\", \"price\": 20.5}\n{\"key\": \"c\", \"text\": \"red\", \"price\": 3}\n{\"key\": \"d\", \"text\": \"red\", \"price\": 18446744073709551616}\n";
    let more = folder.file("b.jsonl", more);
    let run = spirit(&["ingest", "-d", &index, &more, "--on-misfit", "refuse"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(
        run.out.contains("\"refused\":0") && !run.out.contains("values_left_out\":[{"),
        "{}",
        run.out
    );
    // A table says of each of its words what it is.
    let table = folder.file("c.csv", "key,text,price\ne,red,0.25\n");
    let run = spirit(&["ingest", "-d", &index, &table, "--on-misfit", "refuse"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let is_right = |index: &str| {
        let count = |query: &str| spirit(&["count", "-d", index, query]).done().trim().to_owned();
        assert_eq!(count("price:[20 TO 20.5]"), "2");
        assert_eq!(count("price:<20.5"), "3");
        assert_eq!((count("price:>20"), count("price:20.0")), ("2".into(), "1".into()));
        let sorted = spirit(&["search", "-d", index, "--order", "price", "--json", "red"]).json();
        assert_eq!(keys(&sorted[0]), ["d", "b", "a", "c", "e"]);
        let asked = ["search", "-d", index, "--json", "--facet", "stats:price", "price:<=20.5"];
        let answer = spirit(&asked).json().remove(0);
        let found = &answer["facets"][0];
        assert_eq!((&found["count"], &found["min"]), (&4.into(), &0.25.into()));
        assert_eq!((&found["max"], &found["mean"]), (&20.5.into(), &10.9375.into()));
        let stats = spirit(&["stats", "-d", index]).done();
        let line = format!("{:<32}float", "field price");
        assert!(stats.lines().any(|found| found == line), "{line} in {stats}");
        spirit(&["check", "-d", index]).done();
    };
    is_right(&index);
    let (backup, restored) = (folder.path("backup"), folder.path("restored"));
    spirit(&["backup", "-d", &index, &backup]).done();
    spirit(&["restore", "-d", &restored, &backup]).done();
    is_right(&restored);
}

#[test]
fn a_declared_field_of_whole_numbers_stays_one() {
    let folder = Folder::new();
    let index = folder.path("index");
    let lines = "{\"text\": \"red\", \"price\": 20}\n{\"text\": \"red\", \"price\": 20.5}\n";
    let file = folder.file("a.jsonl", lines);
    let run = spirit(&["ingest", "-d", &index, &file, "--schema", "price:integer"]);
    assert!(
        run.out.contains("\"values_left_out\":[{\"name\":\"price\",\"count\":1"),
        "{}",
        run.out
    );
    let asked = spirit(&["count", "-d", &index, "price:20.5"]);
    assert!(asked.code != 0 && asked.err.contains("expected a whole number"), "{}", asked.err);
}
