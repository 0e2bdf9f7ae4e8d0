//! Unit tests of delays, descriptors, signals, and the bytes that are sent to the event manager.
use super::clock;
use super::clock::by_hand::StoppedClock;
use super::signals;
use crate::abi::layout::*;
use crate::abi::Tso;
use crate::base::poison::unpoisoned;
use crate::base::random::Random;
use crate::events::io_manager;
use crate::events::{descriptors, event_loop, waits};
use crate::hec::wait::Wait;
use crate::hec::Hec;
use crate::sched::event_poll;
use crate::sched::event_poll::Slept;
use crate::sync::wait_queues::leave_queues;
use crate::testing::world::World;
use crate::{info, static_closure};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// A pipe: its reading and its writing descriptor.
struct Pipe(i32, i32);

impl Pipe {
    fn new() -> Pipe {
        let mut fds = [0; 2];
        assert_eq!(unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_NONBLOCK) }, 0);
        Pipe(fds[0], fds[1])
    }
    fn write(&self, bytes: &[u8]) {
        let n = unsafe { libc::write(self.1, bytes.as_ptr().cast(), bytes.len()) };
        assert_eq!(n, bytes.len() as isize);
    }
    fn read(&self) -> Vec<u8> {
        let mut buffer = [0u8; 1024];
        let n = unsafe { libc::read(self.0, buffer.as_mut_ptr().cast(), buffer.len()) };
        buffer[..n.max(0) as usize].to_vec()
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        unsafe {
            libc::close(self.0);
            libc::close(self.1);
        }
    }
}

/// How a wait ends that has not ended (`cmm/IOManager.cmm`).
const AGAIN: isize = -2;

unsafe fn status(t: Tso) -> isize {
    *(t.obj().stackobj.obj().sp as *const isize).add(1)
}

fn parked(w: &mut World, frame: &[usize], wait: Wait) -> Tso {
    let t = w.thread_with(frame);
    unsafe { waits::park(w.hec, t, wait) };
    t
}

fn sleeper(w: &mut World, micros: i64) -> Tso {
    let frame = [info!(hec_wait_delay_info).0, AGAIN as usize, micros as usize];
    parked(w, &frame, Wait { why: BlockedOnDelay, on: micros as usize })
}

/// A thread that waits to read from a descriptor after a read has failed with EAGAIN.
fn drained_waiter(w: &mut World, fd: i32) -> Tso {
    let frame = [info!(hec_wait_fd_info).0, AGAIN as usize, 1, fd as usize, -1isize as usize];
    let t = w.thread_with(&frame);
    unsafe {
        t.obj().saved_errno = libc::EAGAIN as u32;
        waits::park(w.hec, t, Wait { why: BlockedOnRead, on: fd as u32 as usize | 1 << 32 });
    }
    t
}

fn waiter(w: &mut World, fd: i32, write: bool) -> Tso {
    limited(w, fd, if write { 2 } else { 1 }, -1)
}

/// A thread that waits for a descriptor, for some time at most.
fn limited(w: &mut World, fd: i32, events: usize, micros: isize) -> Tso {
    let why = if events == 2 { BlockedOnWrite } else { BlockedOnRead };
    let frame = [info!(hec_wait_fd_info).0, AGAIN as usize, events, fd as usize, micros as usize];
    parked(w, &frame, Wait { why, on: fd as u32 as usize | events << 32 })
}

/// Serves the loop. If `idle`, waits until there is something to do. False if nothing waits.
unsafe fn poll(hec: &mut Hec, idle: bool) -> bool {
    if !event_poll::has_waits(0) {
        return false;
    }
    if !event_loop::poll(hec, idle) && idle {
        while event_loop::sleep(0) != Slept::Events {}
        event_loop::poll(hec, false);
    }
    true
}

#[test]
fn sleepers_wake_by_their_deadlines() {
    let mut w = World::new(2);
    assert!(!unsafe { poll(w.hec, true) }, "no thread waits");
    let start = Instant::now();
    let late = sleeper(&mut w, 60_000);
    let never = sleeper(&mut w, i64::MAX);
    let soon = sleeper(&mut w, 20_000);
    unsafe {
        for micros in [0, -5] {
            let t = sleeper(&mut w, micros);
            assert_eq!((t.obj().why_blocked as usize, status(t)), (NotBlocked, 0));
        }
        let mut woken = Vec::new();
        while woken.len() < 2 {
            assert!(poll(w.hec, true));
            woken.extend(w.runnable());
        }
        assert_eq!(woken, [soon, late]);
        assert_eq!((status(soon), status(never)), (0, AGAIN));
        assert!(start.elapsed() >= Duration::from_millis(60));
        assert_eq!(never.obj().why_blocked as usize, BlockedOnDelay);
        leave_queues(w.hec, never);
        assert!(!poll(w.hec, false));
    }
}

