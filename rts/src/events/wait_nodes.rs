//! Wait nodes: one for each thread that waits for time or a descriptor, and for each timer. They are outside the
//! Haskell heap.
//!
//! A node's *target* is the thread that it wakes, or the closure that it runs. The collector visits targets. A node is
//! *young* until its target is in the oldest generation; a minor collection visits young nodes only. So threads that
//! wait for long cost it nothing.
//!
//! *Locking*: the lock of the event loop that has the nodes.
use crate::abi::Closure;
use crate::collector::roots::{Scope, Visitor};
use crate::events::timer_wheel::{Entries, Links, NONE};
use crate::memory::{address_space, heap, in_heap};

/// What happens when a node fires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Free,
    /// The target is a thread, which runs again.
    Thread,
    /// The target is an action, which runs in a new thread.
    Action,
    /// The target is a function of the status, which is applied in a new thread.
    Callback,
}

/// Bits of a handle: the node's index, the number of its loop, and its generation. A handle is positive as a signed
/// number.
const INDEX_BITS: u32 = 28;
const LOOP_BITS: u32 = 10;
const GENERATION_BITS: u32 = 63 - INDEX_BITS - LOOP_BITS;
/// Generations are 1 to this: a handle is not 0.
const GENERATIONS: u32 = (1 << GENERATION_BITS) - 1;
const _: () = assert!(crate::hec::MAX_HECS <= 1 << LOOP_BITS);

/// Names a node for as long as it is in use: never another one that gets its place later. (A generation wraps around
/// after 2^25 uses of the place.)
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handle(pub usize);

impl Handle {
    fn new(no: usize, index: u32, generation: u32) -> Handle {
        Handle((generation as usize) << (INDEX_BITS + LOOP_BITS) | no << INDEX_BITS | index as usize)
    }
    /// The number of the loop that has the node.
    pub fn loop_no(self) -> usize {
        self.0 >> INDEX_BITS & ((1 << LOOP_BITS) - 1)
    }
    fn index(self) -> u32 {
        (self.0 & ((1 << INDEX_BITS) - 1)) as u32
    }
}

pub struct Node {
    pub links: Links,
    pub target: Closure,
    /// The next and previous node that wait for the same descriptor. `next` also links free nodes.
    pub next: u32,
    pub prev: u32,
    /// The descriptor, or -1.
    pub fd: i32,
    generation: u32,
    pub kind: Kind,
    /// The events that it waits for, as in [`super::poller::Interest`].
    pub want: u8,
    /// It is in the wheel.
    pub timed: bool,
    young: bool,
}

const CHUNK: usize = 512;

/// The nodes of one event loop.
pub struct WaitNodes {
    no: usize,
    chunks: Vec<Box<[Node]>>,
    free: u32,
    used: usize,
    /// Indices of young nodes. A node that has been freed meanwhile is skipped.
    young: Vec<u32>,
}

impl Entries for WaitNodes {
    #[inline]
    fn links(&mut self, entry: u32) -> &mut Links {
        &mut self.node(entry).links
    }
}

impl WaitNodes {
    pub fn new(no: usize) -> WaitNodes {
        WaitNodes { no, chunks: Vec::new(), free: NONE, used: 0, young: Vec::new() }
    }

    #[inline]
    pub fn node(&mut self, index: u32) -> &mut Node {
        &mut self.chunks[index as usize / CHUNK][index as usize % CHUNK]
    }

    /// The number of nodes in use.
    pub fn used(&self) -> usize {
        self.used
    }

    /// Takes a free node. `None`: there are too many.
    pub fn allocate(&mut self, kind: Kind, target: Closure, fd: i32, want: u8) -> Option<u32> {
        if self.free == NONE {
            self.add_chunk()?;
        }
        let index = self.free;
        self.used += 1;
        let node = self.node(index);
        let next = node.next;
        (node.kind, node.target, node.fd, node.want) = (kind, target, fd, want);
        (node.next, node.prev, node.timed) = (NONE, NONE, false);
        let was_young = std::mem::replace(&mut node.young, true);
        self.free = next;
        if !was_young {
            self.young.push(index);
        }
        Some(index)
    }

    fn add_chunk(&mut self) -> Option<()> {
        let first = (self.chunks.len() * CHUNK) as u32;
        if first as usize + CHUNK > 1 << INDEX_BITS {
            return None;
        }
        let free = |i: usize| Node {
            links: Links::default(),
            target: Closure(0),
            next: if i + 1 < CHUNK { first + i as u32 + 1 } else { NONE },
            prev: NONE,
            fd: -1,
            generation: 1,
            kind: Kind::Free,
            want: 0,
            timed: false,
            young: false,
        };
        self.chunks.push((0..CHUNK).map(free).collect());
        self.free = first;
        Some(())
    }

    /// Frees a node, which is in no list and not in the wheel.
    pub fn free(&mut self, index: u32) {
        let free = self.free;
        let node = self.node(index);
        node.kind = Kind::Free;
        node.target = Closure(0);
        node.generation = node.generation % GENERATIONS + 1;
        node.next = free;
        self.free = index;
        self.used -= 1;
    }

    pub fn handle(&mut self, index: u32) -> Handle {
        Handle::new(self.no, index, self.node(index).generation)
    }

    /// The node that a handle names, if it is still in use.
    pub fn find(&mut self, handle: Handle) -> Option<u32> {
        let index = handle.index();
        let exists = (index as usize) < self.chunks.len() * CHUNK;
        (exists && self.node(index).kind != Kind::Free && self.handle(index) == handle).then_some(index)
    }

    /// Visits the targets, those of young nodes only if the scope says so.
    pub fn visit(&mut self, visit: &mut Visitor, scope: Scope) {
        if scope == Scope::All {
            self.young.clear();
            for index in 0..(self.chunks.len() * CHUNK) as u32 {
                self.node(index).young = false;
                self.visit_node(index, visit);
            }
            return;
        }
        for index in std::mem::take(&mut self.young) {
            self.node(index).young = false;
            self.visit_node(index, visit);
        }
    }

    fn visit_node(&mut self, index: u32, visit: &mut Visitor) {
        let node = self.node(index);
        if node.kind == Kind::Free {
            return;
        }
        visit(&mut node.target);
        let at = node.target.untag().0;
        // SAFETY: the world is stopped.
        let oldest = unsafe { heap().oldest() };
        if in_heap(at) && address_space::age_of(at).generation() < oldest {
            node.young = true;
            self.young.push(index);
        }
    }
}
