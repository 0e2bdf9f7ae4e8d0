//! The membership of this process in a run: which processing element (PE) of how many it is, and its channels.
//!
//! `hecaton spread` gives it to each PE in the environment variable [`VARIABLE`]: `PE/COUNT:DESCRIPTOR,…`. PE 0
//! inherits a socket to each of the others, in order. Each other one inherits the other end.
//!
//! *Invariants*
//!
//! - The program and its children see neither the variable nor the sockets.
use crate::spread::channel::Channel;
use std::os::fd::RawFd;

pub const VARIABLE: &str = "HECATON_SPREAD";
/// The most PEs of a run: as many as there are slices in the address space.
pub const MAX_PES: usize = 1000;

pub struct Membership {
    pub pe: usize,
    pub count: usize,
    /// Those of PE 0 lead to PE 1, 2, …; that of another one leads to PE 0.
    pub channels: Vec<Channel>,
}

/// Takes the membership out of the environment. `None`: the program runs by itself.
/// # Errors
/// If the variable was not set by `hecaton spread`.
/// # Safety
/// One OS thread runs. Called once.
pub unsafe fn take() -> Result<Option<Membership>, String> {
    let Some(text) = std::env::var_os(VARIABLE) else { return Ok(None) };
    std::env::remove_var(VARIABLE);
    let refuse = || format!("{VARIABLE} is set; it is for `hecaton spread' alone");
    let (pe, count, descriptors) = text.to_str().and_then(parse).ok_or_else(refuse)?;
    let channels: Option<Vec<Channel>> = descriptors.into_iter().map(|fd| Channel::inherited(fd)).collect();
    Ok(Some(Membership { pe, count, channels: channels.ok_or_else(refuse)? }))
}

/// The number of this PE, of how many, and its descriptors.
fn parse(text: &str) -> Option<(usize, usize, Vec<RawFd>)> {
    let (place, descriptors) = text.split_once(':')?;
    let (pe, count) = place.split_once('/')?;
    let (pe, count): (usize, usize) = (pe.parse().ok()?, count.parse().ok()?);
    let descriptors: Vec<RawFd> = descriptors.split(',').map(|d| d.parse().ok()).collect::<Option<_>>()?;
    let expected = if pe == 0 { count.checked_sub(1)? } else { 1 };
    let fits = pe < count && (2..=MAX_PES).contains(&count) && descriptors.len() == expected;
    (fits && descriptors.iter().all(|&d| d > 2)).then_some((pe, count, descriptors))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memberships_are_read() {
        assert_eq!(parse("0/3:5,7"), Some((0, 3, vec![5, 7])));
        assert_eq!(parse("2/3:4"), Some((2, 3, vec![4])));
        for wrong in ["", "0/1:", "0/3:5", "1/3:5,7", "3/3:5", "0/2:1", "1/1001:5", "-1/2:5", "0/2:x", "0:5", "0/0:5"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