/// How an ordered map would wake threads, by deadlines in nanoseconds and the order in which they began to wait.
#[derive(Default)]
struct Sleepers {
    waiting: BTreeMap<(u128, usize), Tso>,
    serial: usize,
}

impl Sleepers {
    fn add(&mut self, deadline: u128, t: Tso) {
        self.serial += 1;
        self.waiting.insert((deadline, self.serial), t);
    }
    fn due(&mut self, now: u128) -> Vec<Tso> {
        let later = self.waiting.split_off(&(now + 1, 0));
        std::mem::replace(&mut self.waiting, later).into_values().collect()
    }
}

#[test]
fn a_loop_wakes_sleepers_as_an_ordered_map_does() {
    let mut w = World::new(2);
    let clock = StoppedClock::new(&w);
    let (p, mut random, mut map) = (Pipe::new(), Random(44), Sleepers::default());
    let (tick, start) = (1024, u128::from(clock::nanoseconds()));
    // Deadlines are whole ticks, never sooner than asked for.
    let mut now = start;
    for _ in 0..4000 {
        match random.below(8) {
            0..4 => {
                let micros = 1 + random.magnitude(40) as i64;
                let limits_a_wait = random.below(3) == 0;
                let t = if limits_a_wait { limited(&mut w, p.0, 1, micros as isize) } else { sleeper(&mut w, micros) };
                map.add((now + micros as u128 * 1000).next_multiple_of(tick), t);
            }
            4 if !map.waiting.is_empty() => {
                let n = random.below(map.waiting.len() as u64) as usize;
                let key = *map.waiting.keys().nth(n).unwrap();
                let killed = map.waiting.remove(&key).unwrap();
                unsafe { leave_queues(w.hec, killed) };
            }
            _ => {
                let by = random.magnitude(42);
                clock.advance(Duration::from_nanos(by));
                now += u128::from(by);
                unsafe { event_loop::poll(w.hec, false) };
                assert_eq!(w.runnable(), map.due(now), "{} s after the start", (now - start) / 1_000_000_000);
            }
        }
    }
    assert!(map.serial > 1000 && now - start > 3600 * 1_000_000_000);
    clock.advance(Duration::from_secs(1 << 22));
    unsafe { event_loop::poll(w.hec, false) };
    assert_eq!(w.runnable(), map.due(u128::MAX - 1));
    assert!(!event_poll::has_waits(0));
}

#[test]
fn a_wait_is_verified_after_a_millisecond_while_the_hec_is_busy() {
    let mut w = World::new(2);
    let clock = StoppedClock::new(&w);
    let p = Pipe::new();
    unsafe {
        let other = waiter(&mut w, p.0, false);
        p.write(b"xy");
        event_loop::poll(w.hec, false);
        assert_eq!(w.runnable(), [other]);
        // The bytes are still there, and no edge tells.
        let t = waiter(&mut w, p.0, false);
        for _ in 0..9 {
            clock.advance(Duration::from_micros(100));
            event_loop::poll(w.hec, false);
            assert!(w.runnable().is_empty());
        }
        clock.advance(Duration::from_micros(110));
        event_loop::poll(w.hec, false);
        event_loop::poll(w.hec, false);
        assert_eq!(w.runnable(), [t]);
    }
}

#[test]
fn ready_descriptors_wake_threads() {
    let mut w = World::new(2);
    let (p, q) = (Pipe::new(), Pipe::new());
    let reads = waiter(&mut w, p.0, false);
    let other = waiter(&mut w, q.0, false);
    unsafe {
        assert!(poll(w.hec, false));
        assert!(w.runnable().is_empty());
        p.write(b"x");
        assert!(poll(w.hec, true));
        assert_eq!(w.runnable(), [reads]);
        let writes = waiter(&mut w, q.1, true);
        assert!(poll(w.hec, true));
        assert_eq!(w.runnable(), [writes]);
        assert_eq!(other.obj().why_blocked as usize, BlockedOnRead);
        // The end of a stream can be read.
        assert_eq!(libc::dup2(p.1, q.1), q.1);
        assert!(poll(w.hec, true));
        assert_eq!(w.runnable(), [other]);
        assert!(!poll(w.hec, false));
    }
}

