//! Sizes as people write and read them: `512MiB`, `1.5G`, `64k`, `100 MB`, plain bytes.

use std::fmt;
use std::str::FromStr;

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

const UNITS: [(&str, u32); 4] = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40)];
/// Digits behind the point that count: what is behind them is less than a byte of a TiB.
const DECIMALS_MAX: usize = 12;

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        shift_of(&text[number.len()..])
            .and_then(|shift| bytes_of(number.trim(), shift))
            .map(Size)
            .ok_or_else(|| {
                format!(
                    "`{text}` is not a size: write a number with K, M, G or T (powers of 1,024), \
                     as in 512M, 1.5GiB, 100 MB, or plain bytes"
                )
            })
    }
}

/// The power of two that a unit stands for: `K`, `KB`, `Ki` and `KiB` are the same, in capitals or
/// not.
fn shift_of(unit: &str) -> Option<u32> {
    let unit = unit.to_ascii_lowercase();
    if unit.is_empty() || unit == "b" {
        return Some(0);
    }
    let prefix = unit.trim_end_matches('b').trim_end_matches('i');
    let is_of = |name: &str| {
        let name = name.to_ascii_lowercase();
        unit == name || unit == name[..2] || (prefix == &name[..1] && unit.len() <= 2)
    };
    UNITS.iter().find(|(name, _)| is_of(name)).map(|(_, shift)| *shift)
}

/// `number`, which may have a fraction, times 2 to the power of `shift`, in whole bytes.
fn bytes_of(number: &str, shift: u32) -> Option<u64> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let has_fraction = number.len() > whole.len();
    if !is_number(whole) || (has_fraction && (!is_number(decimals) || shift == 0)) {
        return None;
    }
    let whole = whole.parse::<u64>().ok()?.checked_mul(1 << shift)?;
    let decimals = &decimals[..decimals.len().min(DECIMALS_MAX)];
    let parts = 10u128.pow(decimals.len() as u32);
    let fraction = (u128::from(decimals.parse::<u64>().unwrap_or(0)) << shift) / parts;
    whole.checked_add(u64::try_from(fraction).ok()?)
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
            ("1G", 1 << 30),
            ("1g", 1 << 30),
            ("1GB", 1 << 30),
            ("1Gi", 1 << 30),
            ("512m", 512 << 20),
            ("100 MiB", 100 << 20),
            ("100 mb", 100 << 20),
            ("1.5GiB", 3 << 29),
            ("0.5k", 512),
            ("1.1KiB", 1126),
            ("2.00000000000000000000001G", 2 << 30),
        ] {
            assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in [
            "",
            "MiB",
            "-1",
            "+1",
            "1.5",
            "1.5B",
            ".5G",
            "1.G",
            "1..5G",
            "1e3",
            "10X",
            "10GG",
            "10Gbb",
            "10i",
            "10Gii",
            "10iB",
            "10ib",
            "1,5G",
            "99999999999999999999",
            "17179869184GiB",
            "16777216T",
        ] {
            let refused = text.parse::<Size>().unwrap_err();
            assert!(refused.contains("as in 512M, 1.5GiB"), "{refused}");
        }
    }

    #[test]
    fn sizes_are_shown() {
        assert_eq!(Size(17).to_string(), "17 B");
        assert_eq!(Size(1 << 30).to_string(), "1 GiB");
        assert_eq!(Size(3 << 19).to_string(), "1.5 MiB");
    }
}
