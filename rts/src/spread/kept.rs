//! Closures that protocols know by names: threads that wait for the network or work for it, and borrowed thunks.
//!
//! *Invariants*
//!
//! - They are roots.
//! - A name is an address, so that protocols name thunks as they do fixed objects. No object has it.
use crate::abi::{Closure, Tso};
use crate::base::poison::unpoisoned;
use crate::cluster::ids::Address;
use crate::collector::roots::{self, Visitor};
use crate::static_closure;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

/// Set in all names: no object lies so high.
const IS_NAME: u64 = 1 << 63;

struct Kept {
    closures: BTreeMap<Address, Closure>,
    last: u64,
}

static KEPT: Mutex<Kept> = Mutex::new(Kept { closures: BTreeMap::new(), last: IS_NAME });

fn kept() -> MutexGuard<'static, Kept> {
    unpoisoned(KEPT.lock())
}

/// Keeps a closure. Returns its name, which is used once.
pub fn keep(closure: Closure) -> Address {
    let mut kept = kept();
    kept.last += 1;
    let name = Address(kept.last);
    kept.closures.insert(name, closure);
    name
}

/// Keeps another closure by the same name.
pub fn replace(name: Address, closure: Closure) {
    kept().closures.insert(name, closure);
}

/// A time: names that were given before are not greater, later ones are.
pub fn time() -> Address {
    Address(kept().last)
}

pub fn get(name: Address) -> Option<Closure> {
    kept().closures.get(&name).copied()
}

/// Keeps a closure no longer.
pub fn release(name: Address) -> Option<Closure> {
    kept().closures.remove(&name)
}

/// The newest name of a closure, keys of service threads excepted. A thread that performs for others has an older one,
/// by which it is still needed when it waits no longer.
pub fn newest_name_of(closure: Closure) -> Option<Address> {
    let kept = kept();
    let mut names = kept.closures.iter().rev().filter(|(name, _)| name.0 & IS_SERVICE == 0);
    names.find(|&(_, &c)| c == closure).map(|(&name, _)| name)
}

/// Set in the keys of service threads.
const IS_SERVICE: u64 = 1 << 62;

/// Keeps the thread that serves an address: others need it, although nothing here may refer to it.
pub fn keep_service(address: Address, thread: Closure) {
    kept().closures.insert(Address(address.0 | IS_SERVICE), thread);
}

/// The thread that serves an address.
pub fn service(address: Address) -> Option<Tso> {
    get(Address(address.0 | IS_SERVICE)).map(|c| Tso(c.0))
}

/// The address that a thread serves.
pub fn served_by(thread: Closure) -> Option<Address> {
    let kept = kept();
    let mut services = kept.closures.iter().filter(|(key, _)| key.0 & IS_SERVICE != 0);
    services.find(|&(_, &c)| c == thread).map(|(key, _)| Address(key.0 & !IS_SERVICE))
}

/// The thread that serves an address has come to its end.
pub fn release_service(address: Address) {
    kept().closures.remove(&Address(address.0 | IS_SERVICE));
}

/// Is the address a name?
pub fn is_name(address: Address) -> bool {
    address.0 & IS_NAME != 0
}

/// Registers the roots.
/// # Safety
/// Called at start, by the one OS thread there is.
pub unsafe fn init() {
    roots::register(|visit: &mut Visitor| {
        kept().closures.values_mut().for_each(&mut *visit);
        // The runtime alone refers to these, and to the CAFs that they reach.
        let mut entered = [
            static_closure!(hecatonzmrts_Spread_serve_closure),
            static_closure!(hecatonzmrts_Spread_perform_closure),
            static_closure!(hecatonzmrts_Spread_failed_closure),
            static_closure!(hecatonzmrts_Spread_notTransferable_closure),
            static_closure!(hecatonzmrts_Spread_peLost_closure),
            static_closure!(hecatonzmrts_Spread_cancelled_closure),
            static_closure!(hecatonzmrts_Spread_partOf_closure),
            static_closure!(hecatonzmrts_Spread_takeMVarRemote_closure),
            static_closure!(hecatonzmrts_Spread_readMVarRemote_closure),
            static_closure!(hecatonzmrts_Spread_putMVarRemote_closure),
            static_closure!(hecatonzmrts_Spread_tryTakeMVarRemote_closure),
            static_closure!(hecatonzmrts_Spread_tryReadMVarRemote_closure),
            static_closure!(hecatonzmrts_Spread_tryPutMVarRemote_closure),
            static_closure!(hecatonzmrts_Spread_isEmptyMVarRemote_closure),
            static_closure!(hecatonzmrts_Spread_readTVarRemote_closure),
            static_closure!(hecatonzmrts_Spread_remoteTVar_closure),
            static_closure!(hecatonzmrts_Spread_throwToRemote_closure),
            static_closure!(hecatonzmrts_Spread_threadStatusRemote_closure),
            static_closure!(hecatonzmrts_Spread_deRefWeakRemote_closure),
            static_closure!(hecatonzmrts_Spread_finalizzeWeakRemote_closure),
        ];
        entered.iter_mut().for_each(visit);
    });
}
