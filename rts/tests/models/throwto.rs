//! Models of exceptions on their way to threads that migrate, block, wake, make foreign calls and finish.
//!
//! *Checked*: each exception reaches its target or finds it finished, and each thrower continues.
//! *Shipped code*: what [`crate::support::throwto_world`] lists.
use crate::atomics::Ordering;
use crate::explore;
use crate::support::throwto_world::*;
use loom::thread;

/// What the holder of a HEC does.
type Act = (usize, fn(&mut Holder));

/// Runs the acts of three OS threads, has the remaining messages read, and verifies the outcome.
fn together(preemptions: usize, start: Start, before: fn(&'static World), acts: [Act; 3], end: fn(&'static World)) {
    explore(preemptions, move || {
        World::with(&start, |w| {
            before(w);
            let [first, others @ ..] = acts;
            let others = others.map(|(no, act)| thread::spawn(move || act(&mut w.hold(no))));
            first.1(&mut w.hold(first.0));
            others.into_iter().for_each(|o| o.join().unwrap());
            w.read_all();
            end(w);
            w.verify();
        });
    });
}

fn nothing(_: &'static World) {}

/// Verifies that every throw is complete and has hit its target.
fn all_done(w: &'static World) {
    for (m, message) in w.messages.iter().enumerate() {
        assert_eq!(count(&w.notes(message.source), Threw(m)), 1, "message {m}");
        assert_eq!(count(&w.notes(message.target), Hit(m)), 1, "message {m}");
    }
}

/// Verifies that the second throw of a chain is complete, and the first unless its thrower was hit before.
fn second_done(w: &'static World) {
    assert_eq!(w.notes(R), [Threw(1)]);
    let notes = w.notes(S);
    assert!(notes == [Hit(1)] || notes == [Threw(0), Hit(1)], "{notes:?}");
}

/// The target finally unmasks exceptions, if it is awake.
fn unmask_target(w: &'static World) {
    for no in 0..HECS {
        w.hold(no).run(T, Holder::unmask);
    }
    w.read_all();
}

/// The first message, thrown from B.
const ONE: Start = Start { messages: &[(S, T)], ..Start::TO_TARGET };
const THROW: Act = (B, |h| h.throw(0));
const THROW_TOO: Act = (C, |h| h.throw(1));

/// A message is under way as the target migrates from A to C, and perhaps from there to another HEC.
fn check_migration(pinned: bool, acts: [Act; 2]) {
    together(3, Start { pinned, ..ONE }, nothing, [THROW, acts[0], acts[1]], all_done);
}

#[test]
fn a_message_follows_a_target_that_migrates() {
    check_migration(
        false,
        [
            (A, |h| h.run(T, |h, t| h.migrate(t, C))),
            (C, |h| {
                h.read_messages();
                h.run(T, |h, t| h.migrate(t, B));
            }),
        ],
    );
}

#[test]
fn a_message_follows_a_target_that_comes_back() {
    check_migration(
        false,
        [
            (A, |h| {
                h.run(T, |h, t| h.migrate(t, C));
                h.read_messages();
            }),
            (C, |h| {
                h.read_messages();
                h.run(T, |h, t| h.migrate(t, A));
            }),
        ],
    );
}

#[test]
fn a_message_follows_a_target_that_is_balanced() {
    check_migration(false, [(A, |h| h.run(T, |h, t| h.balance(t, C))), (C, |h| h.run(T, |h, t| h.balance(t, B)))]);
}

#[test]
fn a_waiting_target_is_hit_or_woken() {
    check_migration(false, [(A, |h| h.run(T, Holder::take)), (C, Holder::put)]);
}

#[test]
fn a_pinned_target_returns_to_its_hec_when_it_is_woken() {
    check_migration(
        true,
        [
            (A, |h| {
                h.run(T, Holder::take);
                h.read_messages();
            }),
            (C, Holder::put),
        ],
    );
}

/// The same with a target that does not receive exceptions yet.
fn not_receiving(mask: Mask, acts: [Act; 2], end: fn(&'static World)) {
    let start = Start { mask: [mask, Open, Open], ..ONE };
    together(3, start, nothing, [THROW, acts[0], acts[1]], end);
}

#[test]
fn an_uninterruptible_target_that_is_woken_finds_the_message() {
    not_receiving(
        Uninterruptible,
        [
            (A, |h| h.run(T, Holder::take)),
            (C, |h| {
                h.put();
                h.run(T, Holder::unmask);
            }),
        ],
        |w| {
            w.hold(C).put();
            unmask_target(w);
            all_done(w);
        },
    );
}

#[test]
fn a_masked_target_receives_as_it_blocks() {
    not_receiving(Interruptible, [(A, |h| h.run(T, Holder::take)), (C, Holder::put)], |w| {
        unmask_target(w);
        all_done(w);
    });
}

#[test]
fn a_masked_target_migrates_with_its_messages() {
    not_receiving(
        Interruptible,
        [
            (A, |h| {
                h.read_messages();
                h.run(T, |h, t| h.migrate(t, C));
            }),
            (C, |h| {
                h.read_messages();
                h.run(T, Holder::unmask);
            }),
        ],
        |w| {
            unmask_target(w);
            all_done(w);
        },
    );
}

/// The target makes a foreign call on A and returns to C, where it looks at its list.
fn in_foreign_call(one_lock: bool, messages: &'static [(usize, usize)], act: Act) {
    explore(3, move || {
        World::with(&Start { one_lock, messages, ..Start::TO_TARGET }, |w| {
            let caller = thread::spawn(move || {
                w.hold(A).run(T, |h, t| h.suspend(t, IN_CALL));
                w.hold(C).resume(T);
            });
            let other = thread::spawn(move || act.1(&mut w.hold(act.0)));
            w.hold(B).throw(0);
            caller.join().unwrap();
            other.join().unwrap();
            w.read_all();
            unmask_target(w);
            all_done(w);
            w.verify();
        });
    });
}

#[test]
fn a_target_returns_from_a_call_as_messages_are_read() {
    in_foreign_call(false, &[(S, T)], (A, Holder::read_messages));
}

#[test]
fn a_target_returns_from_a_call_as_two_throw() {
    in_foreign_call(false, &[(S, T), (R, T)], THROW_TOO);
}

#[test]
fn a_call_that_is_interrupted_finds_the_message() {
    explore(3, || {
        World::with(&ONE, |w| {
            w.hold(A).run(T, |h, t| h.suspend(t, IN_INTERRUPTIBLE_CALL));
            let caller = thread::spawn(move || {
                let interrupted = w.interrupted.load(Ordering::Relaxed) != 0;
                if interrupted {
                    w.hold(A).resume(T);
                }
                interrupted
            });
            w.hold(B).throw(0);
            if !caller.join().unwrap() {
                assert_eq!(w.interrupted.load(Ordering::Relaxed), 1);
                w.hold(A).resume(T);
            }
            all_done(w);
            w.verify();
        });
    });
}

#[test]
fn two_throw_to_one_that_unmasks() {
    let start = Start { mask: [Interruptible, Open, Open], ..Start::TO_TARGET };
    let target: Act = (A, |h| {
        h.run(T, Holder::unmask);
        h.read_messages();
    });
    together(3, start, nothing, [THROW, THROW_TOO, target], |w| {
        unmask_target(w);
        all_done(w);
    });
}

/// Two throw to a target that finishes. It is hit or not, and they continue.
fn finishes(mask: Mask) {
    let start = Start { mask: [mask, Open, Open], ..Start::TO_TARGET };
    let target: Act = (A, |h| {
        h.read_messages();
        h.run(T, Holder::finish);
    });
    together(3, start, nothing, [THROW, THROW_TOO, target], |w| {
        assert_eq!((w.notes(S), w.notes(R)), (vec![Threw(0)], vec![Threw(1)]));
    });
}

#[test]
fn two_throw_to_one_that_finishes() {
    finishes(Open);
}

#[test]
fn two_throw_to_one_that_finishes_masked() {
    finishes(Interruptible);
}

#[test]
fn two_throw_at_each_other() {
    let start = Start { messages: &[(S, R), (R, S)], ..Start::TO_TARGET };
    together(3, start, nothing, [THROW, THROW_TOO, (A, Holder::read_messages)], |w| {
        let hits = count(&w.notes(R), Hit(0)) + count(&w.notes(S), Hit(1));
        assert_eq!(hits, 1, "a thread that was hit throws no more");
    });
}

#[test]
fn three_throw_in_a_circle() {
    let start = Start { messages: &[(S, T), (R, S), (T, R)], ..Start::TO_TARGET };
    together(3, start, nothing, [THROW, THROW_TOO, (A, |h| h.throw(2))], |w| {
        assert!((0..THREADS).any(|t| !w.notes(t).is_empty()), "a thread is hit");
    });
}

/// The thrower of the first message is thrown to while that message is under way to a moving target.
fn interrupted(one_lock: bool, target: Act) {
    together(3, Start { one_lock, ..Start::CHAIN }, nothing, [THROW, THROW_TOO, target], second_done);
}

#[test]
fn a_thrower_is_interrupted_as_its_message_follows_the_target() {
    interrupted(
        false,
        (A, |h| {
            h.run(T, |h, t| h.migrate(t, C));
            h.read_messages();
        }),
    );
}

#[test]
fn a_thrower_that_shares_its_lock_with_its_target_is_interrupted() {
    interrupted(true, (A, |h| h.run(T, Holder::take)));
}

/// The same by a thrower on its own HEC. The target does not receive exceptions.
#[test]
fn a_thrower_is_interrupted_on_its_hec_as_its_message_is_read() {
    let start = Start { at: [A, B, B], mask: [Interruptible, Open, Open], ..Start::CHAIN };
    let throws: Act = (B, |h| {
        h.throw(0);
        h.throw(1);
    });
    together(3, start, nothing, [throws, (A, Holder::read_messages), (C, Holder::read_messages)], |w| {
        unmask_target(w);
        second_done(w);
    });
}

/// The thrower of a message that is in the target's list already is thrown to.
fn withdrawn(target: Act) {
    let start = Start { mask: [Interruptible, Open, Open], ..Start::CHAIN };
    let before = |w: &'static World| {
        w.hold(B).throw(0);
        w.hold(A).read_messages();
    };
    together(3, start, before, [THROW_TOO, target, (B, Holder::read_messages)], |w| {
        unmask_target(w);
        second_done(w);
    });
}

#[test]
fn a_message_is_withdrawn_as_the_target_unmasks() {
    withdrawn((A, |h| h.run(T, Holder::unmask)));
}

#[test]
fn a_message_is_withdrawn_as_the_target_blocks() {
    withdrawn((A, |h| h.run(T, Holder::take)));
}

#[test]
fn a_message_is_withdrawn_as_the_target_finishes() {
    withdrawn((A, |h| h.run(T, Holder::finish)));
}

#[test]
fn a_message_is_withdrawn_as_the_target_migrates() {
    withdrawn((A, |h| h.run(T, |h, t| h.migrate(t, B))));
}
