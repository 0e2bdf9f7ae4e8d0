//! Passing references on: weights for what a message refers to, and messages that wait for some.
//!
//! *Protocol*
//! 1. A message with a graph takes a weight for each block that the graph has objects of or refers to: a new one for an
//!    own block, half of the one that is held for another PE's. For blocks of its receiver it needs none: what comes by
//!    the same channel later, weights that are returned among it, is handled later.
//! 2. A weight of 1 cannot be split. Then the message waits, all of it, and its owner is asked for more. A spark is not
//!    lent meanwhile.
//! 3. With CREDIT the message goes, unless it lacks others. Messages to one PE stay in their order: those with graphs,
//!    and those that concern what is in them.
//!
//! *Invariant*: the blocks of waiting graphs, and of the clones of loans, are roots, and weights on them are not
//! returned.
//!
//! *Checked by*: the unit tests of `rts/src/spread/`, and `rts/tests/simulation`.
use super::credit::Credit;
use super::element::{Element, Heap};
use super::ids::{Block, Pe};
use super::members::Outbox;
use super::message::Message;
use std::collections::{BTreeMap, BTreeSet};

impl<H: Heap> Element<H> {
    /// Sends a message as soon as there are weights for its graph, and for those of earlier ones.
    pub(super) fn pass_on(&mut self, heap: &H, to: Pe, mut message: Message<H::Graph>, out: &mut Outbox<H::Graph>) {
        if self.members.is_lost(to) {
            return;
        }
        if self.waiting.queues.contains_key(&to) || !self.add_credits(heap, to, &mut message, out) {
            self.waiting.queues.entry(to).or_default().push_back(message);
        } else {
            out.push((to, message));
        }
    }

    /// More weight has come.
    pub(super) fn on_credit(&mut self, heap: &H, credit: Credit, out: &mut Outbox<H::Graph>) {
        self.held.add(credit);
        for (to, messages) in std::mem::take(&mut self.waiting.queues) {
            messages.into_iter().for_each(|message| self.pass_on(heap, to, message, out));
        }
    }

    /// Adds the weights for a message's graph. False if there are too few; then none is added.
    fn add_credits(&mut self, heap: &H, to: Pe, message: &mut Message<H::Graph>, out: &mut Outbox<H::Graph>) -> bool {
        let Some(parcel) = message.parcel_mut() else { return true };
        let mut blocks = heap.blocks(&parcel.graph);
        if !self.can_pass_on(heap, &blocks, to, out) {
            return false;
        }
        blocks.retain(|&block| heap.owner_of_block(block) != to);
        let is_own = |block: Block| heap.owner_of_block(block) == self.me;
        let credit = |block| if is_own(block) { self.given.give(block) } else { self.held.split(block) };
        parcel.credits = blocks.into_iter().map(credit).collect();
        true
    }

    /// Can the weights of all these blocks be split? If not, more is asked for.
    pub(super) fn can_pass_on(&mut self, heap: &H, blocks: &[Block], to: Pe, out: &mut Outbox<H::Graph>) -> bool {
        let mut can = true;
        for &block in blocks {
            let owner = heap.owner_of_block(block);
            if owner == self.me || owner == to || self.held.can_split(block) {
                continue;
            }
            can = false;
            // A lost owner would not answer, and the block would be kept for the answer.
            let is_asked = !self.members.is_lost(owner) && self.held.holds(block);
            if is_asked && self.held.asks_for_more(block) {
                out.push((owner, Message::MoreCredit(block)));
            }
        }
        can
    }

    /// The graphs that this PE keeps: what they refer to are roots.
    pub fn kept_graphs(&self) -> impl Iterator<Item = &H::Graph> {
        let clones = self.loans.roots().map(|(_, clone)| clone);
        clones.chain(self.waiting.graphs())
    }

    /// The blocks of these graphs.
    pub fn kept_blocks(&self, heap: &H) -> BTreeSet<Block> {
        self.kept_graphs().flat_map(|graph| heap.blocks(graph)).collect()
    }

    /// A full collection has found references to these blocks of others only. Answers with the weights of the rest.
    pub fn release_unreached(&mut self, heap: &mut H, is_reached: impl Fn(Block) -> bool) -> Vec<Credit> {
        let kept = self.kept_blocks(heap);
        let released = self.held.release_unreached(|block| is_reached(block) || kept.contains(&block));
        released.iter().for_each(|credit| heap.drop_block(credit.block));
        released
    }

    /// As [`Element::release_unreached`], and returns the weights.
    pub fn on_collected(&mut self, heap: &mut H, is_reached: impl Fn(Block) -> bool, out: &mut Outbox<H::Graph>) {
        let mut by_owner: BTreeMap<Pe, Vec<Credit>> = BTreeMap::new();
        for credit in self.release_unreached(heap, is_reached) {
            by_owner.entry(heap.owner_of_block(credit.block)).or_default().push(credit);
        }
        by_owner.retain(|&pe, _| !self.members.is_lost(pe));
        out.extend(by_owner.into_iter().map(|(pe, credits)| (pe, Message::ReturnCredits(credits))));
    }
}
