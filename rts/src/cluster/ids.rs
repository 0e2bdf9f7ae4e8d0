//! What PEs, objects and threads are called in messages.
/// A processing element, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pe(pub u16);

/// The PE that runs `main`, and that decides who is lost.
pub const COORDINATOR: Pe = Pe(0);

/// The fixed address of an object. It means the same on all PEs, and says which one owns the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub u64);

/// A block of fixed objects: the unit of reference counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Block(pub u64);

/// A thread that waits for the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Thread(pub u64);

/// An `IO` action that another PE performs, by the number that its caller has given it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call(pub u64);

/// A time, or a length of time, in microseconds.
pub type Micros = u64;
