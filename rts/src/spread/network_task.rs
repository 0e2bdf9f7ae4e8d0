//! The network task: the OS thread that receives what other processing elements (PEs) send.
//!
//! *Protocol*
//! 1. It sleeps in the transport until something comes, or something is due: a heartbeat, the end of a back-off
//!    (`steals.rs`), a HEC that should have come.
//! 2. A message is handled here or by a HEC (`run.rs`). If a HEC that was asked has not come after [`HEC_LIMIT`],
//!    another one is asked: the first may be in an unsafe call.
//! 3. It sends heartbeats, and what has been logged, and at PE 0 looks for silent PEs. It needs no HEC for that: a PE
//!    that is stuck in an unsafe call is slow, not lost.
//! 4. If it was itself stopped for a while, as by a debugger or the terminal, it holds the silence against nobody.
//! 5. PE 0 decides that a PE is lost: its channel is closed, here or at a PE that says so, or it is silent. What
//!    follows is a HEC's to do, at all PEs, as for a message. One that has ended is the launcher's to report; PE 0
//!    reports one that is silent. A PE that hears of its own loss ends at once.
//! 6. When PE 0 has ended, this PE ends, within [`END_LIMIT`].
use crate::base::active_limit::ACTIVE_HECS;
use crate::base::fatal::{self, broken};
use crate::base::os_thread;
use crate::base::poison::unpoisoned;
use crate::cluster::ids::{Micros, Pe, COORDINATOR};
use crate::cluster::members::{Event, HEARTBEAT};
use crate::cluster::message::Message;
use crate::cluster::wire;
use crate::observe::eventlog;
use crate::sched::packets;
use crate::spread::global_gc::{self, due};
use crate::spread::graph::Graph;
use crate::spread::membership::Membership;
use crate::spread::run::{self, Run};
use crate::spread::start::{moment, now, silence, Started};
use crate::spread::traffic::{self, RECEIVED};
use crate::spread::{absent_objects, counts, event_log, lenient_loans, ping, placed, steals};
use crate::sync::absent;
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// How long a HEC may take to handle messages before another one is asked: a tick.
const HEC_LIMIT: Micros = 10_000;
/// A sleep that is longer than it should be by this much says that the process was stopped.
const STOPPED: Micros = HEARTBEAT;

/// How long Haskell's end may take when PE 0 has ended. An unsafe call may hold it up.
const END_LIMIT: Duration = Duration::from_secs(1);

/// Has PE 0 ended?
static IS_OVER: Mutex<bool> = Mutex::new(false);
static OVER: Condvar = Condvar::new();

/// Joins the run, and starts the task. Called when HECs can run threads.
pub fn start(membership: &'static Membership, started: Started) {
    let run = Run::join(membership, started.members);
    ACTIVE_HECS.set_neighbours(membership.neighbours.len() - 1);
    // SAFETY: no absent object exists yet.
    unsafe { absent::set_fetcher(absent_objects::FETCHER) };
    packets::init(packets::Callbacks {
        after_full_collection: due::after_full_collection,
        handle: run::handle,
        begin_placed: placed::begin,
        nothing_to_run: steals::nothing_to_run,
        frozen: lenient_loans::on_frozen,
    });
    event_log::start(run);
    let task = NetworkTask { run, is_paused: false, asked: None, flushed: now() };
    if let Err(e) = os_thread::start("haskell-network", move || task.work(started.early)) {
        fatal::exit_with(1, &format!("cannot start the network task: {}", fatal::system_error(&e)));
    }
}

/// Sleeps until PE 0 has ended.
pub fn wait_for_end() {
    let is_over = unpoisoned(IS_OVER.lock());
    drop(unpoisoned(OVER.wait_while(is_over, |is_over| !*is_over)));
}

struct NetworkTask {
    run: &'static Run,
    /// So much waits for HECs that nothing is received.
    is_paused: bool,
    /// When a HEC was asked, and how many messages had been taken then.
    asked: Option<(Micros, u64)>,
    /// When the event log was written last.
    flushed: Micros,
}

impl NetworkTask {
    fn work(mut self, early: Vec<(Pe, Message<Graph>)>) {
        early.into_iter().for_each(|(from, message)| self.on_message(from, message, 0));
        // HECs that have run nothing yet are idle, and have not said so.
        self.run.steals.set_next(now());
        let mut is_over = false;
        while !is_over {
            let due = self.due();
            self.run.transport().wait(due.map(moment));
            let has_slept_well = !self.is_paused && due.is_none_or(|due| now() < due + STOPPED);
            for (from, bytes) in self.run.transport().receive() {
                let Some(message) = wire::decode(&bytes) else { broken("a message of another PE is malformed") };
                self.on_message(from, message, bytes.len());
            }
            for pe in self.run.transport().lost() {
                is_over |= pe == COORDINATOR;
                self.suspect(pe);
            }
            if !has_slept_well {
                self.run.element().members.on_resumed(now());
            }
            self.tick();
            steals::on_time(self.run);
            self.see_to_inbox();
        }
        self.end();
        thread::sleep(END_LIMIT);
        self.run.transport().leave();
        // SAFETY: ends the process, of which nothing is left to be done.
        unsafe { libc::_exit(0) }
    }

