//! What waits to be sent to one peer, and how messages are divided into packets.
//!
//! A packet is a byte, which names the queue and says whether the message goes on ([`MORE`]), and up to
//! [`MAX_PAYLOAD`] bytes of a message. Between two packets of a long message may be those of more urgent ones.
use super::Queue;
use std::collections::VecDeque;

/// Bytes of a message in one packet. So the socket's buffer, 208 KB as a rule, takes several.
pub const MAX_PAYLOAD: usize = 64 << 10;
/// In the first byte of a packet: more of the message follows.
pub const MORE: u8 = 0x80;
/// Bytes that wait for one peer before nothing new should be begun with it.
const FULL: usize = 4 << 20;

#[derive(Default)]
pub struct Outgoing {
    queues: [VecDeque<Vec<u8>>; Queue::COUNT],
    /// How much of the first message of each queue has been sent.
    sent: [usize; Queue::COUNT],
    waiting: usize,
}

impl Outgoing {
    pub fn add(&mut self, queue: Queue, message: Vec<u8>) {
        self.waiting += message.len();
        self.queues[queue as usize].push_back(message);
    }

    pub fn is_empty(&self) -> bool {
        self.queues.iter().all(VecDeque::is_empty)
    }

    pub fn is_full(&self) -> bool {
        self.waiting > FULL
    }

    /// The next packet: its first byte, and the part of a message.
    pub fn first(&self) -> Option<(u8, &[u8])> {
        let no = self.first_queue()?;
        let left = &self.queues[no][0][self.sent[no]..];
        let more = if left.len() > MAX_PAYLOAD { MORE } else { 0 };
        Some((no as u8 | more, &left[..left.len().min(MAX_PAYLOAD)]))
    }

    /// The first packet has been sent.
    pub fn on_sent(&mut self) {
        let Some(no) = self.first_queue() else { return };
        let length = self.queues[no][0].len();
        let part = (length - self.sent[no]).min(MAX_PAYLOAD);
        self.waiting -= part;
        self.sent[no] += part;
        if self.sent[no] == length {
            self.queues[no].pop_front();
            self.sent[no] = 0;
        }
    }

    fn first_queue(&self) -> Option<usize> {
        self.queues.iter().position(|queue| !queue.is_empty())
    }
}
