//! Models of descriptors that get and leave a home, and of a close under threads that wait.
//!
//! The rest of `events/waits.rs` is a short form: an event loop is a lock; a descriptor has the loop whose poller it is
//! registered with, the threads that wait for it, and those set aside by a close. Loom reports an access to them that
//! the home's lock does not order.
//!
//! *Shipped code*: `events/home.rs`.
use crate::shipped::home::Home;
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

#[derive(Default)]
struct Descriptor {
    /// The loop whose poller has it, and the file that the number meant then.
    registered: Option<(usize, usize)>,
    closing: usize,
    waiting: Vec<usize>,
    closed: Vec<usize>,
    /// Threads that have been woken by a close.
    woken: Vec<usize>,
}

struct World {
    loops: [Mutex<()>; 2],
    home: Home,
    descriptor: UnsafeCell<Descriptor>,
    /// What the number means to the system: a close and a new open change it.
    file: AtomicUsize,
}

// SAFETY: loom checks each access of the descriptor.
unsafe impl Sync for World {}

impl World {
    fn new() -> Arc<World> {
        let loops = [Mutex::new(()), Mutex::new(())];
        let descriptor = UnsafeCell::new(Descriptor::default());
        Arc::new(World { loops, home: Home::new(), descriptor, file: AtomicUsize::new(0) })
    }

    /// As `with_home`: on HEC `no`.
    fn with_home(&self, no: usize, f: impl FnOnce(usize, &mut Descriptor)) {
        let (home, locked) = self.home.locked(no, |home| self.loops[home].lock().unwrap());
        self.descriptor.with_mut(|d| {
            // SAFETY: loom checks that no other thread accesses it.
            let d = unsafe { &mut *d };
            f(home, d);
            if d.registered.is_none() && d.closing == 0 && d.waiting.is_empty() {
                self.home.leave();
            }
        });
        drop(locked);
    }

    /// As `bring_home`.
    fn bring_home(&self, no: usize) {
        let Some(home) = self.home.get().filter(|&home| home != no) else { return };
        let locked = self.loops[home].lock().unwrap();
        if self.home.get() == Some(home) {
            self.descriptor.with_mut(|d| {
                // SAFETY: as above.
                let d = unsafe { &mut *d };
                if d.waiting.is_empty() && d.closing == 0 {
                    d.registered = None;
                    self.home.leave();
                }
            });
        }
        drop(locked);
    }

    fn register(&self, home: usize, d: &mut Descriptor) {
        d.registered = Some((home, self.file.load(Ordering::Relaxed)));
    }

    /// A thread waits, on HEC `no`.
    fn wait(&self, no: usize, thread: usize) {
        self.bring_home(no);
        self.with_home(no, |home, d| {
            if d.closing == 0 && d.registered.is_none() {
                self.register(home, d);
            }
            d.waiting.push(thread);
        });
    }

    /// As `hec_begin_close`, the close action, and `hec_end_close`, on HEC `no`.
    fn close_and_reuse(&self, no: usize) {
        self.with_home(no, |_, d| {
            d.closing += 1;
            d.registered = None;
            let waiting = std::mem::take(&mut d.waiting);
            d.closed.extend(waiting);
        });
        self.file.fetch_add(1, Ordering::Relaxed);
        self.with_home(no, |home, d| {
            let closed = std::mem::take(&mut d.closed);
            d.woken.extend(closed);
            d.closing -= 1;
            if d.closing == 0 && !d.waiting.is_empty() {
                self.register(home, d);
            }
        });
    }

    /// All threads have ended. Each that waits still is registered, for the file that the number means now, with the
    /// loop that is the home.
    fn assert_served(&self, threads: usize) {
        self.descriptor.with(|d| {
            // SAFETY: as above.
            let d = unsafe { &*d };
            assert_eq!(d.waiting.len() + d.woken.len(), threads, "a thread is lost");
            assert!(d.closed.is_empty() && d.closing == 0);
            let expected = self.home.get().map(|home| (home, self.file.load(Ordering::Relaxed)));
            assert_eq!(d.registered, expected, "the registration is not the home's, or outdated");
            assert!(d.waiting.is_empty() || d.registered.is_some(), "a thread waits for nothing");
        });
    }
}

fn spawn(world: &Arc<World>, f: impl FnOnce(&World) + 'static) -> thread::JoinHandle<()> {
    let world = world.clone();
    thread::spawn(move || f(&world))
}

#[test]
fn two_hecs_make_one_of_them_the_home() {
    crate::explore(3, || {
        let world = World::new();
        let other = spawn(&world, |world| world.wait(1, 1));
        world.wait(0, 0);
        other.join().unwrap();
        world.assert_served(2);
    });
}

#[test]
fn a_close_wakes_those_that_waited() {
    crate::explore(3, || {
        let world = World::new();
        world.wait(0, 0);
        let closer = spawn(&world, |world| world.close_and_reuse(1));
        // Before, during or after the close.
        world.wait(0, 1);
        closer.join().unwrap();
        world.assert_served(2);
        world.descriptor.with(|d| {
            // SAFETY: all other threads have ended.
            assert!(unsafe { &*d }.woken.contains(&0), "a thread waits for a number that was closed under it");
        });
    });
}

#[test]
fn two_closes_at_once_lose_no_waiter() {
    crate::explore(2, || {
        let world = World::new();
        let closers = [0, 1].map(|no| spawn(&world, move |world| world.close_and_reuse(no)));
        world.wait(0, 0);
        closers.into_iter().for_each(|closer| closer.join().unwrap());
        world.assert_served(1);
    });
}

#[test]
fn a_descriptor_follows_its_thread_while_others_close_it() {
    crate::explore(2, || {
        let world = World::new();
        // Registered on one HEC, without waiters: the next wait on the other brings it there.
        world.with_home(0, |home, d| world.register(home, d));
        let closer = spawn(&world, |world| world.close_and_reuse(0));
        world.wait(1, 1);
        closer.join().unwrap();
        world.assert_served(1);
    });
}
