//! The start of a run: all processing elements (PEs) must be the same program at the same addresses.
//!
//! *Protocol*
//!
//! 1. Each PE but 0 sends its greeting to PE 0: HELLO with what must be equal, or FAILED with the reason why it cannot
//!    take part. Then it waits.
//! 2. PE 0 receives one greeting from each, and compares it with its own. If all are equal, it sends START to each. If
//!    one differs, has failed, has ended or stays silent, the error names that PE, and PE 0 ends the run.
//! 3. PE 0 ends the run by closing its channels, as the system does for a process that ends in whatever way. A PE that
//!    sees this ends. So no PE ends before PE 0 unless something is wrong.
//!
//! | state of a PE | event | next |
//! |---|---|---|
//! | NEW | greeting sent | GREETED |
//! | GREETED | START | RUNNING |
//! | GREETED, RUNNING | the channel is closed | ENDED |
//!
//! *Checked by* the tests below and `tests/commands/spread.sh`.
use crate::spread::channel::{Channel, Received};
use std::time::{Duration, Instant};

/// How long PE 0 waits for all greetings. A machine that is overloaded starts many processes in this time.
pub const LIMIT: Duration = Duration::from_secs(60);
/// The version of the protocol: what PEs send each other, from HELLO on.
const VERSION: &str = "1";

const HELLO: u8 = b'H';
const FAILED: u8 = b'F';
const START: u8 = b'S';

/// What must be equal on all PEs, with names for messages. The version comes first, because another one may have other
/// names.
#[derive(Clone, Debug, PartialEq)]
pub struct Greeting(Vec<(String, String)>);

impl Greeting {
    pub fn new(values: &[(&str, String)]) -> Greeting {
        let version = ("version of the protocol", VERSION.to_owned());
        let all = [version].into_iter().chain(values.iter().cloned());
        Greeting(all.map(|(name, value)| (name.to_owned(), value)).collect())
    }

    fn encode(&self) -> String {
        self.0.iter().map(|(name, value)| format!("{name}\t{value}\n")).collect()
    }

    fn decode(text: &str) -> Greeting {
        let pair = |line: &str| line.split_once('\t').map(|(name, value)| (name.to_owned(), value.to_owned()));
        Greeting(text.lines().filter_map(pair).collect())
    }

    /// In which way `theirs` differs first, to be read after the name of that PE.
    fn difference(&self, theirs: &Greeting) -> Option<String> {
        self.0.iter().enumerate().find_map(|(i, (name, ours))| match theirs.0.get(i) {
            Some((same, value)) if same == name && value == ours => None,
            Some((same, value)) if same == name => Some(format!("has {name} {value}, but PE 0 has {ours}")),
            _ => Some(format!("does not say its {name}")),
        })
    }
}

/// Waits for the greetings of the PEs behind `channels`, which are PE 1, 2, …, and starts them.
/// # Errors
/// If one cannot take part; the text names it.
pub fn gather(channels: &[Channel], ours: &Greeting, limit: Duration) -> Result<(), String> {
    let deadline = Instant::now() + limit;
    for (pe, channel) in (1..).zip(channels) {
        let wrong = match channel.receive(Some(deadline)) {
            Received::Message(message) => judge(ours, &message),
            Received::Closed => Some("has ended before it was ready".to_owned()),
            Received::TimedOut => Some(format!("was not ready within {} s", limit.as_secs())),
        };
        if let Some(wrong) = wrong {
            return Err(format!("PE {pe} {wrong}"));
        }
    }
    channels.iter().for_each(|channel| channel.send(&[START]));
    Ok(())
}

/// What is wrong with a greeting.
fn judge(ours: &Greeting, message: &[u8]) -> Option<String> {
    let text = || String::from_utf8_lossy(&message[1..]).into_owned();
    match message[0] {
        HELLO => ours.difference(&Greeting::decode(&text())),
        FAILED => Some(text()),
        kind => Some(format!("began with a message of kind {kind}")),
    }
}

/// Greets PE 0, and waits for what it says. False if this PE does not take part: the run has ended, or will.
pub fn greet(channel: &Channel, ours: &Result<Greeting, String>) -> bool {
    let (kind, text) = match ours {
        Ok(greeting) => (HELLO, greeting.encode()),
        Err(why) => (FAILED, why.clone()),
    };
    channel.send(&[&[kind], text.as_bytes()].concat());
    matches!(channel.receive(None), Received::Message(message) if message[0] == START)
}

/// Sleeps until PE 0 has ended.
pub fn wait_for_end(channel: &Channel) {
    while channel.receive(None) != Received::Closed {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spread::channel::pair;
    use std::thread;

    fn greeting(id: &str) -> Greeting {
        Greeting::new(&[("build id", id.to_owned()), ("slices", "0x42+7".to_owned())])
    }

    /// Runs the handshake of PE 0 with others that greet so. Returns what PE 0 says, and which of the others run.
    fn meet(others: Vec<Result<Greeting, String>>) -> (Result<(), String>, Vec<bool>) {
        let (ours, theirs): (Vec<Channel>, Vec<Channel>) = others.iter().map(|_| pair()).unzip();
        let run = |(channel, greeting): (Channel, Result<Greeting, String>)| {
            thread::spawn(move || {
                let runs = greet(&channel, &greeting);
                wait_for_end(&channel);
                runs
            })
        };
        let others: Vec<_> = theirs.into_iter().zip(others).map(run).collect();
        let said = gather(&ours, &greeting("a"), Duration::from_secs(30));
        drop(ours);
        (said, others.into_iter().map(|other| other.join().unwrap()).collect())
    }

    #[test]
    fn equal_ones_start_and_end_with_pe_0() {
        assert_eq!(meet(vec![Ok(greeting("a")); 5]), (Ok(()), vec![true; 5]));
    }

    #[test]
    fn one_that_differs_or_fails_ends_the_run() {
        let (said, run) = meet(vec![Ok(greeting("a")), Ok(greeting("b")), Ok(greeting("a"))]);
        assert_eq!(said.unwrap_err(), "PE 2 has build id b, but PE 0 has a");
        assert_eq!(run, [false; 3]);
        let (said, run) = meet(vec![Ok(greeting("a")), Err("cannot reserve addresses".to_owned())]);
        assert_eq!(said.unwrap_err(), "PE 2 cannot reserve addresses");
        assert_eq!(run, [false; 2]);
        let (said, _) = meet(vec![Ok(Greeting(vec![("version of the protocol".to_owned(), "2".to_owned())]))]);
        assert_eq!(said.unwrap_err(), "PE 1 has version of the protocol 2, but PE 0 has 1");
        let (said, _) = meet(vec![Ok(Greeting(greeting("a").0[..2].to_vec()))]);
        assert_eq!(said.unwrap_err(), "PE 1 does not say its slices");
    }

    #[test]
    fn one_that_ends_or_is_silent_is_named() {
        let (here, there) = pair();
        drop(there);
        let said = gather(&[here], &greeting("a"), Duration::from_secs(30));
        assert_eq!(said.unwrap_err(), "PE 1 has ended before it was ready");
        let (here, there) = pair();
        let said = gather(&[here], &greeting("a"), Duration::ZERO);
        assert_eq!(said.unwrap_err(), "PE 1 was not ready within 0 s");
        drop(there);
        let (here, there) = pair();
        there.send(b"?");
        assert_eq!(gather(&[here], &greeting("a"), LIMIT).unwrap_err(), "PE 1 began with a message of kind 63");
    }
}
