//! One case each.
use super::*;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;

#[test]
fn errors_are_those_of_the_system() {
    for_each_kind(|kind, p| {
        let (a, b) = socketpair();
        assert_eq!(errno(p.add(a.0, 1, Interest::READ)), 0);
        let again = if kind == Kind::Kqueue { 0 } else { libc::EEXIST };
        assert_eq!(errno(p.add(a.0, 1, Interest::READ)), again);
        assert_eq!(errno(p.verify(b.0, 2, Interest::READ)), libc::ENOENT);
        let never = 1_000_000;
        assert_eq!(errno(p.add(never, 3, Interest::READ)), libc::EBADF);
        assert_eq!(errno(p.verify(never, 3, Interest::READ)), libc::EBADF);
        p.remove(never);
        p.remove(b.0);
        p.remove(a.0);
        assert_eq!(errno(p.verify(a.0, 1, Interest::READ)), libc::ENOENT);
    });
}

/// The caller takes EPERM for "always ready".
#[test]
fn files_are_ready_or_refused() {
    for_each_kind(|_, p| {
        for path in [c"/dev/null", c"/proc/self/exe"] {
            let file = Fd(unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) });
            match errno(p.add(file.0, 1, Interest::READ)) {
                0 => expect(&p, 1, Interest::READ),
                e => assert_eq!(e, libc::EPERM),
            }
            p.remove(file.0);
        }
    });
}

#[test]
fn what_is_left_unread_is_reported_when_verified() {
    for_each_kind(|_, p| {
        let (a, b) = socketpair();
        p.add(a.0, 1, Interest::READ).unwrap();
        write(b.0, 10);
        expect(&p, 1, Interest::READ);
        assert_eq!(read(a.0, 5), 5);
        drain(&p);
        p.verify(a.0, 2, Interest::READ).unwrap();
        expect(&p, 2, Interest::READ);
        drain(&p);
        p.verify(a.0, 3, Interest::READ).unwrap();
        expect(&p, 3, Interest::READ);
    });
}

#[test]
fn a_hang_up_is_reported_in_both_directions() {
    for_each_kind(|_, p| {
        for (a, b) in [pipe(), socketpair()] {
            let (a, b) = if ready_now(a.0).is_none() { (a, b) } else { (b, a) };
            p.add(a.0, 1, Interest::READ).unwrap();
            drain(&p);
            p.verify(a.0, 2, Interest::READ).unwrap();
            drop(b);
            expect(&p, 2, Interest::READ);
            p.verify(a.0, 3, Interest::WRITE).unwrap();
            expect(&p, 3, Interest::WRITE);
            p.remove(a.0);
        }
        // The reader of a full pipe goes away.
        let (a, b) = pipe();
        write(b.0, 1 << 20);
        p.add(b.0, 4, Interest::WRITE).unwrap();
        drain(&p);
        p.verify(b.0, 5, Interest::WRITE).unwrap();
        drop(a);
        expect(&p, 5, Interest::WRITE);
        p.remove(b.0);
    });
}

#[test]
fn a_number_that_is_given_out_again_is_registered_anew() {
    for_each_kind(|_, p| {
        let (a, _b) = socketpair();
        p.add(a.0, 1, Interest::READ).unwrap();
        drain(&p);
        let (c, d) = socketpair();
        // The number is closed and used again in one step, without the poller.
        assert_eq!(unsafe { libc::dup3(c.0, a.0, libc::O_CLOEXEC) }, a.0);
        match errno(p.verify(a.0, 2, Interest::READ)) {
            0 => {}
            libc::ENOENT => p.add(a.0, 2, Interest::READ).unwrap(),
            e => panic!("errno {e}"),
        }
        write(d.0, 1);
        expect(&p, 2, Interest::READ);
        p.remove(a.0);
    });
}

#[test]
fn more_descriptors_than_one_wait_reports() {
    for_each_kind(|_, p| {
        let pairs: Vec<_> = (0..MAX_READY / 2 + 20).map(|_| socketpair()).collect();
        let ends: Vec<_> = pairs.iter().flat_map(|(a, b)| [a.0, b.0]).collect();
        let mut ready = Vec::new();
        for round in 0..3 {
            for (i, fd) in ends.iter().enumerate() {
                let ask = if round == 0 { Poller::add } else { Poller::verify };
                ask(&p, *fd, i as u64, Interest::WRITE).unwrap();
            }
            let mut seen = vec![false; ends.len()];
            let start = Instant::now();
            while seen.contains(&false) {
                assert!(start.elapsed() < Duration::from_secs(10));
                wait(&p, &mut ready, Some(Duration::from_millis(10)));
                assert!(ready.len() <= MAX_READY);
                ready.iter().for_each(|r| seen[r.data as usize] = true);
            }
        }
        drain(&p);
    });
}

