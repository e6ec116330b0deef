//! Scores that fade with age: each half-life halves them.
//!
//! A document's age is the time from its newest moment in a field to the request for the first
//! page. A moment in the future counts as now. A document without a moment is infinitely old. A
//! factor is at most 1, so upper bounds of scores stay upper bounds.

use spirit_index::ground::FieldId;
use spirit_index::ground::ValueKind;

/// The fading of scores with age.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fading {
    /// The field with the documents' moments.
    pub field: FieldId,
    /// The time that ages count from: milliseconds since 1970.
    pub now: i64,
    /// The time in which a score is halved: milliseconds, from 1 on.
    pub half_life: u64,
}

impl Fading {
    /// Returns the factor of scores in a document whose newest moment is `newest`, in sortable
    /// form.
    pub(crate) fn factor(&self, newest: Option<u64>) -> f32 {
        let Some(newest) = newest else { return 0.0 };
        let newest = ValueKind::Time.from_sortable(newest).cast_signed();
        let age = self.now.saturating_sub(newest).max(0) as f64;
        (-age / self.half_life.max(1) as f64).exp2() as f32
    }

    /// Returns a score after fading in such a document. An infinite sum fades too.
    pub(crate) fn faded(&self, score: f32, newest: Option<u64>) -> f32 {
        score.min(f32::MAX) * self.factor(newest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_life_halves() {
        let fading = Fading { field: FieldId(1), now: 10_000, half_life: 1000 };
        let factor =
            |time: i64| fading.factor(Some(ValueKind::Time.sortable(time.cast_unsigned())));
        for (time, expected) in [
            (10_000, 1.0),
            (9_000, 0.5),
            (8_000, 0.25),
            (11_000, 1.0),
            (i64::MAX, 1.0),
            (i64::MIN, 0.0),
        ] {
            assert_eq!(factor(time), expected, "{time}");
        }
        assert_eq!(fading.factor(None), 0.0);
        assert_eq!(fading.faded(f32::INFINITY, None), 0.0);
        let at_once = Fading { half_life: 0, ..fading };
        assert_eq!(at_once.factor(Some(ValueKind::Time.sortable(10_000))), 1.0);
    }
}
