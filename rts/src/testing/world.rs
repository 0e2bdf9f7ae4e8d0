//! The world of unit tests: an empty heap, objects like those that a compiler makes, and threads that run scripts in
//! place of compiled code.
//!
//! *Locking*: one test at a time has the world.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{words, Closure, Info, RegTable, Tso};
use crate::base::poison::unpoisoned;
use crate::collector::policy::heap_limits;
use crate::collector::policy::heap_limits::Settings;
use crate::collector::{collect, roots, Outcome, Request};
use crate::events::{event_loop, waits};
use crate::hec;
use crate::hec::Hec;
use crate::memory;
use crate::memory::{address_space, block_alloc, free_run, generation, heap, nursery_chunks, nursery_distribution};
use crate::sched;
use crate::sched::context_switch::hec_switch;
use crate::sched::{bound_threads, handoff, safe_call, task_table};
use crate::spread;
use crate::sync;
use crate::testing::symbols as t;
use crate::thread::create::{new_thread, push};
use crate::thread::stack::StackSizes;
use crate::thread::stack_shrink::make_ready;
use crate::{info, static_closure};
use std::collections::BTreeMap;
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

static WORLD: Mutex<bool> = Mutex::new(false);

/// The HEC in an empty heap, with the test's own roots. One test at a time has it, on an OS thread that holds the HEC.
pub struct World {
    pub hec: &'static mut Hec,
    pub roots: Vec<Closure>,
    _lock: MutexGuard<'static, bool>,
    _watched: Sender<()>,
}

/// The longest time of a test. A test that takes longer waits for an event that will not come.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Ends the process if the sender is still alive after that time.
fn watch() -> Sender<()> {
    let (watched, watcher) = channel();
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    std::thread::spawn(move || {
        if watcher.recv_timeout(TIMEOUT) == Err(RecvTimeoutError::Timeout) {
            crate::base::fatal::broken(&format!("{test} has timed out"));
        }
    });
    watched
}

pub const NURSERY: usize = 1 << 20;
pub const STACKS: StackSizes = StackSizes { initial: 128, chunk: 4096, buffer: 128, max: 1 << 20 };

impl World {
    pub fn new(generations: usize) -> World {
        World::with_gc_threads(generations, 1)
    }
    /// With `threads` GC threads for every collection.
    pub fn with_gc_threads(generations: usize, threads: usize) -> World {
        let mut lock = unpoisoned(WORLD.lock());
        // SAFETY: the lock makes this the only user of the heap and the HEC.
        unsafe {
            if !std::mem::replace(&mut *lock, true) {
                start();
            }
            // Removes what an earlier test has left, as in the child of a fork.
            handoff::after_fork(task_table::current());
            handoff::take_first_slot(task_table::current());
            bound_threads::after_fork();
            event_loop::after_fork();
            sched::event_poll::after_fork();
            sync::stm::after_fork();
            let hec = sched::hec();
            *hec = Hec::new(0);
            block_alloc::each_run(|run| free_run(run));
            spread::export::clear();
            spread::collect::clear();
            generation::init(generations);
            heap().cafs.clear();
            heap_limits::init(Settings {
                generations,
                nursery_bytes: NURSERY,
                check: true,
                forced_threads: Some(threads),
                ..Settings::DEFAULT
            });
            hec.remembered.init(generations);
            hec.alloc.large_limit = 64;
            // Statistics continue from their current values.
            hec.alloc.allocated_before = crate::observe::stats::getAllocations();
            nursery_chunks::clear();
            sched::init(sched::Settings { stack: STACKS, threaded: false, ticks: true });
            let mut w = World { hec, roots: Vec::new(), _lock: lock, _watched: watch() };
            assert!(w.resize_nursery(NURSERY));
            w.hec.r.current_nursery = w.hec.alloc.run;
            w
        }
    }

    /// Gives the HEC another nursery. The old one must be empty.
    pub fn resize_nursery(&mut self, bytes: usize) -> bool {
        // SAFETY: no thread runs.
        unsafe { nursery_distribution::distribute(&mut [&mut self.hec.alloc], bytes, bytes) }
    }