#[test]
fn a_timeout_ends_a_wait_and_not_before_its_time() {
    for_each_kind(|_, p| {
        let mut ready = Vec::new();
        for micros in [0, 1, 50, 999, 1500, 12_345] {
            let timeout = Duration::from_micros(micros);
            let start = Instant::now();
            assert_eq!(wait(&p, &mut ready, Some(timeout)), Waited::TimedOut);
            assert!(start.elapsed() >= timeout);
        }
        // A timeout that is too long for the system's clock.
        p.wake();
        assert_eq!(wait(&p, &mut ready, Some(Duration::MAX)), Waited::Woken);
    });
}

#[test]
fn a_wake_up_ends_this_wait_or_the_next() {
    for_each_kind(|_, p| {
        let mut ready = Vec::new();
        for _ in 0..100 {
            p.wake();
            p.wake();
            assert_eq!(wait(&p, &mut ready, None), Waited::Woken);
            assert_eq!(wait(&p, &mut ready, ZERO), Waited::TimedOut);
        }
        thread::scope(|s| {
            s.spawn(|| {
                thread::sleep(Duration::from_millis(20));
                p.wake();
            });
            assert_eq!(wait(&p, &mut ready, None), Waited::Woken);
        });
        // A wait that does not block leaves the wake-up to one that does.
        p.wake();
        for _ in 0..3 {
            assert_eq!(wait(&p, &mut ready, ZERO), Waited::TimedOut);
        }
        assert_eq!(wait(&p, &mut ready, Some(Duration::from_secs(10))), Waited::Woken);
        // An event and a wake-up at once.
        let (a, _b) = socketpair();
        p.add(a.0, 1, Interest::WRITE).unwrap();
        p.wake();
        assert_eq!(wait(&p, &mut ready, None), Waited::Woken);
        if ready.is_empty() {
            expect(&p, 1, Interest::WRITE);
        }
    });
}

#[test]
fn what_is_published_before_a_wake_up_is_seen() {
    const WAKERS: usize = 3;
    const EACH: usize = 3000;
    for_each_kind(|_, p| {
        let published = AtomicUsize::new(0);
        thread::scope(|s| {
            for _ in 0..WAKERS {
                s.spawn(|| {
                    for _ in 0..EACH {
                        published.fetch_add(1, Ordering::Relaxed);
                        p.wake();
                    }
                });
            }
            let mut ready = Vec::new();
            // A lost wake-up would let this wait for ever.
            while published.load(Ordering::Relaxed) < WAKERS * EACH {
                let waited = wait(&p, &mut ready, Some(Duration::from_secs(10)));
                assert_eq!(waited, Waited::Woken);
            }
        });
        drain(&p);
    });
}

/// Registrations, removals and closes while another OS thread waits.
#[test]
fn a_sleeping_waiter_sees_changes() {
    for_each_kind(|_, p| {
        let (seen, see) = std::sync::mpsc::channel();
        let (a, b) = socketpair();
        thread::scope(|s| {
            let p = &p;
            s.spawn(move || {
                let mut ready = Vec::new();
                while wait(p, &mut ready, Some(Duration::from_secs(20))) == Waited::Ready {
                    ready.iter().for_each(|r| seen.send(r.data).unwrap());
                }
            });
            let next = |data| {
                let end = Instant::now() + Duration::from_secs(10);
                while see.recv_timeout(end - Instant::now()).expect("no event") != data {}
            };
            thread::sleep(Duration::from_millis(5));
            p.add(a.0, 1, Interest::BOTH).unwrap();
            next(1);
            for data in 2..200 {
                p.verify(a.0, data, Interest::BOTH).unwrap();
                next(data);
            }
            // With nothing ready, the waiter sleeps on the descriptor. Its peer sees the end when it is closed.
            write(a.0, 1 << 20);
            while read(b.0, 1 << 20) > 0 {}
            p.verify(a.0, 500, Interest::READ).unwrap();
            thread::sleep(Duration::from_millis(5));
            p.remove(a.0);
            drop(a);
            let mut polled = libc::pollfd { fd: b.0, events: libc::POLLIN, revents: 0 };
            assert_eq!(unsafe { libc::poll(&mut polled, 1, 10_000) }, 1, "the peer does not see the close");
            p.wake();
        });
    });
}

