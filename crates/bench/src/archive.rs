//! The text files of a `.tar.zst`.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::Fallible;

/// The files whose path within the archive is `wanted`, as text, in the archive's order.
pub(crate) fn texts(path: &Path, wanted: impl Fn(&str) -> bool) -> Fallible<Vec<(String, String)>> {
    let because = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let file = File::open(path).map_err(|e| because(&e))?;
    let unpacked = zstd::stream::read::Decoder::new(file).map_err(|e| because(&e))?;
    let mut archive = tar::Archive::new(unpacked);
    let mut texts = Vec::new();
    for entry in archive.entries().map_err(|e| because(&e))? {
        let mut entry = entry.map_err(|e| because(&e))?;
        let name = entry.path().map_err(|e| because(&e))?.to_string_lossy().into_owned();
        let name = name.strip_prefix("./").unwrap_or(&name).to_owned();
        if entry.header().entry_type().is_file() && wanted(&name) {
            let mut text = String::new();
            entry.read_to_string(&mut text).map_err(|e| because(&format!("{name}: {e}")))?;
            texts.push((name, text));
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_files_wanted_are_read() {
        let mut archive = tar::Builder::new(Vec::new());
        for (name, text) in [("./a/one.txt", "1"), ("b/two.txt", "2"), ("b/three.gz", "\u{1}")] {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            archive.append_data(&mut header, name, text.as_bytes()).unwrap();
        }
        let packed = zstd::encode_all(archive.into_inner().unwrap().as_slice(), 0).unwrap();
        let name = format!("spirit-bench-archive-{}.tar.zst", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, packed).unwrap();
        let read = texts(&path, |name| name.ends_with(".txt")).unwrap();
        std::fs::remove_file(&path).unwrap();
        let both = [("a/one.txt", "1"), ("b/two.txt", "2")];
        assert_eq!(read, both.map(|(name, text)| (name.to_owned(), text.to_owned())));
        assert!(texts(&path, |_| true).is_err());
    }
}
