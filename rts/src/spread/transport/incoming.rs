//! Messages of one peer, put together from their packets.
use super::outgoing::{MAX_PAYLOAD, MORE};
use super::Queue;

/// Bytes of the longest message. A peer that sends more is broken.
const MAX_MESSAGE: usize = 1 << 30;

#[derive(Default)]
pub struct Incoming {
    /// The message of each queue of which a part has come.
    begun: [Vec<u8>; Queue::COUNT],
}

impl Incoming {
    /// A packet has come: the message that it completes, if it does.
    /// # Errors
    /// If it is no packet.
    pub fn on_packet(&mut self, packet: &[u8]) -> Result<Option<Vec<u8>>, ()> {
        let (&first, payload) = packet.split_first().ok_or(())?;
        let begun = self.begun.get_mut(usize::from(first & !MORE)).ok_or(())?;
        if payload.len() > MAX_PAYLOAD || begun.len() + payload.len() > MAX_MESSAGE {
            return Err(());
        }
        begun.extend_from_slice(payload);
        Ok((first & MORE == 0).then(|| std::mem::take(begun)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::outgoing::Outgoing;
    use super::*;
    use crate::base::random::Random;

    #[test]
    fn messages_are_put_together_and_urgent_ones_come_first() {
        let mut random = Random(1);
        let (mut outgoing, mut incoming) = (Outgoing::default(), Incoming::default());
        let queues = [Queue::Control, Queue::Collection, Queue::Computation];
        let mut expected: [Vec<Vec<u8>>; Queue::COUNT] = Default::default();
        let mut got = expected.clone();
        for _ in 0..2_000 {
            if random.below(2) == 0 {
                let queue = random.pick(&queues);
                let length = random.pick(&[0, 1, MAX_PAYLOAD - 1, MAX_PAYLOAD, MAX_PAYLOAD + 1, 5 * MAX_PAYLOAD]);
                let message = vec![random.number() as u8; length];
                expected[queue as usize].push(message.clone());
                outgoing.add(queue, message);
            } else if let Some((first, part)) = outgoing.first() {
                let queue = usize::from(first & !MORE);
                assert!((0..queue).all(|urgent| got[urgent].len() == expected[urgent].len()));
                let packet = [&[first], part].concat();
                got[queue].extend(incoming.on_packet(&packet).unwrap());
                outgoing.on_sent();
            }
        }
        while let Some((first, part)) = outgoing.first() {
            got[usize::from(first & !MORE)].extend(incoming.on_packet(&[&[first], part].concat()).unwrap());
            outgoing.on_sent();
        }
        assert!(got == expected && outgoing.is_empty());
    }

    #[test]
    fn what_is_no_packet_is_refused() {
        let mut incoming = Incoming::default();
        assert_eq!(incoming.on_packet(&[]), Err(()));
        assert_eq!(incoming.on_packet(&[3, 1]), Err(()));
        assert_eq!(incoming.on_packet(&vec![0; MAX_PAYLOAD + 2]), Err(()));
        assert_eq!(incoming.on_packet(&[2 | MORE, 1]), Ok(None));
        assert_eq!(incoming.on_packet(&[2, 2]), Ok(Some(vec![1, 2])));
    }
}
