//! Timers: actions that run in threads of their own when their time has come.
//!
//! A timer is a node of the loop of the HEC that registers it. Its key is the node's handle, so cancelling it is one
//! operation, from any HEC.
use crate::abi::Closure;
use crate::events::event_loop::event_loop;
use crate::events::wait_nodes::{Handle, Kind};
use crate::hec::Hec;

/// Runs `action` after a number of microseconds. Returns the timer's key.
/// # Safety
/// Called from Cmm.
#[no_mangle]
pub unsafe extern "C" fn hec_register_timeout(hec: &mut Hec, micros: isize, action: Closure) -> usize {
    let l = event_loop(hec.no as usize);
    let mut st = l.lock();
    l.add_timer(&mut st, Kind::Action, action, micros).0
}

/// Cancels a timer or the registration of a callback. Returns 1 if it was pending.
/// # Safety
/// Called from Cmm.
#[no_mangle]
pub unsafe extern "C" fn hec_cancel(_hec: &mut Hec, key: isize) -> usize {
    if key < 0 {
        return 0;
    }
    let handle = Handle(key as usize);
    let l = event_loop(handle.loop_no());
    let mut st = l.lock();
    let Some(index) = st.nodes.find(handle).filter(|&index| st.nodes.node(index).kind != Kind::Thread) else {
        return 0;
    };
    st.remove(index);
    l.publish(&st);
    1
}
