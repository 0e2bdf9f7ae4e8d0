//! Haskell's file locks: many readers or one writer of a file within this process.
//!
//! *Locking*: one lock for all of them.
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Device and inode.
type File = (u64, u64);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Held {
    Readers(usize),
    Writer,
}

#[derive(Default)]
struct Locks {
    files: HashMap<File, Held>,
    /// The files that each name of a lock, a descriptor, stands for. There are several if a descriptor was closed
    /// without its handle and used again. Unlocking removes the latest.
    by_id: HashMap<u64, Vec<File>>,
}

impl Locks {
    fn lock(&mut self, id: u64, file: File, for_writing: bool) -> bool {
        let now = match self.files.get(&file) {
            None if for_writing => Held::Writer,
            None => Held::Readers(1),
            Some(&Held::Readers(n)) if !for_writing => Held::Readers(n + 1),
            Some(_) => return false,
        };
        self.files.insert(file, now);
        self.by_id.entry(id).or_default().push(file);
        true
    }

    fn unlock(&mut self, id: u64) -> bool {
        let Some(files) = self.by_id.get_mut(&id) else { return false };
        let Some(file) = files.pop() else { return false };
        if files.is_empty() {
            self.by_id.remove(&id);
        }
        match self.files.get(&file) {
            Some(&Held::Readers(n)) if n > 1 => {
                self.files.insert(file, Held::Readers(n - 1));
            }
            _ => {
                self.files.remove(&file);
            }
        }
        true
    }
}

static LOCKS: Mutex<Option<Locks>> = Mutex::new(None);

fn with<R>(f: impl FnOnce(&mut Locks) -> R) -> R {
    let mut locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    f(locks.get_or_insert_with(Locks::default))
}

/// Returns 0 if the lock was taken, and -1 if another lock is in the way.
#[no_mangle]
pub extern "C" fn lockFile(id: u64, device: u64, inode: u64, for_writing: i32) -> i32 {
    if with(|l| l.lock(id, (device, inode), for_writing != 0)) {
        0
    } else {
        -1
    }
}

/// Returns 0 if there was a lock to release, else 1.
#[no_mangle]
pub extern "C" fn unlockFile(id: u64) -> i32 {
    i32::from(!with(|l| l.unlock(id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_readers_or_one_writer() {
        let (mut l, f) = (Locks::default(), (1, 2));
        assert!(l.lock(3, f, false) && l.lock(4, f, false));
        assert!(!l.lock(5, f, true));
        assert!(l.unlock(3) && !l.lock(5, f, true));
        assert!(l.unlock(4) && !l.unlock(4));
        assert!(l.lock(5, f, true) && !l.lock(6, f, false) && l.lock(6, (1, 3), false));
        assert!(l.unlock(5) && l.lock(7, f, true));
    }

    #[test]
    fn a_reused_descriptor_unlocks_the_latest_file() {
        let (mut l, f, g) = (Locks::default(), (1, 2), (1, 3));
        assert!(l.lock(3, f, true) && l.lock(3, g, true));
        assert!(l.unlock(3) && l.lock(4, g, true) && !l.lock(4, f, false));
        assert!(l.unlock(3) && !l.unlock(3) && l.lock(5, f, true));
    }
}
