//! Global collections: the heap's side of `cluster/cycle.rs`.
//!
//! | file | what it does |
//! |---|---|
//! | `mod.rs` | the thread that collects, and how it meets the cycle's messages |
//! | `shared.rs` | the cycle with its lock |
//! | `roots.rs` | what graphs refer to that are under way or kept; weights that are under way |
//! | `due.rs` | when a cycle is due |
//!
//! *Protocol*
//! 1. BEGIN comes. An OS thread stops the world like for any collection. Under the element's lock it sends FLUSH; from
//!    then on computation messages wait in the inbox, whoever could handle them ([`shared::Shared::is_flushed`]).
//! 2. When FLUSH has come from all, the thread collects. Where the collector has nothing more to trace, it calls
//!    [`exchange`], which sends what was found, and waits for what others have found here, or for the end of a phase.
//! 3. The heap is swept. The thread tells its weights, sets its sums, and waits for END. Then the world goes on.
//!
//! *Locking*: the cycle has a lock, which comes after the element's. All that the cycle sends is sent under it. The
//! network task takes it, and never waits for more. The thread that collects waits for a change of the cycle with all
//! HECs and no other lock; a program's thread that has asked for a cycle does so outside Haskell.
//!
//! *Checked by*: `rts/tests/simulation/global.rs`, and `tests/commands/spread_global.sh`.
pub mod due;
mod roots;
pub mod shared;

use crate::abi::Closure;
use crate::base::fatal::{self, broken};
use crate::base::os_thread;
use crate::base::poison::unpoisoned;
use crate::cluster::cycle::{Cycles, Sent, Task};
use crate::cluster::ids::{Address, Pe};
use crate::cluster::message::{Message, Step};
use crate::memory::address_space::is_own;
use crate::memory::fixed_blocks::is_fixed;
use crate::sched::{gc, handoff, stop_world, task_table};
use crate::spread::run::Run;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;

pub(super) use roots::visit_roots;

/// A step of the cycle, with all that it sends. A cycle that begins gets a thread.
fn step<R>(run: &'static Run, act: impl FnOnce(&mut Cycles, &mut Vec<Sent>) -> R) -> R {
    let mut cycles = run.cycle.cycles();
    let was_stopping = cycles.is_stopping();
    let result = send(run, &mut cycles, act);
    if cycles.is_stopping() && !was_stopping {
        // The network task may have stopped receiving.
        run.transport().wake();
        if let Err(e) = os_thread::start("haskell-global-gc", move || collect(run)) {
            fatal::exit_with(1, &format!("cannot start a global collection: {}", fatal::system_error(&e)));
        }
    }
    drop(cycles);
    run.cycle.changed.notify_all();
    result
}

fn send<R>(run: &Run, cycles: &mut Cycles, act: impl FnOnce(&mut Cycles, &mut Vec<Sent>) -> R) -> R {
    let mut out = Vec::new();
    let result = act(cycles, &mut out);
    out.into_iter().for_each(|(to, number, step)| run.send(to, &Message::Cycle(number, step)));
    result
}

/// Waits until the cycle answers.
fn wait<R>(run: &Run, mut ask: impl FnMut(&mut Cycles, &mut Vec<Sent>) -> Option<R>) -> R {
    let mut cycles = run.cycle.cycles();
    loop {
        if let Some(answer) = send(run, &mut cycles, &mut ask) {
            return answer;
        }
        cycles = unpoisoned(run.cycle.changed.wait(cycles));
    }
}

/// A message of a cycle has come. For the network task.
pub fn on_message(run: &'static Run, from: Pe, number: u64, message: Step) {
    step(run, |cycles, out| cycles.on_step(from, number, message, out));
}

/// A PE is lost: a cycle under way is given up, and another one begins.
pub fn on_lost(run: &'static Run, pe: Pe) {
    step(run, |cycles, out| cycles.on_lost(pe, out));
}

/// Asks for a cycle. Its number.
pub fn request(run: &'static Run) -> u64 {
    step(run, Cycles::request)
}

/// Does a cycle that begins now or later.
pub fn perform(run: &'static Run) {
    let number = request(run);
    wait(run, |cycles, _| (cycles.ended() >= number).then_some(()));
}

/// A cycle at this PE, from BEGIN to its end.
fn collect(run: &'static Run) {
    let me = task_table::current();
    handoff::acquire(me);
    // SAFETY: this task holds a HEC, and runs no thread. It gives back all that it has taken.
    unsafe {
        while !stop_world::stop(me) {}
        run.step_without_hec(|_| {
            run.cycle.is_flushed.store(true, Relaxed);
            step(run, Cycles::on_stopped);
        });
        wait(run, |cycles, _| cycles.has_flushed().then_some(()));
        step(run, Cycles::on_flushed);
        gc::collect_globally();
        balance(run);
        run.step_without_hec(|_| run.cycle.is_flushed.store(false, Relaxed));
        stop_world::resume(me);
        handoff::release_to_c(me);
    }
    step(run, Cycles::on_resumed);
}

/// Agrees with the others on the weights that are out, and waits until all have.
unsafe fn balance(run: &'static Run) {
    let mut held: BTreeMap<Pe, _> = BTreeMap::new();
    for credit in roots::held(run) {
        held.entry(run.owner_of_block(credit.block)).or_insert_with(Vec::new).push(credit);
    }
    let mut own = held.remove(&run.me()).unwrap_or_default();
    step(run, |cycles, out| cycles.on_swept(held, out));
    let others = wait(run, |cycles, _| {
        let all = cycles.held_by_others().map(|credits| Some(credits.copied().collect::<Vec<_>>()));
        all.or_else(|| cycles.is_given_up().then_some(None))
    });
    if let Some(mut others) = others {
        own.append(&mut others);
        run.step_without_hec(|step| step.set_given(&own));
        step(run, Cycles::on_balanced);
    }
    wait(run, |cycles, _| cycles.is_over().then_some(()));
}

/// What the collector does next.
pub enum Exchanged {
    /// Others have marked these.
    Trace(Vec<usize>),
    PhaseOver,
    /// The collection ends as one of this PE alone.
    GivenUp,
}

/// For the collector, which has nothing more to trace: sends what has been marked of others, and waits for what others
/// have marked here.
pub(super) fn exchange(run: &'static Run, found: Vec<usize>) -> Exchanged {
    let mut by_owner: BTreeMap<Pe, Vec<Address>> = BTreeMap::new();
    for address in found.into_iter().chain(roots::take_found()).map(|address| Address(address as u64)) {
        by_owner.entry(run.owner(address)).or_default().push(address);
    }
    step(run, |cycles, out| cycles.on_found(by_owner, out));
    let task = wait(run, |cycles, out| Some(cycles.next(out)).filter(|task| *task != Task::Wait));
    match task {
        Task::Trace(addresses) => Exchanged::Trace(addresses.into_iter().map(own_object).collect()),
        Task::GivenUp => Exchanged::GivenUp,
        Task::PhaseOver | Task::Wait => {
            step(run, Cycles::on_phase_over);
            Exchanged::PhaseOver
        }
    }
}

fn own_object(address: Address) -> usize {
    let object = Closure(address.0 as usize);
    if !is_own(object.0) || !is_fixed(object) {
        broken("another process has marked what is no fixed object of this one");
    }
    object.0
}
