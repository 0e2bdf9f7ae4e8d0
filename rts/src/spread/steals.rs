//! When an idle processing element (PE) asks others for work: `cluster/steal.rs` with HECs and a clock.
//!
//! *Protocol*
//! 1. A HEC with nothing to run says so ([`nothing_to_run`]). If no request is under way and no back-off is waited for,
//!    it asks a victim.
//! 2. After a refusal the network task sleeps until the back-off ends. Then it asks, if a HEC is idle, or has said that
//!    it has nothing to run since the network task looked last. (It may not have released itself yet.) Otherwise the
//!    next HEC with nothing to run asks.
//!
//! So an idle PE costs its network task's wake-ups at the ends of back-offs, and nothing in between.
use crate::hec;
use crate::sched::handoff;
use crate::spread::run::{self, Run};
use crate::spread::start::now;

/// A HEC has nothing to run. Its holder has not released it yet.
pub fn nothing_to_run() {
    let Some(run) = run::current() else { return };
    if run.steals.want() && seek(run) {
        run.transport().wake();
    }
}

/// The network task looks: is it time, and is a HEC idle?
pub fn on_time(run: &Run) {
    if run.steals.deadline().is_none_or(|next| now() < next) {
        return;
    }
    let has_idle = || (0..hec::enabled()).any(|no| !handoff::is_held(no));
    if run.steals.take_wanted() || has_idle() {
        seek(run);
    }
}

/// A victim has refused: goes on, if a HEC is idle.
pub fn on_refused(run: &Run) {
    run.steals.set_next(now());
    on_time(run);
}

/// Asks a victim. True if that is to be done later.
fn seek(run: &Run) -> bool {
    run.step_without_hec(|step| {
        let later = step.seek_work();
        match later {
            Some(until) => run.steals.set_next(until),
            None => run.steals.set_asked(),
        }
        later.is_some()
    })
}
