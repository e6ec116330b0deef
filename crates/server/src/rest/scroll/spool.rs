//! Hits of one index in a file: what a scroll has found and not given yet.
//!
//! The file has no name. So it is gone with its last user, also after a crash.
//!
//! | bytes | |
//! |---|---|
//! | 4 | length of the sort values, as JSON |
//! | 4 | length of the hit, as JSON |
//! | 4 | score; not a number without one |
//! | 8 | sequence number |
//! | | sort values, hit |

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_opensearch::error::Refusal;

use crate::rest::hit::Rank;
use crate::rest::made_id::made_id;
use crate::rest::refused::Answered;

/// Bytes in front of the sort values.
const HEAD: usize = 20;

/// What all spools may take, and what they take.
#[derive(Debug)]
pub(super) struct Budget {
    bytes: AtomicU64,
    documents: AtomicU64,
    pub(super) bytes_max: u64,
    pub(super) documents_max: u64,
}

impl Budget {
    pub(super) fn new(bytes_max: u64, documents_max: u64) -> Budget {
        let (bytes, documents) = (AtomicU64::new(0), AtomicU64::new(0));
        Budget { bytes, documents, bytes_max, documents_max }
    }
}

/// A hit as it is kept.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) rank: Rank,
    /// Its JSON.
    pub(super) json: String,
}

/// Hits in a file, in order. First they are written, then read.
#[derive(Debug)]
pub(super) struct Spool {
    file: BufReader<File>,
    /// What is written at the next [flush](Self::flush).
    waiting: Vec<u8>,
    waiting_documents: u64,
    bytes: u64,
    documents: u64,
    /// The hits that were not read yet, beside the next one.
    left: u64,
    next: Option<Kept>,
    budget: Arc<Budget>,
}

/// Returns the refusal of a file that cannot be written or read.
pub(super) fn failed(error: &io::Error) -> Refusal {
    Refusal::new("engine_exception", 500, format!("the file of a scroll: {error}"))
}

impl Spool {
    /// Makes an empty one, in a file below a directory.
    pub(super) fn new(directory: &Path, budget: Arc<Budget>) -> Answered<Spool> {
        let path = directory.join(format!("_scroll-{}", made_id()));
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create_new(true).mode(0o600);
        let file = options.open(&path).and_then(|file| fs::remove_file(&path).map(|()| file));
        let file = BufReader::new(file.map_err(|error| failed(&error))?);
        let (waiting, next) = (Vec::new(), None);
        Ok(Spool {
            file,
            waiting,
            waiting_documents: 0,
            bytes: 0,
            documents: 0,
            left: 0,
            next,
            budget,
        })
    }

    /// Adds a hit behind the others. It counts once it is [flushed](Self::flush).
    pub(super) fn push(&mut self, hit: &Kept) -> Answered<()> {
        let sort = serde_json::to_vec(&hit.rank.sort).unwrap_or_default();
        self.waiting.extend((sort.len() as u32).to_le_bytes());
        self.waiting.extend((hit.json.len() as u32).to_le_bytes());
        self.waiting.extend(hit.rank.score.unwrap_or(f32::NAN).to_le_bytes());
        self.waiting.extend(hit.rank.sequence.to_le_bytes());
        self.waiting.extend(sort);
        self.waiting.extend(hit.json.as_bytes());
        self.waiting_documents += 1;
        let Budget { bytes, documents, bytes_max, documents_max } = &*self.budget;
        if bytes.load(Relaxed) + self.waiting.len() as u64 > *bytes_max {
            return Err(full("bytes", *bytes_max, "scroll-bytes"));
        }
        if documents.load(Relaxed) + self.waiting_documents > *documents_max {
            return Err(full("documents", *documents_max, "scroll-documents"));
        }
        Ok(())
    }

    /// Forgets hits that were not flushed.
    pub(super) fn forget(&mut self) {
        self.waiting.clear();
        self.waiting_documents = 0;
    }

