//! The back end on poll(2), which every system has.
//!
//! poll(2) has no memory and no edges. So registrations are kept here, and a direction is reported once each time that
//! it was asked for.
//!
//! *Protocol*
//!
//! 1. `add` and `verify` *arm* directions: the next poll asks for them. A direction that is reported is not armed any
//!    more.
//! 2. The waiter has an array of its own for poll(2). A thread that changes a registration puts its number in a list,
//!    from which the waiter brings the array up to date before it polls. So an event costs constant work beside the
//!    system call itself.
//! 3. If the waiter sleeps, a change makes it poll again. That matters for a removal, too: the system keeps a file open
//!    as long as it is polled.
//! 4. Each change gives the registration a new serial number. Answers of poll(2) for another serial number are dropped,
//!    as they are from before the change, or for another file; the array then changes, and the waiter polls again.
//!
//! *Locking*: `waiter` is held through a wait, `set` for moments, also under `waiter`.
use super::descriptor::{check, check_open};
use super::event::{Interest, Ready, Waited, MAX_READY};
use super::timeout::{Deadline, Timespec};
use super::wakeup::Wakeup;
use crate::base::poison::unpoisoned;
use std::collections::{HashMap, HashSet};
use std::io;
use std::mem::forget;
use std::ptr::null;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

pub struct Poll {
    wakeup: Wakeup,
    set: Mutex<Set>,
    waiter: Mutex<Waiter>,
}

/// What is registered.
#[derive(Default)]
struct Set {
    registrations: HashMap<i32, Registration>,
    /// The numbers whose registration has changed since the waiter looked.
    changed: HashSet<i32>,
    serial: u64,
    /// The waiter sleeps or is about to, and no change has woken it yet.
    asleep: bool,
}

struct Registration {
    data: u64,
    armed: Interest,
    serial: u64,
}

/// What is polled.
struct Waiter {
    /// The wake-up comes first.
    polled: Vec<libc::pollfd>,
    /// The serial numbers of the registrations that are polled.
    serials: Vec<u64>,
    /// Where in `polled` a descriptor is.
    places: HashMap<i32, usize>,
}

impl Poll {
    pub fn new() -> io::Result<Poll> {
        let wakeup = Wakeup::new()?;
        let waiter =
            Waiter { polled: vec![poll_for(wakeup.fd(), Interest::READ)], serials: vec![0], places: HashMap::new() };
        Ok(Poll { wakeup, set: Mutex::default(), waiter: Mutex::new(waiter) })
    }

    fn set(&self) -> MutexGuard<'_, Set> {
        unpoisoned(self.set.lock())
    }

    pub fn add(&self, fd: i32, data: u64, want: Interest) -> io::Result<()> {
        check_open(fd)?;
        let mut set = self.set();
        if set.registrations.contains_key(&fd) {
            return Err(io::Error::from_raw_os_error(libc::EEXIST));
        }
        set.registrations.insert(fd, Registration { data, armed: want, serial: 0 });
        self.change(set, fd);
        Ok(())
    }

    pub fn verify(&self, fd: i32, data: u64, want: Interest) -> io::Result<()> {
        check_open(fd)?;
        let mut set = self.set();
        let Some(registration) = set.registrations.get_mut(&fd) else {
            return Err(io::Error::from_raw_os_error(libc::ENOENT));
        };
        registration.data = data;
        registration.armed = registration.armed | want;
        self.change(set, fd);
        Ok(())
    }

    pub fn remove(&self, fd: i32) {
        let mut set = self.set();
        if set.registrations.remove(&fd).is_some() {
            self.change(set, fd);
        }
    }

    /// The registration of a descriptor has changed: a sleeping waiter must poll again.
    fn change(&self, mut set: MutexGuard<'_, Set>, fd: i32) {
        set.serial += 1;
        let serial = set.serial;
        if let Some(registration) = set.registrations.get_mut(&fd) {
            registration.serial = serial;
        }
        set.changed.insert(fd);
        let asleep = std::mem::take(&mut set.asleep);
        drop(set);
        if asleep {
            self.wakeup.signal();
        }
    }

    pub fn wait(&self, ready: &mut Vec<Ready>, timeout: Option<Duration>) -> io::Result<Waited> {
        let sleeps = timeout.is_none_or(|timeout| !timeout.is_zero());
        let mut waiter = match self.waiter.try_lock() {
            Ok(waiter) => waiter,
            Err(_) if sleeps => unpoisoned(self.waiter.lock()),
            // The other waiter reports what is ready.
            Err(_) => return Ok(Waited::TimedOut),
        };
        let deadline = Deadline::new(timeout);
        loop {
            let mut set = self.set();
            set.asleep = sleeps;
            waiter.update(&mut set);
            drop(set);
            let n = waiter.poll(deadline.left());
            let mut set = self.set();
            set.asleep = false;
            let n = match n {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => return Ok(Waited::Interrupted),
                n => n?,
            };
            set.collect(&waiter, n, ready);
            drop(set);
            let woken = sleeps && waiter.polled[0].revents != 0 && self.wakeup.take();
            if n == 0 || woken || !ready.is_empty() || !sleeps {
                return Ok(Waited::from(ready, woken));
            }
        }
    }

    pub fn wake(&self) {
        self.wakeup.wake();
    }

    /// Closes the descriptors in the child of a fork. The tables may be as another thread of the parent was changing
    /// them.
    pub fn close_after_fork(self) {
        forget((self.set, self.waiter));
    }
}

