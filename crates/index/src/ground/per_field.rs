//! A value for each field, of as many fields as have been used.

use crate::ground::term::FieldId;

/// A value for each field. Fields that were not used have the default one.
#[derive(Clone, Debug, Default)]
pub(crate) struct PerField<T>(Vec<T>);

impl<T: Default> PerField<T> {
    pub(crate) fn get(&self, field: FieldId) -> Option<&T> {
        self.0.get(field.0 as usize)
    }

    pub(crate) fn get_mut(&mut self, field: FieldId) -> &mut T {
        let index = field.0 as usize;
        if index >= self.0.len() {
            self.0.resize_with(index + 1, T::default);
        }
        &mut self.0[index]
    }

    /// Iterates over the values, in the order of their fields.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (FieldId, &T)> {
        (0..).map(FieldId).zip(&self.0)
    }

    /// Like [`iter`](Self::iter), to change the values.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (FieldId, &mut T)> {
        (0..).map(FieldId).zip(&mut self.0)
    }
}