#[test]
fn a_descriptor_follows_its_thread_to_another_hec() {
    let mut w = World::new(2);
    let p = Pipe::new();
    let home = || descriptors::of(p.0).unwrap().home.get();
    unsafe {
        let first = waiter(&mut w, p.0, false);
        assert_eq!(home(), Some(0));
        // It stays while a thread waits for it there.
        w.hec.no = 1;
        let second = waiter(&mut w, p.0, false);
        assert_eq!(home(), Some(0));
        w.hec.no = 0;
        p.write(b"x");
        assert!(poll(w.hec, true));
        assert_eq!(w.runnable(), [first, second]);
        w.hec.no = 1;
        let moved = waiter(&mut w, p.0, false);
        assert_eq!(home(), Some(1));
        // The byte is still there.
        event_loop::poll(w.hec, false);
        assert_eq!(w.runnable(), [moved]);
        w.hec.no = 0;
        assert!(!poll(w.hec, false));
    }
}

#[test]
fn another_hec_serves_events_that_a_look_has_found() {
    let mut w = World::new(2);
    let p = Pipe::new();
    let reads = waiter(&mut w, p.0, false);
    unsafe {
        assert!(!event_loop::look(0));
        p.write(b"x");
        assert!(event_loop::look(0) && event_loop::look(0));
        w.hec.no = 1;
        event_loop::poll_for(w.hec, 0, false);
        assert_eq!(w.runnable(), [reads]);
        assert!(!event_loop::look(0));
        w.hec.no = 0;
        let sleeps = sleeper(&mut w, 1_000);
        assert!(!event_loop::look(0));
        std::thread::sleep(Duration::from_millis(2));
        assert!(event_loop::look(0));
        w.hec.no = 1;
        event_loop::poll_for(w.hec, 0, false);
        w.hec.no = 0;
        assert_eq!(w.runnable(), [sleeps]);
    }
}

#[test]
fn a_bad_descriptor_is_not_waited_for() {
    let mut w = World::new(2);
    let t = waiter(&mut w, 1 << 20, false);
    let negative = waiter(&mut w, -1, true);
    unsafe {
        for t in [t, negative] {
            assert_eq!((t.obj().why_blocked as usize, status(t)), (NotBlocked, libc::EBADF as isize));
        }
        assert!(!poll(w.hec, false));
    }
}

#[test]
fn a_limited_wait_is_one_node() {
    const TIMED_OUT: isize = -3;
    const WRITE_ONLY: isize = -4 - 2;
    let mut w = World::new(2);
    let p = Pipe::new();
    let far = 1_000_000_000;
    unsafe {
        let nodes = || event_loop::event_loop(0).lock().nodes.used();
        let (late, soon, ever) =
            (limited(&mut w, p.0, 1, far), limited(&mut w, p.0, 1, 1000), waiter(&mut w, p.0, false));
        assert_eq!(nodes(), 3);
        assert!(poll(w.hec, true));
        assert_eq!((w.runnable(), status(soon)), (vec![soon], TIMED_OUT));
        p.write(b"x");
        assert!(poll(w.hec, true));
        assert_eq!((w.runnable(), status(late), status(ever)), (vec![late, ever], 0, 0));
        // Its timer is gone with it.
        assert_eq!(nodes(), 0);
        // Both directions of the writing end, of which one is there; and both of the other, of which none is.
        assert_eq!(p.read(), b"x");
        let (both, none) = (limited(&mut w, p.1, 3, far), limited(&mut w, p.0, 3, 1000));
        assert!(poll(w.hec, true));
        assert_eq!((w.runnable(), status(both)), (vec![both], WRITE_ONLY));
        assert!(poll(w.hec, true));
        assert_eq!((w.runnable(), status(none)), (vec![none], TIMED_OUT));
        // Withdrawn, it takes its timer with it; closed, it is not timed out.
        let gone = limited(&mut w, p.0, 1, far);
        leave_queues(w.hec, gone);
        assert_eq!(nodes(), 0);
        let closed = limited(&mut w, p.0, 1, 0);
        waits::hec_begin_close(w.hec, p.0 as usize);
        event_loop::poll(w.hec, true);
        assert!(w.runnable().is_empty());
        waits::hec_end_close(w.hec, p.0 as usize);
        assert_eq!((w.runnable(), status(closed)), (vec![closed], -1));
    }
}

