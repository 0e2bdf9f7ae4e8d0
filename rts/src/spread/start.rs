//! The start of a run, before any Haskell runs: the protocol of `cluster/members.rs` over the transport.
//!
//! What this file adds to that protocol:
//! 1. If a PE cannot take part, differs, has ended or is silent, the run does not start. PE 0 says which one it is.
//! 2. PE 0 ends the run by closing its channels, as the system does for a process that ends in whatever way. A PE that
//!    sees this ends. So no PE ends before PE 0 unless something is wrong.
//! 3. PEs that have been started may send messages to those that have not: these are kept for later.
//!
//! *Checked by* the tests below and `tests/commands/spread.sh`.
use crate::base::clock::getMonotonicNSec;
use crate::cluster::build::Build;
use crate::cluster::ids::{Micros, Pe, COORDINATOR};
use crate::cluster::members::{Event, Members, Outbox, SILENCE};
use crate::cluster::message::Message;
use crate::cluster::wire;
use crate::spread::graph::Graph;
use crate::spread::transport::{Queue, Transport};
use std::time::{Duration, Instant};

/// How long PE 0 waits for all greetings. A machine that is overloaded starts many processes in this time.
pub const TIME_TO_GREET: Micros = 60_000_000;
/// The environment variable with another limit of silence, in seconds, for tests.
const SILENCE_VARIABLE: &str = "HECATON_SILENCE";

/// How long a PE may be silent.
pub fn silence() -> Micros {
    let seconds = std::env::var(SILENCE_VARIABLE).ok().and_then(|text| text.parse::<u64>().ok());
    seconds.map_or(SILENCE, |seconds| seconds * 1_000_000)
}

/// What a PE that takes part goes on with.
pub struct Started {
    pub members: Members,
    /// Messages that came early.
    pub early: Vec<(Pe, Message<Graph>)>,
}

/// Why a PE does not go on.
#[derive(Debug, PartialEq)]
pub enum NotStarted {
    /// What PE 0 says.
    Refused(String),
    /// The run has ended, or will.
    Over,
}

/// The time of the protocols.
pub fn now() -> Micros {
    getMonotonicNSec() / 1_000
}

/// The moment of a time of the protocols.
pub fn moment(time: Micros) -> Instant {
    Instant::now() + Duration::from_micros(time.saturating_sub(now()))
}

/// Meets the other PEs. `build` is what must be equal, or why this PE cannot take part, to be read after its name.
/// # Errors
/// If the run does not start, or not with this PE.
pub fn meet(
    transport: &dyn Transport,
    me: Pe,
    count: u16,
    build: Result<Build, String>,
    time_to_greet: Micros,
) -> Result<Started, NotStarted> {
    let build = match build {
        Ok(build) => build,
        Err(why) if me == COORDINATOR => return Err(NotStarted::Refused(format!("PE 0 {why}"))),
        Err(why) => {
            transport.send(COORDINATOR, Queue::Control, wire::encode::<Graph>(&Message::Unable(why)));
            wait_for_end(transport);
            return Err(NotStarted::Over);
        }
    };
    let mut members = Members::new(me, count, build, time_to_greet, silence());
    let (mut out, mut early) = (Outbox::<Graph>::new(), vec![]);
    let mut events: Vec<Event> = members.greet(now(), &mut out).into_iter().collect();
    loop {
        out.drain(..).for_each(|(to, message)| transport.send(to, Queue::Control, wire::encode(&message)));
        for event in events.drain(..) {
            match event {
                Event::Refused(pe, why) => return Err(NotStarted::Refused(format!("PE {} {why}", pe.0))),
                Event::Lost(pe) => {
                    let limit = time_to_greet / 1_000_000;
                    return Err(NotStarted::Refused(format!("PE {} was not ready within {limit} s", pe.0)));
                }
                Event::Ended => return Err(NotStarted::Over),
                Event::Started => {}
            }
        }
        if members.is_running() {
            return Ok(Started { members, early });
        }
        transport.wait(members.deadline().map(moment));
        for (from, bytes) in transport.receive() {
            match wire::decode(&bytes) {
                Some(Message::Hello(build)) => events.extend(members.on_hello(from, build, now(), &mut out)),
                Some(Message::Unable(why)) => events.push(members.on_unable(from, why)),
                Some(Message::Start) => events.push(members.on_start(now())),
                Some(Message::Refused) => events.push(members.end()),
                Some(message) => early.push((from, message)),
                None => events.push(members.on_unable(from, "does not greet as this program does".to_owned())),
            }
        }
        if members.is_running() {
            // What has happened since is for the network task to see.
            continue;
        }
        for pe in transport.lost() {
            if me == COORDINATOR {
                events.push(members.on_unable(pe, "has ended before it was ready".to_owned()));
            } else if pe == COORDINATOR {
                events.push(members.end());
            }
        }
        events.extend(members.tick(now(), &mut out));
    }
}