    /// Writes the hits that were added.
    pub(super) fn flush(&mut self) -> Answered<()> {
        let written = self.file.get_mut().write_all(&self.waiting);
        written.map_err(|error| failed(&error))?;
        self.bytes += self.waiting.len() as u64;
        self.documents += self.waiting_documents;
        self.budget.bytes.fetch_add(self.waiting.len() as u64, Relaxed);
        self.budget.documents.fetch_add(self.waiting_documents, Relaxed);
        self.forget();
        Ok(())
    }

    /// Returns the number of hits.
    pub(super) fn documents(&self) -> u64 {
        self.documents
    }

    /// Goes to the first hit. Nothing is added any more.
    pub(super) fn rewind(&mut self) -> io::Result<()> {
        self.waiting = Vec::new();
        self.file.seek(SeekFrom::Start(0))?;
        self.left = self.documents;
        self.next = self.read()?;
        Ok(())
    }

    /// Returns the next hit, which stays the next one.
    pub(super) fn peek(&self) -> Option<&Kept> {
        self.next.as_ref()
    }

    /// Takes the next hit.
    pub(super) fn take(&mut self) -> io::Result<Option<Kept>> {
        let following = self.read()?;
        Ok(std::mem::replace(&mut self.next, following))
    }

    fn read(&mut self) -> io::Result<Option<Kept>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let mut head = [0; HEAD];
        self.file.read_exact(&mut head)?;
        let four = |at: usize| [head[at], head[at + 1], head[at + 2], head[at + 3]];
        let mut sort = vec![0; u32::from_le_bytes(four(0)) as usize];
        let mut json = vec![0; u32::from_le_bytes(four(4)) as usize];
        let score = Some(f32::from_le_bytes(four(8))).filter(|score| !score.is_nan());
        let low = u64::from(u32::from_le_bytes(four(12)));
        let sequence = u64::from(u32::from_le_bytes(four(16))) << 32 | low;
        self.file.read_exact(&mut sort)?;
        self.file.read_exact(&mut json)?;
        let json = String::from_utf8(json).map_err(io::Error::other)?;
        let rank = Rank { score, sort: serde_json::from_slice(&sort)?, sequence };
        Ok(Some(Kept { rank, json }))
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        self.budget.bytes.fetch_sub(self.bytes, Relaxed);
        self.budget.documents.fetch_sub(self.documents, Relaxed);
    }
}

fn full(what: &str, max: u64, setting: &str) -> crate::rest::refused::Refused {
    Refusal::rejected(format!(
        "open scrolls would keep more than {max} {what}: close scrolls that are not needed, ask for \
         fewer documents, or start the server with a larger --{setting}"
    ))
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_come_back_in_order() {
        let budget = Arc::new(Budget::new(1 << 20, 3));
        let mut spool = Spool::new(&std::env::temp_dir(), budget.clone()).unwrap();
        let rank = |n: u64| Rank {
            score: (n == 1).then_some(0.5),
            sort: vec![serde_json::Value::from(n)],
            sequence: u64::MAX - n,
        };
        let hit = |n: u64| Kept { rank: rank(n), json: format!("{{\"é\":{n}}}") };
        for n in 0..2 {
            spool.push(&hit(n)).unwrap();
        }
        spool.flush().unwrap();
        // What is not flushed is forgotten.
        spool.push(&hit(7)).unwrap();
        spool.forget();
        spool.push(&hit(2)).unwrap();
        spool.flush().unwrap();
        assert!(spool.push(&hit(3)).unwrap_err().0.reason.contains("--scroll-documents"));
        spool.forget();
        spool.rewind().unwrap();
        for n in 0..3 {
            let read = spool.take().unwrap().unwrap();
            let expected = hit(n);
            assert_eq!(
                (read.rank.score, read.rank.sort, read.rank.sequence, read.json),
                (expected.rank.score, expected.rank.sort, expected.rank.sequence, expected.json)
            );
        }
        assert!(spool.take().unwrap().is_none() && spool.peek().is_none());
        drop(spool);
        assert_eq!((budget.bytes.load(Relaxed), budget.documents.load(Relaxed)), (0, 0));
    }
}
