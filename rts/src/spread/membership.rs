//! The membership of this process in a run: which processing element (PE) of how many it is, and its transport.
//!
//! `hecaton spread` gives it to each PE in the environment variable [`VARIABLE`]. `PE/COUNT:DESCRIPTOR,…` is a run on
//! one machine. The descriptors are those of sockets to the other PEs, in order. `PE/COUNT:DESCRIPTOR,…:UDP,AGENT` is a
//! run over several hosts. Then those are the sockets to the other PEs of this host; UDP is a socket for the PEs of
//! other hosts; and AGENT leads to the process that has started this one. From there comes one packet ([`Order`]).
//! Without the variable an MPI launcher may have started it (`mpi_job.rs`).
//!
//! *Invariants*
//!
//! - The program and its children see neither the variable nor the sockets.
//! - The key of a run is in no environment and on no command line.
use crate::base::fatal::system_error;
use crate::cluster::ids::Pe;
use crate::spread::mpi_job;
use crate::spread::transport::datagram::Datagrams;
use crate::spread::transport::hosts::Hosts;
use crate::spread::transport::sealed::RunKey;
use crate::spread::transport::sockets::{inherited, Sockets};
use crate::spread::transport::Transport;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

pub const VARIABLE: &str = "HECATON_SPREAD";
/// The most PEs of a run: as many as there are slices in the address space.
pub const MAX_PES: usize = 1000;

pub struct Membership {
    pub pe: Pe,
    pub count: u16,
    /// The PEs of this host.
    pub neighbours: Range<u16>,
    pub transport: &'static dyn Transport,
}

/// Takes the membership out of the environment. `None`: the program runs by itself.
/// # Errors
/// If the variable was not set by `hecaton spread`, the system refuses descriptors, or MPI cannot be used.
/// # Safety
/// One OS thread runs. Called once.
pub unsafe fn take() -> Result<Option<Membership>, String> {
    let Some(text) = std::env::var_os(VARIABLE) else { return take_of_mpi() };
    std::env::remove_var(VARIABLE);
    let refuse = || format!("{VARIABLE} is set; it is for `hecaton spread' alone");
    let place = text.to_str().and_then(parse).ok_or_else(refuse)?;
    let packets = |fd: &RawFd| inherited(*fd, libc::SOCK_SEQPACKET);
    let sockets: Vec<OwnedFd> = place.sockets.iter().map(packets).collect::<Option<_>>().ok_or_else(refuse)?;
    let Place { pe, count, .. } = place;
    let failed = |e: io::Error| format!("cannot watch the sockets of PE {}: {}", pe.0, system_error(&e));
    let Some((udp, agent)) = place.others else {
        let transport = Box::leak(Box::new(Sockets::new(pe, Pe(0), sockets).map_err(failed)?));
        return Ok(Some(Membership { pe, count, neighbours: 0..count, transport }));
    };
    let (udp, agent) = (inherited(udp, libc::SOCK_DGRAM), inherited(agent, libc::SOCK_SEQPACKET));
    let (udp, agent) = udp.zip(agent).ok_or_else(refuse)?;
    let order = receive_order(&agent, count).ok_or_else(refuse)?;
    let neighbours = order.neighbours().filter(|n| n.contains(&pe.0) && n.len() == sockets.len() + 1);
    let neighbours = neighbours.ok_or_else(refuse)?;
    let sockets = Sockets::new(pe, Pe(neighbours.start), sockets).map_err(failed)?;
    let datagrams = Datagrams::new(pe, UdpSocket::from(udp), &order.key, &order.addresses).map_err(failed)?;
    let transport = Box::leak(Box::new(Hosts::new(sockets, datagrams, agent)));
    Ok(Some(Membership { pe, count, neighbours, transport }))
}

/// As [`take`], if an MPI launcher has started this process.
unsafe fn take_of_mpi() -> Result<Option<Membership>, String> {
    let Some((place, transport)) = mpi_job::take()? else { return Ok(None) };
    if place.size > MAX_PES {
        return Err(format!("MPI has {} processes, but a program has {MAX_PES} PEs at most", place.size));
    }
    let neighbours = place.neighbours.start as u16..place.neighbours.end as u16;
    Ok(Some(Membership { pe: Pe(place.rank as u16), count: place.size as u16, neighbours, transport }))
}

/// What the variable says.
#[derive(Debug, PartialEq)]
struct Place {
    pe: Pe,
    count: u16,
    sockets: Vec<RawFd>,
    /// The descriptors of datagrams and of the agent.
    others: Option<(RawFd, RawFd)>,
}

