//! Prometheus' text form, read: figures by name and labels.

use std::collections::BTreeMap;

/// A figure: its labels and its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    labels: BTreeMap<String, String>,
    pub(crate) value: f64,
}

impl Figure {
    /// Returns the value of a label; an empty text without it.
    pub(crate) fn label(&self, name: &str) -> &str {
        self.labels.get(name).map_or("", String::as_str)
    }
}

/// All figures of an answer, by their names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures(BTreeMap<String, Vec<Figure>>);

impl Figures {
    /// Reads a text. Lines that are no figures are an error, with their text.
    pub(crate) fn read(text: &str) -> Result<Figures, String> {
        let mut figures = Figures::default();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (name, figure) = figure(line).ok_or_else(|| line.to_owned())?;
            figures.0.entry(name).or_default().push(figure);
        }
        Ok(figures)
    }

    /// Returns the figures of a name.
    pub(crate) fn all(&self, name: &str) -> &[Figure] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns those of them with a label.
    pub(crate) fn with<'f>(
        &'f self,
        name: &str,
        label: &'f str,
        value: &'f str,
    ) -> impl Iterator<Item = &'f Figure> {
        self.all(name).iter().filter(move |figure| figure.label(label) == value)
    }

    /// Returns the sum of those of them with a label; 0 without any.
    pub(crate) fn sum(&self, name: &str, label: &str, value: &str) -> f64 {
        self.with(name, label, value).map(|figure| figure.value).sum()
    }

    /// Returns the value of the only figure of a name.
    pub(crate) fn one(&self, name: &str) -> Option<f64> {
        self.all(name).first().map(|figure| figure.value)
    }
}

/// Reads a line: `name{label="value",…} number`.
fn figure(line: &str) -> Option<(String, Figure)> {
    let end = line.find(['{', ' '])?;
    let (name, mut rest) = line.split_at(end);
    let mut labels = BTreeMap::new();
    if let Some(within) = rest.strip_prefix('{') {
        rest = within;
        // Terminates: each round takes a label away.
        while !rest.starts_with('}') {
            let (label, behind) = rest.split_once("=\"")?;
            let (value, behind) = quoted(behind)?;
            labels.insert(label.to_owned(), value);
            rest = behind.strip_prefix(',').unwrap_or(behind);
        }
        rest = &rest[1..];
    }
    let value = rest.split_ascii_whitespace().next()?.parse().ok()?;
    Some((name.to_owned(), Figure { labels, value }))
}

/// Reads up to the closing quotation mark. Returns what is behind it, too.
fn quoted(text: &str) -> Option<(String, &str)> {
    let (mut value, mut characters) = (String::new(), text.char_indices());
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(match characters.next()?.1 {
                'n' => '\n',
                c => c,
            }),
            c => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read() {
        let text = "# HELP a b.\n# TYPE a gauge\na 1\na{x=\"1\",y=\"q\\\"\\n}\"} 2.5\na{x=\"1\"} 4\nb +Inf\n";
        let figures = Figures::read(text).unwrap();
        assert_eq!((figures.one("a"), figures.one("b")), (Some(1.0), Some(f64::INFINITY)));
        assert_eq!((figures.sum("a", "x", "1"), figures.sum("c", "x", "1")), (6.5, 0.0));
        assert_eq!(figures.all("a")[1].label("y"), "q\"\n}");
        for wrong in ["a", "a{x=\"1} 2", "a{x=1} 2", "a b", "<html>"] {
            assert_eq!(Figures::read(wrong).unwrap_err(), wrong);
        }
    }
}