/// io_uring cancels requests when the OS thread that has submitted them exits.
#[test]
fn registrations_outlive_the_os_thread_that_made_them() {
    for_each_kind(|_, p| {
        let (a, b) = socketpair();
        write(a.0, 1 << 20);
        thread::scope(|s| {
            s.spawn(|| {
                p.add(a.0, 1, Interest::READ).unwrap();
                drain(&p);
            });
        });
        write(b.0, 1);
        expect(&p, 1, Interest::READ);
        read(a.0, 1);
        drain(&p);
        // Also if the waiter sleeps all the time.
        let verifier = || p.verify(a.0, 2, Interest::READ).unwrap();
        thread::scope(|s| {
            s.spawn(|| {
                thread::sleep(Duration::from_millis(5));
                thread::scope(|s| s.spawn(verifier).join().unwrap());
                thread::sleep(Duration::from_millis(5));
                write(b.0, 1);
            });
            let mut ready = Vec::new();
            assert_eq!(wait(&p, &mut ready, Some(Duration::from_secs(10))), Waited::Ready);
            assert_eq!((ready[0].data, ready[0].events.intersects(Interest::READ)), (2, true));
        });
    });
}

#[test]
fn wake_ups_outlive_the_os_thread_that_waited() {
    for_each_kind(|_, p| {
        thread::scope(|s| s.spawn(|| drain(&p)).join().unwrap());
        p.wake();
        assert_eq!(wait(&p, &mut Vec::new(), Some(Duration::from_secs(10))), Waited::Woken);
        thread::scope(|s| {
            s.spawn(|| {
                thread::sleep(Duration::from_millis(5));
                p.wake();
            });
            assert_eq!(wait(&p, &mut Vec::new(), Some(Duration::from_secs(10))), Waited::Woken);
        });
    });
}

/// The poller that the handler of the signal wakes.
static WOKEN_BY_SIGNAL: AtomicPtr<Poller> = AtomicPtr::new(std::ptr::null_mut());

extern "C" fn on_signal(_: c_int) {
    if let Some(p) = unsafe { WOKEN_BY_SIGNAL.load(Ordering::Relaxed).as_ref() } {
        p.wake();
    }
}

#[test]
fn a_signal_interrupts_a_wait() {
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        assert_eq!(libc::sigaction(libc::SIGWINCH, &action, std::ptr::null_mut()), 0);
    }
    for_each_kind(|_, p| {
        for timeout in [None, Some(Duration::from_secs(30))] {
            for wakes in [false, true] {
                let waker = if wakes { &p as *const Poller as *mut Poller } else { std::ptr::null_mut() };
                WOKEN_BY_SIGNAL.store(waker, Ordering::Relaxed);
                let ended = Arc::new(AtomicUsize::new(0));
                let waiter = unsafe { libc::pthread_self() } as usize;
                let seen = ended.clone();
                let sender = thread::spawn(move || {
                    while seen.load(Ordering::Relaxed) == 0 {
                        unsafe { libc::pthread_kill(waiter as libc::pthread_t, libc::SIGWINCH) };
                        thread::sleep(Duration::from_millis(5));
                    }
                });
                let mut ready = Vec::new();
                let waited = if wakes { wait(&p, &mut ready, timeout) } else { p.wait(&mut ready, timeout).unwrap() };
                ended.store(1, Ordering::Relaxed);
                sender.join().unwrap();
                assert_eq!(waited, if wakes { Waited::Woken } else { Waited::Interrupted });
                WOKEN_BY_SIGNAL.store(std::ptr::null_mut(), Ordering::Relaxed);
            }
        }
    });
}

#[test]
fn a_set_can_be_watched_in_another() {
    let outer = Poller::new(Kind::Epoll).unwrap();
    for_each_kind(|_, p| {
        let Some(set) = p.descriptor() else { return };
        outer.add(set, 7, Interest::READ).unwrap();
        drain(&outer);
        let (a, b) = socketpair();
        write(a.0, 1 << 20);
        p.add(a.0, 1, Interest::READ).unwrap();
        drain(&p);
        drain(&outer);
        write(b.0, 1);
        expect(&outer, 7, Interest::READ);
        expect(&p, 1, Interest::READ);
        drain(&p);
        p.wake();
        expect(&outer, 7, Interest::READ);
        assert_eq!(p.wait(&mut Vec::new(), None).unwrap(), Waited::Woken);
        outer.remove(set);
    });
}