#[test]
fn data_that_were_left_are_found() {
    let mut w = World::new(2);
    let p = Pipe::new();
    let t = waiter(&mut w, p.0, false);
    p.write(b"xy");
    unsafe {
        assert!(poll(w.hec, true));
        assert_eq!(w.runnable(), [t]);
        assert_eq!(libc::read(p.0, [0u8].as_mut_ptr().cast(), 1), 1);
        let again = waiter(&mut w, p.0, false);
        assert!(poll(w.hec, true));
        assert_eq!(w.runnable(), [again]);
    }
}

#[test]
fn a_wait_of_a_thread_that_has_left_nothing_is_verified_late() {
    let mut w = World::new(2);
    let clock = StoppedClock::new(&w);
    let p = Pipe::new();
    let first = waiter(&mut w, p.0, false);
    p.write(b"xy");
    unsafe {
        event_loop::poll(w.hec, true);
        assert_eq!(w.runnable(), [first]);
        // It says that it has, but there are bytes.
        let t = drained_waiter(&mut w, p.0);
        for millis in [0, 10, 9] {
            clock.advance(Duration::from_millis(millis));
            event_loop::poll(w.hec, false);
            event_loop::poll(w.hec, false);
            assert!(w.runnable().is_empty());
        }
        assert_eq!(t.obj().saved_errno, 0);
        // The wait is verified, and what that reports is handled.
        clock.advance(Duration::from_millis(2));
        event_loop::poll(w.hec, false);
        event_loop::poll(w.hec, false);
        assert_eq!(w.runnable(), [t]);
        // What becomes ready ends it at once.
        assert_eq!(p.read(), b"xy");
        let t = drained_waiter(&mut w, p.0);
        p.write(b"z");
        event_loop::poll(w.hec, false);
        assert_eq!(w.runnable(), [t]);
    }
}

#[test]
fn a_wait_begins_after_its_event_was_reported() {
    let mut w = World::new(2);
    let _clock = StoppedClock::new(&w);
    let p = Pipe::new();
    let first = waiter(&mut w, p.0, false);
    p.write(b"x");
    unsafe {
        event_loop::poll(w.hec, true);
        assert_eq!((w.runnable(), p.read()), (vec![first], b"x".to_vec()));
        // A read finds nothing. Before the thread waits, a byte comes and the HEC polls.
        p.write(b"y");
        event_loop::poll(w.hec, false);
        let t = drained_waiter(&mut w, p.0);
        event_loop::poll(w.hec, true);
        event_loop::poll(w.hec, true);
        assert_eq!(w.runnable(), [t]);
    }
}

#[test]
fn a_number_that_c_code_has_closed_can_be_waited_for_again() {
    let mut w = World::new(2);
    let (p, q) = (Pipe::new(), Pipe::new());
    let t = waiter(&mut w, p.0, false);
    p.write(b"x");
    unsafe {
        assert!(poll(w.hec, true));
        assert_eq!(w.runnable(), [t]);
        assert_eq!(libc::dup2(q.0, p.0), p.0);
        let again = waiter(&mut w, p.0, false);
        assert!(event_loop::poll(w.hec, true) || w.runnable().is_empty());
        q.write(b"x");
        assert!(poll(w.hec, true));
        assert_eq!(w.runnable(), [again]);
    }
}

#[test]
fn closing_wakes_those_that_wait_but_not_those_that_come_later() {
    let mut w = World::new(2);
    let p = Pipe::new();
    let before = waiter(&mut w, p.0, false);
    unsafe {
        waits::hec_begin_close(w.hec, p.0 as usize);
        let meanwhile = waiter(&mut w, p.0, false);
        assert!(w.runnable().is_empty());
        waits::hec_end_close(w.hec, p.0 as usize);
        assert_eq!(w.runnable(), [before]);
        assert_eq!((status(before), status(meanwhile)), (-1, AGAIN));
        p.write(b"x");
        assert!(poll(w.hec, true));
        assert_eq!(w.runnable(), [meanwhile]);
        assert_eq!(status(meanwhile), 0);
    }
}

