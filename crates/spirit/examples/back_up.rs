//! A backup of an index that goes on: it is of one moment, is verified without restoring it, and is restored elsewhere.
//!
//! `cargo run --example back_up`

use std::error::Error;

use spirit::Index;
use spirit::backup::Backup;

fn main() -> Result<(), Box<dyn Error>> {
    let base = std::env::temp_dir().join(format!("spirit-back-up-{}", std::process::id()));
    std::fs::create_dir_all(&base)?;
    let (backup, restored) = (base.join("news.backup"), base.join("restored"));

    let index = Index::open(base.join("news"))?;
    for number in 0..1000 {
        index.put(&format!("a{number}"), &format!("article {number} of the day"))?;
    }
    // Documents may come and go meanwhile, and queries are answered.
    index.backup(&backup)?;
    index.put("late", "article after the backup")?;

    Backup::at(&backup).verify()?;
    Backup::at(&backup).restore(&restored)?;
    let copy = Index::open(&restored)?;
    assert_eq!(copy.searcher().count("article")?, 1000);
    assert_eq!(index.searcher().count("article")?, 1001);
    println!("{} articles came back", copy.searcher().count("article")?);

    drop((index, copy));
    std::fs::remove_dir_all(base)?;
    Ok(())
}