fn parse(text: &str) -> Option<Place> {
    let mut parts = text.split(':');
    let (pe, count) = parts.next()?.split_once('/')?;
    let (pe, count): (usize, usize) = (pe.parse().ok()?, count.parse().ok()?);
    let descriptor = |text: &str| text.parse().ok().filter(|&fd: &RawFd| fd > 2);
    let listed = parts.next()?.split(',').filter(|text| !text.is_empty());
    let sockets: Vec<RawFd> = listed.map(descriptor).collect::<Option<_>>()?;
    let others = match parts.next() {
        None => None,
        Some(text) => {
            let (udp, agent) = text.split_once(',')?;
            Some((descriptor(udp)?, descriptor(agent)?))
        }
    };
    let fits = if others.is_some() { sockets.len() < count } else { sockets.len() + 1 == count };
    let fits = fits && pe < count && (2..=MAX_PES).contains(&count) && parts.next().is_none();
    fits.then_some(Place { pe: Pe(pe as u16), count: count as u16, sockets, others })
}

/// What the agent says: the run's key, and six bytes for each PE, an address and a port with the big end first. They
/// are 0 for the PEs of this host.
struct Order {
    key: RunKey,
    addresses: Vec<Option<SocketAddrV4>>,
}

impl Order {
    fn read(bytes: &[u8], count: u16) -> Option<Order> {
        let (key, addresses) = bytes.split_at_checked(size_of::<RunKey>())?;
        let address = |bytes: &[u8]| {
            let &[a, b, c, d, high, low] = bytes else { return None };
            let port = u16::from_be_bytes([high, low]);
            (port != 0).then(|| SocketAddrV4::new(Ipv4Addr::new(a, b, c, d), port))
        };
        let fits = addresses.len() == 6 * usize::from(count);
        let addresses = addresses.chunks_exact(6).map(address).collect();
        fits.then_some(Order { key: key.try_into().ok()?, addresses })
    }

    /// The PEs of this host, which follow each other.
    fn neighbours(&self) -> Option<Range<u16>> {
        let first = self.addresses.iter().position(Option::is_none)?;
        let count = self.addresses[first..].iter().take_while(|address| address.is_none()).count();
        let is_all = self.addresses[first + count..].iter().all(Option::is_some);
        is_all.then_some(first as u16..(first + count) as u16)
    }
}

fn receive_order(agent: &OwnedFd, count: u16) -> Option<Order> {
    let mut bytes = vec![0u8; size_of::<RunKey>() + 6 * MAX_PES + 1];
    // SAFETY: the buffer has that length.
    let got = unsafe { libc::recv(agent.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    Order::read(bytes.get(..usize::try_from(got).ok()?)?, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memberships_are_read() {
        let place =
            |pe, count, sockets: &[RawFd], others| Some(Place { pe: Pe(pe), count, sockets: sockets.to_vec(), others });
        assert_eq!(parse("0/3:5,7"), place(0, 3, &[5, 7], None));
        assert_eq!(parse("2/3:4,9"), place(2, 3, &[4, 9], None));
        assert_eq!(parse("2/4:4:7,8"), place(2, 4, &[4], Some((7, 8))));
        assert_eq!(parse("1/2::7,8"), place(1, 2, &[], Some((7, 8))));
        for wrong in
            ["", "0/1:", "0/3:5", "1/3:5", "1/2:5,7", "3/3:5,7", "0/2:1", "1/1001:5", "-1/2:5", "0/2:x", "0:5", "0/0:5"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        for wrong in
            ["1/2:5:", "1/2:5:7", "1/2:5:7,x", "1/2:5:7,2", "1/2:5,6:7,8", "2/2::7,8", "0/1::7,8", "1/2:5:7,8:"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn orders_are_read() {
        let address = [10, 0, 0, 7, 1, 2];
        let bytes = |places: &[[u8; 6]]| [&[9; 32][..], &places.concat()].concat();
        let order = Order::read(&bytes(&[address, [0; 6], [0; 6], address]), 4).unwrap();
        assert_eq!((order.key, order.neighbours()), ([9; 32], Some(1..3)));
        assert_eq!(order.addresses[3], Some("10.0.0.7:258".parse().unwrap()));
        assert!(Order::read(&bytes(&[address]), 2).is_none() && Order::read(&[0; 31], 0).is_none());
        assert!(Order::read(&bytes(&[[0; 6]; 2])[..43], 2).is_none());
        let order = Order::read(&bytes(&[[0; 6], address, [0; 6]]), 3).unwrap();
        assert_eq!(order.neighbours(), None);
    }
}