#[test]
fn a_withdrawn_thread_is_not_woken() {
    let mut w = World::new(2);
    let p = Pipe::new();
    let (gone, stays) = (waiter(&mut w, p.0, false), waiter(&mut w, p.0, false));
    unsafe {
        leave_queues(w.hec, gone);
        p.write(b"x");
        assert!(poll(w.hec, true));
        assert_eq!(w.runnable(), [stays]);
    }
}

#[test]
fn waiting_threads_are_roots() {
    let mut w = World::new(2);
    let p = Pipe::new();
    let (reads, sleeps) = (waiter(&mut w, p.0, false), sleeper(&mut w, 1));
    let ids = unsafe { [reads.obj().id, sleeps.obj().id] };
    w.hec.r.current_tso = 0;
    w.collect(crate::collector::Request::MAJOR);
    p.write(b"x");
    std::thread::sleep(Duration::from_millis(1));
    unsafe { assert!(poll(w.hec, false)) };
    let woken: Vec<u64> = w.runnable().iter().map(|t| unsafe { t.obj().id }).collect();
    assert_eq!(woken, ids);
}

/// Handles SIGUSR1 as `base` does, on this OS thread.
unsafe fn handle_usr1() {
    signals::init(false, false, false);
    signals::stg_sig_install(libc::SIGUSR1, -4, std::ptr::null());
    assert!(signals::has_user_handlers());
}

#[test]
fn a_signal_starts_its_handler_in_a_thread() {
    let mut w = World::new(2);
    unsafe {
        handle_usr1();
        assert!(!signals::start_handlers(w.hec));
        w.hec.open_nursery();
        libc::raise(libc::SIGUSR1);
        assert_eq!(w.hec.r.hp_lim, 0, "the running thread yields");
        assert!(signals::start_handlers(w.hec));
        let started = w.runnable();
        assert_eq!(started.len(), 1);
        // `runHandlersPtr buffer signal`; the buffer has the siginfo.
        let sp = started[0].obj().stackobj.obj().sp as *const usize;
        let call = crate::abi::Closure(*sp.add(1));
        assert_eq!(call.info(), info!(stg_ap_3_upd_info));
        assert_eq!(call.field(2), static_closure!(base_GHCziConcziSignal_runHandlersPtr_closure));
        let buffer = call.field(3).untag().word(1) as *mut i32;
        assert_eq!((call.field(4).untag().word(1) as i32, *buffer), (libc::SIGUSR1, libc::SIGUSR1));
        libc::free(buffer.cast());
        signals::reset();
        assert!(!signals::has_user_handlers());
    }
}

#[test]
fn one_of_each_signal_is_kept_when_the_ring_is_full() {
    let mut w = World::new(2);
    unsafe {
        handle_usr1();
        assert_eq!(signals::stg_sig_install(libc::SIGUSR2, -4, std::ptr::null()), -1);
        for _ in 0..signals::RING_SIZE + 100 {
            libc::raise(libc::SIGUSR1);
        }
        libc::raise(libc::SIGUSR2);
        assert!(signals::start_handlers(w.hec));
        assert_eq!(w.runnable().len(), signals::RING_SIZE + 2);
        assert!(!signals::start_handlers(w.hec));
        libc::raise(libc::SIGUSR1);
        assert!(signals::start_handlers(w.hec));
        assert_eq!(w.runnable().len(), 1);
        signals::reset();
    }
}

/// The signal whose `runHandlersPtr` the thread runs.
unsafe fn signal_of(t: Tso) -> i32 {
    let frame = t.obj().stackobj.obj().sp as *const usize;
    let call = crate::abi::Closure(*frame.add(1));
    let buffer = call.field(3).untag().word(1) as *mut libc::c_void;
    libc::free(buffer);
    call.field(4).untag().word(1) as i32
}

