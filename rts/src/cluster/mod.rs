//! Protocols between processing elements (PEs): one program over many processes, each with its own heap [FN96].
//!
//! Each file is one state machine. It has inputs (a message, the time, a call of the heap's) and says what follows. It
//! does no I/O, reads no clock, and knows the heap only as addresses. So the simulator in `rts/tests/simulation`
//! compiles these files as they are and runs them over a simulated network.
//!
//! | file | protocol |
//! |---|---|
//! | `members.rs` | who takes part: handshake, heartbeats, loss of a PE |
//! | `steal.rs` | whom an idle PE asks for work, and when |
//! | `loan.rs` | a thunk that another PE evaluates |
//! | `fetch.rs` | values of other PEs, and readers of what is not evaluated yet |
//! | `credit.rs` | weighted counts of references from other PEs |
//! | `ring.rs` | when marking across PEs is over |
//! | `rpp.rs` | reliable packets over datagrams |
//! | `element.rs` | the protocols of one PE put together: what each message does |
//!
//! Channels between two PEs are first in, first out, without loss or duplicates: `rpp.rs` makes them so. What
//! `docs/distribution.md` says of the whole is not repeated here.
pub mod credit;
pub mod element;
pub mod fetch;
pub mod loan;
pub mod members;
pub mod ring;
pub mod rpp;
pub mod steal;

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

/// A time, or a length of time, in microseconds.
pub type Micros = u64;

/// What PEs send each other. `G` is a packed graph.
#[derive(Clone, Debug, PartialEq)]
pub enum Message<G> {
    Hello(members::Build),
    Start,
    Refused {
        theirs: members::Build,
        ours: members::Build,
    },
    Heartbeat,
    Suspect(Pe),
    Lost(Pe),
    Steal,
    NothingToSteal,
    Lend {
        loan: loan::Number,
        graph: G,
        credits: Vec<credit::Credit>,
    },
    Result {
        loan: loan::Number,
        graph: G,
    },
    Failed {
        loan: loan::Number,
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
    Credit(credit::Credit),
    ReturnCredits(Vec<credit::Credit>),
}
