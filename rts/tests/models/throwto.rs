//! Exceptions on their way to threads that go from HEC to HEC, block, wake, make foreign calls and finish.
use crate::atomics::Ordering;
use crate::explore;
use crate::throwto_world::*;
use loom::thread;

/// What the holder of a HEC does.
type Act = (usize, fn(&mut Holder));

/// Runs what three OS threads do, has the letters read that are left, and looks at what has become of it all.
fn together(preemptions: usize, start: Start, before: fn(&'static World), acts: [Act; 3], end: fn(&'static World)) {
    explore(preemptions, move || {
        World::with(&start, |w| {
            before(w);
            let [first, others @ ..] = acts;
            let others = others.map(|(no, does)| thread::spawn(move || does(&mut w.hold(no))));
            first.1(&mut w.hold(first.0));
            others.into_iter().for_each(|o| o.join().unwrap());
            w.read_all();
            end(w);
            w.verify();
        });
    });
}

fn nothing(_: &'static World) {}

/// Every throw is done: it has hit.
fn all_done(w: &'static World) {
    for (m, message) in w.messages.iter().enumerate() {
        assert_eq!(count(&w.notes(message.source), Threw(m)), 1, "message {m}");
        assert_eq!(count(&w.notes(message.target), Hit(m)), 1, "message {m}");
    }
}

/// Of a chain, the second throw is done, and the first unless its thrower was hit before.
fn second_done(w: &'static World) {
    assert_eq!(w.notes(R), [Threw(1)]);
    let notes = w.notes(S);
    assert!(notes == [Hit(1)] || notes == [Threw(0), Hit(1)], "{notes:?}");
}

/// The target listens at last, if it is awake and does not yet.
fn wakes_up(w: &'static World) {
    for no in 0..HECS {
        w.hold(no).run(T, Holder::unmask);
    }
    w.read_all();
}

/// The first message, thrown from B.
const ONE: Start = Start { messages: &[(S, T)], ..Start::TO_TARGET };
const THROW: Act = (B, |h| h.throw(0));
const THROW_TOO: Act = (C, |h| h.throw(1));

/// A letter is under way as the target goes from A to C, and perhaps from there to somewhere else.
fn given(tied: bool, acts: [Act; 2]) {
    together(3, Start { tied, ..ONE }, nothing, [THROW, acts[0], acts[1]], all_done);
}

#[test]
fn a_message_follows_a_target_that_migrates() {
    given(
        false,
        [
            (A, |h| h.run(T, |h, t| h.give(t, C))),
            (C, |h| {
                h.attend();
                h.run(T, |h, t| h.give(t, B));
            }),
        ],
    );
}

#[test]
fn a_message_follows_a_target_that_comes_back() {
    given(
        false,
        [
            (A, |h| {
                h.run(T, |h, t| h.give(t, C));
                h.attend();
            }),
            (C, |h| {
                h.attend();
                h.run(T, |h, t| h.give(t, A));
            }),
        ],
    );
}

#[test]
fn a_message_follows_a_target_that_is_balanced() {
    given(false, [(A, |h| h.run(T, |h, t| h.share(t, C))), (C, |h| h.run(T, |h, t| h.share(t, B)))]);
}

#[test]
fn a_waiting_target_is_hit_or_woken() {
    given(false, [(A, |h| h.run(T, Holder::take)), (C, Holder::put)]);
}

#[test]
fn a_pinned_target_returns_to_its_hec_when_it_is_woken() {
    given(
        true,
        [
            (A, |h| {
                h.run(T, Holder::take);
                h.attend();
            }),
            (C, Holder::put),
        ],
    );
}

/// As above, of a target that does not listen yet.
fn deaf(mask: Mask, acts: [Act; 2], end: fn(&'static World)) {
    let start = Start { mask: [mask, Open, Open], ..ONE };
    together(3, start, nothing, [THROW, acts[0], acts[1]], end);
}

#[test]
fn an_uninterruptible_target_that_is_woken_finds_the_message() {
    deaf(
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
            wakes_up(w);
            all_done(w);
        },
    );
}

#[test]
fn a_masked_target_receives_as_it_blocks() {
    deaf(Interruptible, [(A, |h| h.run(T, Holder::take)), (C, Holder::put)], |w| {
        wakes_up(w);
        all_done(w);
    });
}

#[test]
fn a_masked_target_migrates_with_its_messages() {
    deaf(
        Interruptible,
        [
            (A, |h| {
                h.attend();
                h.run(T, |h, t| h.give(t, C));
            }),
            (C, |h| {
                h.attend();
                h.run(T, Holder::unmask);
            }),
        ],
        |w| {
            wakes_up(w);
            all_done(w);
        },
    );
}

/// The target makes a foreign call on A, and comes back to C, where it looks at its list.
fn called(one_lock: bool, messages: &'static [(usize, usize)], act: Act) {
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
            wakes_up(w);
            all_done(w);
            w.verify();
        });
    });
}

