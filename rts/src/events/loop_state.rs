//! What the lock of an event loop protects: its nodes, and how they fire.
//!
//! The caller of each method holds that lock, and so the descriptors whose home the loop is.
use crate::abi::{Closure, Tso};
use crate::base::fatal;
use crate::events::descriptors;
use crate::events::descriptors::Descriptor;
use crate::events::poller::{Interest, Ready};
use crate::events::timer_wheel::{TimerWheel, NONE};
use crate::events::unverified::Unverified;
use crate::events::wait_nodes::{Kind, WaitNodes};
use crate::events::wheel_time;
use crate::hec::Hec;
use crate::info;
use crate::observe::eventlog;
use crate::observe::eventlog::waits::{wait_ended, Cause, Waiter};
use crate::observe::stats::EventCounts;
use crate::sched::settings;
use crate::thread::create::{apply, boxed, new_io_thread};
use crate::thread::park::claim;

/// How a wait has ended: 0, one of these, or an error number of the system. `cmm/IOManager.cmm` and
/// `rts/haskell/IOManager.hs` know them, too.
pub(super) const READY: isize = 0;
pub(super) const CLOSED: isize = -1;
pub(super) const TIMED_OUT: isize = -3;
/// Minus the events: of two that were waited for, these are there.
const PARTLY: isize = -4;

pub(super) struct State {
    pub nodes: WaitNodes,
    pub wheel: TimerWheel,
    /// What the poller has reported to a task without the HEC.
    pub pending: Vec<Ready>,
    pub unverified: Unverified,
    /// Until when a task that watches the loop sleeps.
    pub watched_until: Option<u64>,
    /// It is the shared watcher (`shared_watcher.rs`).
    pub is_shared: bool,
    pub counts: EventCounts,
    /// The number of nodes that wait for descriptors.
    pub descriptor_waits: usize,
    /// In the non-threaded way: when descriptors with waiters are verified, if nothing fires before.
    pub reverify_at: Option<u64>,
    /// [`EventCounts::activity`] when that was last planned.
    pub reverify_after: u64,
}

impl State {
    pub fn new(no: usize) -> State {
        State {
            nodes: WaitNodes::new(no),
            wheel: TimerWheel::new(wheel_time::now()),
            pending: Vec::new(),
            unverified: Unverified::default(),
            watched_until: None,
            is_shared: false,
            counts: EventCounts::default(),
            descriptor_waits: 0,
            reverify_at: None,
            reverify_after: 0,
        }
    }

    /// Takes a node out of the wheel and off its descriptor's list.
    /// # Safety
    /// The caller holds the lock of the loop, which is the home of the descriptor.
    pub unsafe fn unlink(&mut self, index: u32) {
        if std::mem::take(&mut self.nodes.node(index).timed) {
            self.wheel.remove(&mut self.nodes, index);
        }
        let node = self.nodes.node(index);
        let (fd, next, prev) = (std::mem::replace(&mut node.fd, -1), node.next, node.prev);
        let Some(d) = descriptors::of(fd) else { return };
        match prev {
            NONE => d.first.set(next),
            prev => self.nodes.node(prev).next = next,
        }
        match next {
            NONE => d.last.set(prev),
            next => self.nodes.node(next).prev = prev,
        }
        self.descriptor_waits -= 1;
    }

    /// Adds a node to the end of the list of its descriptor.
    /// # Safety
    /// As for [`State::unlink`].
    pub unsafe fn link(&mut self, index: u32, d: &Descriptor) {
        self.descriptor_waits += 1;
        self.nodes.node(index).prev = d.last.get();
        match d.last.get() {
            NONE => d.first.set(index),
            last => self.nodes.node(last).next = index,
        }
        d.last.set(index);
    }

    /// Does a node wait for any of these events? Notes those for which none does.
    pub fn is_awaited(&mut self, event: &Ready, no: usize) -> bool {
        let Some(d) = registered(event, no) else { return false };
        let (mut at, mut awaited) = (d.first.get(), Interest::NONE);
        while at != NONE {
            let node = self.nodes.node(at);
            awaited = awaited | Interest(node.want);
            at = node.next;
        }
        d.missed.set(d.missed.get() | event.events.without(awaited));
        awaited.intersects(event.events)
    }

    pub fn new_node(&mut self, kind: Kind, target: Closure, fd: i32, want: u8) -> u32 {
        match self.nodes.allocate(kind, target, fd, want) {
            Some(index) => index,
            None => fatal::exit_with(1, "too many threads wait and too many timers run"),
        }
    }

    /// Takes a node out of all lists and frees it.
    /// # Safety
    /// As for [`State::unlink`].
    pub unsafe fn remove(&mut self, index: u32) {
        self.unlink(index);
        self.nodes.free(index);
    }

