//! What a start of the toy finds in an image.

use crate::toy::{END, LOG, NODES, check, words_of};

/// The operations that an image holds, oldest first.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Recovered {
    pub(crate) appended: Vec<u64>,
    pub(crate) pushed: Vec<u64>,
}

/// Something that no cut may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// A good record has words that nobody wrote.
    Record { at: u64 },
    /// A link leads to what is no node, or a newer one.
    Link { to: u64 },
    /// A node has words that nobody wrote.
    Node { at: u64 },
}

pub(crate) fn recover(image: &[u64]) -> Result<Recovered, Broken> {
    Ok(Recovered { appended: appended(image)?, pushed: pushed(image)? })
}

/// Up to the first record that is not good.
fn appended(image: &[u64]) -> Result<Vec<u64>, Broken> {
    let (mut at, mut operations) = (LOG as usize / 8, Vec::new());
    let end = END as usize / 8;
    while let Some([count, sequence, operation]) = image[..end].get(at..at + 3) {
        let Some(check_at) = at.checked_add(3).and_then(|at| at.checked_add(*count as usize))
        else {
            break;
        };
        let good = check_at < end && image[check_at] == check(&image[at..check_at]);
        if !good || *sequence != operations.len() as u64 + 1 {
            break;
        }
        if image[at + 3..check_at] != words_of(*operation) {
            return Err(Broken::Record { at: at as u64 * 8 });
        }
        operations.push(*operation);
        at = check_at + 1;
    }
    Ok(operations)
}

/// Along the links, which lead to ever lower offsets.
fn pushed(image: &[u64]) -> Result<Vec<u64>, Broken> {
    let (mut at, mut limit, mut operations) = (image[0], LOG, Vec::new());
    while at != 0 {
        if !at.is_multiple_of(8) || !(NODES..limit).contains(&at) {
            return Err(Broken::Link { to: at });
        }
        let node = &image[at as usize / 8..limit as usize / 8];
        let words = words_of(*node.get(2).ok_or(Broken::Node { at })?);
        let as_written = node[1] == words.len() as u64 && node[3..].starts_with(&words);
        if !as_written {
            return Err(Broken::Node { at });
        }
        operations.push(node[2]);
        (limit, at) = (at, node[0]);
    }
    operations.reverse();
    Ok(operations)
}
