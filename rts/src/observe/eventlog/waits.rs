//! Lines about waits for descriptors and time (class `w`): what waits, for what, and what woke it.
//!
//! A line is an event of the kind "log message", which all readers of event logs show.
use super::classes::{class, on};
use super::event::Event;
use super::post::post;
use crate::base::poison::unpoisoned;
use std::fmt::{Display, Formatter, Result};
use std::sync::Mutex;

/// What waits.
#[derive(Clone, Copy)]
pub enum Waiter {
    /// A thread, by its number.
    Thread(u64),
    /// A function that runs at the next event of a descriptor.
    Callback,
    /// An action that runs when its time has come.
    Timer,
}

impl Display for Waiter {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match self {
            Waiter::Thread(number) => write!(f, "thread {number}"),
            Waiter::Callback => f.write_str("a callback"),
            Waiter::Timer => f.write_str("a timer"),
        }
    }
}

/// What is waited for.
#[derive(Clone, Copy)]
pub enum Awaited {
    Descriptor { fd: i32, read: bool, write: bool },
    Microseconds(isize),
}

impl Display for Awaited {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match *self {
            Awaited::Descriptor { fd, read: true, write: false } => write!(f, "descriptor {fd} (read)"),
            Awaited::Descriptor { fd, read: false, write: true } => write!(f, "descriptor {fd} (write)"),
            Awaited::Descriptor { fd, .. } => write!(f, "descriptor {fd} (read or write)"),
            Awaited::Microseconds(n) => write!(f, "{n} us"),
        }
    }
}

/// What has ended a wait.
#[derive(Clone, Copy)]
pub enum Cause {
    Descriptor(i32),
    /// The time has come, this many microseconds ago.
    Deadline(u64),
    /// Its descriptor was closed.
    Close,
    /// The system's error of this number.
    Error(isize),
}

impl Display for Cause {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match self {
            Cause::Descriptor(fd) => write!(f, "descriptor {fd}"),
            Cause::Deadline(late) => write!(f, "its deadline, {late} us late"),
            Cause::Close => f.write_str("a close of its descriptor"),
            Cause::Error(number) => write!(f, "error {number}"),
        }
    }
}

/// A wait begins on a HEC.
#[inline]
pub fn wait_began(hec: u32, who: impl FnOnce() -> (Waiter, Awaited)) {
    if on(class::WAITS) {
        let (who, what) = who();
        post_line(Some(hec), &format!("{who} waits for {what}"));
    }
}

/// A wait has ended; a HEC runs on what waited.
pub fn wait_ended(hec: u32, who: Waiter, cause: Cause) {
    if on(class::WAITS) {
        post_line(Some(hec), &format!("{who} is woken by {cause}"));
    }
}

fn post_line(hec: Option<u32>, line: &str) {
    post(hec, Event::LogMessage(line.as_bytes()));
}

/// The event manager that the program uses, and why it is not another one. A log that starts later begins with it.
static MANAGER: Mutex<String> = Mutex::new(String::new());

/// The program uses this event manager from now on.
pub fn event_manager_chosen(name: String) {
    let mut manager = unpoisoned(MANAGER.lock());
    if *manager != name {
        *manager = name;
        drop(manager);
        log_event_manager();
    }
}

pub(super) fn log_event_manager() {
    let manager = unpoisoned(MANAGER.lock());
    if on(class::WAITS) && !manager.is_empty() {
        post_line(None, &format!("event manager: {manager}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_name_what_waits_and_what_woke_it() {
        let began = |who: Waiter, what: Awaited| format!("{who} waits for {what}");
        let descriptor = |read, write| Awaited::Descriptor { fd: 7, read, write };
        assert_eq!(began(Waiter::Thread(5), descriptor(true, false)), "thread 5 waits for descriptor 7 (read)");
        assert_eq!(began(Waiter::Callback, descriptor(false, true)), "a callback waits for descriptor 7 (write)");
        assert_eq!(
            began(Waiter::Callback, descriptor(true, true)),
            "a callback waits for descriptor 7 (read or write)"
        );
        assert_eq!(began(Waiter::Timer, Awaited::Microseconds(1000)), "a timer waits for 1000 us");
        let causes = [Cause::Descriptor(7), Cause::Deadline(12), Cause::Close, Cause::Error(9)];
        let said = causes.map(|cause| cause.to_string());
        assert_eq!(said, ["descriptor 7", "its deadline, 12 us late", "a close of its descriptor", "error 9"]);
    }
}
