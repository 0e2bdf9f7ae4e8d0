//! What another processing element asks for that needs this one to rest.
use crate::base::os_thread;
use crate::sched::{handoff, stop_world, task_table};

/// Does something with the world stopped, on an OS thread of its own: the network task does not wait for that. If the
/// system makes no thread, it is not done.
pub fn act(name: &'static str, what: impl FnOnce() + Send + 'static) {
    let work = move || {
        let me = task_table::current();
        handoff::acquire(me);
        // SAFETY: this task holds a HEC, and runs no thread. It gives back all that it has taken.
        unsafe {
            while !stop_world::stop(me) {}
            what();
            stop_world::resume(me);
            handoff::release_to_c(me);
        }
    };
    let _ = os_thread::start(name, work);
}
