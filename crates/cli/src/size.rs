//! Sizes as people type and read them: `512MiB`, `2GiB`, `64KiB`, plain bytes.

use std::fmt;
use std::str::FromStr;

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

const UNITS: [(&str, u32); 4] = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40)];

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let shift = match &text[digits.len()..] {
            "" | "B" => Some(0),
            unit => UNITS.iter().find(|(name, _)| *name == unit).map(|(_, shift)| *shift),
        };
        shift
            .zip(digits.trim_end().parse::<u64>().ok())
            .and_then(|(shift, number)| number.checked_mul(1 << shift))
            .map(Size)
            .ok_or_else(|| format!("`{text}` is no size: write 512MiB, 2GiB, 64KiB or plain bytes"))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match UNITS.iter().rev().find(|(_, shift)| self.0 >= 1 << shift) {
            None => write!(f, "{} B", self.0),
            Some((unit, shift)) if self.0.is_multiple_of(1 << shift) => {
                write!(f, "{} {unit}", self.0 >> shift)
            }
            Some((unit, shift)) => {
                write!(f, "{:.1} {unit}", self.0 as f64 / (1u64 << shift) as f64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Size;

    #[test]
    fn sizes_are_read() {
        for (text, bytes) in [
            ("4096", 4096),
            ("17B", 17),
            ("64KiB", 64 << 10),
            ("512MiB", 512 << 20),
            ("2GiB", 2 << 30),
            ("2 GiB", 2 << 30),
            ("1TiB", 1 << 40),
        ] {
            assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in
            ["", "MiB", "1.5GiB", "-1", "10MB", "10mib", "99999999999999999999", "17179869184GiB"]
        {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_shown() {
        assert_eq!(Size(17).to_string(), "17 B");
        assert_eq!(Size(1 << 30).to_string(), "1 GiB");
        assert_eq!(Size(3 << 19).to_string(), "1.5 MiB");
    }
}
