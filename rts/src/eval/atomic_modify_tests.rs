//! Tests of modifications under way, on hand-made stacks.
use crate::abi::closure::fields::*;
use crate::abi::tso::TSO_MODIFIES;
use crate::abi::{Closure, Info, Tso};
use crate::collector::Request;
use crate::eval::atomic_modify::defer_all;
use crate::eval::raise::hec_raise;
use crate::eval::raise_async::raise_async;
use crate::eval::tests::stack;
use crate::info;
use crate::testing::symbols as t;
use crate::testing::world::World;

struct Under {
    w: World,
    variable: Closure,
    found: Closure,
    function: Closure,
    t: Tso,
}

/// Makes a thread that runs with these words above a modification's frame and a frame {ret_p, 24} below it.
fn under_way(frame: Info, above: &[usize]) -> Under {
    let mut w = World::new(2);
    let (found, function) = (w.int(1000), w.int(2000));
    let variable = w.object(info!(stg_MUT_VAR_DIRTY_info), &[found.0]);
    let operation = [frame.0, 0, variable.0, found.0, function.0, t::ret_p().0, 24];
    let t = w.thread_with(&[above, &operation].concat());
    w.run(t);
    unsafe { t.obj().flags |= TSO_MODIFIES };
    Under { w, variable, found, function, t }
}

fn component() -> Info {
    info!(hec_modifying_component_info)
}

/// What the thread continues with after the operation: the value found, and the thunk.
unsafe fn result_of(t: Tso) -> (Closure, Closure) {
    let s = stack(t);
    assert_eq!((s[0], s[2]), (info!(stg_ret_p_info).0, info!(hec_has_modified_info).0));
    assert_eq!(s[5..7], [t::ret_p().0, 24]);
    (Closure(s[3]), Closure(s[1]))
}

/// The thunk of which the variable's value is the first component.
unsafe fn selected_thunk(variable: Closure) -> Closure {
    let value = variable.field(MUT_VAR);
    assert_eq!(value.info(), info!(stg_sel_0_upd_info));
    value.field(SELECTOR_SELECTEE)
}

#[test]
fn stopping_leaves_a_thunk_that_resumes_the_work() {
    for (frame, is_component) in [(component(), true), (info!(hec_modifying_whole_info), false)] {
        let u = under_way(frame, &[t::ret_p().0, 8]);
        unsafe {
            assert!(defer_all(u.w.hec, u.t));
            let (found, thunk) = result_of(u.t);
            assert_eq!(found, u.found);
            let published = if is_component { selected_thunk(u.variable) } else { u.variable.field(MUT_VAR) };
            assert_eq!(published, thunk);
            assert_eq!(thunk.info(), info!(stg_IND_info));
            let ap = thunk.field(INDIRECTEE);
            assert_eq!((ap.info(), ap.word(AP_STACK_SIZE)), (info!(stg_AP_STACK_info), 2));
            assert_eq!([ap.word(AP_STACK_PAYLOAD), ap.word(AP_STACK_PAYLOAD + 1)], [t::ret_p().0, 8]);
            assert!(!defer_all(u.w.hec, u.t));
            assert_eq!(u.t.obj().flags & TSO_MODIFIES, 0);
        }
    }
}

#[test]
fn a_changed_variable_is_modified_lazily() {
    let mut u = under_way(component(), &[t::ret_p().0, 8]);
    let other = u.w.int(3000);
    unsafe {
        u.variable.set_word(MUT_VAR, other.0);
        assert!(defer_all(u.w.hec, u.t));
        let (found, thunk) = result_of(u.t);
        assert_eq!((found, selected_thunk(u.variable)), (other, thunk));
        assert_eq!(thunk.info(), info!(hec_modify_info));
        assert_eq!([thunk.word(THUNK_PAYLOAD), thunk.word(THUNK_PAYLOAD + 1)], [u.function.0, other.0]);
    }
}

#[test]
fn thunks_above_are_not_lost() {
    let mut u = under_way(component(), &[t::ret_p().0, 8, info!(stg_upd_frame_info).0, 0, t::ret_p().0, 16]);
    let x = u.w.thunk();
    unsafe {
        *(u.t.obj().stackobj.obj().sp as *mut usize).add(3) = x.0;
        let other = u.w.int(3000);
        u.variable.set_word(MUT_VAR, other.0);
        assert!(defer_all(u.w.hec, u.t));
        assert_eq!(x.info(), info!(stg_IND_info));
        assert_eq!(x.field(INDIRECTEE).word(AP_STACK_PAYLOAD + 1), 8);
    }
}

