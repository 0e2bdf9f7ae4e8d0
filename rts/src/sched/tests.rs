//! Tests of the hand-off of a HEC among OS threads, and of the scheduler's loop with scripted threads. Every wait has a
//! bound.
use super::*;
use crate::abi::layout::*;
use crate::abi::{Closure, RegTable, Tso};
use crate::hec::spark_pool::SparkRing;
use crate::hec::Hec;
use crate::hec::{GcRequest, SLICE_ENDED};
use crate::memory::{block_alloc, nursery_distribution};
use crate::sched::in_call::{run_to_end, Status};
use crate::sched::safe_call::{resumeThread, suspendThread};
use crate::static_closure;
use crate::testing::symbols as t;
use crate::testing::world::{finish, play, World, STACKS};
use crate::thread::create::{new_thread, push};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{channel, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const BOUND: Duration = Duration::from_secs(60);

/// Makes a world in the threaded way.
fn threaded() -> World {
    let w = World::new(2);
    unsafe { init(Settings { stack: STACKS, threaded: true, ticks: true }) };
    w
}

/// Runs `f` on a new OS thread. The receiver gets a message when it has ended.
fn spawn(f: impl FnOnce() + Send + 'static) -> Receiver<()> {
    let (done, ended) = channel();
    thread::spawn(move || {
        f();
        done.send(()).unwrap();
    });
    ended
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < BOUND, "waited too long until {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

type Log = Arc<Mutex<Vec<usize>>>;

fn log(l: &Log, n: usize) {
    l.lock().unwrap().push(n);
}

#[test]
fn one_os_thread_at_a_time_and_none_starves() {
    const ROUNDS: usize = 300;
    let _world = World::new(2);
    static INSIDE: AtomicUsize = AtomicUsize::new(0);
    static TOGETHER: AtomicUsize = AtomicUsize::new(0);
    let all: Vec<_> = (0..5)
        .map(|i| {
            spawn(move || {
                for round in 0..ROUNDS {
                    handoff::acquire(task_table::current());
                    TOGETHER.fetch_max(INSIDE.fetch_add(1, SeqCst) + 1, SeqCst);
                    if (round + i) % 3 == 0 {
                        thread::yield_now();
                    }
                    INSIDE.fetch_sub(1, SeqCst);
                    unsafe { handoff::release(task_table::current()) };
                }
            })
        })
        .collect();
    unsafe { handoff::release(task_table::current()) };
    all.iter().for_each(|ended| ended.recv_timeout(BOUND).unwrap());
    assert_eq!(TOGETHER.load(SeqCst), 1);
    assert!(!handoff::any_held() && !handoff::has_returning(0));
}

/// Starts OS threads that want the HEC, in this order. Each logs its number and passes the HEC on.
fn returning(n: usize, l: &Log) -> Vec<Receiver<()>> {
    (0..n)
        .map(|i| {
            let (l, before) = (l.clone(), handoff::waiting());
            let ended = spawn(move || {
                handoff::acquire(task_table::current());
                log(&l, i);
                unsafe { handoff::release(task_table::current()) };
            });
            wait_until("it waits", || handoff::waiting() > before);
            ended
        })
        .collect()
}

#[test]
fn returning_tasks_are_served_in_order() {
    let _world = World::new(2);
    let l = Log::default();
    let all = returning(3, &l);
    unsafe { handoff::release(task_table::current()) };
    handoff::acquire(task_table::current());
    log(&l, 3);
    assert!(handoff::holds_hec());
    all.iter().for_each(|ended| ended.recv_timeout(BOUND).unwrap());
    assert_eq!(*l.lock().unwrap(), [0, 1, 2, 3]);
}

#[test]
fn calls_that_return_quickly_do_not_keep_others_from_running() {
    let mut w = threaded();
    let done = Arc::new(AtomicUsize::new(0));
    let over = done.clone();
    let callers: Vec<_> = (0..2)
        .map(|_| {
            let over = over.clone();
            spawn(move || {
                while over.load(SeqCst) == 0 {
                    handoff::acquire(task_table::current());
                    unsafe { handoff::release(task_table::current()) };
                }
            })
        })
        .collect();
    wait_until("both wait", || handoff::waiting() == 2);
    // It makes progress only if its first heap check succeeds.
    let (mut runs, mut useful) = (0, 0);
    let t = w.scripted(move |reg| unsafe {
        runs += 1;
        useful += ((*reg).hp_lim != 0) as usize;
        if runs < 300 {
            return HeapOverflow;
        }
        finish(reg, if useful > 270 { t::nil() } else { t::caf() })
    });
    assert_eq!(unsafe { run_to_end(task_table::current(), t) }, (Status::Success, t::nil()));
    done.store(1, SeqCst);
    unsafe { handoff::release(task_table::current()) };
    callers.iter().for_each(|ended| ended.recv_timeout(BOUND).unwrap());
}

#[test]
fn no_task_overtakes_the_successor() {
    let _world = World::new(2);
    let (me, l) = (task_table::current(), Log::default());
    assert!(!handoff::try_acquire(me));
    let all = returning(1, &l);
    unsafe { handoff::release(task_table::current()) };
    all[0].recv_timeout(BOUND).unwrap();
    wait_until("it is free", || !handoff::any_held());
    assert!(handoff::try_acquire(me) && handoff::holds_hec());
}

/// A script for a thread that notes on which OS thread it runs, `steps` times, and then ends.
fn noting(
    steps: usize,
    is_right_place: impl Fn() -> bool + Send + 'static,
) -> impl FnMut(*mut RegTable) -> usize + Send {
    let mut left = steps;
    let mut always_right = true;
    move |reg| {
        always_right &= is_right_place();
        left -= 1;
        match left {
            0 if always_right => unsafe { finish(reg, t::nil()) },
            0 => unsafe { finish(reg, t::caf()) },
            _ => ThreadYielding,
        }
    }
}

#[test]
fn bound_threads_run_on_their_own_os_threads_and_others_on_workers() {
    let w = threaded();
    let ended = Arc::new(AtomicUsize::new(0));
    for _ in 0..3 {
        unsafe {
            let t = unbound(&ended);
            w.hec.run_queue.push_back(&mut w.hec.remembered, t);
        }
    }
    let all: Vec<_> = (0..3)
        .map(|_| {
            spawn(|| unsafe {
                let here = thread::current().id();
                handoff::acquire(task_table::current());
                let t = new_thread(hec(), &STACKS);
                play(t, noting(200, move || thread::current().id() == here));
                assert_eq!(run_to_end(task_table::current(), t), (Status::Success, t::nil()));
                handoff::release(task_table::current());
            })
        })
        .collect();
    unsafe { handoff::release(task_table::current()) };
    all.iter().for_each(|e| e.recv_timeout(BOUND).expect("a bound thread has not ended"));
    wait_until("the others have ended", || ended.load(SeqCst) == 3);
    wait_until("the HEC is free", || !handoff::any_held());
}

/// Makes a thread that counts itself when it has run long enough on workers.
unsafe fn unbound(ended: &Arc<AtomicUsize>) -> Tso {
    let (ended, mut left) = (ended.clone(), 200);
    let t = new_thread(hec(), &STACKS);
    play(t, move |reg| {
        left -= (thread::current().name() == Some("haskell-worker")) as usize;
        if left > 0 {
            return ThreadYielding;
        }
        ended.fetch_add(1, SeqCst);
        unsafe { finish(reg, t::nil()) }
    });
    t
}

#[test]
fn while_one_is_in_a_foreign_call_others_run() {
    let mut w = threaded();
    let (give, take) = channel();
    let take = Mutex::new(take);
    // Its foreign call returns when the other thread has run.
    let waits = w.scripted(move |reg| unsafe {
        let token = suspendThread(reg, false);
        let result = take.lock().unwrap().recv_timeout(BOUND);
        let reg = resumeThread(token);
        finish(reg, if result.is_ok() { t::nil() } else { t::caf() })
    });
    let gives = w.scripted(move |reg| {
        give.send(()).unwrap();
        unsafe { finish(reg, t::nil()) }
    });
    unsafe {
        w.hec.run_queue.push_back(&mut w.hec.remembered, gives);
        let got = run_to_end(task_table::current(), waits);
        assert_eq!(got, (Status::Success, t::nil()));
    }
}

#[test]
fn a_call_that_returns_finds_the_nursery_where_it_is_now() {
    let mut w = threaded();
    let resized = w.scripted(|reg| unsafe {
        let token = suspendThread(reg, false);
        // As a collection from C does.
        handoff::acquire(task_table::current());
        let before = hec().alloc.limit();
        let (a, b) = (block_alloc::alloc_run(1, crate::memory::Age::NURSERY), 1 << 16);
        assert!(
            a.is_some()
                && nursery_distribution::distribute(&mut [&mut hec().alloc], b, b)
                && hec().alloc.limit() != before
        );
        handoff::release(task_table::current());
        let reg = resumeThread(token);
        let h = hec();
        let right = (*reg).hp_lim == h.alloc.limit() - 1 && (*reg).current_nursery == h.alloc.run;
        finish(reg, if right { t::nil() } else { t::caf() })
    });
    assert_eq!(unsafe { run_to_end(task_table::current(), resized) }, (Status::Success, t::nil()));
}

/// Compiled code sets HpLim by itself after a call, from the run's descriptor: the thread then stops at its next heap
/// check if it must.
#[test]
fn a_stop_request_during_a_foreign_call_is_kept() {
    let mut w = threaded();
    let causes: [(&str, fn(&mut Hec)); 3] = [
        ("none", |_| {}),
        ("its time slice has ended", |h| {
            h.context_switch.store(SLICE_ENDED, SeqCst);
            h.interrupt();
        }),
        ("a collection is due", |h| h.request_gc(GcRequest::Major)),
    ];
    for (name, cause) in causes {
        for before in [true, false] {
            let t = w.scripted(move |reg| unsafe {
                if before {
                    cause(hec());
                }
                let token = suspendThread(reg, false);
                if !before {
                    // As a task that holds the HEC meanwhile does.
                    handoff::acquire(task_table::current());
                    cause(hec());
                    handoff::release(task_table::current());
                }
                let reg = resumeThread(token);
                let h = hec();
                let stops = ((*reg).hp_lim == 0, (*h.alloc.run).units == 0);
                h.context_switch.store(0, SeqCst);
                h.gc_requested = None;
                h.open_nursery();
                h.alloc.publish_limit(false);
                finish(reg, if stops == (name != "none", name != "none") { t::nil() } else { t::caf() })
            });
            let got = unsafe { run_to_end(task_table::current(), t) };
            assert_eq!(got, (Status::Success, t::nil()), "{name}, before the call: {before}");
        }
    }
}

#[test]
fn a_parked_task_is_woken_and_does_not_sleep_with_cause_to_be_awake() {
    let me = task_table::current();
    let since = Instant::now();
    me.park_timeout(BOUND, || true);
    let (asks, asked) = channel();
    let woken = spawn(move || {
        asked.recv().unwrap();
        crate::sched::handoff::protocol::Task::wake(me);
    });
    // `awake` is asked under the lock that `wake` takes, so `wake` comes when the task sleeps, and not before.
    me.park_timeout(BOUND, move || asks.send(()).is_err());
    assert!(since.elapsed() < BOUND);
    woken.recv_timeout(BOUND).unwrap();
}

#[test]
fn a_killed_bound_thread_ends_its_in_call() {
    let mut w = World::new(2);
    let victim = w.scripted(|_| ThreadYielding);
    let killer = w.scripted(move |reg| unsafe {
        crate::eval::raise_async::raise_async(hec(), victim, None);
        finish(reg, t::nil())
    });
    unsafe {
        w.hec.run_queue.push_back(&mut w.hec.remembered, killer);
        assert_eq!(run_to_end(task_table::current(), victim).0, Status::Killed);
    }
}

/// Makes threads that log their numbers at each step, and leave for the reason that `why` returns.
fn loggers(w: &mut World, l: &Log, n: usize, why: fn(usize, &mut crate::hec::Hec) -> usize) -> Vec<Tso> {
    (0..n)
        .map(|i| {
            let (l, mut left) = (l.clone(), 3);
            w.scripted(move |reg| unsafe {
                log(&l, i);
                left -= 1;
                if left == 0 {
                    return finish(reg, t::nil());
                }
                why(i, hec())
            })
        })
        .collect()
}

/// Runs all threads. The first is the in-call's, which is queued last.
fn run_all(w: &mut World, all: &[Tso]) {
    unsafe {
        for &t in &all[1..] {
            w.hec.run_queue.push_back(&mut w.hec.remembered, t);
        }
        assert_eq!(run_to_end(task_table::current(), all[0]).0, Status::Success);
    }
}

#[test]
fn a_thread_that_yields_goes_to_the_back_and_one_that_needs_a_collection_stays_in_front() {
    let mut w = World::new(2);
    let l = Log::default();
    let all = loggers(&mut w, &l, 3, |_, _| ThreadYielding);
    run_all(&mut w, &all);
    assert_eq!(*l.lock().unwrap(), [1, 2, 0, 1, 2, 0, 1, 2, 0]);
    l.lock().unwrap().clear();
    let all = loggers(&mut w, &l, 2, |_, h| {
        h.request_gc(GcRequest::Minor);
        HeapOverflow
    });
    run_all(&mut w, &all);
    assert_eq!(*l.lock().unwrap(), [1, 1, 1, 0, 0, 0]);
    // Unless its time slice has ended as well.
    l.lock().unwrap().clear();
    let all = loggers(&mut w, &l, 2, |_, h| {
        h.context_switch.store(1, SeqCst);
        HeapOverflow
    });
    run_all(&mut w, &all);
    assert_eq!(*l.lock().unwrap(), [1, 0, 1, 0, 1, 0]);
}

#[test]
fn a_collection_moves_threads_and_what_they_hold() {
    let mut w = World::new(2);
    let value = w.list(1000, 1010);
    let mut step = 0;
    let t = w.scripted(move |reg| unsafe {
        let stack = Tso((*reg).current_tso).obj().stackobj;
        step += 1;
        if step == 1 {
            push(stack, &[t::ret_p().0, value.0]);
        }
        if step < 5 {
            hec().request_gc(if step == 3 { GcRequest::Major } else { GcRequest::Minor });
            return HeapOverflow;
        }
        let held = *(stack.obj().sp as *const usize).add(1);
        stack.obj().sp += 16;
        finish(reg, Closure(held))
    });
    let (status, list) = unsafe { run_to_end(task_table::current(), t) };
    assert_eq!(status, Status::Success);
    assert_ne!(list, value);
    assert_eq!(unsafe { list.untag().field(1).untag().word(1) }, 1000);
}

#[test]
fn a_stack_that_overflows_grows_until_its_limit() {
    let mut w = World::new(2);
    unsafe {
        init(Settings { stack: crate::thread::stack::StackSizes { max: 3000, ..STACKS }, threaded: false, ticks: true })
    };
    let t = w.scripted(|reg| unsafe {
        let stack = Tso((*reg).current_tso).obj().stackobj;
        while stack.obj().sp - 80 >= stack.sp_lim() {
            push(stack, &[t::ret_9().0; 10]);
        }
        StackOverflow
    });
    let overflow = static_closure!(base_GHCziIOziException_stackOverflow_closure);
    assert_eq!(unsafe { run_to_end(task_table::current(), t) }, (Status::Killed, overflow));
    assert!(gc::last_overflowed_words() >= 3000);
}

#[test]
fn a_deadlocked_main_thread_is_told() {
    let mut w = World::new(2);
    let m = w.mvar();
    let t = w.scripted(move |reg| unsafe {
        push(Tso((*reg).current_tso).obj().stackobj, &[t::ret_p().0, m.0]);
        crate::thread::park::hec_about_to_wait(hec(), BlockedOnMVar, m.0);
        ThreadBlocked
    });
    let told = static_closure!(base_GHCziIOziException_blockedIndefinitelyOnMVar_closure);
    assert_eq!(unsafe { run_to_end(task_table::current(), t) }, (Status::Killed, told));
}

#[test]
fn an_exception_for_a_thread_in_a_foreign_call_waits_for_its_end() {
    let mut w = threaded();
    let e = w.int(1000);
    let t = w.scripted(move |reg| unsafe {
        let tso = Tso((*reg).current_tso);
        let token = suspendThread(reg, false);
        handoff::acquire(task_table::current());
        crate::sync::throwto::throw_from_outside(hec(), tso, e);
        let untouched = tso.obj().why_blocked as usize == BlockedOnCCall;
        handoff::release(task_table::current());
        let reg = resumeThread(token);
        let stack = tso.obj().stackobj;
        let asked = *(stack.obj().sp as *const usize) == crate::info!(hec_after_call_info).0;
        stack.obj().sp += 8;
        finish(reg, if untouched && asked { t::nil() } else { t::caf() })
    });
    assert_eq!(unsafe { run_to_end(task_table::current(), t) }, (Status::Success, t::nil()));
}

#[test]
fn tasks_of_ended_os_threads_are_used_again() {
    let _world = World::new(2);
    let visit = |says_so: bool| {
        std::thread::spawn(move || {
            let me = task_table::current();
            handoff::acquire(me);
            task_table::release_current();
            // It holds a HEC.
            assert!(task::same(me, task_table::current()));
            unsafe { handoff::release(me) };
            if says_so {
                task_table::release_current();
                task_table::current();
            }
            me.name()
        })
        .join()
        .unwrap()
    };
    unsafe { handoff::release(task_table::current()) };
    let names: std::collections::HashSet<u64> = (0..200).map(|i| visit(i % 2 == 0)).collect();
    assert!(names.len() < 10, "{} tasks for 200 OS threads", names.len());
    handoff::acquire(task_table::current());
}

#[test]
fn the_oldest_sparks_come_first_and_the_pool_is_bounded() {
    let ring = SparkRing::new();
    assert!(ring.take().is_none() && ring.is_empty());
    for round in 0..10 {
        let put = (0..9).filter(|i| ring.put(10 * round + i, 5)).count();
        assert_eq!((put, ring.len()), (5, 5));
        let taken: Vec<_> = (0..3).filter_map(|_| ring.take()).collect();
        assert_eq!(taken, [10 * round, 10 * round + 1, 10 * round + 2]);
        assert_eq!(ring.take_all(), [10 * round + 3, 10 * round + 4]);
        assert!(ring.is_empty());
    }
    assert!(!ring.put(1, 0));
}

#[test]
fn the_holder_takes_the_newest_spark() {
    let ring = SparkRing::new();
    assert!(ring.take_newest().is_none());
    for round in 0..3 {
        let put = |i| ring.put(10 * round + i, 4);
        assert!(put(0) && put(1) && put(2));
        assert_eq!((ring.take_newest(), ring.take()), (Some(10 * round + 2), Some(10 * round)));
        assert!(put(3) && put(4));
        assert_eq!((ring.take(), ring.len()), (Some(10 * round + 1), 2));
        assert_eq!((ring.take_newest(), ring.take_newest()), (Some(10 * round + 4), Some(10 * round + 3)));
        assert!(ring.take_newest().is_none() && ring.is_empty());
    }
}
