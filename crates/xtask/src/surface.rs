//! The public surface of the crate `spirit`: a list of its items and their methods, kept as a file, so that a change is seen in
//! review.
//!
//! rustdoc finds out what is public. Its pages are read here: an item is a page, and a method is a code header that begins
//! with `pub`.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use crate::process::Line;

/// Where the list is kept.
const LIST: &str = "crates/spirit/surface.txt";
/// The most items of the surface, so that a reader can survey it. An item that is only for measurements belongs to `lab`.
const ITEMS_MAX: usize = 74;
/// A directory of its own: the workspace's pages are made with other features.
const TARGET: &str = "target/surface";
const PAGES: &str = "target/surface/doc/spirit";
/// The page of an item in a private module leads to where the item is shown.
const REDIRECTION: &str = "http-equiv=\"refresh\"";
const KINDS: [&str; 7] = ["struct", "enum", "trait", "fn", "constant", "type", "macro"];

/// Compares the surface with the list; or writes the list.
pub(crate) fn run(root: &Path, writes: bool) -> ExitCode {
    match surface(root).and_then(|found| settle(root, &found, writes)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: surface: {error}");
            ExitCode::FAILURE
        }
    }
}

fn surface(root: &Path) -> io::Result<BTreeSet<String>> {
    let _ = fs::remove_dir_all(root.join(PAGES));
    let doc = format!("cargo doc --quiet --package spirit --no-deps --target-dir {TARGET}");
    if !Line::new(&doc).succeeds(root) {
        return Err(io::Error::other(format!("`{doc}` failed")));
    }
    let mut found = BTreeSet::new();
    collect(&root.join(PAGES), "", &mut found)?;
    Ok(found)
}

/// Compares or writes. Returns whether the list is right.
fn settle(root: &Path, found: &BTreeSet<String>, writes: bool) -> io::Result<bool> {
    let path = root.join(LIST);
    let lines: Vec<&str> = found.iter().map(String::as_str).collect();
    if writes {
        fs::write(path, lines.join("\n") + "\n")?;
        return Ok(true);
    }
    let kept = fs::read_to_string(path)?;
    let kept: BTreeSet<String> = kept.lines().map(str::to_owned).collect();
    let (gone, new) = (kept.difference(found), found.difference(&kept));
    let changes: Vec<String> =
        gone.map(|line| format!("- {line}")).chain(new.map(|line| format!("+ {line}"))).collect();
    let items = found.iter().filter(|line| !line.contains(": ")).count();
    if items > ITEMS_MAX {
        eprintln!(
            "xtask: the public surface has {items} items: at most {ITEMS_MAX}; give up one, or show it in `lab`"
        );
        return Ok(false);
    }
    if changes.is_empty() {
        println!("surface: {items} items, and all their methods, as {LIST} has them");
        return Ok(true);
    }
    println!("{}", changes.join("\n"));
    eprintln!(
        "xtask: the public surface is not that of {LIST}; if this is meant, run `cargo xtask surface --write`"
    );
    Ok(false)
}

/// Adds what the pages below `folder` show, which is the module `module`.
fn collect(folder: &Path, module: &str, found: &mut BTreeSet<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, &format!("{module}{name}::"), found)?;
        } else if let Some((kind, item)) = item(&name) {
            let page = fs::read_to_string(&path)?;
            if page.contains(REDIRECTION) {
                continue;
            }
            found.insert(format!("{kind} {module}{item}"));
            found.extend(members(&page).map(|member| format!("{kind} {module}{item}: {member}")));
        }
    }
    Ok(())
}

/// The kind and the name of a page's item, if it is one.
fn item(file: &str) -> Option<(&str, &str)> {
    let (kind, name) = file.strip_suffix(".html")?.split_once('.')?;
    KINDS.contains(&kind).then_some((kind, name))
}

/// The public methods, variants and fields of a page.
fn members(page: &str) -> impl Iterator<Item = String> {
    let headers = parts(page, "<h4 class=\"code-header\">", "</h4>").map(text);
    let methods = headers.filter(|header| header.starts_with("pub "));
    let named = |kind: &'static str| {
        let ids = parts(page, "id=\"", "\"").filter_map(move |id| id.strip_prefix(kind));
        ids.filter(|id| !id.contains('.')).map(move |name| format!("{kind}{name}"))
    };
    methods.chain(named("variant.")).chain(named("structfield."))
}

/// What stands between `begin` and `end`, wherever it does.
fn parts<'a>(page: &'a str, begin: &'a str, end: &'a str) -> impl Iterator<Item = &'a str> {
    page.split(begin).skip(1).filter_map(move |rest| Some(rest.split_once(end)?.0))
}

/// HTML without its tags, in one line.
fn text(html: &str) -> String {
    let mut text = String::new();
    let mut is_tag = false;
    for c in html.chars() {
        match c {
            '<' => is_tag = true,
            '>' => is_tag = false,
            c if !is_tag => text.push(c),
            _ => {}
        }
    }
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    text.replace("&#39;", "'").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_read_from_a_page() {
        let page = "<section id=\"variant.Full\" class=\"variant\"></section>\
                    <span id=\"structfield.added\"></span><span id=\"variant.Full.field.x\"></span>\
                    <h4 class=\"code-header\">pub fn <a href=\"#m\">key</a>(&amp;self) -&gt; Option&lt;u8&gt;</h4>\
                    <h4 class=\"code-header\">fn <a>fmt</a>()</h4>";
        let expected = ["pub fn key(&self) -> Option<u8>", "variant.Full", "structfield.added"];
        assert!(members(page).eq(expected));
        assert_eq!(item("struct.Hit.html"), Some(("struct", "Hit")));
        assert_eq!((item("index.html"), item("sidebar-items.js")), (None, None));
    }
}
