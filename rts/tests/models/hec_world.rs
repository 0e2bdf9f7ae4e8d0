//! HECs and tasks for the models of the scheduler, whose threads only note that they have run. Seats, letters, turns and the
//! stopping of the world are the code that ships; [`House::schedule`] is short for what `sched/schedule.rs` does with them.
use crate::atomics::{AtomicBool, AtomicUsize, Ordering};
use crate::shipped::handoff_protocol::{AssignedHec, Called, HandoffSlot, Task, Work};
use crate::shipped::handoff_state::SlotState;
use crate::shipped::mailbox::Mailbox;
use crate::shipped::stop_world_protocol;
use crate::shipped::task_parker::{Parker, Wakeup};
use loom::cell::UnsafeCell;
use loom::sync::{Condvar, Mutex, MutexGuard};
use loom::thread;
use std::collections::VecDeque;
use std::sync::TryLockError;

/// Where a running thread's nursery ends.
pub const END: usize = 100;
const MAX_IDLE: usize = 2;
/// The HEC that a task has when the process is no more: it does nothing any more.
const GONE: usize = usize::MAX - 1;

/// A Haskell thread, and the task it is bound to.
#[derive(Clone, Copy)]
pub struct Thread {
    pub name: usize,
    pub bound: Option<TaskRef>,
}

/// What a worker is given beside HECs: a fiber in a foreign call, or the news that it may end.
pub enum Call {
    Make(Fiber),
    End,
}

/// A native stack. Who has it may touch it; loom sees to that.
#[derive(Clone, Copy)]
pub struct Fiber(&'static UnsafeCell<Vec<&'static str>>);

// SAFETY: what loom is to verify.
unsafe impl Send for Fiber {}

impl Fiber {
    /// Its thread does something there.
    pub fn note(self, what: &'static str) {
        self.0.with_mut(|s| unsafe { (*s).push(what) });
    }
}

pub struct OsThread {
    parker: Parker<Wakeup<Call>>,
    assigned_hec: AssignedHec,
    /// The HEC that it has.
    sits: UnsafeCell<Option<usize>>,
    ends: UnsafeCell<bool>,
    /// Whose foreign calls are under way.
    calls: Mutex<Vec<usize>>,
}

#[derive(Clone, Copy)]
pub struct TaskRef(pub &'static OsThread);

// SAFETY: as above.
unsafe impl Send for TaskRef {}
unsafe impl Sync for House {}

impl PartialEq for TaskRef {
    fn eq(&self, other: &TaskRef) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl TaskRef {
    /// The HEC that it holds. For the task.
    pub fn held(self) -> Option<usize> {
        self.0.sits.with(|s| unsafe { *s })
    }

    /// Has the process ended while it waited?
    pub fn is_gone(self) -> bool {
        self.held() == Some(GONE)
    }

    fn sits(self, no: Option<usize>) {
        self.0.sits.with_mut(|s| unsafe {
            assert!(no.is_none() != (*s).is_none(), "it holds one at a time");
            *s = no;
        });
    }

    /// It is told to end as soon as it has nothing to do.
    fn may_end(self) {
        self.0.ends.with_mut(|e| unsafe { *e = true });
    }

    fn give(self, turn: Wakeup<Call>) {
        self.0.parker.unpark(turn);
    }
}

impl Task for TaskRef {
    fn assigned_hec(self) -> &'static AssignedHec {
        &self.0.assigned_hec
    }
    fn on_acquire(self, no: usize) {
        self.sits(Some(no));
    }
    fn on_release(self) {
        self.sits(None);
    }
    fn grant(self, no: usize) {
        self.give(Wakeup::Hec(no));
    }
    fn request_check(self, no: usize) {
        self.give(Wakeup::Look(no));
    }
    fn wake(self) {
        self.0.parker.wake();
    }
    fn await_call(self) -> Called {
        match self.0.parker.park() {
            Wakeup::Hec(no) => Called::Has(no),
            Wakeup::Look(no) => Called::Look(no),
            Wakeup::Call(Call::Make(_)) => panic!("a task that waits for a HEC was given a foreign call"),
            Wakeup::Call(Call::End) => {
                self.may_end();
                self.await_call()
            }
        }
    }
    fn will_wait_for_world(self) {}
    fn wait_for_world(self) -> usize {
        self.wait_turn()
    }
}

pub struct Hec {
    /// Made anew in the child of a fork.
    state: std::cell::UnsafeCell<Mutex<SlotState<TaskRef>>>,
    post: Mailbox<Thread>,
    limit: AtomicUsize,
    rests: AtomicBool,
    /// For the holder, or whoever has the seat's lock while the HEC rests.
    queue: UnsafeCell<VecDeque<Thread>>,
}

/// HECs and tasks of one execution of a model.
pub struct House {
    hecs: Vec<Hec>,
    pub tasks: Vec<TaskRef>,
    world: stop_world_protocol::World,
    /// As `slot::stopping`.
    stopping: AtomicBool,
    fiber: UnsafeCell<Vec<&'static str>>,
    /// Workers that have not been started yet.
    unborn: Mutex<Vec<TaskRef>>,
    /// Which threads have run.
    ran: Mutex<Vec<usize>>,
    one_ran: Condvar,
}

/// A HEC as the child of a fork finds it: names of threads, numbers of tasks.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct Inherited {
    queue: Vec<usize>,
    messages: Vec<usize>,
    rests: bool,
    /// None if an OS thread that the child does not have had its lock.
    slot: Option<InheritedSeat>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct InheritedSeat {
    holder: Option<usize>,
    idle: Vec<usize>,
    returning: usize,
}

/// The seat of a HEC.
#[derive(Clone, Copy)]
pub struct SeatOf(pub &'static House, pub usize);

impl SeatOf {
    fn hec(self) -> &'static Hec {
        &self.0.hecs[self.1]
    }

    fn mutex(self) -> &'static Mutex<SlotState<TaskRef>> {
        unsafe { &*self.hec().state.get() }
    }
}

