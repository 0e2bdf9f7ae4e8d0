//! The heap as the protocols of `cluster/element.rs` see it: what they ask for is done here by the files about objects,
//! threads, loans and calls.
//!
//! All is done under the element's lock, and most of it by the holder of a HEC between two threads. It neither blocks
//! nor evaluates; it may allocate, make threads and wake them on that HEC. What needs locks that come before the
//! element's is left to the end of the step ([`RealHeap::finish`]).
//!
//! A block is one of `BLOCK_BYTES` of the range of all heaps, which fixed objects keep to (`memory/fixed_blocks.rs`).
use crate::abi::Closure;
use crate::base::fatal::broken;
use crate::cluster::bytes::Reader;
use crate::cluster::element::{Heap, Object};
use crate::cluster::ids::{Address, Block, Call, Pe, Thread};
use crate::cluster::message::{Reason, Unavailable};
use crate::cluster::wire::Payload;
use crate::collector::policy::max_heap;
use crate::hec::Hec;
use crate::memory::{address_space, fixed_blocks, BLOCK_BYTES};
use crate::spread::cell::{resolve, Target};
use crate::spread::graph::Graph;
use crate::spread::install::{self, install, Installed};
use crate::spread::loans::{self, Lendable};
use crate::spread::{calls, kept, parts, ping, placed, readers, retained, why_fetch};
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

/// The PE of `count` in whose slice an address lies.
pub fn owner_of(address: Address, count: usize) -> Pe {
    owner_of_block(block_of(address.0 as usize), count)
}

/// The PE of `count` that owns a block.
pub fn owner_of_block(block: Block, count: usize) -> Pe {
    let slice = address_space::range_bytes() / count;
    Pe((block.0 as usize / (slice / BLOCK_BYTES)) as u16)
}

/// The block of an address of the heap.
pub fn block_of(address: usize) -> Block {
    Block(address_space::block_index(address) as u64)
}

/// The heap for a step of the protocols.
pub struct RealHeap {
    /// The HEC that is held, or null for a step that needs none.
    hec: *mut Hec,
    /// The number of PEs.
    count: usize,
    /// Thunks that may be lent, and are not claimed yet.
    lendable: Vec<Lendable>,
    /// Absent objects that have arrived in the step.
    arrived: Vec<Address>,
    /// Calls of others to be cancelled.
    cancelled: Vec<(Pe, Call)>,
    /// Borrowed thunks whose evaluation is to be killed.
    killed: Vec<Address>,
    /// Are thunks lent?
    pub has_loans: bool,
}

// SAFETY: the element, which has no heap in it, is what OS threads share.
unsafe impl Send for RealHeap {}

impl RealHeap {
    /// The heap for a step by the holder of the HEC, or for one that needs none.
    /// # Safety
    /// The caller holds the HEC as long as this is used.
    pub unsafe fn of(hec: Option<&mut Hec>, count: usize) -> RealHeap {
        let hec = hec.map_or(null_mut(), |hec| hec as *mut Hec);
        RealHeap {
            hec,
            count,
            lendable: Vec::new(),
            arrived: Vec::new(),
            cancelled: Vec::new(),
            killed: Vec::new(),
            has_loans: false,
        }
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
        let lendable = loans::lendable(self.hec(), thunk)?;
        Some(self.add_lendable(lendable))
    }

    fn add_lendable(&mut self, lendable: Lendable) -> Address {
        let name = lendable.name;
        self.lendable.push(lendable);
        name
    }

    fn take_lendable(&mut self, name: Address) -> Option<Lendable> {
        let at = self.lendable.iter().position(|lendable| lendable.name == name)?;
        Some(self.lendable.swap_remove(at))
    }

    /// The next absent object that has arrived.
    pub fn next_arrived(&mut self) -> Option<Address> {
        self.arrived.pop()
    }

    /// Does what is left, without the element's lock.
    /// # Safety
    /// As [`RealHeap::of`] says, and no thread runs on the HEC if messages were handled.
    pub unsafe fn finish(self) {
        self.lendable.iter().for_each(loans::keep_no_longer);
        if let Some(hec) = self.hec.as_mut() {
            hec.alloc.wants_gc |= fixed_blocks::is_collection_due() || max_heap::is_eviction_due();
        }
        for &(caller, call) in &self.cancelled {
            if let Some(guest) = calls::guest(caller, call) {
                throw_from_outside(self.hec(), guest, static_closure!(hecatonzmrts_Spread_cancelled_closure));
            }
        }
        for &thunk in &self.killed {
            if let Some(t) = kept::service(thunk) {
                throw_from_outside(self.hec(), t, static_closure!(hecatonzmrts_Spread_peLost_closure));
            }
        }
    }

    unsafe fn install(&mut self, graph: &Graph) -> Installed {
        self.install_result(graph, None)
    }

