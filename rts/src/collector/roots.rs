//! Where collections start: what the floors above have registered.
//!
//! A root provider shows every closure pointer it holds to a visitor, which may change it. A
//! weak table hears, once everything has been traced, where objects are now or that they are
//! gone. Both are registered at start, before the first collection.
use crate::abi::Closure;
use std::ptr;

pub type Visitor<'a> = dyn FnMut(&mut Closure) + 'a;
pub type IsAlive<'a> = dyn FnMut(Closure) -> Option<Closure> + 'a;

pub type Provider = fn(&mut Visitor);
pub type WeakTable = fn(&mut IsAlive);

static mut PROVIDERS: Vec<Provider> = Vec::new();
static mut WEAK_TABLES: Vec<WeakTable> = Vec::new();

/// Has `provider` called in each collection.
/// # Safety
/// Called at start, by the one OS thread there is.
pub unsafe fn register(provider: Provider) {
    (*ptr::addr_of_mut!(PROVIDERS)).push(provider);
}

/// Has `update` called after each collection's tracing, with a function that tells where an
/// object (tagged or not) is now; `None` if it is dead.
/// # Safety
/// As for [`register`].
pub unsafe fn register_weak_table(update: WeakTable) {
    (*ptr::addr_of_mut!(WEAK_TABLES)).push(update);
}

/// Shows all registered roots to `visit`.
/// # Safety
/// The world is stopped.
pub unsafe fn visit_registered(visit: &mut Visitor) {
    for provider in &*ptr::addr_of!(PROVIDERS) {
        provider(visit);
    }
}

/// # Safety
/// The world is stopped and tracing done.
pub(super) unsafe fn update_weak_tables(is_alive: &mut IsAlive) {
    for update in &*ptr::addr_of!(WEAK_TABLES) {
        update(is_alive);
    }
}
