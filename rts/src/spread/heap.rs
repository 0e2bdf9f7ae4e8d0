//! The heap as the protocols of `cluster/element.rs` see it: what they ask for is done here by the files about objects,
//! threads, loans and calls.
//!
//! All is done under the element's lock, and most of it by the holder of a HEC between two threads. It neither blocks
//! nor evaluates; it may allocate, make threads and wake them on that HEC. What needs locks that come before the
//! element's is left to the end of the step ([`RealHeap::finish`]).
//!
//! References are not counted yet, and nothing fixed is freed: the heap is one block, which is held for ever.
use crate::abi::Closure;
use crate::base::fatal::broken;
use crate::cluster::element::{Heap, Object};
use crate::cluster::ids::{Address, Block, Call, Pe, Thread};
use crate::cluster::message::Unavailable;
use crate::cluster::wire::{Payload, Reader};
use crate::hec::Hec;
use crate::memory::address_space;
use crate::spread::cell::{resolve, Target};
use crate::spread::graph::Graph;
use crate::spread::install::{install, Installed};
use crate::spread::loans::{self, Lendable};
use crate::spread::{calls, ping, readers, why_fetch};
use crate::static_closure;
use crate::sync::throwto::throw_from_outside;
use std::ptr::null_mut;

impl Payload for Graph {
    fn write(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(self.as_bytes());
    }

    fn read(from: &mut Reader) -> Option<Graph> {
        Some(Graph::from_bytes(from.rest().to_vec()))
    }
}

/// The block that is held for ever.
pub const ALL: Block = Block(0);

/// The PE of `count` in whose slice an address lies.
pub fn owner_of(address: Address, count: usize) -> Pe {
    let slice = address_space::range_bytes() / count;
    Pe(((address.0 as usize).wrapping_sub(address_space::base()) / slice) as u16)
}

/// The heap for a step of the protocols.
pub struct RealHeap {
    /// The HEC that is held, or null for a step that needs none.
    hec: *mut Hec,
    /// The number of PEs.
    count: usize,
    /// A thunk that is to be lent, and is not claimed yet.
    spark: Option<Lendable>,
    /// Absent objects that have arrived in the step.
    arrived: Vec<Address>,
    /// Calls of others to be cancelled.
    cancelled: Vec<(Pe, Call)>,
}

// SAFETY: the element, which has no heap in it, is what OS threads share.
unsafe impl Send for RealHeap {}

impl RealHeap {
    /// The heap for a step by the holder of the HEC, or for one that needs none.
    /// # Safety
    /// The caller holds the HEC as long as this is used.
    pub unsafe fn of(hec: Option<&mut Hec>, count: usize) -> RealHeap {
        let hec = hec.map_or(null_mut(), |hec| hec as *mut Hec);
        RealHeap { hec, count, spark: None, arrived: Vec::new(), cancelled: Vec::new() }
    }

    /// The HEC. HECs are never freed.
    /// # Safety
    /// No other reference to it is used while this one is.
    pub unsafe fn hec(&self) -> &'static mut Hec {
        self.hec.as_mut().unwrap_or_else(|| broken("a message that needs a HEC"))
    }

    /// Packs a thunk that is to be claimed in this step. `None` if it may not travel.
    /// # Safety
    /// The thunk is live.
    pub unsafe fn prepare_loan(&mut self, thunk: Closure) -> Option<Address> {
        self.spark = loans::lendable(self.hec(), thunk);
        self.spark.as_ref().map(|lendable| lendable.name)
    }

    /// The next absent object that has arrived.
    pub fn next_arrived(&mut self) -> Option<Address> {
        self.arrived.pop()
    }

    /// Does what is left, without the element's lock.
    /// # Safety
    /// As [`RealHeap::of`] says, and no thread runs on the HEC if messages were handled.
    pub unsafe fn finish(self) {
        for &(caller, call) in &self.cancelled {
            if let Some(guest) = calls::guest(caller, call) {
                throw_from_outside(self.hec(), guest, static_closure!(hecatonzmrts_Spread_cancelled_closure));
            }
        }
    }

    unsafe fn install(&mut self, graph: &Graph) -> Installed {
        let installed = install(self.hec(), graph);
        self.arrived.extend(installed.arrived.iter().map(|c| Address(c.0 as u64)));
        installed
    }
}

