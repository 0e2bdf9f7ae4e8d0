//! Things that are made when they are first asked for, by whoever comes first.
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// What the slot holds; if that is nothing yet, what `make` makes. Of several that come at the same
/// time one makes it for all. It is never freed, so a slot may be emptied while others look at it.
#[inline]
pub fn get_or_make<T>(slot: &AtomicPtr<T>, make: impl FnOnce() -> T) -> &'static T {
    // SAFETY: what has been put there is never freed.
    match unsafe { slot.load(Ordering::Acquire).as_ref() } {
        Some(made) => made,
        None => make_it(slot, make),
    }
}

#[cold]
fn make_it<T>(slot: &AtomicPtr<T>, make: impl FnOnce() -> T) -> &'static T {
    let new = Box::into_raw(Box::new(make()));
    let made = match slot.compare_exchange(null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => new,
        Err(theirs) => {
            // SAFETY: nobody else has seen ours.
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
    fn all_get_the_same_one() {
        static SLOT: AtomicPtr<u32> = AtomicPtr::new(null_mut());
        let one = || get_or_make(&SLOT, || 7) as *const u32 as usize;
        let others: Vec<_> = (0..4).map(|_| std::thread::spawn(one)).collect();
        let first = one();
        assert!(others.into_iter().all(|t| t.join().unwrap() == first));
        assert_eq!(*get_or_make(&SLOT, || 8), 7);
    }
}
