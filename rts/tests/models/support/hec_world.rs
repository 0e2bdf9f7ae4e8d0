//! HECs and tasks for the models of the scheduler.
//!
//! Haskell threads only note that they have run. [`HecWorld::schedule`] is a short form of `sched/schedule.rs`.
//!
//! *Shipped code*: `sched/handoff/protocol.rs`, `sched/handoff/state.rs`, `sched/task_parker.rs`,
//! `sched/stop_world_protocol.rs` and `hec/mailbox.rs`.
use crate::atomics::{AtomicBool, AtomicUsize, Ordering};
use crate::shipped::handoff_protocol::{AssignedHec, HandoffSlot, Signal, Task, Work};
use crate::shipped::handoff_state::SlotState;
use crate::shipped::mailbox::Mailbox;
use crate::shipped::stop_world_protocol;
use crate::shipped::task_parker::{Parker, Wakeup};
use loom::cell::UnsafeCell;
use loom::sync::{Condvar, Mutex, MutexGuard};
use loom::thread;
use std::collections::VecDeque;
use std::sync::TryLockError;

/// The end of a running thread's nursery.
pub const END: usize = 100;
const MAX_IDLE: usize = 2;
/// The HEC number granted to tasks when the process has ended: they do nothing any more.
const PROCESS_ENDED: usize = usize::MAX - 1;

/// A Haskell thread, and the task it is bound to.
#[derive(Clone, Copy)]
pub struct Thread {
    pub name: usize,
    pub bound: Option<TaskRef>,
}

/// What a worker is given besides HECs: a fiber in a foreign call, or the request to end.
pub enum Call {
    Make(Fiber),
    End,
}

/// A native stack. Only its owner may touch it; loom verifies that.
#[derive(Clone, Copy)]
pub struct Fiber(&'static UnsafeCell<Vec<&'static str>>);

// SAFETY: loom verifies it.
unsafe impl Send for Fiber {}

impl Fiber {
    /// Notes that its thread does something on it.
    pub fn note(self, what: &'static str) {
        self.0.with_mut(|s| unsafe { (*s).push(what) });
    }
}

pub struct OsThread {
    parker: Parker<Wakeup<Call>>,
    assigned_hec: AssignedHec,
    /// The HEC that it holds.
    held_hec: UnsafeCell<Option<usize>>,
    end_requested: UnsafeCell<bool>,
    /// The threads whose foreign calls are under way.
    calls: Mutex<Vec<usize>>,
}

