//! Credits: weighted counts of references from other PEs, one for each block of fixed objects.
//!
//! *Protocol*
//! 1. A PE with any reference into a block of another PE holds a weight on it ([`Held`]). The owner has the sum of all
//!    weights that are out ([`Given`]). A block with a sum is a root of the owner's local collections.
//! 2. The owner sends a reference with a new weight, and adds it to the sum.
//! 3. A holder that passes a reference on splits its weight: the packet takes half. The owner hears nothing of it.
//! 4. A weight of 1 cannot be split. The holder asks the owner for more, and does not pass the reference on meanwhile.
//! 5. A full collection of a holder that finds no reference into the block returns the weight. It is subtracted.
//!
//! *Invariant*: sum = weights held + weights in packets. So a sum of 0 means that nobody else has a reference.
//!
//! *Loss*: weights of a lost PE stay in the sums, so its blocks live until a global collection: too long, never too
//! short. That finds all weights that are left ([`Given::set`]), and what is not needed is forgotten by its holders
//! without a message.
//!
//! *Checked by*: `rts/tests/simulation`, which adds up all weights when nothing is under way.
use super::ids::Block;
use std::collections::{BTreeMap, BTreeSet};

pub type Weight = u64;

/// What the owner gives with a new reference: enough for it to be passed on 32 times in a row.
pub const NEW_WEIGHT: Weight = 1 << 32;

/// A weight on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    pub block: Block,
    pub weight: Weight,
}

/// The owner's side.
pub struct Given {
    sums: BTreeMap<Block, Weight>,
    new_weight: Weight,
}

impl Given {
    pub fn new(new_weight: Weight) -> Given {
        Given { sums: BTreeMap::new(), new_weight }
    }

    /// The credit that goes with a reference into an own block.
    pub fn give(&mut self, block: Block) -> Credit {
        *self.sums.entry(block).or_default() += self.new_weight;
        Credit { block, weight: self.new_weight }
    }

    /// A weight has come back. True if it was the last one of the block.
    pub fn on_returned(&mut self, credit: Credit) -> bool {
        let sum = self.sums.get_mut(&credit.block).expect("a weight that was given");
        *sum = sum.checked_sub(credit.weight).expect("no more weight comes back than was given");
        let last = *sum == 0;
        if last {
            self.sums.remove(&credit.block);
        }
        last
    }

    /// Own blocks that others may refer to, with the weights that are out.
    pub fn blocks(&self) -> impl Iterator<Item = Credit> + '_ {
        self.sums.iter().map(|(&block, &weight)| Credit { block, weight })
    }

    /// A global collection has found all weights that are out.
    pub fn set(&mut self, credits: impl Iterator<Item = Credit>) {
        self.sums.clear();
        credits.for_each(|credit| *self.sums.entry(credit.block).or_default() += credit.weight);
    }

    pub fn is_referenced(&self, block: Block) -> bool {
        self.sums.contains_key(&block)
    }
}

/// A holder's side.
#[derive(Default)]
pub struct Held {
    weights: BTreeMap<Block, Weight>,
    /// Blocks for which more weight has been asked for.
    asked: BTreeSet<Block>,
}

impl Held {
    pub fn new() -> Held {
        Held::default()
    }

    pub fn add(&mut self, credit: Credit) {
        *self.weights.entry(credit.block).or_default() += credit.weight;
        self.asked.remove(&credit.block);
    }

    pub fn can_split(&self, block: Block) -> bool {
        self.weights.get(&block).is_some_and(|&w| w > 1)
    }

    /// Takes half of a weight, for a packet.
    pub fn split(&mut self, block: Block) -> Credit {
        let weight = self.weights.get_mut(&block).expect("who passes a reference on holds a weight");
        let half = *weight / 2;
        *weight -= half;
        assert!(half > 0, "a weight of 1 is not split");
        Credit { block, weight: half }
    }

    /// Should the owner be asked for more? Once for each block until it answers.
    pub fn asks_for_more(&mut self, block: Block) -> bool {
        self.asked.insert(block)
    }

    /// After a full collection: takes the weights of blocks into which it has found no reference.
    pub fn release_unreached(&mut self, is_reached: impl Fn(Block) -> bool) -> Vec<Credit> {
        let asked = &self.asked;
        let mut released = Vec::new();
        self.weights.retain(|&block, &mut weight| {
            let kept = is_reached(block) || asked.contains(&block);
            if !kept {
                released.push(Credit { block, weight });
            }
            kept
        });
        released
    }

    /// Nobody answers for the blocks of a lost PE. What is held of them says still what is cached.
    pub fn on_lost(&mut self, is_of_lost: impl Fn(Block) -> bool) {
        self.asked.retain(|&block| !is_of_lost(block));
    }

    pub fn holds(&self, block: Block) -> bool {
        self.weights.contains_key(&block)
    }

    pub fn credits(&self) -> impl Iterator<Item = Credit> + '_ {
        self.weights.iter().map(|(&block, &weight)| Credit { block, weight })
    }
}
