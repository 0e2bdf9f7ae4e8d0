//! Pings to other processing elements (PEs), for tests and for `./hecaton bench spread`. `spread/ping.rs` says what
//! happens to them.
use crate::cluster::ids::Pe;
use crate::cluster::message::{Message, Ping};
use crate::spread::{ping, run};

/// Sends a ping. False if there is no such other PE.
fn send(pe: i32, ping: Ping) -> bool {
    let Some((run, to)) = run::current().zip(u16::try_from(pe).ok().map(Pe)) else { return false };
    let exists = to != run.me() && usize::from(to.0) < run.count();
    if exists {
        run.send(to, &Message::Ping(ping));
    }
    exists
}

/// Pings another PE through HECs. The answer fills the `MVar ()` behind a stable pointer, which it frees; the pointer
/// is one of `newStablePtrPrimMVar`. False if there is no such PE.
#[no_mangle]
pub extern "C" fn hec_ping(pe: i32, bytes: usize, mvar: usize) -> bool {
    send(pe, Ping { number: mvar as u64, by_hec: true, bytes: vec![1; bytes] })
}

/// Pings another PE `times` times, one after the other, without HECs. Called by one OS thread at a time, by a safe
/// foreign call.
#[no_mangle]
pub extern "C" fn hec_ping_transport(pe: i32, bytes: usize, times: u64) -> bool {
    ping::begin_here();
    (1..=times).all(|number| {
        let is_sent = send(pe, Ping { number, by_hec: false, bytes: vec![1; bytes] });
        if is_sent {
            ping::wait_here(number);
        }
        is_sent
    })
}