// SAFETY of all calls: as `of` says.
impl Heap for RealHeap {
    type Graph = Graph;

    fn owner(&self, address: Address) -> Pe {
        owner_of(address, self.count)
    }

    fn owner_of_block(&self, _block: Block) -> Pe {
        broken("blocks are not counted yet")
    }

    fn block(&self, _address: Address) -> Block {
        ALL
    }

    fn take_spark(&mut self) -> Option<Address> {
        // Without a HEC there were no sparks a moment ago.
        // SAFETY: see above.
        self.spark = unsafe { self.hec.as_mut().and_then(|hec| loans::take_spark(hec)) };
        self.spark.as_ref().map(|lendable| lendable.name)
    }

    fn give_back_spark(&mut self, _thunk: Address) {
        broken("a spark cannot be passed on, but references are not counted yet")
    }

    fn references(&self, _thunk: Address) -> Vec<Address> {
        Vec::new()
    }

    fn claim(&mut self, _thunk: Address) -> Option<Graph> {
        let lendable = self.spark.take()?;
        // SAFETY: see above.
        unsafe { loans::claim(self.hec(), lendable) }
    }

    fn evaluate_clone(&mut self, thunk: Address, clone: Graph) {
        // SAFETY: see above.
        unsafe {
            let Some(clone) = self.install(&clone).thunk else { broken("a clone without a thunk") };
            loans::close(self.hec(), thunk, clone);
        }
    }

    fn evaluate_borrowed(&mut self, graph: Graph, is_placed: bool) -> Address {
        // SAFETY: see above.
        unsafe {
            let Some(thunk) = self.install(&graph).thunk else { broken("a loan without a thunk") };
            loans::evaluate(self.hec(), thunk, is_placed)
        }
    }

    fn kill(&mut self, _thunk: Address) {
        broken("a lost PE ends the run")
    }

    fn update(&mut self, thunk: Address, value: Graph) {
        // SAFETY: see above.
        unsafe {
            let value = self.install(&value).root();
            loans::close(self.hec(), thunk, value);
        }
    }

    fn look(&self, address: Address) -> Object<Graph> {
        // SAFETY: see above.
        unsafe { readers::look(self.hec(), address) }
    }

    fn serve(&mut self, address: Address) {
        // SAFETY: see above.
        unsafe { readers::serve(self.hec(), address) }
    }

    fn install(&mut self, _address: Address, value: Graph) {
        // SAFETY: see above.
        unsafe {
            let root = RealHeap::install(self, &value).root();
            let (Target::Static(c) | Target::Fixed(c) | Target::Exit(_, c) | Target::Local(c)) = resolve(root);
            why_fetch::note(c.untag().info());
        }
    }

    fn drop_block(&mut self, _block: Block) {
        broken("a block is dropped, but blocks are not counted yet")
    }

    fn wake(&mut self, thread: Thread) {
        // SAFETY: see above.
        unsafe { readers::wake(self.hec(), thread) }
    }

    fn raise(&mut self, thread: Thread, why: &Unavailable) {
        // SAFETY: see above.
        unsafe { readers::raise(self.hec(), thread, why) }
    }

    fn perform(&mut self, caller: Pe, call: Call, action: Graph) {
        // SAFETY: see above.
        unsafe {
            let action = self.install(&action).root();
            calls::perform(self.hec(), caller, call, action);
        }
    }

    fn on_returned(&mut self, call: Call, result: Graph) {
        // SAFETY: see above.
        unsafe {
            let result = self.install(&result).root();
            calls::on_returned(self.hec(), call, result);
        }
    }

    fn on_call_lost(&mut self, call: Call, _pe: Pe) {
        // SAFETY: see above.
        unsafe { calls::on_lost(self.hec(), call) }
    }

    fn cancel(&mut self, caller: Pe, call: Call) {
        self.cancelled.push((caller, call));
    }

    fn on_pong(&mut self, number: u64) {
        // SAFETY: see above.
        unsafe { ping::on_pong(self.hec(), number) }
    }
}
