//! Prometheus' text form: a name with its help and kind once, then its samples.

use std::fmt::Write;

use super::histogram::Counted;

/// Labels of a sample: names and values.
pub(crate) type Labels<'l> = [(&'l str, &'l str)];

/// The text that is being written.
#[derive(Debug, Default)]
pub(crate) struct Text(String);

impl Text {
    /// Writes a figure that goes up and down, with all of its samples.
    pub(crate) fn gauge(&mut self, name: &str, help: &str, samples: &[(&Labels<'_>, f64)]) {
        self.family(name, help, "gauge", samples);
    }

    /// Writes a figure that only grows, with all of its samples.
    pub(crate) fn counter(&mut self, name: &str, help: &str, samples: &[(&Labels<'_>, f64)]) {
        self.family(name, help, "counter", samples);
    }

    fn family(&mut self, name: &str, help: &str, kind: &str, samples: &[(&Labels<'_>, f64)]) {
        if samples.is_empty() {
            return;
        }
        self.head(name, help, kind);
        for (labels, value) in samples {
            self.sample(name, labels, *value);
        }
    }

    /// Writes durations.
    pub(crate) fn histograms(
        &mut self,
        name: &str,
        help: &str,
        samples: &[(&Labels<'_>, Counted)],
    ) {
        if samples.is_empty() {
            return;
        }
        self.head(name, help, "histogram");
        for (labels, Counted { counts, seconds }) in samples {
            for (bound, count) in counts {
                let bound = if bound.is_finite() { bound.to_string() } else { "+Inf".to_owned() };
                let labels = [*labels, &[("le", &*bound)]].concat();
                self.sample(&format!("{name}_bucket"), &labels, *count as f64);
            }
            self.sample(&format!("{name}_sum"), labels, *seconds);
            let all = counts.last().map_or(0, |(_, count)| *count);
            self.sample(&format!("{name}_count"), labels, all as f64);
        }
    }

    fn head(&mut self, name: &str, help: &str, kind: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}.\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &Labels<'_>, value: f64) {
        let label = |(name, value): &(&str, &str)| format!("{name}=\"{}\"", escaped(value));
        let labels: Vec<_> = labels.iter().map(label).collect();
        let labels = match labels.as_slice() {
            [] => String::new(),
            labels => format!("{{{}}}", labels.join(",")),
        };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    /// Returns the text.
    pub(crate) fn end(self) -> String {
        self.0
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