impl HandoffSlot for SeatOf {
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
            None if self.hec().post.any() => Work::ForAnyone,
            None => Work::Nothing,
        }
    }
    fn start_worker(self) -> TaskRef {
        self.0.unborn.lock().unwrap().pop().expect("there are enough workers")
    }
    fn rests(self, yes: bool) {
        self.hec().rests.store(yes, Ordering::Relaxed);
    }
    fn on_waiters_changed(self, _: &SlotState<TaskRef>) {}
    fn is_left(self, _: TaskRef) -> bool {
        false
    }
    fn await_short_call(self, _: TaskRef) {}
    fn interrupt(self) {
        self.hec().limit.store(0, Ordering::Relaxed);
    }
    fn call_back(self) {
        self.hec().post.call_back(&self.hec().limit);
    }
}

impl House {
    /// Runs a model with so many HECs, all of which rest, and so many tasks, of which the last `workers` are not alive yet.
    pub fn with(hecs: usize, tasks: usize, workers: usize, model: impl FnOnce(&'static House)) {
        let hec = |_| Hec {
            state: std::cell::UnsafeCell::new(Mutex::new(SlotState::new(None))),
            post: Mailbox::new(),
            limit: AtomicUsize::new(END),
            rests: AtomicBool::new(true),
            queue: UnsafeCell::new(VecDeque::new()),
        };
        let task = |_| {
            TaskRef(Box::leak(Box::new(OsThread {
                parker: Parker::new(),
                assigned_hec: AssignedHec::new(),
                sits: UnsafeCell::new(None),
                ends: UnsafeCell::new(false),
                calls: Mutex::new(Vec::new()),
            })))
        };
        let tasks: Vec<_> = (0..tasks).map(task).collect();
        let house: *mut House = Box::into_raw(Box::new(House {
            hecs: (0..hecs).map(hec).collect(),
            world: stop_world_protocol::World(AtomicBool::new(false)),
            stopping: AtomicBool::new(false),
            unborn: Mutex::new(tasks[tasks.len() - workers..].to_vec()),
            fiber: UnsafeCell::new(Vec::new()),
            ran: Mutex::new(Vec::new()),
            one_ran: Condvar::new(),
            tasks,
        }));
        // SAFETY: the model's threads have ended when it has.
        unsafe {
            model(&*house);
            let house = Box::from_raw(house);
            house.tasks.iter().for_each(|t| drop(Box::from_raw(t.0 as *const OsThread as *mut OsThread)));
        }
    }

    pub fn slot(&'static self, no: usize) -> SeatOf {
        SeatOf(self, no)
    }

    /// The seat of the HEC that the calling task holds.
    pub fn mine(&'static self, me: TaskRef) -> SeatOf {
        self.slot(me.held().expect("it holds a HEC"))
    }

    fn others(&'static self, me: TaskRef) -> impl Iterator<Item = SeatOf> + Clone {
        let mine = self.mine(me).1;
        (0..self.hecs.len()).filter(move |&no| no != mine).map(|no| self.slot(no))
    }

    /// Spawns an OS thread that does this as task number `no`.
    pub fn spawn(&'static self, no: usize, does: impl FnOnce(TaskRef) + 'static) -> thread::JoinHandle<()> {
        let task = self.tasks[no];
        thread::spawn(move || does(task))
    }

    /// Puts a thread on the queue of HEC `no`. As the holder, or with the lock while it rests.
    pub fn queue(&self, no: usize, name: usize, bound: Option<TaskRef>) {
        self.hecs[no].queue.with_mut(|q| unsafe { (*q).push_back(Thread { name, bound }) });
    }

    fn push_front(&self, no: usize, t: Thread) {
        self.hecs[no].queue.with_mut(|q| unsafe { (*q).push_front(t) });
    }

    /// Takes the first thread off it. As the holder.
    pub fn pop(&self, no: usize) -> Option<Thread> {
        self.hecs[no].queue.with_mut(|q| unsafe { (*q).pop_front() })
    }

    /// Sends a HEC a thread.
    pub fn send(&'static self, no: usize, t: Thread) {
        self.hecs[no].post.add(t);
        self.slot(no).deliver();
    }

    pub fn is_resting(&self, no: usize) -> bool {
        self.hecs[no].rests.load(Ordering::Relaxed)
    }

    /// As `share::give_away`.
    pub fn give_away(&'static self, me: TaskRef, t: Thread) -> bool {
        let mut resting = self.others(me).filter(|slot| self.is_resting(slot.1));
        resting.any(|slot| unsafe { slot.give(|| self.queue(slot.1, t.name, t.bound)) })
    }

    /// A thread runs, and ends.
    pub fn run(&self, t: Thread) {
        self.ran.lock().unwrap().push(t.name);
        self.one_ran.notify_all();
    }

    fn has_run(&self, name: usize) -> bool {
        self.ran.lock().unwrap().contains(&name)
    }

    fn wait_until_ran(&self, n: usize) {
        let mut ran = self.ran.lock().unwrap();
        while ran.len() < n {
            ran = self.one_ran.wait(ran).unwrap();
        }
    }

    /// Waits until these threads have run, each once and no others, and has the workers end. (They hold HECs perhaps,
    /// but have nothing to do any more.)
    pub fn end(&self, names: &[usize], workers: Vec<thread::JoinHandle<()>>) {
        self.wait_until_ran(names.len());
        self.tasks.iter().for_each(|t| t.give(Wakeup::Call(Call::End)));
        workers.into_iter().for_each(|w| w.join().unwrap());
        let mut ran = self.ran.lock().unwrap().clone();
        ran.sort();
        assert_eq!(ran, names);
    }

    /// As `schedule::schedule`: a task in an in-call runs threads until the one of this name has run, a worker until it is told
    /// to end.
    pub fn schedule(&'static self, me: TaskRef, incall: Option<usize>) {
        loop {
            if incall.is_some_and(|name| self.has_run(name)) {
                return;
            }
            let Some(no) = me.held().filter(|&no| no != GONE) else { return };
            if self.attend(me) {
                continue;
            }
            match self.pop(no) {
                Some(t) if t.bound.is_none_or(|task| task == me) => self.run(t),
                Some(t) => {
                    if let Some(there) = t.bound.and_then(|task| task.assigned_hec().elsewhere(no)) {
                        self.send(there, t);
                    } else if !self.give_away(me, t) {
                        self.push_front(no, t);
                        self.step_aside(me, incall);
                    }
                }
                None => self.step_aside(me, incall),
            }
        }
    }

    /// As `schedule::attend`, but that nothing is shared.
    pub fn attend(&'static self, me: TaskRef) -> bool {
        let no = self.mine(me).1;
        let post = &self.hecs[no].post;
        if post.called_back() && unsafe { self.slot(no).yield_to_stopper(me) } {
            return true;
        }
        if post.any() {
            post.take().into_iter().for_each(|t| self.queue(no, t.name, t.bound));
        }
        false
    }

    /// Lets a thread run that goes on until it is stopped.
    pub fn run_until_stopped(&self, no: usize) {
        let hec = &self.hecs[no];
        hec.post.open(&hec.limit, END);
        while hec.limit.load(Ordering::Relaxed) != 0 {
            crate::atomics::spin_loop();
        }
    }

    fn step_aside(&'static self, me: TaskRef, incall: Option<usize>) {
        let slot = self.mine(me);
        unsafe {
            if incall.is_some() {
                slot.release(me);
                me.on_acquire(me.wait_turn());
            } else {
                assert!(slot.join_idle(me, MAX_IDLE));
                self.wait_for_work(me);
            }
        }
    }

    /// As `schedule::wait_for_work`; without a HEC if the worker should end.
    fn wait_for_work(&'static self, me: TaskRef) {
        loop {
            if me.0.ends.with(|e| unsafe { *e }) && !me.0.parker.any() {
                return;
            }
            match me.0.parker.park() {
                Wakeup::Hec(no) => return me.on_acquire(no),
                Wakeup::Look(no) if self.slot(no).look(me) => return,
                Wakeup::Look(_) => {}
                Wakeup::Call(Call::Make(fiber)) => return self.make_call(me, fiber),
                Wakeup::Call(Call::End) => me.may_end(),
            }
        }
    }

    /// A thread that a task runs on a fiber leaves it for a foreign call, which is handed over as in `sched/safe_call.rs`.
    pub fn leave_on_fiber(&'static self, me: TaskRef, name: usize) {
        let fiber = Fiber(&self.fiber);
        fiber.note("leaves");
        let worker = self.mine(me).spare_worker();
        worker.0.calls.lock().unwrap().push(name);
        worker.give(Wakeup::Call(Call::Make(fiber)));
    }

    /// A worker makes a foreign call that has been handed over to it, which lasts until another thread has run, and runs the thread
    /// to its end.
    fn make_call(&'static self, me: TaskRef, fiber: Fiber) {
        fiber.note("calls");
        self.wait_until_ran(1);
        self.slot(0).acquire(me);
        let name = me.0.calls.lock().unwrap().pop().expect("the call is under way");
        fiber.note("is back");
        self.run(Thread { name, bound: None });
    }

    /// Spawns the OS thread of a worker that has not been started yet, or is idle.
    pub fn spawn_worker(&'static self, no: usize) -> thread::JoinHandle<()> {
        self.spawn(no, move |me| {
            self.wait_for_work(me);
            self.schedule(me, None);
        })
    }

    /// Stops the world, has it alone, and lets it go on.
    pub fn stop_the_world(&'static self, me: TaskRef) {
        let (mine, others) = (self.mine(me), self.others(me));
        unsafe {
            while !self.world.stop(me, mine, others.clone(), || ()) {}
            self.touch_all();
            self.world.go_on(others);
        }
    }

    /// As `forkProcess`, from here on for the parent: what its child finds.
    pub fn fork(&'static self, me: TaskRef) -> Vec<Inherited> {
        let (mine, others) = (self.mine(me), self.others(me));
        unsafe { while !self.world.stop(me, mine, others.clone(), || ()) {} }
        let no_of = |t: &TaskRef| self.tasks.iter().position(|x| x == t).unwrap();
        let of = |(no, hec): (usize, &Hec)| Inherited {
            queue: hec.queue.with(|q| unsafe { (*q).iter().map(|t| t.name).collect() }),
            messages: hec.post.messages().iter().map(|t| t.name).collect(),
            rests: self.is_resting(no),
            slot: self.slot(no).try_lock().map(|st| InheritedSeat {
                holder: st.holder.as_ref().map(no_of),
                idle: st.idle.iter().map(no_of).collect(),
                returning: st.returning(),
            }),
        };
        let inherited = self.hecs.iter().enumerate().map(of).collect();
        unsafe { self.world.go_on(others) }
        inherited
    }

    /// What a process finds that a fork with these HECs has made, which has only the task number 0 of its parent's.
    pub fn inherit(&'static self, inherited: &[Inherited]) {
        for (no, (hec, from)) in self.hecs.iter().zip(inherited).enumerate() {
            from.queue.iter().for_each(|&name| self.queue(no, name, None));
            from.messages.iter().for_each(|&name| hec.post.add(Thread { name, bound: None }));
            hec.rests.store(from.rests, Ordering::Relaxed);
            let mut state = self.slot(no).lock();
            match &from.slot {
                Some(slot) => {
                    state.holder = slot.holder.map(|no| self.tasks[no]);
                    state.idle = slot.idle.iter().map(|&no| self.tasks[no]).collect();
                    (0..slot.returning).for_each(|_| assert!(!state.take_or_enqueue(self.tasks[1])));
                }
                // Somebody will have it for ever.
                None => std::mem::forget(state),
            }
        }
        self.world.0.store(true, Ordering::Relaxed);
    }

    /// As `fork::child`, until the world goes on.
    pub fn become_child(&'static self, me: TaskRef) {
        unsafe {
            me.0.parker.renew();
            crate::shipped::after_fork::after_fork(me, (0..self.hecs.len()).map(|no| self.slot(no)));
        }
        // A thread that is ended wakes another, which is tied to the second HEC.
        self.send(1, Thread { name: usize::MAX, bound: None });
        for no in 0..self.hecs.len() {
            while self.pop(no).is_some() {}
            self.hecs[no].post.take();
        }
        unsafe { self.world.go_on(self.others(me)) }
    }

    /// As `exit::wind_down`: stops the world for good.
    pub fn end_the_world(&'static self, me: TaskRef) {
        let (mine, others) = (self.mine(me), self.others(me));
        unsafe { while !self.world.stop(me, mine, others.clone(), || ()) {} }
        self.stopping.store(true, Ordering::Relaxed);
        self.touch_all();
    }

    /// The process is no more: nobody who waits goes on.
    pub fn end_the_process(&self, me: TaskRef) {
        self.touch_all();
        self.tasks.iter().filter(|&&t| t != me).for_each(|t| t.give(Wakeup::Hec(GONE)));
    }

    /// The same if all others rest.
    pub fn stop_the_world_if_idle(&'static self, me: TaskRef) -> bool {
        let others = self.others(me);
        unsafe {
            let stopped = self.world.stop_if_idle(me, others.clone());
            if stopped {
                self.touch_all();
                self.world.go_on(others);
            }
            stopped
        }
    }

    /// Only who has all HECs may do so.
    fn touch_all(&self) {
        self.hecs.iter().for_each(|h| h.queue.with_mut(|_| ()));
    }

    /// Has the task, which is outside, come to HEC `no` and leave it.
    pub fn visit(&'static self, no: usize, me: TaskRef) {
        self.slot(no).acquire(me);
        self.leave(me);
    }

    /// Has the task, which holds HEC `no`, make a foreign call that is over at once, and come back.
    pub fn call_out(&'static self, no: usize, me: TaskRef) {
        self.call_out_until(no, me, || ());
    }

    /// The same with a call that lasts until `over` returns.
    pub fn call_out_until(&'static self, no: usize, me: TaskRef, over: impl FnOnce()) {
        self.hecs[no].queue.with_mut(|_| ());
        unsafe { self.mine(me).leave(me) };
        over();
        self.slot(no).acquire(me);
        self.hecs[no].queue.with_mut(|_| ());
    }

    /// A call that lasts until so many threads have run.
    pub fn long_call(&'static self, no: usize, me: TaskRef, ran: usize) {
        self.call_out_until(no, me, || self.wait_until_ran(ran));
    }

    pub fn leave(&'static self, me: TaskRef) {
        let slot = self.mine(me);
        self.hecs[slot.1].queue.with_mut(|_| ());
        unsafe { slot.release(me) }
    }

    /// In the end nobody holds a HEC or waits for it, and there is nothing to do.
    pub fn is_quiet(&'static self) -> bool {
        let idle = |slot: SeatOf| slot.lock().is_free() && matches!(unsafe { slot.work() }, Work::Nothing);
        !self.world.0.load(Ordering::Relaxed) && (0..self.hecs.len()).all(|no| idle(self.slot(no)))
    }
}