    /// The waits of the list have ended with this status. The node is freed, whether or not its thread still waits.
    /// # Safety
    /// The caller holds `hec` and the lock of the loop.
    pub unsafe fn fire(&mut self, hec: &mut Hec, index: u32, status: isize) {
        match (status, self.nodes.node(index).fd) {
            (READY, -1) | (TIMED_OUT, _) => self.counts.woken_by_timers += 1,
            _ => self.counts.woken_by_descriptors += 1,
        }
        let cause = eventlog::on(eventlog::class::WAITS).then(|| self.cause(index, status));
        self.unlink(index);
        let handle = self.nodes.handle(index);
        let node = self.nodes.node(index);
        let (kind, target) = (node.kind, node.target);
        self.nodes.free(index);
        let no = hec.no;
        let log = |target| {
            if let Some(cause) = cause {
                wait_ended(no, waiter(kind, target), cause);
            }
        };
        match kind {
            Kind::Thread => {
                // If the claim fails, an exception has claimed the thread.
                if let Some(c) = claim(hec, Tso(target.0), |_, on| on == handle.0) {
                    log(c.thread.closure());
                    set_status(c.thread, status);
                    c.resume(hec);
                }
            }
            Kind::Action => {
                log(target);
                start_thread(hec, target);
            }
            Kind::Callback => {
                log(target);
                let status = boxed(hec, info!(ghczmprim_GHCziTypes_Izh_con_info), status as usize);
                let call = apply(hec, target, &[status]);
                start_thread(hec, call);
            }
            Kind::Free => fatal::broken("a free wait node fires"),
        }
    }

    /// Why a node fires with this status.
    fn cause(&mut self, index: u32, status: isize) -> Cause {
        let node = self.nodes.node(index);
        match (status, node.fd) {
            (CLOSED, _) => Cause::Close,
            (READY, -1) | (TIMED_OUT, _) => {
                Cause::Deadline(wheel_time::since(node.links.deadline()).as_micros() as u64)
            }
            (error, _) if error > 0 => Cause::Error(error),
            (_, fd) => Cause::Descriptor(fd),
        }
    }

    /// Wakes what waits for these events of a descriptor. Notes those for which nothing does.
    /// # Safety
    /// As for [`State::fire`].
    pub unsafe fn fire_events(&mut self, hec: &mut Hec, d: &Descriptor, events: Interest, status: isize) -> usize {
        let (mut at, mut fired, mut missed) = (d.first.get(), 0, events);
        while at != NONE {
            let node = self.nodes.node(at);
            let (next, want) = (node.next, Interest(node.want));
            if want.intersects(events) {
                missed = missed.without(want);
                let is_partial = status == READY && !events.contains(want);
                self.fire(hec, at, if is_partial { PARTLY - want.and(events).0 as isize } else { status });
                fired += 1;
            }
            at = next;
        }
        d.missed.set(d.missed.get() | missed);
        fired
    }
}

/// The descriptor of an event, if the event is of its present registration with loop `no`.
pub(super) fn registered(event: &Ready, no: usize) -> Option<&'static Descriptor> {
    let d = descriptors::of(event.data as u32 as i32).filter(|d| d.home.get() == Some(no))?;
    (d.registered.get() && d.generation.get() == (event.data >> 32) as u32).then_some(d)
}

/// Writes the status into the frame on top of a thread that waits.
/// # Safety
/// The caller owns the thread, which is at rest with such a frame on top.
pub(super) unsafe fn set_status(t: Tso, status: isize) {
    let sp = t.obj().stackobj.obj().sp as *mut usize;
    debug_assert!([info!(hec_wait_fd_info).0, info!(hec_wait_delay_info).0].contains(&*sp));
    *sp.add(1) = status as usize;
}

/// What a node of this kind stands for, in the event log.
/// # Safety
/// The target of a node of the kind `Thread` is a thread.
pub(super) unsafe fn waiter(kind: Kind, target: Closure) -> Waiter {
    match kind {
        Kind::Thread => Waiter::Thread(Tso(target.0).obj().id),
        Kind::Callback => Waiter::Callback,
        Kind::Action | Kind::Free => Waiter::Timer,
    }
}

/// After how many microseconds a wait for a descriptor ends in any case. Negative if it need not.
/// # Safety
/// The caller owns the thread, which is at rest with the frame of such a wait on top.
pub(super) unsafe fn microseconds_of_wait(t: Tso) -> isize {
    let sp = t.obj().stackobj.obj().sp as *mut isize;
    debug_assert_eq!(info!(hec_wait_fd_info).0 as isize, *sp);
    *sp.add(4)
}

unsafe fn start_thread(hec: &mut Hec, action: Closure) {
    let t = new_io_thread(hec, action, &settings().stack);
    hec.run_queue.push_back(&mut hec.remembered, t);
}
