//! The membership of this process in a run: which processing element (PE) of how many it is, and its transport.
//!
//! `hecaton spread` gives it to each PE in the environment variable [`VARIABLE`]: `PE/COUNT:DESCRIPTOR,…`. The
//! descriptors are those of sockets to the other PEs, in order.
//!
//! *Invariants*
//!
//! - The program and its children see neither the variable nor the sockets.
use crate::base::fatal::system_error;
use crate::cluster::ids::Pe;
use crate::spread::transport::sockets::{inherited, Sockets};
use std::os::fd::{OwnedFd, RawFd};

pub const VARIABLE: &str = "HECATON_SPREAD";
/// The most PEs of a run: as many as there are slices in the address space.
pub const MAX_PES: usize = 1000;

pub struct Membership {
    pub pe: Pe,
    pub count: u16,
    pub transport: Sockets,
}

/// Takes the membership out of the environment. `None`: the program runs by itself.
/// # Errors
/// If the variable was not set by `hecaton spread`, or the system refuses descriptors.
/// # Safety
/// One OS thread runs. Called once.
pub unsafe fn take() -> Result<Option<Membership>, String> {
    let Some(text) = std::env::var_os(VARIABLE) else { return Ok(None) };
    std::env::remove_var(VARIABLE);
    let refuse = || format!("{VARIABLE} is set; it is for `hecaton spread' alone");
    let (pe, count, descriptors) = text.to_str().and_then(parse).ok_or_else(refuse)?;
    let sockets: Option<Vec<OwnedFd>> = descriptors.into_iter().map(|fd| inherited(fd)).collect();
    let transport = Sockets::new(pe, sockets.ok_or_else(refuse)?);
    let transport = transport.map_err(|e| format!("cannot watch the sockets of PE {}: {}", pe.0, system_error(&e)))?;
    Ok(Some(Membership { pe, count, transport }))
}

/// The number of this PE, of how many, and its descriptors.
fn parse(text: &str) -> Option<(Pe, u16, Vec<RawFd>)> {
    let (place, descriptors) = text.split_once(':')?;
    let (pe, count) = place.split_once('/')?;
    let (pe, count): (usize, usize) = (pe.parse().ok()?, count.parse().ok()?);
    let descriptors: Vec<RawFd> = descriptors.split(',').map(|d| d.parse().ok()).collect::<Option<_>>()?;
    let fits = pe < count && (2..=MAX_PES).contains(&count) && descriptors.len() == count - 1;
    (fits && descriptors.iter().all(|&d| d > 2)).then_some((Pe(pe as u16), count as u16, descriptors))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memberships_are_read() {
        assert_eq!(parse("0/3:5,7"), Some((Pe(0), 3, vec![5, 7])));
        assert_eq!(parse("2/3:4,9"), Some((Pe(2), 3, vec![4, 9])));
        for wrong in
            ["", "0/1:", "0/3:5", "1/3:5", "1/2:5,7", "3/3:5,7", "0/2:1", "1/1001:5", "-1/2:5", "0/2:x", "0:5", "0/0:5"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
