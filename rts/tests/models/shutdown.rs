//! Models of the end of the program.
//!
//! *Checked*: one OS thread winds the runtime down and then has all HECs, whatever arrives meanwhile. No OS thread ends
//! the process before that.
//! *Shipped code*: `api/lifetime.rs` and what [`crate::support::hec_world`] lists.
use crate::atomics::{AtomicBool, Ordering};
use crate::explore;
use crate::shipped::handoff_protocol::HandoffSlot;
use crate::shipped::lifetime::{Leave, Lifetime, Start};
use crate::support::hec_world::{HecWorld, TaskRef, Thread};

const FLUSH: usize = 0;
const OTHER: usize = 1;

struct Program {
    world: &'static HecWorld,
    life: Lifetime,
    wound_down: AtomicBool,
}

impl Program {
    /// As `shutdown::wind_down`.
    fn wind_down(&self, me: TaskRef, os_thread: i32) {
        self.world.slot(0).acquire(me);
        self.world.queue(0, FLUSH, Some(me));
        self.world.schedule(me, Some(FLUSH));
        assert!(self.life.can_enter(|| os_thread, || true), "threads that run as handles are flushed may call back");
        self.world.release_hec(me);
        self.life.close();
        assert!(!self.life.can_enter(|| os_thread, || true), "the OS thread that winds down does not wait for itself");
        self.world.slot(0).acquire(me);
        self.world.stop_for_good(me);
        assert!(!self.wound_down.swap(true, Ordering::Relaxed), "it is wound down once");
    }

    /// As `shutdownHaskellAndExit`.
    fn exit(&self, me: TaskRef, os_thread: i32) {
        if self.life.leave_all(os_thread) {
            self.wind_down(me, os_thread);
            // The OS thread that ends the process calls once more.
            assert!(!self.life.leave_all(os_thread));
            self.world.end_the_process(me);
            // OS threads that wait for the end of the process end here.
            self.life.mark_ended();
        } else {
            assert!(self.wound_down.load(Ordering::Relaxed), "the process ends when it has been wound down");
        }
    }

    /// As `hs_exit`.
    fn leave(&self, me: TaskRef, os_thread: i32) {
        assert!(self.life.leave(os_thread) == Leave::Last);
        self.wind_down(me, os_thread);
        self.life.mark_ended();
        self.world.end_the_process(me);
    }

    /// As `rts_lock`, an in-call, and `rts_unlock`.
    fn call_in(&self, me: TaskRef, os_thread: i32) {
        if !self.life.can_enter(|| os_thread, || false) {
            assert!(self.wound_down.load(Ordering::Relaxed), "calls are admitted before that");
            return;
        }
        self.resume_from_call(me);
    }

    /// As the OS thread of a `forkOS`.
    fn begin(&self, me: TaskRef) {
        if self.life.in_use() {
            self.resume_from_call(me);
        }
    }

    /// As `resumeThread`.
    fn resume_from_call(&self, me: TaskRef) {
        self.world.slot(1).acquire(me);
        if me.has_process_ended() {
            return;
        }
        self.world.run(Thread { name: OTHER, bound: None });
        assert!(!self.wound_down.load(Ordering::Relaxed), "no thread runs Haskell any more");
        self.world.release_hec(me);
    }
}

unsafe impl Sync for Program {}

/// The first task ends the program in this way, while two others act.
fn program(first: fn(&Program, TaskRef, i32), others: [fn(&Program, TaskRef, i32); 2]) {
    explore(2, move || {
        HecWorld::with(2, 4, 1, |world| {
            let program: *mut Program =
                Box::into_raw(Box::new(Program { world, life: Lifetime::new(), wound_down: AtomicBool::new(false) }));
            // SAFETY: the model's threads have ended when it returns.
            let p: &'static Program = unsafe { &*program };
            assert!(p.life.start() == Start::First && p.life.start() == Start::Again);
            assert!(p.life.leave(1) == Leave::NotLast);
            let others = [1, 2].map(|no| world.spawn(no, move |me| others[no - 1](p, me, no as i32 + 1)));
            let worker = world.spawn_worker(3);
            first(p, world.tasks[0], 1);
            others.into_iter().chain([worker]).for_each(|t| t.join().unwrap());
            assert!(p.life.start() == Start::TooLate && p.life.leave(1) == Leave::TooMany);
            // SAFETY: as above.
            drop(unsafe { Box::from_raw(program) });
        });
    });
}

#[test]
fn two_end_the_program_and_a_call_returns() {
    program(Program::exit, [Program::exit, |p, me, _| p.resume_from_call(me)]);
}

#[test]
fn the_program_ends_as_c_calls_haskell() {
    program(Program::exit, [Program::call_in, |p, me, _| p.begin(me)]);
}

#[test]
fn the_runtime_ends_as_c_calls_haskell() {
    program(Program::leave, [Program::call_in, |p, me, _| p.begin(me)]);
}

#[test]
fn the_runtime_ends_and_another_ends_the_program() {
    program(
        Program::leave,
        [
            |p, _, os_thread| {
                assert!(p.life.in_use() || !p.life.leave_all(os_thread));
            },
            |p, me, _| p.resume_from_call(me),
        ],
    );
}

#[test]
fn the_child_of_a_fork_goes_on_though_its_parent_was_about_to_end() {
    explore(3, || {
        let life = Lifetime::new();
        assert!(life.start() == Start::First && life.start() == Start::Again && life.leave_all(1));
        // SAFETY: nothing else uses it.
        unsafe { life.renew() };
        assert!(life.in_use() && life.can_enter(|| 2, || false) && life.leave_all(2));
    });
}

/// Threads wait on the second HEC. Its holder runs them, or leaves them to a worker.
#[test]
fn the_program_ends_with_threads_that_run() {
    program(
        Program::exit,
        [
            |p, me, _| {
                p.world.slot(1).acquire(me);
                if !me.has_process_ended() {
                    p.world.queue(1, OTHER, None);
                    p.world.release_hec(me);
                }
            },
            |p, me, _| p.resume_from_call(me),
        ],
    );
}
