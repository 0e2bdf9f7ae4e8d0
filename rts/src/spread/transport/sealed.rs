//! Packets of [`crate::cluster::rpp`] as bytes, with a tag that only those make and check who have the run's key.
//!
//! ```text
//!   tag 16   from 2   to 2   kind and queue 1   DATA: sequence 8, contents
//!                                               ACK:  next 8, got 8 (all ones: none), limit 8
//! ```
//!
//! Numbers have their little end first. The contents of DATA are a packet of [`super::outgoing`]. The tag is
//! SipHash-2-4 with 128 bits over all that follows it. A PE has a key of its own for what it sends to each other one,
//! which is derived from the run's key. So a packet that is sent back to its sender, or on to another PE, is as good
//! as forged. One that comes again is a duplicate, which `rpp` knows by its sequence number.
//!
//! Nothing is encrypted.
use super::Queue;
use crate::cluster::ids::Pe;
use crate::cluster::rpp::Packet;
use siphasher::sip128::{Hasher128, SipHasher24};
use std::hash::Hasher;
use std::sync::Arc;

/// Bytes of the longest packet, so that a network's frame of 1,500 holds it whatever it is wrapped in.
pub const MAX_PACKET: usize = 1_400;
const TAG: usize = 16;
/// Bytes before the contents of DATA.
pub const HEAD: usize = TAG + 2 + 2 + 1 + 8;
/// Bytes of contents.
pub const MAX_CONTENTS: usize = MAX_PACKET - HEAD;
const ACK: u8 = 0x80;
const NO_NUMBER: u64 = u64::MAX;

/// Contents, which are kept until they are acknowledged and may be sent several times.
pub type Contents = Arc<[u8]>;

/// The key of a run.
pub type RunKey = [u8; 32];

/// The key for what one PE sends to another.
#[derive(Clone, Copy)]
pub struct Key([u8; 16]);

impl Key {
    pub fn new(run: &RunKey, from: Pe, to: Pe) -> Key {
        let (secret, salt) = run.split_at(16);
        let numbers = [from.0.to_le_bytes(), to.0.to_le_bytes()].concat();
        Key(tag(&Key(number_at(secret, 0).unwrap_or_default()), &[salt, &numbers]))
    }
}

fn tag(key: &Key, parts: &[&[u8]]) -> [u8; TAG] {
    let mut hasher = SipHasher24::new_with_key(&key.0);
    parts.iter().for_each(|part| hasher.write(part));
    hasher.finish128().as_bytes()
}

/// A packet that is to be sent: what comes before the contents, and these.
pub struct Sealed<'a> {
    head: Vec<u8>,
    contents: &'a [u8],
}

impl Sealed<'_> {
    pub fn parts(&self) -> [&[u8]; 2] {
        [&self.head, self.contents]
    }
}

pub fn seal<'a>(key: &Key, from: Pe, to: Pe, queue: Queue, packet: &'a Packet<Contents>) -> Sealed<'a> {
    let mut head = vec![0; TAG];
    head.extend_from_slice(&from.0.to_le_bytes());
    head.extend_from_slice(&to.0.to_le_bytes());
    let contents: &[u8] = match packet {
        Packet::Data { sequence, payload } => {
            head.push(queue as u8);
            head.extend_from_slice(&sequence.to_le_bytes());
            payload
        }
        Packet::Ack { next, got, limit } => {
            head.push(queue as u8 | ACK);
            for number in [*next, got.unwrap_or(NO_NUMBER), *limit] {
                head.extend_from_slice(&number.to_le_bytes());
            }
            &[]
        }
    };
    let tag = tag(key, &[&head[TAG..], contents]);
    head[..TAG].copy_from_slice(&tag);
    Sealed { head, contents }
}

/// The PE that a packet says that it comes from, if it says that it is for this one.
pub fn sender(me: Pe, bytes: &[u8]) -> Option<Pe> {
    let number = |at| number_at(bytes, at).map(u16::from_le_bytes);
    (bytes.len() <= MAX_PACKET && number(TAG + 2)? == me.0).then_some(Pe(number(TAG)?))
}

