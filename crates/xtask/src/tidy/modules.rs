//! Which module of a crate uses which: one module a file, and the paths in its code.
//!
//! A name that a module re-exports counts as one of the module that defines it. A child file that continues what its parent defines
//! does not count as using it: the two are one thing in two files. Tests at a file's end are left out.

use std::collections::{BTreeMap, BTreeSet};

use super::masked::Masked;

/// The names of the modules above a module, and its own: none for the crate's root.
pub(super) type Path = Vec<String>;

/// A name in a module; without a name, the module itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    module: Path,
    name: Option<String>,
}

/// A module's code, and what it makes available under which name.
struct Module {
    file: String,
    code: String,
    imports: Vec<Vec<String>>,
}

/// The modules of one crate.
#[derive(Default)]
pub(super) struct Modules(BTreeMap<Path, Module>);

/// What one module uses of another.
pub(super) struct Use {
    pub(super) from: Path,
    pub(super) to: Path,
    /// Empty if it is the module itself.
    pub(super) name: String,
}

/// How many re-exports lead on to each other at most.
const HOPS_MAX: usize = 8;

impl Modules {
    /// The modules of each crate, by its folder's name; `files` are paths and contents.
    pub(super) fn of_crates(files: &[(String, String)]) -> BTreeMap<&str, Modules> {
        let mut crates: BTreeMap<&str, Modules> = BTreeMap::new();
        for (path, content) in files {
            let below = path.strip_prefix("crates/").and_then(|below| below.split_once("/src/"));
            if let Some((name, inside)) = below {
                crates.entry(name).or_default().add(inside, path, content);
            }
        }
        crates
    }

    /// Adds the file at `inside`, a path below the crate's `src`.
    pub(super) fn add(&mut self, inside: &str, file: &str, source: &str) {
        let Some(stem) = inside.strip_suffix(".rs") else { return };
        let mut path: Path = stem.split('/').map(str::to_owned).collect();
        if path.last().is_some_and(|last| ["lib", "main", "mod"].contains(&last.as_str())) {
            path.pop();
        }
        let code = without_tests(Masked::of(source).code());
        let (uses, code) = split_uses(&code);
        let imports = uses.iter().flat_map(|tree| expand(tree)).collect();
        self.0.insert(path, Module { file: file.into(), code, imports });
    }

    /// Where a module is.
    pub(super) fn file(&self, module: &Path) -> &str {
        self.0.get(module).map_or("", |module| &module.file)
    }

    /// All that modules use of others, the root left out.
    pub(super) fn uses(&self) -> Vec<Use> {
        let mut uses = Vec::new();
        for (from, module) in self.0.iter().filter(|(path, _)| !path.is_empty()) {
            let written = module.imports.iter().cloned().chain(paths_in(&module.code));
            let found: BTreeSet<Item> = written.filter_map(|path| self.find(from, &path)).collect();
            let others = found.into_iter().filter(|item| !from.starts_with(&item.module));
            uses.extend(others.map(|item| Use {
                from: from.clone(),
                to: item.module,
                name: item.name.unwrap_or_default(),
            }));
        }
        uses
    }

    /// What a path that is written in a module leads to, if it is in this crate.
    fn find(&self, from: &Path, written: &[String]) -> Option<Item> {
        let mut item = self.walk(from, written)?;
        for _ in 0..HOPS_MAX {
            match self.re_export(&item) {
                Some(further) if further != item => item = further,
                _ => break,
            }
        }
        Some(item)
    }

    /// The module that the path leads through, and the name behind it.
    fn walk(&self, from: &Path, written: &[String]) -> Option<Item> {
        let mut module = from.clone();
        let mut left = written;
        match written.first()?.as_str() {
            "crate" => (module, left) = (Path::new(), &written[1..]),
            "self" => left = &written[1..],
            "super" => {
                while left.first().is_some_and(|segment| segment == "super") {
                    module.pop();
                    left = &left[1..];
                }
            }
            first => {
                module.push(first.into());
                if !self.0.contains_key(&module) {
                    return None;
                }
                left = &left[1..];
            }
        }
        while let Some(next) = left.first() {
            module.push(next.clone());
            if !self.0.contains_key(&module) {
                module.pop();
                break;
            }
            left = &left[1..];
        }
        Some(Item { module, name: left.first().cloned() })
    }

    /// Where the module of an item has it from, if it does not define it.
    fn re_export(&self, item: &Item) -> Option<Item> {
        let name = item.name.as_ref()?;
        let module = self.0.get(&item.module)?;
        let named = module.imports.iter().find(|path| path.last() == Some(name));
        let everything =
            || module.imports.iter().filter(|path| path.last().is_some_and(|n| n == "*"));
        if let Some(path) = named {
            return self.walk(&item.module, path);
        }
        let mut sources = everything().filter_map(|path| self.walk(&item.module, path));
        let source = sources.find(|source| self.defines(&source.module, name))?;
        Some(Item { module: source.module, name: Some(name.clone()) })
    }

