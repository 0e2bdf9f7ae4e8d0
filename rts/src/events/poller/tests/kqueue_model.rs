//! The two functions of libkqueue as kqueue(2) describes them, for systems without the library. So the back end's use
//! of them is tested everywhere.
use crate::events::poller::kqueue::*;
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Mutex;

pub fn library() -> Library {
    Library { kqueue, kevent }
}

/// The filters of a descriptor.
#[derive(Default)]
struct Filters {
    /// Tells them from those of a descriptor that had this number before. Copies of that one may be open.
    generation: u32,
    read: Option<usize>,
    write: Option<usize>,
}

/// Queues and their descriptors.
static FILTERS: Mutex<BTreeMap<(c_int, c_int), Filters>> = Mutex::new(BTreeMap::new());
static GENERATION: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn kqueue() -> c_int {
    let queue = libc::epoll_create1(libc::EPOLL_CLOEXEC);
    FILTERS.lock().unwrap().retain(|(other, _), _| *other != queue);
    queue
}

unsafe extern "C" fn kevent(
    queue: c_int,
    changes: *const Kevent,
    n_changes: c_int,
    events: *mut Kevent,
    n_events: c_int,
    timeout: *const libc::timespec,
) -> c_int {
    let changes = if n_changes > 0 { std::slice::from_raw_parts(changes, n_changes as usize) } else { &[] };
    for (i, change) in changes.iter().enumerate() {
        assert!(change.flags & EV_RECEIPT != 0 && n_events >= n_changes);
        let error = apply(queue, change).err().unwrap_or(0);
        *events.add(i) = Kevent { flags: change.flags | EV_ERROR, data: error as isize, ..*change };
    }
    if n_changes > 0 {
        return n_changes;
    }
    // Each descriptor has at most two events.
    let mut ready: Vec<libc::epoll_event> = Vec::with_capacity(n_events as usize / 2);
    let mut set = libc::pollfd { fd: queue, events: libc::POLLIN, revents: 0 };
    if libc::ppoll(&mut set, 1, timeout, std::ptr::null()) < 0 {
        return -1;
    }
    let n = libc::epoll_wait(queue, ready.as_mut_ptr(), n_events / 2, 0);
    ready.set_len(n.max(0) as usize);
    let mut reported = 0;
    let filters = FILTERS.lock().unwrap();
    for event in ready {
        let (mask, fd, generation) = (event.events as c_int, event.u64 as u32 as c_int, (event.u64 >> 32) as u32);
        let Some(known) = filters.get(&(queue, fd)).filter(|known| known.generation == generation) else { continue };
        let hung_up = mask & (libc::EPOLLHUP | libc::EPOLLERR) != 0;
        let readable = mask & (libc::EPOLLIN | libc::EPOLLRDHUP) != 0;
        let of_filters = [
            (EVFILT_READ, known.read, readable || hung_up, mask & libc::EPOLLRDHUP != 0 || hung_up),
            // One filter says that the descriptor has hung up, as libraries do.
            (EVFILT_WRITE, known.write, mask & libc::EPOLLOUT != 0 || hung_up && known.read.is_none(), hung_up),
        ];
        for (filter, udata, ready, ended) in of_filters {
            if let Some(udata) = udata.filter(|_| ready) {
                let flags = EV_CLEAR | if ended { EV_EOF } else { 0 };
                *events.add(reported) = Kevent { ident: fd as usize, filter, flags, fflags: 0, data: 0, udata };
                reported += 1;
            }
        }
    }
    reported as c_int
}

/// Adds or deletes a filter.
unsafe fn apply(queue: c_int, change: &Kevent) -> Result<(), c_int> {
    let fd = change.ident as c_int;
    let mut filters = FILTERS.lock().unwrap();
    let known = filters.entry((queue, fd)).or_default();
    let control = |operation, events: c_int, generation: u32| {
        let data = (generation as u64) << 32 | fd as u64;
        let edges = if change.flags & (EV_CLEAR | EV_DELETE) != 0 { libc::EPOLLET } else { 0 };
        let mut event = libc::epoll_event { events: (events | edges) as u32, u64: data };
        match libc::epoll_ctl(queue, operation, fd, &mut event) {
            0 => Ok(()),
            _ => Err(*libc::__errno_location()),
        }
    };
    // The close of a descriptor has ended its filters.
    if control(libc::EPOLL_CTL_MOD, 0, known.generation).is_err() || known.generation == 0 {
        *known = Filters { generation: GENERATION.fetch_add(1, Ordering::Relaxed) + 1, ..Filters::default() };
    }
    let is_empty = |known: &Filters| known.read.is_none() && known.write.is_none();
    let was_empty = is_empty(known);
    let filter = if change.filter == EVFILT_READ { &mut known.read } else { &mut known.write };
    if change.flags & EV_DELETE != 0 {
        filter.take().ok_or(libc::ENOENT)?;
    } else {
        *filter = Some(change.udata);
    }
    let events = known.read.map_or(0, |_| libc::EPOLLIN | libc::EPOLLRDHUP) | known.write.map_or(0, |_| libc::EPOLLOUT);
    let is_empty = is_empty(known);
    if was_empty && control(libc::EPOLL_CTL_ADD, events, known.generation) == Ok(()) {
        return Ok(());
    }
    control(if is_empty { libc::EPOLL_CTL_DEL } else { libc::EPOLL_CTL_MOD }, events, known.generation)
}