/// What a packet is, if its tag is right.
pub fn open(key: &Key, bytes: &[u8]) -> Option<(Queue, Packet<Contents>)> {
    let (theirs, rest) = bytes.split_at_checked(TAG)?;
    let ours = tag(key, &[rest]);
    // How long it takes says nothing of where the first difference is.
    if ours.iter().zip(theirs).fold(0, |all, (a, b)| all | (a ^ b)) != 0 {
        return None;
    }
    let number = |at| number_at(bytes, at).map(u64::from_le_bytes);
    let first = *rest.get(4)?;
    let queue = Queue::ALL.into_iter().find(|&queue| queue as u8 == first & !ACK)?;
    let packet = if first & ACK == 0 {
        Packet::Data { sequence: number(HEAD - 8)?, payload: bytes.get(HEAD..)?.into() }
    } else {
        let got = number(HEAD)?;
        Packet::Ack { next: number(HEAD - 8)?, got: (got != NO_NUMBER).then_some(got), limit: number(HEAD + 8)? }
    };
    Some((queue, packet))
}

fn number_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Random;

    const RUN: RunKey = [7; 32];

    fn bytes(key: &Key, queue: Queue, packet: &Packet<Contents>) -> Vec<u8> {
        seal(key, Pe(3), Pe(500), queue, packet).parts().concat()
    }

    fn packets(random: &mut Random) -> [Packet<Contents>; 3] {
        let payload = vec![random.number() as u8; random.below(MAX_CONTENTS as u64 + 1) as usize];
        let (next, limit) = (random.magnitude(63), random.magnitude(63));
        [
            Packet::Data { sequence: random.magnitude(64), payload: payload.into() },
            Packet::Ack { next, got: None, limit },
            Packet::Ack { next, got: Some(random.magnitude(63)), limit },
        ]
    }

    #[test]
    fn packets_are_read_as_they_were_written() {
        let (key, mut random) = (Key::new(&RUN, Pe(3), Pe(500)), Random(1));
        for _ in 0..1_000 {
            for (queue, packet) in Queue::ALL.into_iter().zip(packets(&mut random)) {
                let bytes = bytes(&key, queue, &packet);
                assert!(bytes.len() <= MAX_PACKET);
                assert_eq!(sender(Pe(500), &bytes), Some(Pe(3)));
                assert_eq!(sender(Pe(3), &bytes), None);
                assert!(open(&key, &bytes) == Some((queue, packet)));
            }
        }
    }

    #[test]
    fn no_bit_can_be_changed() {
        let (key, mut random) = (Key::new(&RUN, Pe(3), Pe(500)), Random(2));
        for packet in packets(&mut random) {
            let right = bytes(&key, Queue::Control, &packet);
            for bit in 0..8 * right.len() {
                let mut wrong = right.clone();
                wrong[bit / 8] ^= 1 << (bit % 8);
                assert!(open(&key, &wrong).is_none());
            }
            for length in 0..right.len() {
                assert!(open(&key, &right[..length]).is_none());
            }
        }
    }

    #[test]
    fn keys_are_those_of_a_run_and_a_direction() {
        let packet = Packet::Ack { next: 1, got: None, limit: 2 };
        let bytes = bytes(&Key::new(&RUN, Pe(3), Pe(500)), Queue::Control, &packet);
        let (mut first, mut last) = (RUN, RUN);
        first[0] += 1;
        last[31] += 1;
        let others = [(RUN, 500, 3), (RUN, 3, 501), (RUN, 4, 500), (first, 3, 500), (last, 3, 500)];
        for (run, from, to) in others {
            assert!(open(&Key::new(&run, Pe(from), Pe(to)), &bytes).is_none());
        }
    }

    #[test]
    fn the_hash_is_the_published_one() {
        // The first two of the vectors of its authors' `vectors_sip128`, for the key 00 01 … 0f.
        let key = Key(std::array::from_fn(|n| n as u8));
        let hex = |bytes: [u8; TAG]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(hex(tag(&key, &[])), "a3817f04ba25a8e66df67214c7550293");
        assert_eq!(hex(tag(&key, &[&[0]])), "da87c1d86b99af44347659119b22fc45");
    }
}