#[test]
fn outer_modifications_are_deferred_too() {
    let mut u = under_way(component(), &[]);
    let found = u.w.int(1);
    let inner = u.w.object(info!(stg_MUT_VAR_DIRTY_info), &[found.0]);
    let words = [t::ret_p().0, 8, info!(hec_modifying_whole_info).0, 0, inner.0, found.0, found.0];
    unsafe {
        let outer = stack(u.t);
        let sp = u.t.obj().stackobj.obj().sp - 8 * words.len();
        std::ptr::copy_nonoverlapping(words.as_ptr(), sp as *mut usize, words.len());
        u.t.obj().stackobj.obj().sp = sp;
        assert_eq!(stack(u.t)[words.len()..], outer);
        assert!(defer_all(u.w.hec, u.t));
        let (_, thunk) = result_of(u.t);
        assert_eq!(selected_thunk(u.variable), thunk);
        assert_eq!(inner.field(MUT_VAR).info(), info!(stg_IND_info));
    }
}

#[test]
fn a_modification_below_a_handler_is_left() {
    let u = under_way(component(), &[t::ret_p().0, 8, t::catch().0, 0, 0]);
    unsafe {
        let before = stack(u.t);
        assert!(!defer_all(u.w.hec, u.t));
        assert_eq!((stack(u.t), u.variable.field(MUT_VAR)), (before, u.found));
        assert_ne!(u.t.obj().flags & TSO_MODIFIES, 0);
    }
}

#[test]
fn a_function_that_raises_makes_a_thunk_that_does() {
    let mut u = under_way(component(), &[t::ret_p().0, 8]);
    let e = u.w.int(7000);
    unsafe {
        assert_eq!(hec_raise(u.w.hec, e), 0);
        let (found, thunk) = result_of(u.t);
        assert_eq!((found, selected_thunk(u.variable)), (u.found, thunk));
        assert_eq!((thunk.info(), thunk.word(THUNK_PAYLOAD)), (info!(stg_raise_info), e.0));
    }
}

#[test]
fn a_function_that_raises_may_not_for_another_value() {
    let mut u = under_way(component(), &[]);
    let (e, other) = (u.w.int(7000), u.w.int(3000));
    unsafe {
        u.variable.set_word(MUT_VAR, other.0);
        assert_eq!(hec_raise(u.w.hec, e), 0);
        assert_eq!(result_of(u.t).0, other);
        assert_eq!(selected_thunk(u.variable).info(), info!(hec_modify_info));
    }
}

#[test]
fn an_old_variable_is_remembered() {
    let mut u = under_way(component(), &[t::ret_p().0, 8]);
    unsafe {
        // Collections scan what is in the other frames, too.
        let sp = u.t.obj().stackobj.obj().sp as *mut usize;
        (*sp.add(1), *sp.add(8)) = (u.found.0, u.found.0);
        u.w.roots = vec![u.variable];
        u.w.collect(Request::MAJOR);
        u.w.collect(Request::MAJOR);
        let variable = u.w.roots[0];
        assert_eq!(variable.info(), info!(stg_MUT_VAR_CLEAN_info));
        let t = u.w.hec.current();
        assert!(defer_all(u.w.hec, t));
        assert!(u.w.hec.remembered.by_generation[1].contains(&variable));
    }
}

#[test]
fn frozen_modifications_count_as_nested() {
    let mut w = World::new(2);
    let x = w.thunk();
    let (found, function) = (w.int(1000), w.int(2000));
    let variable = w.object(info!(stg_MUT_VAR_DIRTY_info), &[found.0]);
    let operation = [component().0, 3, variable.0, found.0, function.0];
    let t = w.thread_with(
        &[
            &[t::ret_p().0, 8, t::ret_9().0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            &operation[..],
            &[info!(stg_upd_frame_info).0, x.0],
        ]
        .concat(),
    );
    unsafe {
        t.obj().flags |= TSO_MODIFIES;
        raise_async(w.hec, t, None);
        let ap = x.field(INDIRECTEE);
        let words: Vec<_> = (0..ap.word(AP_STACK_SIZE)).map(|i| ap.word(AP_STACK_PAYLOAD + i)).collect();
        let at = words.iter().position(|&word| word == component().0).unwrap();
        assert_eq!(words[at + 1], 1 << 32 | 3);
    }
}
