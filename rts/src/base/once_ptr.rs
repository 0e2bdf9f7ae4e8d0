//! Values that are created on first use, by any thread.
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The value in `slot`. If there is none, creates it with `make`. If several threads come at the same time, all get the
/// same value. It is never freed, so a slot may be reset while others read it.
#[inline]
pub fn get_or_make<T>(slot: &AtomicPtr<T>, make: impl FnOnce() -> T) -> &'static T {
    // SAFETY: a value in a slot is never freed.
    match unsafe { slot.load(Ordering::Acquire).as_ref() } {
        Some(made) => made,
        None => make_slow(slot, make),
    }
}

/// As [`get_or_make`], for a value that cannot always be made.
pub fn get_or_try_make<T, E>(slot: &AtomicPtr<T>, make: impl FnOnce() -> Result<T, E>) -> Result<&'static T, E> {
    // SAFETY: as above.
    match unsafe { slot.load(Ordering::Acquire).as_ref() } {
        Some(made) => Ok(made),
        None => make().map(|new| make_slow(slot, || new)),
    }
}

#[cold]
fn make_slow<T>(slot: &AtomicPtr<T>, make: impl FnOnce() -> T) -> &'static T {
    let new = Box::into_raw(Box::new(make()));
    let made = match slot.compare_exchange(null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => new,
        Err(theirs) => {
            // SAFETY: no other thread has seen this value.
            drop(unsafe { Box::from_raw(new) });
            theirs
        }
    };
    // SAFETY: as above.
    unsafe { &*made }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_get_the_same_value() {
        static SLOT: AtomicPtr<u32> = AtomicPtr::new(null_mut());
        let one = || get_or_make(&SLOT, || 7) as *const u32 as usize;
        let others: Vec<_> = (0..4).map(|_| std::thread::spawn(one)).collect();
        let first = one();
        assert!(others.into_iter().all(|t| t.join().unwrap() == first));
        assert_eq!(*get_or_make(&SLOT, || 8), 7);
    }
}