#[test]
fn the_child_of_a_fork_gets_signals_when_its_main_thread_is_ready() {
    const ONCE: i32 = -5;
    let mut w = World::new(2);
    unsafe {
        handle_usr1();
        assert_eq!(signals::stg_sig_install(libc::SIGUSR2, ONCE, std::ptr::null()), -1);
        libc::raise(libc::SIGUSR1);
        // As in the child: a signal that comes during the fork is for it, one that came before is not.
        let pid = signals::fork_with_signals_blocked(|| {
            libc::raise(libc::SIGUSR2);
            0
        });
        assert_eq!(pid, 0);
        assert!(!signals::start_handlers(w.hec));
        for signal in [libc::SIGUSR1, libc::SIGINT] {
            libc::raise(signal);
            assert!(!signals::start_handlers(w.hec));
        }
        // The actions of other signals do not tell that the main thread is ready.
        assert_eq!(signals::stg_sig_install(libc::SIGHUP, -4, std::ptr::null()), -1);
        assert!(!signals::start_handlers(w.hec));
        assert_eq!(signals::stg_sig_install(libc::SIGINT, ONCE, std::ptr::null()), ONCE);
        assert!(signals::start_handlers(w.hec));
        let started: Vec<i32> = w.runnable().into_iter().map(|t| signal_of(t)).collect();
        assert_eq!(started, [libc::SIGINT, libc::SIGUSR1, libc::SIGUSR2]);
        // One-time handlers are used up.
        for (signal, default) in [(libc::SIGINT, true), (libc::SIGUSR1, false), (libc::SIGUSR2, true)] {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut action);
            assert_eq!(action.sa_sigaction == libc::SIG_DFL, default, "{signal}");
        }
        libc::raise(libc::SIGUSR1);
        assert!(signals::start_handlers(w.hec));
        assert_eq!(w.runnable().into_iter().map(|t| signal_of(t)).collect::<Vec<_>>(), [libc::SIGUSR1]);
        // The parent's signals are not held.
        assert_eq!(signals::fork_with_signals_blocked(|| 1), 1);
        libc::raise(libc::SIGUSR1);
        assert!(signals::start_handlers(w.hec));
        signals::reset();
    }
}

#[test]
fn a_signal_just_before_a_sleep_ends_it() {
    let mut w = World::new(2);
    let t = sleeper(&mut w, i64::MAX);
    unsafe {
        handle_usr1();
        // After the scheduler has checked for signals, and before it sleeps.
        event_poll::init(event_poll::EventManager {
            poll: event_loop::poll,
            poll_for: |hec, no| _ = event_loop::poll_for(hec, no, false),
            look: event_loop::look,
            sleep: event_loop::sleep,
            wake: event_loop::wake,
            join_shared_watch: |_| false,
        });
        libc::raise(libc::SIGUSR1);
        assert_eq!(event_loop::sleep(0), Slept::Woken);
        signals::wait();
        assert_eq!(t.obj().why_blocked as usize, BlockedOnDelay);
        assert!(signals::start_handlers(w.hec));
        leave_queues(w.hec, t);
        signals::reset();
    }
}

#[test]
fn invalid_signals_are_refused_and_previous_actions_returned() {
    let _w = World::new(2);
    unsafe {
        let install = |signal, code| signals::stg_sig_install(signal, code, std::ptr::null());
        assert_eq!(install(0, -4), -3);
        assert_eq!(install(65, -4), -3);
        assert_eq!(install(libc::SIGKILL, -4), -3);
        assert_eq!(install(libc::SIGUSR2, -2), -1);
        assert_eq!(install(libc::SIGUSR2, -1), -2);
        assert!(!signals::has_user_handlers());
    }
}

/// The manager's descriptors are global.
fn manager_lock() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    unpoisoned(LOCK.lock())
}

#[test]
fn messages_for_the_event_manager() {
    let _lock = manager_lock();
    let (control, second) = (Pipe::new(), Pipe::new());
    let (timer, wakeup) = (Pipe::new(), Pipe::new());
    let info = [7u8; size_of::<libc::siginfo_t>()];
    assert!(!io_manager::send_signal(10, &info), "there is no manager");
    io_manager::setIOManagerControlFd(0, control.1);
    io_manager::setIOManagerControlFd(1, second.1);
    io_manager::setTimerManagerControlFd(timer.1);
    io_manager::setIOManagerWakeupFd(wakeup.1);
    assert!(io_manager::send_signal(10, &info));
    assert_eq!(timer.read(), [&[10u8][..], &info].concat());
    io_manager::ioManagerWakeup();
    assert_eq!(wakeup.read(), 255u64.to_ne_bytes());
    io_manager::stop_managers();
    io_manager::stop_managers();
    for told in [&control, &second, &timer] {
        assert_eq!(told.read(), [254]);
    }
    io_manager::ioManagerWakeup();
    assert!(!io_manager::send_signal(10, &info));
    assert!(wakeup.read().is_empty());
}