    pub fn object(&mut self, info: Info, fields: &[usize]) -> Closure {
        // SAFETY: the object is filled at once.
        unsafe {
            let c = self.hec.allocate(1 + fields.len());
            c.set_info(info);
            fields.iter().enumerate().for_each(|(i, &f)| c.set_word(1 + i, f));
            c
        }
    }
    pub fn int(&mut self, n: usize) -> Closure {
        self.object(info!(ghczmprim_GHCziTypes_Izh_con_info), &[n]).with_tag(1)
    }
    pub fn cons(&mut self, head: Closure, tail: Closure) -> Closure {
        self.object(t::cons(), &[head.0, tail.0]).with_tag(2)
    }
    pub fn list(&mut self, from: usize, to: usize) -> Closure {
        let mut l = t::nil().with_tag(1);
        for n in (from..to).rev() {
            let head = self.int(n);
            l = self.cons(head, l);
        }
        l
    }
    pub fn thunk(&mut self) -> Closure {
        let nil = t::nil().with_tag(1).0;
        self.object(t::thunk(), &[0, nil, nil])
    }
    pub fn mvar(&mut self) -> Closure {
        let end = Tso::end().0;
        self.object(info!(stg_MVAR_DIRTY_info), &[end, end, end])
    }
    pub fn tvar(&mut self, value: Closure) -> Closure {
        let nobody = static_closure!(stg_END_STM_WATCH_QUEUE_closure).0;
        self.object(info!(stg_TVAR_DIRTY_info), &[value.0, nobody, 0])
    }
    pub fn array(&mut self, info: Info, n: usize, fill: Closure) -> Closure {
        let cards = words(n.div_ceil(1 << MUT_ARR_PTRS_CARD_BITS));
        // SAFETY: the object is filled at once.
        unsafe {
            let a = self.hec.allocate(MUT_ARR_PAYLOAD + n + cards);
            a.set_info(info);
            a.set_word(MUT_ARR_PTRS, n);
            a.set_word(MUT_ARR_SIZE, n + cards);
            (0..n).for_each(|i| a.set_word(MUT_ARR_PAYLOAD + i, fill.0));
            (0..cards).for_each(|i| a.set_word(MUT_ARR_PAYLOAD + n + i, 0));
            a
        }
    }
    pub fn collect(&mut self, request: Request) -> Outcome {
        let roots = &mut self.roots;
        // SAFETY: no thread runs.
        unsafe { collect(&mut [self.hec], 0, request, &mut |visit| roots.iter_mut().for_each(visit)) }
    }
    /// The object after enough collections to make it old.
    pub fn old(&mut self, c: Closure) -> Closure {
        self.roots.push(c);
        self.collect(Request::MINOR);
        self.collect(Request::MINOR);
        self.roots.pop().unwrap()
    }

    /// A thread with only the stop frame on its stack.
    pub fn thread(&mut self) -> Tso {
        // SAFETY: the test holds the HEC.
        unsafe { new_thread(self.hec, &STACKS) }
    }
    /// A thread with these words on its stack, the first one on top.
    pub fn thread_with(&mut self, words: &[usize]) -> Tso {
        let t = self.thread();
        // SAFETY: the stack is new and has room.
        unsafe { push(t.obj().stackobj, words) };
        t
    }
    /// A thread that runs a script: see [`Script`].
    pub fn scripted(&mut self, script: impl FnMut(*mut RegTable) -> usize + Send + 'static) -> Tso {
        let t = self.thread();
        play(t, script);
        t
    }
    /// Removes and returns the threads of the run queue.
    pub fn runnable(&mut self) -> Vec<Tso> {
        // SAFETY: the threads are live.
        std::iter::from_fn(|| unsafe { self.hec.run_queue.pop_front() }).collect()
    }
    /// Makes `t` the running thread.
    pub fn run(&mut self, t: Tso) {
        // SAFETY: the thread is stopped.
        unsafe { make_ready(self.hec, t) };
        self.hec.r.current_tso = t.0;
    }
}

unsafe fn start() {
    address_space::reserve().unwrap();
    hec::add(Box::leak(Box::new(Hec::new(0))));
    hec::enable(1);
    sync::init();
    sync::thread_ops::init(sync::thread_ops::Settings { stacks: STACKS, threaded: true });
    sync::wait_queues::set_scheduler(sync::wait_queues::Scheduler {
        sleep: waits::park,
        leave_sleep: waits::withdraw,
        interrupt_call: safe_call::interrupt_call,
    });
    roots::register(sched::gc::roots);
    roots::register_scoped(event_loop::roots);
    spread::export::init();
    spread::collect::init();
    assert!(memory::in_heap(address_space::base()));
}

/// What a thread does between its resumption and its return to the scheduler. The result is the reason for its return.
type Script = Box<dyn FnMut(*mut RegTable) -> usize + Send>;

static SCRIPTS: Mutex<BTreeMap<u64, Script>> = Mutex::new(BTreeMap::new());

fn scripts() -> MutexGuard<'static, BTreeMap<u64, Script>> {
    unpoisoned(SCRIPTS.lock())
}

/// Sets the script of a thread.
pub fn play(t: Tso, script: impl FnMut(*mut RegTable) -> usize + Send + 'static) {
    // SAFETY: the caller's thread is live.
    scripts().insert(unsafe { t.obj().id }, Box::new(script));
}

/// Entered from `stg_returnToStackTop`, like compiled code. The thread may leave on another HEC than it came to. If it
/// leaves for another thread, that one is run, as in `cmm/Entry.cmm`.
#[no_mangle]
unsafe extern "C" fn test_thread_body(reg: *mut RegTable) -> *mut RegTable {
    let mut id = Hec::of_reg(reg).current().obj().id;
    loop {
        let Some(mut script) = scripts().remove(&id) else {
            crate::base::fatal::broken("a thread without a script runs")
        };
        let ret = script(&mut sched::hec().r);
        if ret != ThreadFinished {
            scripts().insert(id, script);
        }
        let hec = sched::hec();
        if !matches!(ret, ThreadBlocked | ThreadYielding) || hec_switch(hec, ret) == 0 {
            hec.r.ret = ret;
            return &mut hec.r;
        }
        id = hec.current().obj().id;
    }
}

/// Ends the running thread with a result.
/// # Safety
/// Called from a script, which returns what this does.
pub unsafe fn finish(reg: *mut RegTable, result: Closure) -> usize {
    let t = Hec::of_reg(reg).current();
    push(t.obj().stackobj, &[info!(stg_ret_p_info).0, result.0]);
    t.obj().what_next = ThreadComplete as u16;
    ThreadFinished
}
