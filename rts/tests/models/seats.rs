//! HECs that pass from task to task, sleep and wake: one task holds one at a time, and nobody waits in vain.
use crate::atomics::spin_loop;
use crate::explore;
use crate::passing::State;
use crate::post::Post;
use crate::turns::Turns;
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

const END: usize = 100;

/// A HEC with its seat and some tasks, as `sched/seat.rs` has them.
struct Hec {
    seat: Mutex<State<usize>>,
    turns: Vec<Turns<()>>,
    post: Post<u8>,
    limit: AtomicUsize,
    /// Pieces of work: for the holder, or whoever has the seat's lock while the HEC rests.
    work: UnsafeCell<usize>,
}

// SAFETY: loom tells if two touch the work at once.
unsafe impl Sync for Hec {}

impl Hec {
    fn new(tasks: usize, holder: Option<usize>) -> Arc<Hec> {
        Arc::new(Hec {
            seat: Mutex::new(State::new(holder)),
            turns: (0..tasks).map(|_| Turns::new()).collect(),
            post: Post::new(),
            limit: AtomicUsize::new(END),
            work: UnsafeCell::new(0),
        })
    }

    fn acquire(&self, me: usize) {
        let mut st = self.seat.lock().unwrap();
        let held = st.take_or_line_up(me);
        drop(st);
        if !held {
            // It may look before it sleeps; what it sees is true.
            let seen = self.turns[me].any();
            self.turns[me].wait();
            assert!(!seen || !self.turns[me].any());
        }
    }

    /// `idle`: a worker that wants to have it back when there is work.
    fn release(&self, me: usize, idle: bool) {
        let mut st = self.seat.lock().unwrap();
        if idle {
            st.idle.push(me);
        }
        self.pass_on(&mut st);
    }

    fn pass_on(&self, st: &mut State<usize>) {
        let next = st.pass_on(|st| if self.has_work() { st.idle.pop() } else { None });
        if let Some(t) = next {
            self.turns[t].give(());
        }
    }

    fn has_work(&self) -> bool {
        self.work.with(|w| unsafe { *w > 0 })
    }

    fn add_work(&self, n: isize) {
        self.work.with_mut(|w| unsafe { *w = w.read().wrapping_add_signed(n) });
    }

    fn stop(&self, me: usize) {
        let mut st = self.seat.lock().unwrap();
        let held = st.stop(me);
        drop(st);
        if !held {
            self.post.call_back(&self.limit);
            self.turns[me].wait();
        }
    }

    fn make_way(&self, me: usize) -> bool {
        let mut st = self.seat.lock().unwrap();
        if !st.make_way(me) {
            return false;
        }
        self.pass_on(&mut st);
        drop(st);
        self.turns[me].wait();
        true
    }
}

#[test]
fn one_task_at_a_time_holds_it_and_each_has_its_turn() {
    explore(2, || {
        let hec = Hec::new(3, None);
        let run = |me: usize, times: usize| {
            let hec = hec.clone();
            move || {
                for _ in 0..times {
                    hec.acquire(me);
                    hec.add_work(1);
                    hec.release(me, false);
                }
            }
        };
        let others = [thread::spawn(run(1, 2)), thread::spawn(run(2, 1))];
        run(0, 1)();
        others.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(hec.work.with(|w| unsafe { *w }), 4);
        assert!(hec.seat.lock().unwrap().is_free());
    });
}

/// The holder runs a thread that never ends of itself, and one more after the world has been stopped.
#[test]
fn who_stops_the_world_has_a_running_thread_stopped_and_gives_back_what_it_took() {
    explore(3, || {
        let hec = Hec::new(2, Some(0));
        let stopped = hec.clone();
        let stopper = thread::spawn(move || {
            stopped.stop(1);
            stopped.add_work(1);
            let mut st = stopped.seat.lock().unwrap();
            stopped.pass_on(&mut st);
        });
        hec.add_work(1);
        loop {
            if hec.post.called_back() && hec.make_way(0) {
                break;
            }
            hec.post.open(&hec.limit, END);
            while hec.limit.load(Ordering::Relaxed) != 0 {
                spin_loop();
            }
        }
        hec.add_work(1);
        stopper.join().unwrap();
        assert_eq!(hec.work.with(|w| unsafe { *w }), 3);
    });
}

#[test]
fn a_worker_that_sleeps_is_woken_for_what_comes_to_a_hec_that_rests() {
    explore(3, || {
        let hec = Hec::new(1, Some(0));
        let given = Arc::new(AtomicUsize::new(0));
        let (theirs, count) = (hec.clone(), given.clone());
        // Gives two pieces, each as soon as the HEC rests.
        let giver = thread::spawn(move || {
            for _ in 0..2 {
                loop {
                    let mut st = theirs.seat.lock().unwrap();
                    if st.is_free() {
                        theirs.add_work(1);
                        count.fetch_add(1, Ordering::Relaxed);
                        theirs.pass_on(&mut st);
                        break;
                    }
                    drop(st);
                    spin_loop();
                }
            }
        });
        for done in 0..2 {
            hec.release(0, true);
            hec.turns[0].wait();
            assert!(hec.has_work() && given.load(Ordering::Relaxed) > done);
            hec.add_work(-1);
        }
        giver.join().unwrap();
    });
}
