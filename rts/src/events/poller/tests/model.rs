//! Random operations on pipes and sockets. A plain model knows which reports must come.
//!
//! The model holds for each registered descriptor the directions that are *due*: those that were asked for by `add` or
//! `verify` and not reported since, and, with edges, those in which the descriptor was seen not ready since the last
//! report. poll(2) says what each descriptor is ready for. A direction that is due and ready must be reported. No
//! direction may be reported that is not ready, or for a descriptor that was removed.
use super::*;
use crate::base::random::Random;
use std::collections::{HashMap, HashSet};

/// The most descriptors at a time.
const MAX_ENDS: usize = 14;

struct End {
    fd: Fd,
    registered: Option<Registered>,
}

#[derive(Clone, Copy)]
struct Registered {
    data: u64,
    /// The directions that were asked for.
    asked: Interest,
    due: Interest,
}

struct Model {
    p: Poller,
    kind: Kind,
    ends: Vec<End>,
    /// Copies of descriptors, which keep their files open.
    copies: Vec<Fd>,
    /// What the runtime believes to be registered: it does not see a close by foreign code.
    believed: HashSet<c_int>,
    /// Data of descriptors that foreign code has closed. Reports may come until their numbers are registered anew, or,
    /// where a copy is open, even later.
    closed: HashSet<u64>,
    data: u64,
    r: Random,
    reports: usize,
}

impl Model {
    fn new(kind: Kind, seed: u64) -> Model {
        Model {
            p: make(kind).unwrap(),
            kind,
            ends: Vec::new(),
            copies: Vec::new(),
            believed: HashSet::new(),
            closed: HashSet::new(),
            data: 0,
            r: Random(seed),
            reports: 0,
        }
    }

    fn any(&mut self) -> Option<usize> {
        let n = self.ends.len() as u64;
        (n > 0).then(|| self.r.below(n) as usize)
    }

    fn open(&mut self) {
        if self.ends.len() < MAX_ENDS {
            let (a, b) = if self.r.below(2) == 0 { pipe() } else { socketpair() };
            for fd in [a, b] {
                self.ends.push(End { fd, registered: None });
            }
        }
    }

    /// Registers or verifies as the runtime does, which does not know what foreign code has closed.
    fn ask(&mut self, i: usize, want: Interest) {
        self.data += 1;
        let (fd, data) = (self.ends[i].fd.0, self.data);
        let known = self.ends[i].registered;
        // What was asked for before is still wanted.
        let want = want | known.map_or(Interest::NONE, |r| r.asked);
        let data = known.filter(|_| self.r.below(2) == 0).map_or(data, |r| r.data);
        let add = |p: &Poller| errno(p.add(fd, data, want));
        let verify = |p: &Poller| errno(p.verify(fd, data, want));
        let mut error = if self.believed.contains(&fd) { verify(&self.p) } else { add(&self.p) };
        match error {
            libc::ENOENT if known.is_none() => error = add(&self.p),
            // A copy of a descriptor whose registration outlived the close has its number again.
            libc::EEXIST if known.is_none() => error = verify(&self.p),
            _ => {}
        }
        assert_eq!(error, 0);
        self.believed.insert(fd);
        self.ends[i].registered = Some(Registered { data, asked: want, due: want });
    }

    fn remove(&mut self, i: usize) {
        self.p.remove(self.ends[i].fd.0);
        self.believed.remove(&self.ends[i].fd.0);
        self.ends[i].registered = None;
    }

    /// Closes a descriptor. The runtime knows of it, or not.
    fn close(&mut self, i: usize, foreign: bool) {
        if foreign {
            self.closed.extend(self.ends[i].registered.map(|r| r.data));
        } else {
            self.remove(i);
        }
        self.ends.swap_remove(i);
    }

    fn copy(&mut self, i: usize) {
        if self.copies.len() < MAX_ENDS {
            let fd = unsafe { libc::fcntl(self.ends[i].fd.0, libc::F_DUPFD_CLOEXEC, 0) };
            self.copies.push(Fd(fd));
        }
    }

    /// A copy becomes a descriptor of its own, or is closed.
    fn use_copy(&mut self) {
        if self.copies.is_empty() {
            return;
        }
        let i = self.r.below(self.copies.len() as u64) as usize;
        let fd = self.copies.swap_remove(i);
        if self.ends.len() < MAX_ENDS && self.r.below(2) == 0 {
            self.ends.push(End { fd, registered: None });
        }
    }

