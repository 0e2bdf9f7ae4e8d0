//! What PEs send each other.
use super::build::Build;
use super::credit::Credit;
use super::ids::{Address, Block, Pe};
use super::loan::Number;

/// A message. `G` is a packed graph.
#[derive(Clone, Debug, PartialEq)]
pub enum Message<G> {
    Hello(Build),
    /// A PE cannot take part, and why.
    Unable(String),
    Start,
    Refused,
    Heartbeat,
    Suspect(Pe),
    Lost(Pe),
    Steal,
    NothingToSteal,
    Lend {
        loan: Number,
        graph: G,
        credits: Vec<Credit>,
    },
    Result {
        loan: Number,
        graph: G,
    },
    Failed {
        loan: Number,
    },
    Fetch(Address),
    Value {
        address: Address,
        graph: G,
    },
    /// The answer to a FETCH whose value needs something of a lost PE.
    Unavailable(Address),
    /// A holder asks for more weight on a block.
    MoreCredit(Block),
    Credit(Credit),
    ReturnCredits(Vec<Credit>),
    Ping(Ping),
    Pong(Ping),
}

/// A message that is answered with itself, to measure how long that takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Ping {
    pub number: u64,
    /// Do HECs handle it? If not, the tasks do that receive it.
    pub by_hec: bool,
    pub bytes: Vec<u8>,
}