#[derive(Clone, Copy)]
pub struct TaskRef(pub &'static OsThread);

// SAFETY: as above.
unsafe impl Send for TaskRef {}
unsafe impl Sync for HecWorld {}

impl PartialEq for TaskRef {
    fn eq(&self, other: &TaskRef) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl TaskRef {
    /// Returns the HEC that it holds. For the task itself.
    pub fn held(self) -> Option<usize> {
        self.0.held_hec.with(|s| unsafe { *s })
    }

    /// Has the process ended while it waited?
    pub fn has_process_ended(self) -> bool {
        self.held() == Some(PROCESS_ENDED)
    }

    fn set_held(self, no: Option<usize>) {
        self.0.held_hec.with_mut(|s| unsafe {
            assert!(no.is_none() != (*s).is_none(), "it holds one at a time");
            *s = no;
        });
    }

    /// Has it end as soon as it has nothing to do.
    fn request_end(self) {
        self.0.end_requested.with_mut(|e| unsafe { *e = true });
    }

    fn wake_with(self, wakeup: Wakeup<Call>) {
        self.0.parker.unpark(wakeup);
    }
}

impl Task for TaskRef {
    fn assigned_hec(self) -> &'static AssignedHec {
        &self.0.assigned_hec
    }
    fn on_acquire(self, no: usize) {
        self.set_held(Some(no));
    }
    fn on_release(self) {
        self.set_held(None);
    }
    fn grant(self, no: usize) {
        self.wake_with(Wakeup::Hec(no));
    }
    fn request_check(self, no: usize) {
        self.wake_with(Wakeup::Check(no));
    }
    fn wake(self) {
        self.0.parker.wake();
    }
    fn await_signal(self) -> Signal {
        match self.0.parker.park() {
            Wakeup::Hec(no) => Signal::Granted(no),
            Wakeup::Check(no) => Signal::Check(no),
            Wakeup::Call(Call::Make(_)) => panic!("a task that waits for a HEC was given a foreign call"),
            Wakeup::Call(Call::End) => {
                self.request_end();
                self.await_signal()
            }
        }
    }
    fn will_wait_for_world(self) {}
    fn wait_for_world(self) -> usize {
        self.wait_turn()
    }
}

pub struct Hec {
    /// Replaced in the child of a fork.
    state: std::cell::UnsafeCell<Mutex<SlotState<TaskRef>>>,
    mailbox: Mailbox<Thread>,
    limit: AtomicUsize,
    idle: AtomicBool,
    /// For the holder, or for the task that has the slot's lock while the HEC is idle.
    queue: UnsafeCell<VecDeque<Thread>>,
    /// Threads for whose enqueue upcalls the holder is to see.
    to_enqueue: UnsafeCell<Vec<usize>>,
}

/// HECs and tasks of one execution of a model.
pub struct HecWorld {
    hecs: Vec<Hec>,
    pub tasks: Vec<TaskRef>,
    stop_world: stop_world_protocol::World,
    /// As `handoff::stopping`.
    stopping: AtomicBool,
    fiber: UnsafeCell<Vec<&'static str>>,
    /// Workers that have not been started yet.
    unstarted: Mutex<Vec<TaskRef>>,
    /// Names of the threads that have run.
    ran: Mutex<Vec<usize>>,
    thread_ran: Condvar,
}

/// A HEC as the child of a fork finds it: names of threads, numbers of tasks.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct Inherited {
    queue: Vec<usize>,
    messages: Vec<usize>,
    idle: bool,
    /// `None` if an OS thread that the child does not have holds its lock.
    slot: Option<InheritedSlot>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct InheritedSlot {
    holder: Option<usize>,
    idle: Vec<usize>,
    returning: usize,
}

/// The slot of a HEC.
#[derive(Clone, Copy)]
pub struct SlotRef(pub &'static HecWorld, pub usize);

impl SlotRef {
    fn hec(self) -> &'static Hec {
        &self.0.hecs[self.1]
    }

    fn mutex(self) -> &'static Mutex<SlotState<TaskRef>> {
        unsafe { &*self.hec().state.get() }
    }
}

impl HandoffSlot for SlotRef {
    type Task = TaskRef;

    fn no(self) -> usize {
        self.1
    }
    fn lock(self) -> MutexGuard<'static, SlotState<TaskRef>> {
        self.mutex().lock().unwrap()
    }
    fn try_lock(self) -> Option<MutexGuard<'static, SlotState<TaskRef>>> {
        match self.mutex().try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::WouldBlock) => None,
            Err(TryLockError::Poisoned(_)) => panic!(),
        }
    }
    unsafe fn renew(self, state: SlotState<TaskRef>) {
        // The old one may be locked for ever.
        std::mem::forget(std::mem::replace(&mut *self.hec().state.get(), Mutex::new(state)));
    }
    unsafe fn work(self) -> Work<TaskRef> {
        if self.0.stopping.load(Ordering::Relaxed) {
            return Work::Nothing;
        }
        match self.hec().queue.with(|q| (*q).front().copied()) {
            Some(Thread { bound: Some(task), .. }) => Work::For(task),
            Some(_) => Work::ForAnyone,
            None if self.hec().to_enqueue.with(|to_enqueue| unsafe { !(*to_enqueue).is_empty() }) => Work::ForAnyone,
            None if self.hec().mailbox.any() => Work::ForAnyone,
            None => Work::Nothing,
        }
    }
    fn start_worker(self) -> TaskRef {
        self.0.unstarted.lock().unwrap().pop().expect("there are enough workers")
    }
    fn has_events(self) -> bool {
        false
    }
    fn needs_task_for_events(self) -> bool {
        false
    }
    fn sends_checkers(self) -> bool {
        true
    }

    fn has_ticker(self) -> bool {
        true
    }
    fn request_poll(self) {
        self.interrupt();
    }
    fn set_idle(self, idle: bool) {
        self.hec().idle.store(idle, Ordering::Relaxed);
    }
    fn on_waiters_changed(self, _: &SlotState<TaskRef>) {}
    fn on_leave(self, _: TaskRef) -> bool {
        false
    }
    fn await_short_call(self, _: TaskRef) {}
    fn interrupt(self) {
        self.hec().limit.store(0, Ordering::Relaxed);
    }
    fn request_return(self) {
        self.hec().mailbox.request_return(&self.hec().limit);
    }
}