    fn step(&mut self) {
        let n = self.r.pick(&[1, 10, 4096, 1 << 17]);
        let operation = self.r.below(20);
        match (operation, self.any()) {
            (0 | 1, _) | (_, None) => self.open(),
            (2..=5, Some(i)) => {
                let want = self.r.pick(&[Interest::READ, Interest::WRITE, Interest::BOTH]);
                self.ask(i, want);
            }
            (6..=9, Some(i)) => write(self.ends[i].fd.0, n),
            (10..=12, Some(i)) => drop(read(self.ends[i].fd.0, n)),
            (13, Some(i)) => {
                let foreign = self.r.below(2) == 0;
                self.close(i, foreign);
            }
            (14, Some(i)) => self.copy(i),
            (15, Some(_)) => self.use_copy(),
            (16, Some(i)) => self.remove(i),
            (17, Some(i)) => {
                // Fails for pipes.
                unsafe { libc::shutdown(self.ends[i].fd.0, libc::SHUT_WR) };
            }
            _ => self.wait(),
        }
        self.see_edges();
    }

    /// What is not ready now will be reported when it becomes ready.
    fn see_edges(&mut self) {
        if self.kind.has_edges() {
            for end in &mut self.ends {
                if let Some(r) = &mut end.registered {
                    r.due = r.due | r.asked.without(ready_now(end.fd.0));
                }
            }
        }
    }

    fn missing(&self) -> Option<(c_int, Registered)> {
        let registered = self.ends.iter().filter_map(|end| Some((end.fd.0, end.registered?)));
        registered.into_iter().find(|(fd, r)| r.due.intersects(ready_now(*fd)))
    }

    fn wait(&mut self) {
        let mut ready = Vec::new();
        let mut woken = match self.r.below(4) {
            0 => {
                self.p.wake();
                true
            }
            1 => {
                std::thread::scope(|s| s.spawn(|| self.p.wake()).join().unwrap());
                true
            }
            _ => false,
        };
        let start = Instant::now();
        loop {
            // A wait that does not block leaves wake-ups alone.
            let timeout = if woken { Some(Duration::from_millis(1)) } else { ZERO };
            let waited = wait(&self.p, &mut ready, timeout);
            assert!(waited != Waited::Interrupted);
            assert!(waited != Waited::Woken || std::mem::take(&mut woken), "woken by nobody");
            let by_data: HashMap<u64, usize> =
                self.ends.iter().enumerate().filter_map(|(i, end)| Some((end.registered?.data, i))).collect();
            for Ready { data, events } in ready.iter().copied() {
                self.reports += 1;
                let Some(i) = by_data.get(&data) else {
                    assert!(self.closed.contains(&data), "a report for {data}, which is not registered");
                    continue;
                };
                let end = &mut self.ends[*i];
                let now = ready_now(end.fd.0);
                assert!(events.without(now).is_none(), "{events:?} reported, but {} is ready for {now:?}", end.fd.0);
                let r = end.registered.as_mut().unwrap();
                r.due = r.due.without(events);
            }
            let missing = self.missing();
            if missing.is_none() && !woken {
                break;
            }
            if start.elapsed() > Duration::from_secs(1) {
                let Some((fd, Registered { data, due, .. })) = missing else { panic!("the wake-up did not come") };
                panic!("{fd} ({data}) is ready for {:?}, and {due:?} is due, but was not reported", ready_now(fd));
            }
        }
        // Nothing is ready, so a wait takes its time.
        if self.r.below(64) == 0 {
            let timeout = Duration::from_micros(self.r.below(300));
            let start = Instant::now();
            let waited = wait(&self.p, &mut ready, Some(timeout));
            assert!(waited == Waited::Ready || start.elapsed() >= timeout);
            assert!(waited == Waited::TimedOut || ready.iter().all(|r| self.closed.contains(&r.data)), "{ready:?}");
        }
    }
}

#[test]
fn every_event_is_reported() {
    for kind in kinds() {
        for seed in 0..30 {
            println!("{} {seed}", kind.name());
            let mut m = Model::new(kind, seed);
            for _ in 0..1000 {
                m.step();
            }
            m.wait();
            assert!(m.reports > 100);
        }
    }
}