/// Sleeps until PE 0 has ended.
pub fn wait_for_end(transport: &dyn Transport) {
    while !transport.lost().contains(&COORDINATOR) {
        transport.wait(None);
        transport.receive();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spread::transport::sockets::connected;
    use std::thread;

    fn build(id: &str) -> Result<Build, String> {
        Ok(Build::new(&[("build id", id.to_owned()), ("slices", "0x42+7".to_owned())]))
    }

    /// Runs the handshake of PE 0 with others that greet so. Returns what PE 0 says, and which of the others run.
    fn meet_all(others: Vec<Result<Build, String>>) -> (Result<(), NotStarted>, Vec<bool>) {
        let count = 1 + others.len() as u16;
        let mut transports = connected(count.into()).into_iter();
        let zero = transports.next().unwrap();
        let run = |(me, (transport, build))| {
            thread::spawn(move || {
                let runs = meet(&transport, Pe(me), count, build, TIME_TO_GREET).is_ok();
                if runs {
                    wait_for_end(&transport);
                }
                runs
            })
        };
        let others: Vec<_> = (1..).zip(transports.zip(others)).map(run).collect();
        let said = meet(&zero, COORDINATOR, count, build("a"), TIME_TO_GREET).map(|_| ());
        drop(zero);
        (said, others.into_iter().map(|other| other.join().unwrap()).collect())
    }

    fn refused(text: &str) -> Result<(), NotStarted> {
        Err(NotStarted::Refused(text.to_owned()))
    }

    #[test]
    fn equal_ones_start_and_end_with_pe_0() {
        assert_eq!(meet_all(vec![build("a"); 5]), (Ok(()), vec![true; 5]));
    }

    #[test]
    fn one_that_differs_or_fails_ends_the_run() {
        let (said, run) = meet_all(vec![build("a"), build("b"), build("a")]);
        assert_eq!(said, refused("PE 2 has build id b, but PE 0 has a"));
        assert_eq!(run, [false; 3]);
        let (said, run) = meet_all(vec![build("a"), Err("cannot reserve addresses".to_owned())]);
        assert_eq!(said, refused("PE 2 cannot reserve addresses"));
        assert_eq!(run, [false; 2]);
        let two = connected(2);
        let said = meet(&two[0], COORDINATOR, 2, Err("is no good".to_owned()), TIME_TO_GREET);
        assert_eq!(said.map(|_| ()), refused("PE 0 is no good"));
    }

    #[test]
    fn one_that_ends_or_is_silent_is_named() {
        let meet = |zero, limit| meet(zero, COORDINATOR, 2, build("a"), limit).map(|_| ());
        let mut two = connected(2);
        two.pop();
        assert_eq!(meet(&two[0], TIME_TO_GREET), refused("PE 1 has ended before it was ready"));
        let two = connected(2);
        assert_eq!(meet(&two[0], 0), refused("PE 1 was not ready within 0 s"));
        two[1].send(COORDINATOR, Queue::Control, b"?".to_vec());
        assert_eq!(meet(&two[0], TIME_TO_GREET), refused("PE 1 does not greet as this program does"));
    }

    #[test]
    fn messages_of_pes_that_have_started_are_kept() {
        let two = connected(2);
        let early = Message::<Graph>::Steal;
        two[0].send(Pe(1), Queue::Computation, wire::encode(&early));
        two[0].send(Pe(1), Queue::Computation, wire::encode(&Message::<Graph>::Start));
        let started = meet(&two[1], Pe(1), 2, build("a"), TIME_TO_GREET).ok().unwrap();
        assert_eq!(started.early, [(Pe(0), early)]);
        assert!(started.members.is_running());
    }
}
