//! Synchronous exceptions: `raise#` and `raiseIO#`.
//!
//! *Protocol*
//! 1. The stack is unwound to the nearest handler.
//! 2. A thunk whose evaluation raised raises again whenever it is entered, so it is overwritten by a thunk that does.
//! 3. Inside a transaction, `catchSTM#` undoes the writes of its first argument before its handler runs.
//! 4. An exception leaves `atomically#` only if the transaction has seen a consistent state. Otherwise the transaction
//!    is tried again, as if the exception had not happened.
use super::frames::*;
use super::update::update;
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::Closure;
use crate::eval::atomic_modify::on_raise;
use crate::eval::modify_frame::is_modification;
use crate::eval::raise_async::{end_thread, enter_handler};
use crate::eval::unwind_hooks;
use crate::hec::Hec;
use crate::info;

/// Raises in the running thread, whose Sp and Hp are saved. Returns 0 if the thread continues with the frame on top of
/// its stack, or 1 if it has no handler and has finished.
/// # Safety
/// Called from Cmm with the HEC held.
#[no_mangle]
pub unsafe extern "C" fn hec_raise(hec: &mut Hec, exception: Closure) -> usize {
    let t = hec.current();
    let mut raising = None;
    let mut frame = Frame::youngest(t.obj().stackobj);
    loop {
        // Nearly all frames of a deep stack are of this kind.
        while frame.info().kind() == RET_SMALL && !is_modification(frame) {
            frame = frame.older();
        }
        match frame.info().kind() {
            UPDATE_FRAME => {
                let thunk = frame.closure(UPD_FRAME_UPDATEE);
                let raises = *raising.get_or_insert_with(|| raising_thunk(hec, exception));
                update(hec, t, thunk, raises);
                frame = Frame(frame.0.add(UPD_FRAME_WORDS));
            }
            UNDERFLOW_FRAME => frame = drop_chunk(hec, t, frame),
            CATCH_FRAME => {
                enter_handler(t, frame, exception);
                return 0;
            }
            CATCH_STM_FRAME => {
                let (begin, enclosing) = (frame.word(NESTED_BEGIN), frame.word(NESTED_ENCLOSING));
                (unwind_hooks::get().roll_back)(hec, t, begin, enclosing);
                let handler = frame.word(NESTED_OTHER);
                let call = [info!(stg_enter_info).0, handler, info!(stg_ap_pv_info).0, exception.0];
                set_top(t, Frame(frame.0.add(NESTED_WORDS)), &call);
                return 0;
            }
            ATOMICALLY_FRAME => {
                let valid = (unwind_hooks::get().transaction_valid)(t);
                (unwind_hooks::get().abort_transaction)(hec, t);
                if !valid {
                    restart_at(frame);
                    set_top(t, frame, &[]);
                    return 0;
                }
                frame = Frame(frame.0.add(ATOMICALLY_WORDS));
            }
            STOP_FRAME => {
                end_thread(t, frame, Some(exception));
                return 1;
            }
            RET_SMALL => {
                let raises = *raising.get_or_insert_with(|| raising_thunk(hec, exception));
                on_raise(hec, t, frame, raises);
                return 0;
            }
            _ => frame = frame.older(),
        }
    }
}

/// Makes a thunk that raises the exception.
unsafe fn raising_thunk(hec: &mut Hec, exception: Closure) -> Closure {
    let c = hec.allocate(THUNK_PAYLOAD + 1);
    c.set_info(info!(stg_raise_info));
    c.set_word(THUNK_PAYLOAD, exception.0);
    c
}
