//! Private words that are zeros. The kernel backs them when they are touched, so rarely used memory
//! costs nothing. An allocator would return pages that were used before, and clear them first.

use std::alloc::Layout;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;

use rustix::mm::{self, MapFlags, ProtFlags};

use crate::span::Shared;

/// Values that are zeros until they are stored to.
pub struct Zeroed<T> {
    first: NonNull<T>,
    len: usize,
    owned: PhantomData<T>,
}

// SAFETY: it is memory that it alone owns, like a `Box<[T]>`.
unsafe impl<T: Send> Send for Zeroed<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Zeroed<T> {}

impl<T: Shared> Zeroed<T> {
    /// Returns `len` zeros. Like any allocation, it ends the program if there is no address space
    /// left.
    pub fn new(len: usize) -> Zeroed<T> {
        const { assert!(align_of::<T>() <= 4096, "a mapping begins with a page") };
        let layout = Layout::array::<T>(len).expect("the array is smaller than the address space");
        if layout.size() == 0 {
            return Zeroed { first: NonNull::dangling(), len, owned: PhantomData };
        }
        let (protection, flags) =
            (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
        // SAFETY: an anonymous mapping at an address of the kernel's choice touches no existing memory.
        let mapped =
            unsafe { mm::mmap_anonymous(std::ptr::null_mut(), layout.size(), protection, flags) };
        let first = mapped.ok().and_then(|start| NonNull::new(start.cast::<T>()));
        let first = first.unwrap_or_else(|| std::alloc::handle_alloc_error(layout));
        Zeroed { first, len, owned: PhantomData }
    }
}

impl<T: Shared> Default for Zeroed<T> {
    fn default() -> Zeroed<T> {
        Zeroed::new(0)
    }
}

impl<T> Deref for Zeroed<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `new` has mapped `len` values here, at the beginning of a page, for as long as
        // `self` lives. They are zeros, or were stored through a `&T`. `Shared` is sealed to types
        // made of atomics for which every bit pattern is a value, zeros too.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }
}

impl<T> Drop for Zeroed<T> {
    fn drop(&mut self) {
        let bytes = size_of_val::<[T]>(self);
        if bytes > 0 {
            // SAFETY: `new` has mapped these bytes, and they are not borrowed any more. A failure
            // only leaks addresses.
            let _ = unsafe { mm::munmap(self.first.as_ptr().cast(), bytes) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    #[test]
    fn they_are_zeros_until_they_are_stored_to() {
        for _ in 0..3 {
            let words = Zeroed::<AtomicU32>::new(100_000);
            assert!(words.len() == 100_000 && words.iter().all(|word| word.load(Relaxed) == 0));
            words.iter().for_each(|word| word.store(7, Relaxed));
            assert!(words.iter().all(|word| word.load(Relaxed) == 7));
        }
        assert!(
            Zeroed::<AtomicU32>::new(0).is_empty() && Zeroed::<AtomicU32>::default().is_empty()
        );
    }
}
