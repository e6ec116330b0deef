//! Test collections: documents, questions, and which documents people found relevant to them.

mod published;
mod trec;
mod words;

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use crate::corpus::Corpus;
use crate::{Fallible, archive};

pub(crate) use published::above;
pub(crate) use trec::{Measures, Ranking};
pub(crate) use words::distinct;

/// The archive with the collections.
pub(crate) const ARCHIVE: &str = "judged.tar.zst";

const NAMES: [&str; 8] = ["cranfield", "cisi", "med", "adi", "cacm", "vaswani", "lisa", "nfcorpus"];

/// A collection.
pub(crate) struct Collection {
    /// Title and text of each document, in the order of [`Collection::ids`].
    pub(crate) corpus: Corpus,
    /// What the judgements call a document.
    pub(crate) ids: Vec<String>,
    /// What the judgements call a question, and the question.
    pub(crate) questions: Vec<(String, String)>,
    /// By question and document, how relevant it is; 0 is not at all.
    pub(crate) relevance: HashMap<String, HashMap<String, i32>>,
}

/// All collections of the archive in the folder of shared data.
pub(crate) fn load(data: &Path) -> Fallible<Vec<Collection>> {
    let texts = archive::texts(&data.join(ARCHIVE), |name| !name.ends_with('/'))?;
    let texts: HashMap<String, String> = texts.into_iter().collect();
    let file = |name: &str, file: &str| -> Result<&str, String> {
        let path = format!("{name}/{file}");
        texts.get(&path).map(String::as_str).ok_or_else(|| format!("{ARCHIVE} has no {path}"))
    };
    let mut collections = Vec::new();
    for name in NAMES {
        let parts =
            [file(name, "docs.jsonl")?, file(name, "queries.tsv")?, file(name, "qrels.txt")?];
        collections.push(Collection::read(name, parts).map_err(|e| format!("{name}: {e}"))?);
    }
    Ok(collections)
}

impl Collection {
    /// The same without [common words](words), in documents and in questions.
    pub(crate) fn plain(&self) -> Collection {
        let texts: Vec<String> = self.corpus.iter().map(words::plain).collect();
        let corpus = Corpus::of(&self.corpus.name, texts.iter().map(String::as_str))
            .expect("as many documents as there were");
        let question = |(name, text): &(String, String)| (name.clone(), words::plain(text));
        Collection {
            corpus,
            ids: self.ids.clone(),
            questions: self.questions.iter().map(question).collect(),
            relevance: self.relevance.clone(),
        }
    }

    fn read(
        name: &str,
        [documents, questions, judgements]: [&str; 3],
    ) -> Result<Collection, String> {
        let (mut ids, mut texts) = (Vec::new(), Vec::new());
        for line in documents.lines() {
            let (id, text) = document(line)?;
            ids.push(id);
            texts.push(text);
        }
        let corpus = Corpus::of(name, texts.iter().map(String::as_str))?;
        let questions: Option<Vec<_>> = questions.lines().map(question).collect();
        let questions = questions.ok_or("a question without a name")?;
        let mut relevance: HashMap<String, HashMap<String, i32>> = HashMap::new();
        for line in judgements.lines() {
            let (question, document, grade) =
                judgement(line).ok_or_else(|| format!("no judgement: {line}"))?;
            relevance.entry(question).or_default().insert(document, grade);
        }
        Ok(Collection { corpus, ids, questions, relevance })
    }
}

/// A document's name, and its title and text.
fn document(line: &str) -> Result<(String, String), String> {
    let object: Value = serde_json::from_str(line).map_err(|e| e.to_string())?;
    let member = |name: &str| object[name].as_str().unwrap_or_default();
    if member("id").is_empty() {
        return Err(format!("a document without a name: {line}"));
    }
    Ok((member("id").to_owned(), format!("{}\n{}", member("title"), member("text"))))
}

fn question(line: &str) -> Option<(String, String)> {
    let (name, text) = line.split_once('\t')?;
    Some((name.to_owned(), text.to_owned()))
}

/// A line of the form that TREC uses: question, an unused number, document, grade.
fn judgement(line: &str) -> Option<(String, String, i32)> {
    let mut words = line.split_whitespace();
    let (question, _, document) = (words.next()?, words.next()?, words.next()?);
    Some((question.to_owned(), document.to_owned(), words.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collection_is_three_files() {
        let documents = "{\"id\": \"d1\", \"title\": \"One\", \"text\": \"first\"}\n{\"id\": \"d2\", \"text\": \"second\"}\n";
        let parts = [documents, "q1\twhich is first\n", "q1 0 d1 2\nq1 0 d2 0\n"];
        let collection = Collection::read("tiny", parts).unwrap();
        assert_eq!(collection.corpus.iter().collect::<Vec<_>>(), ["One first", " second"]);
        assert_eq!(collection.ids, ["d1", "d2"]);
        assert_eq!(collection.questions[0].1, "which is first");
        let plain = collection.plain();
        assert_eq!(plain.corpus.iter().collect::<Vec<_>>(), ["one first", "second"]);
        assert_eq!((&plain.ids, plain.questions[0].1.as_str()), (&collection.ids, "first"));
        assert_eq!((collection.relevance["q1"]["d1"], collection.relevance["q1"]["d2"]), (2, 0));
        assert!(Collection::read("tiny", ["{}", "", ""]).is_err());
        assert!(Collection::read("tiny", [documents, "", "q1 0 d1"]).is_err());
    }
}