    /// When something has to be done even if nothing comes.
    fn due(&self) -> Option<Micros> {
        let members = self.run.element().members.deadline();
        let asked = self.asked.map(|(at, _)| at + HEC_LIMIT);
        [members, self.run.steals.deadline(), asked].into_iter().flatten().min()
    }

    fn on_message(&mut self, from: Pe, message: Message<Graph>, bytes: usize) {
        RECEIVED.add(&message, bytes);
        traffic::log("from", from, &message, bytes);
        match message {
            Message::Heartbeat => self.run.element().members.on_heartbeat(from, now()),
            Message::Suspect(pe) => self.suspect(pe),
            // SAFETY: ends the process. What it has done is not looked at any more.
            Message::Lost(pe) if pe == self.run.me() => unsafe { libc::_exit(1) },
            Message::Lost(pe) => self.on_lost(pe),
            Message::Ping(ping) if !ping.by_hec => self.run.send(from, &Message::Pong(ping)),
            Message::Pong(ping) if !ping.by_hec => ping::on_pong_here(ping.number),
            Message::AskCounts => counts::on_asked(self.run),
            Message::Counts(counts) => counts::on_answer(from, counts),
            Message::Cycle(number, step) => global_gc::on_message(self.run, from, number, step),
            Message::AskClock => event_log::on_clock_asked(self.run),
            Message::Clock { time, hecs } => event_log::on_clock(self.run, from, time, hecs),
            Message::Events(block) => event_log::on_block(from, block),
            Message::EndEvents => event_log::on_end_asked(self.run),
            Message::EventsEnded => event_log::on_ended(from),
            message if !run::needs_heap(&message) && !self.run.inbox.has_from(from) => {
                let is_refusal = message == Message::NothingToSteal;
                let waiting = self.run.step_without_hec(|step| {
                    if self.run.cycle.is_flushed() {
                        return Some(message);
                    }
                    step.receive(from, message);
                    None
                });
                match waiting {
                    Some(message) => self.add(from, message, bytes),
                    None if is_refusal => steals::on_refused(self.run),
                    None => {}
                }
            }
            message => self.add(from, message, bytes),
        }
    }

    fn add(&self, from: Pe, message: Message<Graph>, bytes: usize) {
        if self.run.inbox.add(from, message, bytes) {
            packets::request_handling(false);
        }
    }

    /// Sends heartbeats, and looks for silent PEs.
    fn tick(&mut self) {
        if now() >= self.flushed + HEARTBEAT {
            self.flushed = now();
            eventlog::flush();
        }
        for event in self.run.step_without_hec(|step| step.tick()) {
            match event {
                Event::Lost(pe) => {
                    let silence = silence() / HEARTBEAT;
                    fatal::print_message(&format!("PE {} was silent for {silence} s; its work is done again", pe.0));
                    self.on_lost(pe);
                }
                Event::Ended => self.end(),
                Event::Started | Event::Refused(..) => {}
            }
        }
    }

    /// A PE is gone.
    fn suspect(&self, pe: Pe) {
        for event in self.run.step_without_hec(|step| step.suspect(pe)) {
            if let Event::Lost(pe) = event {
                self.on_lost(pe);
            }
        }
    }

    /// PE 0 has decided that a PE is lost: a HEC does here what follows. A global collection, which keeps HECs from it,
    /// is given up before.
    fn on_lost(&self, pe: Pe) {
        event_log::on_lost(pe);
        global_gc::on_lost(self.run, pe);
        if self.run.inbox.add(COORDINATOR, Message::Lost(pe), 0) {
            packets::request_handling(false);
        }
    }

    /// Asks another HEC if the one that was asked does not come, and receives as long as there is room.
    fn see_to_inbox(&mut self) {
        let progress = self.run.inbox.progress();
        self.asked = match (progress, self.asked) {
            (Some(now_taken), Some((at, taken))) if now_taken == taken => {
                if now() < at + HEC_LIMIT {
                    Some((at, taken))
                } else {
                    packets::request_handling(true);
                    Some((now(), taken))
                }
            }
            (Some(taken), _) => Some((now(), taken)),
            (None, _) => None,
        };
        let inbox = &self.run.inbox;
        let must_receive = inbox.is_half_empty() || self.is_paused && self.run.cycle.must_receive();
        let is_too_full = || inbox.is_full() && !self.run.cycle.must_receive();
        if self.is_paused && must_receive || !self.is_paused && is_too_full() {
            self.is_paused = !self.is_paused;
            self.run.transport().set_receiving(!self.is_paused);
        }
    }

    /// PE 0 has ended.
    fn end(&self) {
        *unpoisoned(IS_OVER.lock()) = true;
        OVER.notify_all();
    }
}
