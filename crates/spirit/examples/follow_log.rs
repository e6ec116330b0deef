//! A log that is followed with an offset: after a crash, reading goes on where the index ends, and each line is in exactly once.
//!
//! `cargo run --example follow_log`

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::Path;

use spirit::{Batch, Index, Search};

/// Lines of one batch. Each batch is one record of the index's log.
const BATCH_LINES: usize = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::temp_dir().join(format!("spirit-follow-log-{}", std::process::id()));
    std::fs::create_dir_all(&directory)?;
    let log = directory.join("app.log");
    std::fs::write(&log, "INFO started\nWARN disk is slow\nERROR disk failed\n")?;

    let index = Index::builder().directory(directory.join("index")).store(true).open()?;
    assert_eq!(follow(&index, &log)?, 3);
    drop(index); // or kill -9

    // Lines came while nobody read. The next start goes on behind the last line that the index has.
    writeln!(File::options().append(true).open(&log)?, "ERROR disk failed again")?;
    let index = Index::open(directory.join("index"))?;
    assert_eq!(follow(&index, &log)?, 1);

    for hit in index.searcher().search("error AND disk", Search::newest(10))? {
        println!("{}", hit.text()?);
    }
    drop(index);
    std::fs::remove_dir_all(directory)?;
    Ok(())
}

/// Adds the lines that the index does not have yet. Returns their number.
fn follow(index: &Index, log: &Path) -> Result<usize, Box<dyn Error>> {
    let mut bytes = match index.offset()? {
        Some(offset) => String::from_utf8(offset)?.parse()?,
        None => 0,
    };
    let mut file = BufReader::new(File::open(log)?);
    file.seek(SeekFrom::Start(bytes))?;
    let lines: Vec<String> = file.lines().collect::<Result<_, _>>()?;
    for batch in lines.chunks(BATCH_LINES) {
        bytes += batch.iter().map(|line| line.len() as u64 + 1).sum::<u64>();
        // All of these lines and the offset, or nothing.
        index.write(Batch::from_iter(batch).offset(bytes.to_string().as_bytes()))?;
    }
    Ok(lines.len())
}