impl HecWorld {
    /// Runs a model with this many HECs, all idle, and this many tasks. The last `workers` of the tasks are not
    /// started.
    pub fn with(hecs: usize, tasks: usize, workers: usize, model: impl FnOnce(&'static HecWorld)) {
        let hec = |_| Hec {
            state: std::cell::UnsafeCell::new(Mutex::new(SlotState::new(None))),
            mailbox: Mailbox::new(),
            limit: AtomicUsize::new(END),
            idle: AtomicBool::new(true),
            queue: UnsafeCell::new(VecDeque::new()),
            to_enqueue: UnsafeCell::new(Vec::new()),
        };
        let task = |_| {
            TaskRef(Box::leak(Box::new(OsThread {
                parker: Parker::new(),
                assigned_hec: AssignedHec::new(),
                held_hec: UnsafeCell::new(None),
                end_requested: UnsafeCell::new(false),
                calls: Mutex::new(Vec::new()),
            })))
        };
        let tasks: Vec<_> = (0..tasks).map(task).collect();
        let world: *mut HecWorld = Box::into_raw(Box::new(HecWorld {
            hecs: (0..hecs).map(hec).collect(),
            stop_world: stop_world_protocol::World(AtomicBool::new(false)),
            stopping: AtomicBool::new(false),
            unstarted: Mutex::new(tasks[tasks.len() - workers..].to_vec()),
            fiber: UnsafeCell::new(Vec::new()),
            ran: Mutex::new(Vec::new()),
            thread_ran: Condvar::new(),
            tasks,
        }));
        // SAFETY: the model's threads have ended when it returns.
        unsafe {
            model(&*world);
            let world = Box::from_raw(world);
            world.tasks.iter().for_each(|t| drop(Box::from_raw(t.0 as *const OsThread as *mut OsThread)));
        }
    }

    pub fn slot(&'static self, no: usize) -> SlotRef {
        SlotRef(self, no)
    }

    /// Returns the slot of the HEC that the calling task holds.
    pub fn own_slot(&'static self, me: TaskRef) -> SlotRef {
        self.slot(me.held().expect("it holds a HEC"))
    }

    fn others(&'static self, me: TaskRef) -> impl Iterator<Item = SlotRef> + Clone {
        let mine = self.own_slot(me).1;
        (0..self.hecs.len()).filter(move |&no| no != mine).map(|no| self.slot(no))
    }

    /// Spawns an OS thread that acts as task number `no`.
    pub fn spawn(&'static self, no: usize, act: impl FnOnce(TaskRef) + 'static) -> thread::JoinHandle<()> {
        let task = self.tasks[no];
        thread::spawn(move || act(task))
    }

    /// Puts a thread on the queue of HEC `no`. For the holder, or with the lock while the HEC is idle.
    pub fn queue(&self, no: usize, name: usize, bound: Option<TaskRef>) {
        self.hecs[no].queue.with_mut(|q| unsafe { (*q).push_back(Thread { name, bound }) });
    }

    fn push_front(&self, no: usize, t: Thread) {
        self.hecs[no].queue.with_mut(|q| unsafe { (*q).push_front(t) });
    }

    /// As `park::Claim::resume` for a thread of a user scheduler. For the holder.
    pub fn resume_user(&self, no: usize, name: usize) {
        self.hecs[no].to_enqueue.with_mut(|to_enqueue| unsafe { (*to_enqueue).push(name) });
    }

    /// Makes upcall threads, which have the names of the threads that they enqueue. For the holder.
    fn start_enqueues(&self, no: usize) {
        let to_enqueue = self.hecs[no].to_enqueue.with_mut(|to_enqueue| unsafe { std::mem::take(&mut *to_enqueue) });
        to_enqueue.into_iter().for_each(|name| self.push_front(no, Thread { name, bound: None }));
    }

    /// Takes the first thread off the queue. For the holder.
    pub fn pop(&self, no: usize) -> Option<Thread> {
        self.hecs[no].queue.with_mut(|q| unsafe { (*q).pop_front() })
    }

    /// Sends a HEC a thread.
    pub fn send(&'static self, no: usize, t: Thread) {
        self.hecs[no].mailbox.add(t);
        self.slot(no).deliver();
    }

    pub fn is_hec_idle(&self, no: usize) -> bool {
        self.hecs[no].idle.load(Ordering::Relaxed)
    }

    /// As `balance::give_to_idle`.
    pub fn give_to_idle(&'static self, me: TaskRef, t: Thread) -> bool {
        let mut idle_slots = self.others(me).filter(|slot| self.is_hec_idle(slot.1));
        idle_slots.any(|slot| unsafe { slot.give(|| self.queue(slot.1, t.name, t.bound)) })
    }

    /// Runs a thread to its end.
    pub fn run(&self, t: Thread) {
        self.ran.lock().unwrap().push(t.name);
        self.thread_ran.notify_all();
    }

    fn has_run(&self, name: usize) -> bool {
        self.ran.lock().unwrap().contains(&name)
    }

    fn wait_until_ran(&self, n: usize) {
        let mut ran = self.ran.lock().unwrap();
        while ran.len() < n {
            ran = self.thread_ran.wait(ran).unwrap();
        }
    }

    /// Waits until these threads have run, each once and no others, and has the workers end. They may hold HECs, but
    /// have nothing left to do.
    pub fn end(&self, names: &[usize], workers: Vec<thread::JoinHandle<()>>) {
        self.wait_until_ran(names.len());
        self.tasks.iter().for_each(|t| t.wake_with(Wakeup::Call(Call::End)));
        workers.into_iter().for_each(|w| w.join().unwrap());
        let mut ran = self.ran.lock().unwrap().clone();
        ran.sort();
        assert_eq!(ran, names);
    }

    /// As `schedule::schedule`. A task in an in-call runs threads until the one of this name has run, a worker until it
    /// is told to end.
    pub fn schedule(&'static self, me: TaskRef, in_call: Option<usize>) {
        loop {
            if in_call.is_some_and(|name| self.has_run(name)) {
                return;
            }
            let Some(no) = me.held().filter(|&no| no != PROCESS_ENDED) else { return };
            if self.handle_requests(me) {
                continue;
            }
            self.start_enqueues(no);
            match self.pop(no) {
                Some(t) if t.bound.is_none_or(|task| task == me) => self.run(t),
                Some(t) => {
                    if let Some(there) = t.bound.and_then(|task| task.assigned_hec().elsewhere(no)) {
                        self.send(there, t);
                    } else if !self.give_to_idle(me, t) {
                        self.push_front(no, t);
                        self.release_until_work(me, in_call);
                    }
                }
                None => self.release_until_work(me, in_call),
            }
        }
    }

    /// As `schedule::handle_requests`, without load balancing.
    pub fn handle_requests(&'static self, me: TaskRef) -> bool {
        let no = self.own_slot(me).1;
        let mailbox = &self.hecs[no].mailbox;
        if mailbox.take_return_request() && unsafe { self.slot(no).yield_to_stopper(me) } {
            return true;
        }
        if mailbox.any() {
            mailbox.take().into_iter().for_each(|t| self.queue(no, t.name, t.bound));
        }
        false
    }

    /// Runs a thread that continues until it is interrupted.
    pub fn run_until_stopped(&self, no: usize) {
        let hec = &self.hecs[no];
        hec.mailbox.open(&hec.limit, END);
        while hec.limit.load(Ordering::Relaxed) != 0 {
            crate::atomics::spin_loop();
        }
    }

    /// As `schedule::release_until_work`. A worker waits for any work, a task in an in-call for a HEC.
    fn release_until_work(&'static self, me: TaskRef, in_call: Option<usize>) {
        let slot = self.own_slot(me);
        unsafe {
            if in_call.is_some() {
                slot.release(me);
                me.on_acquire(me.wait_turn());
            } else {
                assert!(slot.join_idle(me, MAX_IDLE));
                self.wait_for_work(me);
            }
        }
    }

    /// As `schedule::wait_for_work`. Returns without a HEC if the worker should end.
    fn wait_for_work(&'static self, me: TaskRef) {
        loop {
            if me.0.end_requested.with(|e| unsafe { *e }) && !me.0.parker.has_wakeup() {
                return;
            }
            match me.0.parker.park() {
                Wakeup::Hec(no) => return me.on_acquire(no),
                Wakeup::Check(no) if self.slot(no).check(me) => return,
                Wakeup::Check(_) => {}
                Wakeup::Call(Call::Make(fiber)) => return self.make_call(me, fiber),
                Wakeup::Call(Call::End) => me.request_end(),
            }
        }
    }

    /// Has a thread that a task runs on a fiber leave it for a foreign call, as in `sched/safe_call.rs`.
    pub fn leave_on_fiber(&'static self, me: TaskRef, name: usize) {
        let fiber = Fiber(&self.fiber);
        fiber.note("leaves");
        let worker = self.own_slot(me).spare_worker();
        worker.0.calls.lock().unwrap().push(name);
        worker.wake_with(Wakeup::Call(Call::Make(fiber)));
    }

    /// Makes a foreign call that has been handed to a worker. The call lasts until another thread has run. Then runs
    /// the calling thread to its end.
    fn make_call(&'static self, me: TaskRef, fiber: Fiber) {
        fiber.note("calls");
        self.wait_until_ran(1);
        self.slot(0).acquire(me);
        let name = me.0.calls.lock().unwrap().pop().expect("the call is under way");
        fiber.note("is back");
        self.run(Thread { name, bound: None });
    }

    /// Spawns the OS thread of a worker that is idle or has not been started yet.
    pub fn spawn_worker(&'static self, no: usize) -> thread::JoinHandle<()> {
        self.spawn(no, move |me| {
            self.wait_for_work(me);
            self.schedule(me, None);
        })
    }

    /// Stops the world, touches all HECs, and lets the world resume.
    pub fn stop_the_world(&'static self, me: TaskRef) {
        let (mine, others) = (self.own_slot(me), self.others(me));
        unsafe {
            while !self.stop_world.stop(me, mine, others.clone(), || ()) {}
            self.touch_all();
            self.stop_world.resume(others);
        }
    }

    /// As `forkProcess`, for the parent. Returns what its child finds.
    pub fn fork(&'static self, me: TaskRef) -> Vec<Inherited> {
        let (mine, others) = (self.own_slot(me), self.others(me));
        unsafe { while !self.stop_world.stop(me, mine, others.clone(), || ()) {} }
        let no_of = |t: &TaskRef| self.tasks.iter().position(|x| x == t).unwrap();
        let of = |(no, hec): (usize, &Hec)| Inherited {
            queue: hec.queue.with(|q| unsafe { (*q).iter().map(|t| t.name).collect() }),
            messages: hec.mailbox.messages().iter().map(|t| t.name).collect(),
            idle: self.is_hec_idle(no),
            slot: self.slot(no).try_lock().map(|st| InheritedSlot {
                holder: st.holder.as_ref().map(no_of),
                idle: st.idle.iter().map(no_of).collect(),
                returning: st.returning(),
            }),
        };
        let inherited = self.hecs.iter().enumerate().map(of).collect();
        unsafe { self.stop_world.resume(others) }
        inherited
    }

    /// Sets up the process that a fork with these HECs has made. Of its parent's tasks it has only number 0.
    pub fn inherit(&'static self, inherited: &[Inherited]) {
        for (no, (hec, from)) in self.hecs.iter().zip(inherited).enumerate() {
            from.queue.iter().for_each(|&name| self.queue(no, name, None));
            from.messages.iter().for_each(|&name| hec.mailbox.add(Thread { name, bound: None }));
            hec.idle.store(from.idle, Ordering::Relaxed);
            let mut state = self.slot(no).lock();
            match &from.slot {
                Some(slot) => {
                    state.holder = slot.holder.map(|no| self.tasks[no]);
                    state.idle = slot.idle.iter().map(|&no| self.tasks[no]).collect();
                    (0..slot.returning).for_each(|_| assert!(!state.take_or_enqueue(self.tasks[1])));
                }
                // Its lock is held for ever.
                None => std::mem::forget(state),
            }
        }
        self.stop_world.0.store(true, Ordering::Relaxed);
    }

    /// As `fork_process::child`, until the world resumes.
    pub fn become_child(&'static self, me: TaskRef) {
        unsafe {
            me.0.parker.renew();
            crate::shipped::after_fork::after_fork(me, (0..self.hecs.len()).map(|no| self.slot(no)));
        }
        // A thread that is ended wakes another, which is pinned to the second HEC.
        self.send(1, Thread { name: usize::MAX, bound: None });
        for no in 0..self.hecs.len() {
            while self.pop(no).is_some() {}
            self.hecs[no].mailbox.take();
        }
        unsafe { self.stop_world.resume(self.others(me)) }
    }

    /// As `shutdown::wind_down`: stops the world for good.
    pub fn stop_for_good(&'static self, me: TaskRef) {
        let (mine, others) = (self.own_slot(me), self.others(me));
        unsafe { while !self.stop_world.stop(me, mine, others.clone(), || ()) {} }
        self.stopping.store(true, Ordering::Relaxed);
        self.touch_all();
    }

    /// Ends the process: no waiting task continues.
    pub fn end_the_process(&self, me: TaskRef) {
        self.touch_all();
        self.tasks.iter().filter(|&&t| t != me).for_each(|t| t.wake_with(Wakeup::Hec(PROCESS_ENDED)));
    }

    /// Stops the world if all others are idle, and lets it resume.
    pub fn stop_the_world_if_idle(&'static self, me: TaskRef) -> bool {
        let others = self.others(me);
        unsafe {
            let stopped = self.stop_world.stop_if_idle(me, others.clone());
            if stopped {
                self.touch_all();
                self.stop_world.resume(others);
            }
            stopped
        }
    }

    /// Touches all HECs, which only the task that has stopped the world may do.
    fn touch_all(&self) {
        self.hecs.iter().for_each(|h| h.queue.with_mut(|_| ()));
    }

    /// Has the task, which is outside, acquire HEC `no` and release it.
    pub fn acquire_and_release(&'static self, no: usize, me: TaskRef) {
        self.slot(no).acquire(me);
        self.release_hec(me);
    }

    /// Has the task, which holds HEC `no`, make a foreign call that returns at once.
    pub fn call_out(&'static self, no: usize, me: TaskRef) {
        self.call_out_until(no, me, || ());
    }

    /// The same with a call that lasts until `over` returns.
    pub fn call_out_until(&'static self, no: usize, me: TaskRef, over: impl FnOnce()) {
        self.hecs[no].queue.with_mut(|_| ());
        unsafe { self.own_slot(me).leave(me) };
        over();
        self.slot(no).acquire(me);
        self.hecs[no].queue.with_mut(|_| ());
    }

    /// The same with a call that lasts until this many threads have run.
    pub fn long_call(&'static self, no: usize, me: TaskRef, ran: usize) {
        self.call_out_until(no, me, || self.wait_until_ran(ran));
    }

    pub fn release_hec(&'static self, me: TaskRef) {
        let slot = self.own_slot(me);
        self.hecs[slot.1].queue.with_mut(|_| ());
        unsafe { slot.release(me) }
    }

    /// Is every HEC free, with no task waiting for it and no work? That is so at the end of a model.
    pub fn is_idle(&'static self) -> bool {
        let idle = |slot: SlotRef| slot.lock().is_free() && matches!(unsafe { slot.work() }, Work::Nothing);
        !self.stop_world.0.load(Ordering::Relaxed) && (0..self.hecs.len()).all(|no| idle(self.slot(no)))
    }
}
