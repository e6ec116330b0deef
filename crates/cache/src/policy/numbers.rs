//! The numbers of entries or nodes that are free: a stack, all of whose memory is reserved.

/// Free numbers.
pub(super) struct Numbers {
    /// The free numbers are the first `len` of them.
    stack: Box<[u32]>,
    len: usize,
}

impl Numbers {
    /// Returns the numbers below `end`, all free. The lowest is taken first.
    pub(super) fn new(end: u32) -> Numbers {
        Numbers { stack: (0..end).rev().collect(), len: end as usize }
    }

    /// Takes a free number. Returns `None` if all are in use.
    pub(super) fn take(&mut self) -> Option<u32> {
        self.len = self.len.checked_sub(1)?;
        Some(self.stack[self.len])
    }

    /// Gives a number back, which was taken.
    pub(super) fn give(&mut self, number: u32) {
        self.stack[self.len] = number;
        self.len += 1;
    }

    /// Returns how many numbers are in use.
    pub(super) fn used(&self) -> u32 {
        (self.stack.len() - self.len) as u32
    }

    /// True if all numbers are in use.
    pub(super) fn is_used_up(&self) -> bool {
        self.len == 0
    }

    /// True if the number is free. Looks at all free numbers: for checks.
    pub(super) fn is_free(&self, number: u32) -> bool {
        self.stack[..self.len].contains(&number)
    }

    /// Returns the bytes of its memory.
    pub(super) fn bytes(&self) -> u64 {
        size_of_val(&*self.stack) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_once_and_come_back() {
        let mut numbers = Numbers::new(3);
        assert_eq!([(); 4].map(|()| numbers.take()), [Some(0), Some(1), Some(2), None]);
        assert!(numbers.is_used_up() && numbers.used() == 3);
        numbers.give(1);
        assert!(numbers.is_free(1) && !numbers.is_free(0));
        assert_eq!((numbers.used(), numbers.take()), (2, Some(1)));
        assert_eq!(numbers.bytes(), 12);
    }
}
