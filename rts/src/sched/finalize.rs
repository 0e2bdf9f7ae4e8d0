//! Finalizers of weak pointers that a collection has found dead: those in C at once, those in
//! Haskell in one thread.
use super::settings;
use crate::contract::closure::fields::*;
use crate::contract::{layout::*, words, Closure};
use crate::hec::Hec;
use crate::prims::weak::{kill, run_c_finalizers};
use crate::thread::create::{apply, new_io_thread};
use crate::{info, static_closure};

/// Runs or schedules the finalizers of `weaks`, and makes the weak pointers dead.
/// # Safety
/// The HEC is held and no thread is running; the weak pointers are alive but for their keys.
pub unsafe fn start(hec: &mut Hec, weaks: &[Closure]) {
    let none = static_closure!(stg_NO_FINALIZER_closure);
    let mut actions = Vec::new();
    for &w in weaks {
        run_c_finalizers(w);
        let f = w.field(WEAK_FINALIZER);
        if f.untag() != none {
            actions.push(f);
        }
        kill(hec, w);
    }
    if actions.is_empty() {
        return;
    }
    let n = actions.len();
    let array = frozen_array(hec, &actions);
    let count = hec.allocate(2);
    count.set_word(0, info!(ghczmprim_GHCziTypes_Izh_con_info).0);
    count.set_word(1, n);
    let batch = static_closure!(base_GHCziWeak_runFinalizzerBatch_closure);
    let call = apply(hec, batch, &[count.with_tag(1), array]);
    let t = new_io_thread(hec, call, &settings().stack);
    hec.run_queue.push_back(&mut hec.remembered, t);
}

unsafe fn frozen_array(hec: &mut Hec, elements: &[Closure]) -> Closure {
    let n = elements.len();
    let cards = words((n + (1 << MUT_ARR_PTRS_CARD_BITS) - 1) >> MUT_ARR_PTRS_CARD_BITS);
    let a = hec.allocate(MUT_ARR_PAYLOAD + n + cards);
    a.set_word(0, info!(stg_MUT_ARR_PTRS_FROZEN_DIRTY_info).0);
    a.set_word(MUT_ARR_PTRS, n);
    a.set_word(MUT_ARR_SIZE, n + cards);
    for (i, e) in elements.iter().enumerate() {
        a.set_word(MUT_ARR_PAYLOAD + i, e.0);
    }
    for i in 0..cards {
        a.set_word(MUT_ARR_PAYLOAD + n + i, 0);
    }
    a
}
