//! Stable names: numbers of objects that stay the same while the objects move.
//!
//! *Protocol*
//!
//! 1. The table maps addresses to numbers, and has the one `StableName#` object of each number.
//! 2. The table is weak. After tracing, each collection calls [`update`], which forgets the numbers of dead objects and
//!    follows moved ones.
//! 3. If a name is alive but its subject is dead, its entry stays, without an address. So its number is not given to
//!    another object.
//!
//! *Locking*: one lock among HECs; with the world stopped, none.
//! subject is dead keeps its entry, without address, so that it is not given to another.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Info};
use crate::eval::blackhole;
use crate::hec::Hec;
use crate::info;
use crate::prims::ffi_mutex::Lock;
use std::collections::HashMap;
use std::ptr;

struct Entry {
    /// The named object; null if it has died.
    subject: Closure,
    /// The `StableName#` object; null when the entry is free.
    name: Closure,
}

#[derive(Default)]
struct Table {
    entries: Vec<Entry>,
    free: Vec<usize>,
    by_subject: HashMap<Closure, usize>,
}

static LOCK: Lock = Lock::new();
static mut TABLE: Option<Table> = None;

/// # Safety
/// The lock is held ([`Lock::among_hecs`]), or the world is stopped. No other reference to the table is in use.
unsafe fn table() -> &'static mut Table {
    (*ptr::addr_of_mut!(TABLE)).get_or_insert_with(Table::default)
}

/// The object without tag and indirections: the subject of its name.
/// # Safety
/// `c` is live.
unsafe fn identity(mut c: Closure) -> Closure {
    loop {
        c = c.untag();
        let info: Info = c.info();
        let next = match info.kind() {
            IND_STATIC => Some(c.field(INDIRECTEE)),
            IND | BLACKHOLE => blackhole::value(c),
            _ => None,
        };
        let Some(next) = next else { return c };
        c = next;
    }
}

/// The stable name of `c`: the same object as long as that object is in use.
/// # Safety
/// Called from Cmm with the HEC held and Hp saved.
#[no_mangle]
pub unsafe extern "C" fn hec_make_stable_name(hec: &mut Hec, c: Closure) -> Closure {
    let subject = identity(c);
    let _locked = LOCK.among_hecs();
    let t = table();
    if let Some(&i) = t.by_subject.get(&subject) {
        return t.entries[i].name;
    }
    // Complete before the lock is released: other HECs may find it at once.
    let name = hec.allocate(STABLE_NAME_SN + 1);
    let entry = Entry { subject, name };
    let i = match t.free.pop() {
        Some(i) => {
            t.entries[i] = entry;
            i
        }
        None => {
            t.entries.push(entry);
            t.entries.len() - 1
        }
    };
    t.by_subject.insert(subject, i);
    name.set_info(info!(stg_STABLE_NAME_info));
    name.set_word(STABLE_NAME_SN, i + 1);
    name
}

/// Updates the table after tracing. `is_alive` returns the new address of an object, if it is alive.
pub fn update(is_alive: &mut dyn FnMut(Closure) -> Option<Closure>) {
    // SAFETY: the world is stopped.
    let t = unsafe { table() };
    let mut moved = Vec::new();
    for (i, e) in t.entries.iter_mut().enumerate() {
        if e.name.is_null() {
            continue;
        }
        let name = is_alive(e.name);
        let subject = if e.subject.is_null() { None } else { is_alive(e.subject) };
        let now = subject.filter(|_| name.is_some()).map_or(Closure::NULL, Closure::untag);
        if now != e.subject {
            if !e.subject.is_null() && t.by_subject.get(&e.subject) == Some(&i) {
                t.by_subject.remove(&e.subject);
            }
            e.subject = now;
            moved.push(i);
        }
        e.name = name.map_or(Closure::NULL, Closure::untag);
        if name.is_none() {
            t.free.push(i);
        }
    }
    for i in moved {
        let subject = t.entries[i].subject;
        if !subject.is_null() {
            // Two names have the same subject when an indirection between their subjects is removed.
            t.by_subject.entry(subject).or_insert(i);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_follow_objects_and_are_reused() {
        let c = |n: usize| Closure(n * 8);
        unsafe {
            let t = table();
            for i in 0..3 {
                t.entries.push(Entry { subject: c(10 + i), name: c(20 + i) });
                t.by_subject.insert(c(10 + i), i);
            }
        }
        // The first object moves, the second one's subject dies, the third one's name dies.
        update(&mut |x| match x.0 / 8 {
            10 => Some(c(30)),
            20 => Some(c(40)),
            21 => Some(c(21)),
            12 => Some(c(12)),
            _ => None,
        });
        let t = unsafe { table() };
        assert_eq!(t.by_subject, HashMap::from([(c(30), 0)]));
        assert_eq!(t.entries[0].name, c(40));
        assert!(t.entries[1].subject.is_null() && t.entries[1].name == c(21));
        assert_eq!(t.free, [2]);
    }
}
