//! A GC worker's share of the work: the remembered sets and threads of HECs, and pieces of work from other workers.
//!
//! *Protocol*: that of `collector/parallel/work_sharing.rs`.
use crate::abi::WORD;
use crate::base::atomics::Ordering;
use crate::collector::parallel::work::Work;
use crate::collector::trace::worker::Worker;

impl<const MAJOR: bool, const PARALLEL: bool> Worker<MAJOR, PARALLEL> {
    /// Scavenges remembered objects until no chunk is left, and evacuates the roots of all HECs. The queue of `home`,
    /// the HEC with which this thread has stopped, and all that it leads to come before those of other HECs. What a
    /// HEC's threads have made is in its own core's cache and will be used there, so other workers give its volunteer
    /// time to arrive. In each queue old generations come first.
    pub(in crate::collector) unsafe fn scan_hec_queues(&mut self, home: usize) {
        let parallel_gc = &*self.parallel_gc;
        let n = parallel_gc.hec_queues.len();
        self.home = home % n;
        for i in 0..n {
            let no = (self.home + i) % n;
            let queue = &parallel_gc.hec_queues[no];
            if i > 0 && self.me == 0 && parallel_gc.has_work_left(no) {
                parallel_gc.wait_for_owner(&queue.owner_began);
            }
            let mut next = queue.next();
            if i == 0 {
                queue.owner_began.store(true, Ordering::Relaxed);
            }
            while let Some(chunk) = next {
                self.scan_list(chunk.step, std::slice::from_raw_parts(chunk.list, chunk.len));
                next = queue.next();
            }
            self.set_owner(0);
            if !queue.roots_taken.swap(true, Ordering::Relaxed) {
                let hec = parallel_gc.hecs[no];
                (*hec).roots(&mut |c| self.evacuate(&mut c.0));
            }
            self.drain_own();
        }
        self.set_owner(0);
    }

    /// Does a piece of work that was taken from a deque of step `step`.
    pub(in crate::collector) unsafe fn run_work(&mut self, step: u8, work: Work) {
        match work {
            Work::Run(run) => self.scan_run(step, run),
            Work::Large(c) => self.scan_large(c),
            Work::Array { c, from, to, all } => {
                self.scanned_in_place += (to - from) * WORD;
                self.set_owner(step);
                self.scan_array_piece(c.slot(0), from, to, all);
            }
        }
    }
}