#[test]
fn descriptors_are_closed_on_exec() {
    for_each_kind(|_, p| {
        let descriptors = std::fs::read_dir("/proc/self/fd").unwrap();
        for fd in descriptors.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<c_int>().ok()) {
            let file = std::fs::read_link(format!("/proc/self/fd/{fd}")).unwrap_or_default();
            if file.to_string_lossy().contains("anon_inode:") {
                let flags = unsafe { libc::fcntl(fd, libc::F_GETFD) };
                assert!(flags < 0 || flags & libc::FD_CLOEXEC != 0, "{fd} is {file:?}");
            }
        }
        drop(p);
    });
}

/// A forked child drops its parent's poller and makes one of its own.
#[test]
fn a_child_leaves_the_set_of_its_parent_alone() {
    for_each_kind(|kind, p| {
        let (a, b) = socketpair();
        write(a.0, 1 << 20);
        p.add(a.0, 1, Interest::READ).unwrap();
        drain(&p);
        let mut status = 0;
        unsafe {
            let mut p = std::mem::ManuallyDrop::new(p);
            let child = libc::fork();
            if child == 0 {
                libc::alarm(20);
                std::mem::ManuallyDrop::take(&mut p).close_after_fork();
                let own = make(kind).unwrap();
                let registered = own.add(a.0, 2, Interest::READ).is_ok();
                own.wake();
                let woken = own.wait(&mut Vec::new(), None).is_ok_and(|waited| waited == Waited::Woken);
                libc::_exit((registered && woken) as c_int);
            }
            assert_eq!(libc::waitpid(child, &mut status, 0), child);
            assert_eq!(libc::WEXITSTATUS(status), 1);
            write(b.0, 1);
            let p = std::mem::ManuallyDrop::take(&mut p);
            expect(&p, 1, Interest::READ);
        }
    });
}

/// Runs a test on an OS thread to which the kernel denies a system call.
fn without_system_call(number: libc::c_long, errno: c_int, test: impl FnOnce() + Send) {
    let instruction = |code: u32, jf, k| libc::sock_filter { code: code as u16, jt: 0, jf, k };
    let mut filter = [
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, number as u32),
        instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ERRNO | errno as u32),
        instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let denied = move || {
        let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
        unsafe {
            assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
            assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program), 0);
        }
        test();
    };
    thread::scope(|s| s.spawn(denied).join().unwrap());
}

/// What is used if no back end is asked for.
fn auto() -> io::Result<Poller> {
    Poller::first_of(Kind::ALL.into_iter(), |_, _| {})
}

#[test]
fn what_is_denied_is_said_and_done_without() {
    let ring = || available(Kind::IoUring).unwrap_err();
    without_system_call(libc::SYS_io_uring_setup, libc::EPERM, || {
        assert_eq!(ring(), "denied by a seccomp filter or the sysctl kernel.io_uring_disabled");
    });
    without_system_call(libc::SYS_io_uring_setup, libc::ENOSYS, || {
        assert_eq!(ring(), "not in this kernel, or denied by a seccomp filter");
    });
    without_system_call(libc::SYS_epoll_create1, libc::EPERM, || assert!(matches!(auto(), Ok(Poller::Poll(_)))));
    assert!(matches!(auto(), Ok(Poller::Epoll(_))));
    // A pipe takes the place of an eventfd.
    without_system_call(libc::SYS_eventfd2, libc::ENOSYS, || {
        for_each_kind(|_, p| {
            p.wake();
            assert_eq!(wait(&p, &mut Vec::new(), None), Waited::Woken);
            assert_eq!(wait(&p, &mut Vec::new(), ZERO), Waited::TimedOut);
        });
    });
    without_system_call(libc::SYS_epoll_pwait2, libc::ENOSYS, || {
        let p = Poller::new(Kind::Epoll).unwrap();
        for micros in [1, 70, 1100] {
            let (start, timeout) = (Instant::now(), Duration::from_micros(micros));
            assert_eq!(wait(&p, &mut Vec::new(), Some(timeout)), Waited::TimedOut);
            assert!(start.elapsed() >= timeout);
        }
        let (a, _b) = socketpair();
        p.add(a.0, 1, Interest::WRITE).unwrap();
        assert_eq!(wait(&p, &mut Vec::new(), Some(Duration::from_secs(10))), Waited::Ready);
    });
}

#[test]
fn names_are_those_of_the_option() {
    for kind in Kind::ALL {
        assert_eq!(Kind::from_name(kind.name()), Some(kind));
    }
    assert_eq!(Kind::from_name("select"), None);
}
