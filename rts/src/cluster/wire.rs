//! Messages as bytes.
//!
//! A message is a byte that says its kind, then its fields, as `bytes.rs` says. A graph comes last, as its [`Payload`]
//! says.
//!
//! *Version*: HELLO is read before the versions of two PEs are compared, so its form never changes. All else may change
//! with the version ([`Build`]).
//!
//! *Malformed bytes*: [`decode`] answers with `None`. It never panics, and allocates no more than it has been given.
//!
//! *Checked by*: `wire_tests.rs` and `rts/tests/simulation`, whose messages all go through here.
use super::build::Build;
use super::bytes::{put_bytes, put_credits, put_number, Reader};
use super::ids::{Address, Block, Call};
use super::loan::Number;
use super::message::{Message, Parcel, Ping, Reason, Unavailable};
use super::wire_cycle;

/// What a message carries.
pub trait Payload: Sized {
    fn write(&self, to: &mut Vec<u8>);
    /// Reads all that is left.
    fn read(from: &mut Reader) -> Option<Self>;
}

pub(super) mod kind {
    pub const HELLO: u8 = 1;
    pub const UNABLE: u8 = 2;
    pub const START: u8 = 3;
    pub const REFUSED: u8 = 4;
    pub const HEARTBEAT: u8 = 5;
    pub const SUSPECT: u8 = 6;
    pub const LOST: u8 = 7;
    pub const STEAL: u8 = 8;
    pub const NOTHING_TO_STEAL: u8 = 9;
    pub const LEND: u8 = 10;
    pub const RESULT: u8 = 11;
    pub const FAILED: u8 = 12;
    pub const FETCH: u8 = 13;
    pub const VALUE: u8 = 14;
    pub const UNAVAILABLE: u8 = 15;
    pub const MORE_CREDIT: u8 = 16;
    pub const CREDIT: u8 = 17;
    pub const RETURN_CREDITS: u8 = 18;
    pub const PING: u8 = 19;
    pub const PONG: u8 = 20;
    pub const CALL: u8 = 21;
    pub const RETURNED: u8 = 22;
    pub const CANCEL: u8 = 23;
    pub const ASK_COUNTS: u8 = 24;
    pub const COUNTS: u8 = 25;
    pub const CYCLE: u8 = 26;
    pub const ASK_CLOCK: u8 = 27;
    pub const CLOCK: u8 = 28;
    pub const EVENTS: u8 = 29;
    pub const END_EVENTS: u8 = 30;
    pub const EVENTS_ENDED: u8 = 31;
    pub const DEMAND: u8 = 32;
}

/// The bytes of a message.
pub fn encode<G: Payload>(message: &Message<G>) -> Vec<u8> {
    let mut to = Vec::with_capacity(16);
    let start = |to: &mut Vec<u8>, kind, number: u64| {
        to.push(kind);
        put_number(to, number);
    };
    match message {
        Message::Hello(build) => {
            start(&mut to, kind::HELLO, build.0.len() as u64);
            for (name, value) in &build.0 {
                put_bytes(&mut to, name.as_bytes());
                put_bytes(&mut to, value.as_bytes());
            }
        }
        Message::Unable(why) => {
            to.push(kind::UNABLE);
            put_bytes(&mut to, why.as_bytes());
        }
        Message::Start => to.push(kind::START),
        Message::Refused => to.push(kind::REFUSED),
        Message::Heartbeat => to.push(kind::HEARTBEAT),
        Message::Suspect(pe) => start(&mut to, kind::SUSPECT, pe.0.into()),
        Message::Lost(pe) => start(&mut to, kind::LOST, pe.0.into()),
        Message::Steal => to.push(kind::STEAL),
        Message::NothingToSteal => to.push(kind::NOTHING_TO_STEAL),
        Message::Lend { loan, reason, parcel } => {
            start(&mut to, kind::LEND, loan.0);
            match reason {
                Reason::Stolen => to.push(0),
                Reason::Placed => to.push(1),
                Reason::Wanted(address) => start(&mut to, 2, address.0),
                Reason::Lenient(nesting) => to.extend([3, *nesting]),
            }
            put_parcel(&mut to, parcel);
        }
        Message::Result { loan, parcel } => {
            start(&mut to, kind::RESULT, loan.0);
            put_parcel(&mut to, parcel);
        }
        Message::Failed { loan } => start(&mut to, kind::FAILED, loan.0),
        Message::Demand { loan } => start(&mut to, kind::DEMAND, loan.0),
        Message::Fetch(address) => start(&mut to, kind::FETCH, address.0),
        Message::Value { address, parcel } => {
            start(&mut to, kind::VALUE, address.0);
            put_parcel(&mut to, parcel);
        }
        Message::Unavailable { address, why } => {
            start(&mut to, kind::UNAVAILABLE, address.0);
            put_reason(&mut to, why);
        }
        Message::Call { call, parcel } => {
            start(&mut to, kind::CALL, call.0);
            put_parcel(&mut to, parcel);
        }
        Message::Returned { call, parcel } => {
            start(&mut to, kind::RETURNED, call.0);
            put_parcel(&mut to, parcel);
        }
        Message::Cancel(call) => start(&mut to, kind::CANCEL, call.0),
        Message::MoreCredit(block) => start(&mut to, kind::MORE_CREDIT, block.0),
        Message::Credit(credit) => {
            start(&mut to, kind::CREDIT, credit.block.0);
            put_number(&mut to, credit.weight);
        }
        Message::ReturnCredits(credits) => {
            to.push(kind::RETURN_CREDITS);
            put_credits(&mut to, credits);
        }
        Message::Cycle(number, step) => {
            to.push(kind::CYCLE);
            wire_cycle::put_step(&mut to, *number, step);
        }
        Message::Ping(ping) => put_ping(&mut to, kind::PING, ping),
        Message::Pong(ping) => put_ping(&mut to, kind::PONG, ping),
        Message::AskCounts => to.push(kind::ASK_COUNTS),
        Message::Counts(counts) => {
            start(&mut to, kind::COUNTS, counts.len() as u64);
            counts.iter().for_each(|&count| put_number(&mut to, count));
        }
        Message::AskClock => to.push(kind::ASK_CLOCK),
        Message::Clock { time, hecs } => {
            start(&mut to, kind::CLOCK, *time);
            put_number(&mut to, *hecs);
        }
        Message::Events(block) => {
            to.push(kind::EVENTS);
            to.extend_from_slice(block);
        }
        Message::EndEvents => to.push(kind::END_EVENTS),
        Message::EventsEnded => to.push(kind::EVENTS_ENDED),
    }
    to
}