#[test]
fn a_target_returns_from_a_call_as_messages_are_read() {
    called(false, &[(S, T)], (A, Holder::attend));
}

#[test]
fn a_target_returns_from_a_call_as_two_throw() {
    called(false, &[(S, T), (R, T)], THROW_TOO);
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
        h.attend();
    });
    together(3, start, nothing, [THROW, THROW_TOO, target], |w| {
        wakes_up(w);
        all_done(w);
    });
}

/// Two throw to a target that finishes: it is hit or not, and they go on.
fn finishes(mask: Mask) {
    let start = Start { mask: [mask, Open, Open], ..Start::TO_TARGET };
    let target: Act = (A, |h| {
        h.attend();
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
    together(3, start, nothing, [THROW, THROW_TOO, (A, Holder::attend)], |w| {
        let hits = count(&w.notes(R), Hit(0)) + count(&w.notes(S), Hit(1));
        assert_eq!(hits, 1, "who is hit throws no more");
    });
}

#[test]
fn three_throw_in_a_circle() {
    let start = Start { messages: &[(S, T), (R, S), (T, R)], ..Start::TO_TARGET };
    together(3, start, nothing, [THROW, THROW_TOO, (A, |h| h.throw(2))], |w| {
        assert!((0..THREADS).any(|t| !w.notes(t).is_empty()), "somebody is hit");
    });
}

/// The thrower of the first message is thrown to while that is under way to a target that moves.
fn interrupted(one_lock: bool, target: Act) {
    together(3, Start { one_lock, ..Start::CHAIN }, nothing, [THROW, THROW_TOO, target], second_done);
}

#[test]
fn a_thrower_is_interrupted_as_its_message_follows_the_target() {
    interrupted(
        false,
        (A, |h| {
            h.run(T, |h, t| h.give(t, C));
            h.attend();
        }),
    );
}

#[test]
fn a_thrower_that_shares_its_lock_with_its_target_is_interrupted() {
    interrupted(true, (A, |h| h.run(T, Holder::take)));
}

/// As above, by one on its own HEC; the target does not listen.
#[test]
fn a_thrower_is_interrupted_on_its_hec_as_its_message_is_read() {
    let start = Start { at: [A, B, B], mask: [Interruptible, Open, Open], ..Start::CHAIN };
    let throws: Act = (B, |h| {
        h.throw(0);
        h.throw(1);
    });
    together(3, start, nothing, [throws, (A, Holder::attend), (C, Holder::attend)], |w| {
        wakes_up(w);
        second_done(w);
    });
}

/// A thrower is thrown to whose message is in the target's list already.
fn withdrawn(target: Act) {
    let start = Start { mask: [Interruptible, Open, Open], ..Start::CHAIN };
    let before = |w: &'static World| {
        w.hold(B).throw(0);
        w.hold(A).attend();
    };
    together(3, start, before, [THROW_TOO, target, (B, Holder::attend)], |w| {
        wakes_up(w);
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
    withdrawn((A, |h| h.run(T, |h, t| h.give(t, B))));
}