    fn defines(&self, module: &Path, name: &str) -> bool {
        const KINDS: [&str; 7] = ["struct", "enum", "fn", "const", "trait", "type", "static"];
        let Some(module) = self.0.get(module) else { return false };
        let words: Vec<&str> =
            module.code.split(|c: char| !is_word(c)).filter(|w| !w.is_empty()).collect();
        words.windows(2).any(|pair| KINDS.contains(&pair[0]) && pair[1] == name)
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The code before a file's module of tests.
fn without_tests(code: &str) -> String {
    let is_module = |after: &str| {
        let rest =
            after.trim_start().trim_start_matches("pub(super) ").trim_start_matches("pub(crate) ");
        rest.trim_start_matches("pub(in crate::nvm) ").starts_with("mod ")
    };
    const TEST: &str = "#[cfg(test)]";
    let end = code.match_indices(TEST).find(|(at, _)| is_module(&code[at + TEST.len()..]));
    code[..end.map_or(code.len(), |(at, _)| at)].to_owned()
}

/// The trees of all `use` declarations, and the code without them.
fn split_uses(code: &str) -> (Vec<String>, String) {
    let (mut trees, mut rest) = (Vec::new(), String::new());
    let mut tree: Option<String> = None;
    for line in code.lines() {
        let begins = || {
            let line = line.trim_start();
            let after = line
                .strip_prefix("pub")
                .map_or(line, |l| l.trim_start_matches(|c| c != ' ').trim_start());
            after.strip_prefix("use ").map(str::to_owned)
        };
        match tree.take().map(|before| format!("{before} {line}")).or_else(begins) {
            Some(so_far) => match so_far.split_once(';') {
                Some((whole, _)) => trees.push(whole.to_owned()),
                None => tree = Some(so_far),
            },
            None => {
                rest.push_str(line);
                rest.push('\n');
            }
        }
    }
    (trees, rest)
}

/// The paths of a tree. Of a name that is changed, the new one is lost: nobody re-exports under another name.
fn expand(tree: &str) -> Vec<Vec<String>> {
    let tree = tree.trim();
    if let Some((before, inside)) = tree.split_once('{') {
        let prefix = segments(before);
        let inside = inside.trim_end().strip_suffix('}').unwrap_or(inside);
        let parts = parts_of(inside).into_iter().flat_map(expand);
        return parts
            .map(|part| {
                let is_prefix = part.len() == 1 && part[0] == "self" && !prefix.is_empty();
                prefix.iter().cloned().chain(part.into_iter().filter(|_| !is_prefix)).collect()
            })
            .collect();
    }
    let path = segments(tree.split(" as ").next().unwrap_or(tree));
    if path.is_empty() { Vec::new() } else { vec![path] }
}

/// What commas outside of braces part.
fn parts_of(inside: &str) -> Vec<&str> {
    let (mut depth, mut from, mut parts) = (0, 0, Vec::new());
    for (at, c) in inside.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inside[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inside[from..]);
    parts
}

fn segments(path: &str) -> Vec<String> {
    path.split("::")
        .map(str::trim)
        .filter(|segment| !segment.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The paths in code, of lowercase modules and what is in them.
fn paths_in(code: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    let is_path = |c: char| is_word(c) || c == ':';
    for word in code.split(|c| !is_path(c)).filter(|word| word.contains("::")) {
        let path = segments(word);
        if path.len() > 1 && !word.starts_with("::") && path[0].starts_with(char::is_lowercase) {
            paths.push(path);
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules(files: &[(&str, &str)]) -> Modules {
        let mut modules = Modules::default();
        files.iter().for_each(|(inside, source)| modules.add(inside, inside, source));
        modules
    }

    fn uses(files: &[(&str, &str)]) -> Vec<String> {
        let uses = modules(files).uses().into_iter();
        uses.map(|used| format!("{} {} {}", used.from.join("::"), used.to.join("::"), used.name))
            .collect()
    }

    #[test]
    fn imports_and_paths_are_uses() {
        let a = "use crate::b::{self, One, c::{Two as Deux}};\nuse std::fmt;\nfn f() { super::d::g(); Vec::new() }\n";
        let found = uses(&[("a.rs", a), ("b.rs", ""), ("b/c.rs", ""), ("d.rs", "")]);
        assert_eq!(found, ["a b ", "a b One", "a b::c Two", "a d g"]);
    }

    #[test]
    fn a_name_counts_where_it_is_defined() {
        let files = [
            ("lib.rs", "mod a;\npub use a::inner::Thing;\n"),
            ("a.rs", "mod inner;\npub use inner::*;\n"),
            ("a/inner.rs", "pub struct Thing;\n"),
            ("b.rs", "use crate::Thing;\nuse crate::a::Thing as Other;\n"),
        ];
        assert_eq!(uses(&files), ["a a::inner *", "b a::inner Thing"]);
    }

    #[test]
    fn a_child_continues_its_parent() {
        let files = [
            ("a.rs", "mod child;\nuse child::Part;\nstruct Whole;\n"),
            ("a/child.rs", "use super::Whole;\nstruct Part;\n"),
        ];
        assert_eq!(uses(&files), ["a a::child Part"]);
    }

    #[test]
    fn tests_and_words_that_are_no_code_are_left_out() {
        let a =
            "//! crate::b\nfn f() { \"crate::b\"; }\n#[cfg(test)]\nmod tests { use crate::b; }\n";
        assert_eq!(uses(&[("a.rs", a), ("b.rs", "")]), [""; 0]);
    }
}