/// The message that these bytes are; `None` if they are none.
pub fn decode<G: Payload>(bytes: &[u8]) -> Option<Message<G>> {
    let from = &mut Reader { left: bytes };
    let message = match from.byte()? {
        kind::HELLO => Message::Hello(Build(from.list(|from| Some((from.text()?, from.text()?)))?)),
        kind::UNABLE => Message::Unable(from.text()?),
        kind::START => Message::Start,
        kind::REFUSED => Message::Refused,
        kind::HEARTBEAT => Message::Heartbeat,
        kind::SUSPECT => Message::Suspect(from.pe()?),
        kind::LOST => Message::Lost(from.pe()?),
        kind::STEAL => Message::Steal,
        kind::NOTHING_TO_STEAL => Message::NothingToSteal,
        kind::LEND => {
            let loan = Number(from.number()?);
            let reason = match from.byte()? {
                0 => Reason::Stolen,
                1 => Reason::Placed,
                2 => Reason::Wanted(Address(from.number()?)),
                3 => Reason::Lenient(from.byte()?),
                _ => return None,
            };
            Message::Lend { loan, reason, parcel: from.parcel()? }
        }
        kind::RESULT => Message::Result { loan: Number(from.number()?), parcel: from.parcel()? },
        kind::FAILED => Message::Failed { loan: Number(from.number()?) },
        kind::DEMAND => Message::Demand { loan: Number(from.number()?) },
        kind::FETCH => Message::Fetch(Address(from.number()?)),
        kind::VALUE => Message::Value { address: Address(from.number()?), parcel: from.parcel()? },
        kind::UNAVAILABLE => Message::Unavailable { address: Address(from.number()?), why: from.reason()? },
        kind::CALL => Message::Call { call: Call(from.number()?), parcel: from.parcel()? },
        kind::RETURNED => Message::Returned { call: Call(from.number()?), parcel: from.parcel()? },
        kind::CANCEL => Message::Cancel(Call(from.number()?)),
        kind::MORE_CREDIT => Message::MoreCredit(Block(from.number()?)),
        kind::CREDIT => Message::Credit(from.credit()?),
        kind::RETURN_CREDITS => Message::ReturnCredits(from.list(Reader::credit)?),
        kind::PING => Message::Ping(from.ping()?),
        kind::PONG => Message::Pong(from.ping()?),
        kind::ASK_COUNTS => Message::AskCounts,
        kind::COUNTS => Message::Counts(from.list(Reader::number)?),
        kind::CYCLE => wire_cycle::step(from).map(|(number, step)| Message::Cycle(number, step))?,
        kind::ASK_CLOCK => Message::AskClock,
        kind::CLOCK => Message::Clock { time: from.number()?, hecs: from.number()? },
        kind::EVENTS => Message::Events(from.rest().to_vec()),
        kind::END_EVENTS => Message::EndEvents,
        kind::EVENTS_ENDED => Message::EventsEnded,
        _ => return None,
    };
    from.left.is_empty().then_some(message)
}

fn put_parcel<G: Payload>(to: &mut Vec<u8>, parcel: &Parcel<G>) {
    put_credits(to, &parcel.credits);
    parcel.graph.write(to);
}

fn put_reason(to: &mut Vec<u8>, why: &Unavailable) {
    match why {
        Unavailable::PeLost => to.push(0),
        Unavailable::Stays(text) => {
            to.push(1);
            put_bytes(to, text.as_bytes());
        }
        Unavailable::StackOverflow => to.push(2),
        Unavailable::HeapOverflow => to.push(3),
    }
}

fn put_ping(to: &mut Vec<u8>, kind: u8, ping: &Ping) {
    to.extend([kind, ping.by_hec.into()]);
    put_number(to, ping.number);
    to.extend_from_slice(&ping.bytes);
}

impl Reader<'_> {
    fn parcel<G: Payload>(&mut self) -> Option<Parcel<G>> {
        let credits = self.list(Reader::credit)?;
        Some(Parcel { graph: G::read(self)?, credits })
    }

    fn reason(&mut self) -> Option<Unavailable> {
        match self.byte()? {
            0 => Some(Unavailable::PeLost),
            1 => Some(Unavailable::Stays(self.text()?)),
            2 => Some(Unavailable::StackOverflow),
            3 => Some(Unavailable::HeapOverflow),
            _ => None,
        }
    }

    fn ping(&mut self) -> Option<Ping> {
        let by_hec = self.flag()?;
        Some(Ping { by_hec, number: self.number()?, bytes: self.rest().to_vec() })
    }
}