impl Set {
    /// Reports and disarms what poll(2) found ready, `n` descriptors.
    fn collect(&mut self, waiter: &Waiter, n: usize, ready: &mut Vec<Ready>) {
        let answers = waiter.polled.iter().zip(&waiter.serials).filter(|(polled, _)| polled.revents != 0);
        for (polled, serial) in answers.take(n) {
            let Some(registration) = self.registrations.get_mut(&polled.fd) else { continue };
            if registration.serial != *serial || ready.len() == MAX_READY {
                continue;
            }
            let events = Interest::from_poll(polled.revents);
            registration.armed = registration.armed.without(events);
            self.changed.insert(polled.fd);
            // A number that is not open is no event: it is found when the descriptor is verified.
            if polled.revents & libc::POLLNVAL == 0 {
                ready.push(Ready { data: registration.data, events });
            }
        }
    }
}

impl Waiter {
    /// Brings what is polled up to date.
    fn update(&mut self, set: &mut Set) {
        for fd in set.changed.drain() {
            match set.registrations.get(&fd) {
                Some(registration) if !registration.armed.is_none() => self.put(fd, registration),
                _ => self.take(fd),
            }
        }
    }

    fn put(&mut self, fd: i32, registration: &Registration) {
        let place = *self.places.entry(fd).or_insert(self.polled.len());
        let polled = poll_for(fd, registration.armed);
        if place == self.polled.len() {
            self.polled.push(polled);
            self.serials.push(registration.serial);
        } else {
            self.polled[place] = polled;
            self.serials[place] = registration.serial;
        }
    }

    fn take(&mut self, fd: i32) {
        let Some(place) = self.places.remove(&fd) else { return };
        self.polled.swap_remove(place);
        self.serials.swap_remove(place);
        if let Some(moved) = self.polled.get(place) {
            self.places.insert(moved.fd, place);
        }
    }

    /// How many descriptors are ready.
    fn poll(&mut self, timeout: Option<Duration>) -> io::Result<usize> {
        let timeout = Timespec::new(timeout);
        let (first, n) = (self.polled.as_mut_ptr(), self.polled.len() as libc::nfds_t);
        // SAFETY: the kernel writes the answers of `n` descriptors, and reads the timeout.
        check(unsafe { libc::ppoll(first, n, timeout.as_ptr(), null()) }).map(|n| n as usize)
    }
}

fn poll_for(fd: i32, want: Interest) -> libc::pollfd {
    libc::pollfd { fd, events: want.to_poll(), revents: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The descriptor was registered anew between the system's answer and its use.
    #[test]
    fn an_answer_from_before_a_change_is_dropped() {
        let p = Poll::new().unwrap();
        let other = Wakeup::new().unwrap();
        let mut waiter = p.waiter.lock().unwrap();
        let mut ready = Vec::new();
        p.add(other.fd(), 1, Interest::WRITE).unwrap();
        waiter.update(&mut p.set());
        assert_eq!(waiter.poll(Some(Duration::ZERO)).unwrap(), 1);
        p.remove(other.fd());
        p.add(other.fd(), 2, Interest::READ).unwrap();
        p.set().collect(&waiter, 1, &mut ready);
        assert_eq!(ready, []);
        waiter.update(&mut p.set());
        assert_eq!(waiter.poll(Some(Duration::ZERO)).unwrap(), 0);
        other.wake();
        assert_eq!(waiter.poll(Some(Duration::ZERO)).unwrap(), 1);
        p.set().collect(&waiter, 1, &mut ready);
        assert_eq!(ready, [Ready { data: 2, events: Interest::READ }]);
    }
}
