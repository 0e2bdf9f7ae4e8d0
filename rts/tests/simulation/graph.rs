//! Addresses in simulated heaps, and what messages carry: thunks are tasks, values are numbers.
use crate::calls::Outcome;
use crate::cluster::bytes::{put_number, Reader};
use crate::cluster::ids::{Address, Block, Pe};
use crate::cluster::wire::Payload;
use crate::program::Task;
use std::collections::BTreeSet;

/// Objects of a block. Few, so that blocks become free.
const BLOCK_OBJECTS: u64 = 8;
pub const SLICE: u64 = 1 << 40;

pub fn owner(address: Address) -> Pe {
    Pe((address.0 / SLICE) as u16)
}

pub fn owner_of_block(block: Block) -> Pe {
    owner(Address(block.0 * BLOCK_OBJECTS))
}

pub fn block(address: Address) -> Block {
    Block(address.0 / BLOCK_OBJECTS)
}

/// The blocks of these addresses, each once.
pub fn blocks(addresses: &[Address]) -> Vec<Block> {
    let blocks: BTreeSet<Block> = addresses.iter().map(|&address| block(address)).collect();
    blocks.into_iter().collect()
}

/// An evaluated object: a number, and perhaps a part that need not be evaluated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    pub number: u64,
    pub part: Option<Address>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Graph {
    Thunk(Task, Vec<Address>),
    Value(Value),
    /// How an action has ended that has no value for its caller.
    Ended(Outcome),
}

const VALUE: u64 = 0;
const THUNK: u64 = 1;
const CANCELLED: u64 = 2;
const STAYS: u64 = 3;

impl Payload for Graph {
    fn write(&self, to: &mut Vec<u8>) {
        match self {
            Graph::Value(Value { number, part }) => {
                [VALUE, *number, part.map_or(0, |p| p.0)].into_iter().for_each(|number| put_number(to, number));
            }
            Graph::Ended(Outcome::Cancelled) => put_number(to, CANCELLED),
            Graph::Ended(_) => put_number(to, STAYS),
            Graph::Thunk(task, references) => {
                let numbers = [THUNK, task.id, task.depth.into(), references.len() as u64];
                numbers.into_iter().for_each(|n| put_number(to, n));
                references.iter().for_each(|address| put_number(to, address.0));
            }
        }
    }

    fn read(from: &mut Reader) -> Option<Graph> {
        match from.number()? {
            VALUE => {
                let (number, part) = (from.number()?, from.number()?);
                return Some(Graph::Value(Value { number, part: (part > 0).then_some(Address(part)) }));
            }
            CANCELLED => return Some(Graph::Ended(Outcome::Cancelled)),
            STAYS => return Some(Graph::Ended(Outcome::Stays)),
            _ => {}
        }
        let task = Task { id: from.number()?, depth: from.number()?.try_into().ok()? };
        Some(Graph::Thunk(task, from.list(|from| from.number().map(Address))?))
    }
}
