//! Descriptors by the ten thousand: the limit of a process, and connections that stay idle.
use crate::error::{reason, Fail, Result};
use std::{
    io,
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
};

/// Raises the limit of this process, and so of its children, to `wanted` or as near as is permitted. Returns the limit.
pub fn raise_limit(wanted: usize) -> Result<usize> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a live local.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } != 0 {
        return Err(failed("cannot ask for the limit of descriptors"));
    }
    let wanted = (wanted as libc::rlim_t).max(limit.rlim_cur);
    let possible = [wanted, limit.rlim_max.min(wanted)];
    let set = |soft: libc::rlim_t| {
        let raised = libc::rlimit { rlim_cur: soft, rlim_max: limit.rlim_max.max(soft) };
        // SAFETY: as above.
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raised) == 0 }
    };
    match possible.into_iter().find(|&soft| set(soft)) {
        Some(soft) => Ok(soft as usize),
        None => Err(failed("cannot raise the limit of descriptors")),
    }
}

/// Source addresses 127.0.1.1 to 127.0.250.250, each for this many connections: far fewer than there are ports, because
/// the kernel looks for a free one long if few are left.
const PER_ADDRESS: usize = 500;

/// `count` connections to the server at `port` on 127.0.0.1, which stay as they are until they are dropped.
pub fn idle_connections(port: u16, count: usize) -> Result<Vec<OwnedFd>> {
    (0..count).map(|n| connect(port, n / PER_ADDRESS)).collect()
}

fn connect(port: u16, source: usize) -> Result<OwnedFd> {
    // SAFETY: plain numbers.
    let raw = unsafe { libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) };
    if raw < 0 {
        return Err(failed("cannot make a socket"));
    }
    // SAFETY: the descriptor was just made, and is owned by nothing else.
    let socket = unsafe { OwnedFd::from_raw_fd(raw) };
    let from = address([127, 0, 1 + (source / 250) as u8, 1 + (source % 250) as u8], 0);
    let to = address([127, 0, 0, 1], port);
    let size = size_of::<libc::sockaddr_in>() as libc::socklen_t;
    // SAFETY: the pointers are to live locals of that size.
    let done = unsafe {
        libc::bind(socket.as_raw_fd(), (&raw const from).cast(), size) == 0
            && libc::connect(socket.as_raw_fd(), (&raw const to).cast(), size) == 0
    };
    if done {
        Ok(socket)
    } else {
        Err(failed("cannot connect"))
    }
}

fn address(bytes: [u8; 4], port: u16) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(bytes) },
        sin_zero: [0; 8],
    }
}

fn failed(what: &str) -> Fail {
    Fail::new(format!("{what}: {}", reason(&io::Error::last_os_error())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn the_limit_is_not_lowered() {
        let before = raise_limit(1).unwrap();
        assert!(raise_limit(before + 1).unwrap() >= before);
        assert!(raise_limit(2).unwrap() >= before);
    }

    #[test]
    fn connections_come_from_many_addresses() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let sources = [0, 1, 250].map(|source| {
            let _connection = connect(port, source).unwrap();
            listener.accept().unwrap().1.ip().to_string()
        });
        assert_eq!(sources, ["127.0.1.1", "127.0.1.2", "127.0.2.1"]);
        assert_eq!(idle_connections(port, 3).unwrap().len(), 3);
        drop(listener);
        assert!(idle_connections(port, 1).unwrap_err().message.contains("Connection refused"));
    }
}
