//! The registered roots of a collection.
//!
//! *Protocol*
//! 1. At start, layers above register root providers and weak tables.
//! 2. A collection has each provider show all its closure pointers to a visitor, which may change them.
//! 3. Before tracing, providers of copies show objects to which a collection need not make copies of its own.
//! 4. After tracing, each weak table asks where its objects are now, or whether they are dead.
//!
//! *Locking*: registration happens at start, on the only OS thread. Visits happen while the world is stopped.
use crate::abi::Closure;
use std::ptr;

pub type Visitor<'a> = dyn FnMut(&mut Closure) + 'a;
pub type IsAlive<'a> = dyn FnMut(Closure) -> Option<Closure> + 'a;

pub type Provider = fn(&mut Visitor);

/// The roots that a collection needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Those that may refer to a generation that is younger than the oldest.
    Young,
    All,
}

/// A provider that knows which of its roots refer to the oldest generation.
pub type ScopedProvider = fn(&mut Visitor, Scope);
pub type WeakTable = fn(&mut IsAlive);
/// Shows pairs of an object and its copy, which is in no generation.
pub type CopiesProvider = fn(&mut dyn FnMut(Closure, Closure));

static mut PROVIDERS: Vec<Provider> = Vec::new();
static mut SCOPED_PROVIDERS: Vec<ScopedProvider> = Vec::new();
static mut WEAK_TABLES: Vec<WeakTable> = Vec::new();
static mut COPIES_PROVIDERS: Vec<CopiesProvider> = Vec::new();

/// Registers a provider to be called in each collection.
/// # Safety
/// Called at start, by the one OS thread there is.
pub unsafe fn register(provider: Provider) {
    (*ptr::addr_of_mut!(PROVIDERS)).push(provider);
}

/// As [`register`], for roots that are many and mostly old.
/// # Safety
/// As for [`register`].
pub unsafe fn register_scoped(provider: ScopedProvider) {
    (*ptr::addr_of_mut!(SCOPED_PROVIDERS)).push(provider);
}

/// Registers a weak table to be updated after the tracing of each collection. `update` is given a function that returns
/// where an object (tagged or not) is now, or `None` if it is dead.
/// # Safety
/// As for [`register`].
pub unsafe fn register_weak_table(update: WeakTable) {
    (*ptr::addr_of_mut!(WEAK_TABLES)).push(update);
}

/// Registers a provider of copies.
/// # Safety
/// As for [`register`].
pub unsafe fn register_copies(provider: CopiesProvider) {
    (*ptr::addr_of_mut!(COPIES_PROVIDERS)).push(provider);
}

/// Shows all copies to `show`.
/// # Safety
/// The world is stopped.
pub(super) unsafe fn show_copies(show: &mut dyn FnMut(Closure, Closure)) {
    for provider in &*ptr::addr_of!(COPIES_PROVIDERS) {
        provider(show);
    }
}

/// Shows all registered roots to `visit`, or those in the scope.
/// # Safety
/// The world is stopped.
pub unsafe fn visit_registered(visit: &mut Visitor, scope: Scope) {
    for provider in &*ptr::addr_of!(PROVIDERS) {
        provider(visit);
    }
    for provider in &*ptr::addr_of!(SCOPED_PROVIDERS) {
        provider(visit, scope);
    }
}

/// Updates all weak tables.
///
/// # Safety
/// The world is stopped and tracing done.
pub(super) unsafe fn update_weak_tables(is_alive: &mut IsAlive) {
    for update in &*ptr::addr_of!(WEAK_TABLES) {
        update(is_alive);
    }
}
