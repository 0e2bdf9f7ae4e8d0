//! Unit tests of messages as bytes.
use super::build::Build;
use super::bytes::Reader;
use super::credit::Credit;
use super::ids::{Address, Block, Call, Pe};
use super::loan::Number;
use super::message::{Message, Parcel, Ping, Reason, Unavailable};
use super::wire::{decode, encode, kind, Payload};
use super::wire_cycle;
use crate::base::random::Random;

impl Payload for Vec<u8> {
    fn write(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(self);
    }
    fn read(from: &mut Reader) -> Option<Vec<u8>> {
        Some(from.rest().to_vec())
    }
}

type Sent = Message<Vec<u8>>;

fn bytes(random: &mut Random) -> Vec<u8> {
    let length = random.magnitude(9);
    (0..length).map(|_| random.number() as u8).collect()
}

fn text(random: &mut Random) -> String {
    let length = random.magnitude(5);
    (0..length).filter_map(|_| char::from_u32(random.magnitude(17) as u32)).collect()
}

fn credit(random: &mut Random) -> Credit {
    Credit { block: Block(random.magnitude(64)), weight: random.magnitude(64) }
}

fn credits(random: &mut Random) -> Vec<Credit> {
    (0..random.below(9)).map(|_| credit(random)).collect()
}

fn parcel(random: &mut Random) -> Parcel<Vec<u8>> {
    Parcel { graph: bytes(random), credits: credits(random) }
}

fn ping(random: &mut Random) -> Ping {
    Ping { number: random.magnitude(64), by_hec: random.below(2) == 0, bytes: bytes(random) }
}

fn reason(random: &mut Random) -> Unavailable {
    match random.below(4) {
        0 => Unavailable::PeLost,
        1 => Unavailable::Stays(text(random)),
        2 => Unavailable::StackOverflow,
        _ => Unavailable::HeapOverflow,
    }
}

fn message(random: &mut Random) -> Sent {
    let pe = Pe(random.magnitude(16) as u16);
    let (loan, address) = (Number(random.magnitude(64)), Address(random.magnitude(64)));
    match random.below(32) {
        0 => Message::Hello(Build((0..random.below(9)).map(|_| (text(random), text(random))).collect())),
        1 => Message::Unable(text(random)),
        2 => Message::Start,
        3 => Message::Refused,
        4 => Message::Heartbeat,
        5 => Message::Suspect(pe),
        6 => Message::Lost(pe),
        7 => Message::Steal,
        8 => Message::NothingToSteal,
        9 => {
            let nesting = random.magnitude(8) as u8;
            let reasons = [Reason::Stolen, Reason::Placed, Reason::Wanted(address), Reason::Lenient(nesting)];
            let reason = random.pick(&reasons);
            Message::Lend { loan, reason, parcel: parcel(random) }
        }
        10 => Message::Result { loan, parcel: parcel(random) },
        11 => Message::Failed { loan },
        12 => Message::Fetch(address),
        13 => Message::Value { address, parcel: parcel(random) },
        14 => Message::Unavailable { address, why: reason(random) },
        20 => Message::Call { call: Call(loan.0), parcel: parcel(random) },
        21 => Message::Returned { call: Call(loan.0), parcel: parcel(random) },
        22 => Message::Cancel(Call(loan.0)),
        15 => Message::MoreCredit(Block(address.0)),
        16 => Message::Credit(credit(random)),
        17 => Message::ReturnCredits(credits(random)),
        18 => Message::Ping(ping(random)),
        19 => Message::Pong(ping(random)),
        23 => Message::AskCounts,
        24 => Message::AskClock,
        25 => Message::Clock { time: random.magnitude(64), hecs: random.magnitude(16) },
        26 => Message::Events(bytes(random)),
        27 => Message::EndEvents,
        30 => Message::Demand { loan },
        29 => Message::Cycle(random.magnitude(64), wire_cycle::random_step(random)),
        28 => Message::EventsEnded,
        _ => Message::Counts((0..random.below(9)).map(|_| random.magnitude(64)).collect()),
    }
}

#[test]
fn messages_are_read_as_they_were_written() {
    let mut random = Random(1);
    for _ in 0..20_000 {
        let message = message(&mut random);
        assert_eq!(decode(&encode(&message)), Some(message));
    }
}

#[test]
fn what_is_malformed_is_refused() {
    let decode = |bytes: &[u8]| decode::<Vec<u8>>(bytes);
    for wrong in [&[][..], &[0], &[33], &[kind::START, 0], &[kind::FETCH], &[kind::FETCH, 0x80], &[kind::PING, 2, 0]] {
        assert_eq!(decode(wrong), None, "{wrong:?}");
    }
    let long = |last| [&[kind::FETCH][..], &[0xff; 9], &[last]].concat();
    assert_eq!(decode(&long(1)), Some(Message::Fetch(Address(u64::MAX))));
    assert_eq!(decode(&long(2)), None);
    assert_eq!(decode(&long(0x81)), None);
    assert_eq!(decode(&[kind::SUSPECT, 0xff, 0xff, 4]), None);
    // Text that is none, and a length beyond the end.
    assert_eq!(decode(&[kind::UNABLE, 1, 0xff]), None);
    assert_eq!(decode(&[kind::RETURN_CREDITS, 0xff, 0xff, 0xff, 0xff, 0x0f]), None);
}

#[test]
fn no_bytes_make_it_panic() {
    let mut random = Random(2);
    for _ in 0..50_000 {
        let mut bytes = encode(&message(&mut random));
        for _ in 0..random.below(4) {
            let at = random.below(bytes.len() as u64) as usize;
            match random.below(3) {
                0 => bytes[at] = random.number() as u8,
                1 => bytes.truncate(at.max(1)),
                _ => bytes.insert(at, random.number() as u8),
            }
        }
        // What is read is a message: it can be written, and read again.
        if let Some(read) = decode::<Vec<u8>>(&bytes) {
            assert_eq!(decode(&encode(&read)), Some(read));
        }
    }
}
