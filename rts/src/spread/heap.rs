//! The heap as the protocols of `cluster/element.rs` see it.
//!
//! What must look into objects, pack them or make threads for them, is done by [`Objects`], a table that is set at
//! start ([`set_objects`]). All of its functions are called by the holder of a HEC between two threads, under the
//! element's lock. They neither block nor evaluate; they may allocate, make threads and wake them on that HEC. Until
//! there are loans, a spark is not lent.
use crate::base::fatal::broken;
use crate::cluster::element::{Heap, Object};
use crate::cluster::ids::{Address, Block, Pe, Thread};
use crate::cluster::wire::{Payload, Reader};
use crate::hec::Hec;
use crate::memory::{address_space, BLOCK_BYTES};
use crate::spread::ping;
use std::ptr::null_mut;
use std::sync::{Arc, OnceLock};

/// A packed graph. Its form is that of `docs/distribution.md`, "Packets".
#[derive(Clone, Debug, PartialEq)]
pub struct PackedGraph(pub Arc<[u8]>);

impl Payload for PackedGraph {
    fn write(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.0);
    }

    fn read(from: &mut Reader) -> Option<PackedGraph> {
        Some(PackedGraph(from.rest().into()))
    }
}

/// What is done to objects and threads.
pub struct Objects {
    /// The state of an own object, packed if it is evaluated.
    pub look: unsafe fn(&mut Hec, Address) -> Object<PackedGraph>,
    /// Makes an object of another PE present. Threads that wait for it are woken by `wake`.
    pub install: unsafe fn(&mut Hec, Address, &PackedGraph),
    /// Makes a thread that evaluates an own object for other PEs.
    pub serve: unsafe fn(&mut Hec, Address),
    /// Wakes a thread that has waited for the network.
    pub wake: unsafe fn(&mut Hec, Thread),
}

static OBJECTS: OnceLock<Objects> = OnceLock::new();

/// Sets what is done to objects. Called once, before the run is joined.
pub fn set_objects(objects: Objects) {
    let _ = OBJECTS.set(objects);
}

fn objects() -> &'static Objects {
    OBJECTS.get().unwrap_or_else(|| broken("an object is asked for, but none was sent"))
}

/// The heap for a step of the protocols.
pub struct RealHeap {
    /// The HEC that is held, or null for a step that needs none.
    hec: *mut Hec,
    /// The number of PEs.
    count: usize,
}

// SAFETY: the element, which has no heap in it, is what OS threads share.
unsafe impl Send for RealHeap {}

impl RealHeap {
    /// # Safety
    /// The caller holds the HEC as long as this is used, and no thread runs on it.
    pub unsafe fn of(hec: &mut Hec, count: usize) -> RealHeap {
        RealHeap { hec, count }
    }

    /// The heap for messages that need none.
    pub fn without_hec(count: usize) -> RealHeap {
        RealHeap { hec: null_mut(), count }
    }

    /// The HEC. HECs are never freed.
    /// # Safety
    /// No other reference to it is used while this one is.
    unsafe fn hec(&self) -> &'static mut Hec {
        self.hec.as_mut().unwrap_or_else(|| broken("a message that needs a HEC"))
    }
}

impl Heap for RealHeap {
    type Graph = PackedGraph;

    fn owner(&self, address: Address) -> Pe {
        let slice = address_space::range_bytes() / self.count;
        Pe(((address.0 as usize).wrapping_sub(address_space::base()) / slice) as u16)
    }

    fn owner_of_block(&self, block: Block) -> Pe {
        self.owner(Address(block.0 * BLOCK_BYTES as u64))
    }

    fn block(&self, address: Address) -> Block {
        Block(address.0 / BLOCK_BYTES as u64)
    }

    fn take_spark(&mut self) -> Option<Address> {
        None
    }

    fn give_back_spark(&mut self, _thunk: Address) {
        no_loans()
    }

    fn references(&self, _thunk: Address) -> Vec<Address> {
        no_loans()
    }

    fn claim(&mut self, _thunk: Address) -> PackedGraph {
        no_loans()
    }

    fn evaluate_clone(&mut self, _thunk: Address, _clone: PackedGraph) {
        no_loans()
    }

    fn evaluate_borrowed(&mut self, _graph: PackedGraph) -> Address {
        no_loans()
    }

    fn kill(&mut self, _thunk: Address) {
        no_loans()
    }

    fn update(&mut self, _thunk: Address, _value: PackedGraph) {
        no_loans()
    }

    fn look(&self, address: Address) -> Object<PackedGraph> {
        // SAFETY: as `of` says.
        unsafe { (objects().look)(self.hec(), address) }
    }

    fn serve(&mut self, address: Address) {
        // SAFETY: as `of` says.
        unsafe { (objects().serve)(self.hec(), address) }
    }

    fn install(&mut self, address: Address, value: PackedGraph) {
        // SAFETY: as `of` says.
        unsafe { (objects().install)(self.hec(), address, &value) }
    }

    fn drop_block(&mut self, _block: Block) {
        broken("a block is dropped, but weights are not returned yet")
    }

    fn wake(&mut self, thread: Thread) {
        // SAFETY: as `of` says.
        unsafe { (objects().wake)(self.hec(), thread) }
    }

    fn raise_pe_lost(&mut self, _thread: Thread) {
        broken("a lost PE ends the run")
    }

    fn on_pong(&mut self, number: u64) {
        // SAFETY: as `of` says.
        unsafe { ping::on_pong(self.hec(), number) }
    }
}

#[cold]
fn no_loans() -> ! {
    broken("a loan, but no spark is lent")
}