    /// Installs a graph, which may be the result of a loan.
    unsafe fn install_result(&mut self, graph: &Graph, loan: Option<Address>) -> Installed {
        let installed = install(self.hec(), graph);
        if parts::note(graph, &installed, loan, self.has_loans) {
            retained::keep(graph);
        }
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

    fn owner_of_block(&self, block: Block) -> Pe {
        owner_of_block(block, self.count)
    }

    fn block(&self, address: Address) -> Block {
        block_of(address.0 as usize)
    }

    fn take_spark(&mut self) -> Option<(Address, Reason)> {
        // Without a HEC there were no sparks a moment ago.
        // SAFETY: see above.
        let lendable = unsafe { self.hec.as_mut().and_then(|hec| loans::take_spark(hec)) };
        let lendable = lendable?;
        let reason = lendable.lenient.map_or(Reason::Stolen, |nesting| Reason::Lenient(nesting as u8));
        Some((self.add_lendable(lendable), reason))
    }

    fn take_wanted(&mut self, address: Address) -> Option<Address> {
        if kept::is_name(address) {
            return None;
        }
        // SAFETY: see above.
        let lendable = unsafe { loans::wanted(self.hec(), address) };
        lendable.map(|lendable| self.add_lendable(lendable))
    }

    fn give_back_spark(&mut self, thunk: Address) {
        if let Some(lendable) = self.take_lendable(thunk) {
            // SAFETY: see above.
            unsafe { loans::give_back(self.hec(), &lendable) }
        }
    }

    fn blocks_of_thunk(&self, thunk: Address) -> Vec<Block> {
        let lendable = self.lendable.iter().find(|lendable| lendable.name == thunk);
        lendable.map_or_else(Vec::new, |lendable| lendable.graph.blocks().to_vec())
    }

    fn blocks(&self, graph: &Graph) -> Vec<Block> {
        graph.blocks().to_vec()
    }

    fn claim(&mut self, thunk: Address) -> Option<Graph> {
        let lendable = self.take_lendable(thunk)?;
        // SAFETY: see above.
        unsafe { loans::claim(self.hec(), lendable) }
    }

    fn evaluate_clone(&mut self, thunk: Address, clone: Graph) {
        // SAFETY: see above.
        unsafe {
            let Some(clone) = self.install(&clone).thunk else { broken("a clone without a thunk") };
            loans::close(self.hec(), thunk, clone, true);
        }
    }

    fn evaluate_borrowed(&mut self, graph: Graph, reason: Reason) -> Address {
        // SAFETY: see above.
        unsafe {
            let Some(thunk) = self.install(&graph).thunk else { broken("a loan without a thunk") };
            loans::evaluate(self.hec(), thunk, reason)
        }
    }

    fn demand(&mut self, thunk: Address) {
        // SAFETY: see above.
        unsafe { loans::demand(self.hec(), thunk) }
    }

    fn kill(&mut self, thunk: Address) {
        if placed::remove(thunk) {
            kept::release(thunk);
        } else {
            self.killed.push(thunk);
        }
    }

    fn update(&mut self, thunk: Address, value: Graph) {
        // SAFETY: see above.
        unsafe {
            let value = self.install_result(&value, Some(thunk)).root();
            loans::close(self.hec(), thunk, value, false);
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

    fn fill(&mut self, address: Address, thunk: Address) {
        if let Some(value) = kept::get(thunk) {
            // SAFETY: see above.
            unsafe { install::fill(Closure(address.0 as usize), value) }
        }
    }

    fn is_complete(&self, loan: Address, _value: &Graph) -> bool {
        !parts::has_any(loan)
    }

    fn take_complete(&mut self) -> Vec<Address> {
        parts::take_complete()
    }

    fn recover<'a>(&mut self, address: Address, mut lent: impl Iterator<Item = (Address, &'a Graph)>) -> bool {
        let Some(part) = parts::take(address) else { return false };
        let clone = kept::get(part.loan).map(Ok).or_else(|| {
            let clone = lent.find(|(loan, _)| *loan == part.loan).map(|(_, clone)| clone);
            clone.map(Err)
        });
        // SAFETY: see above.
        unsafe {
            let clone = match clone {
                Some(Ok(thunk)) => thunk,
                Some(Err(graph)) => {
                    let Some(thunk) = self.install(graph).thunk else { broken("a clone without a thunk") };
                    kept::replace(part.loan, thunk);
                    thunk
                }
                None => return false,
            };
            let thunk = parts::thunk(self.hec(), clone, &part);
            install::fill(Closure(address.0 as usize), thunk);
        }
        true
    }

    // The collection that has not reached it has cleared it.
    fn drop_block(&mut self, _block: Block) {}

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

    fn cancel_all(&mut self, caller: Pe) {
        self.cancelled.extend(calls::of(caller).into_iter().map(|call| (caller, call)));
    }

    fn on_pong(&mut self, number: u64) {
        // SAFETY: see above.
        unsafe { ping::on_pong(self.hec(), number) }
    }
}
