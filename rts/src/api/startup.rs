//! Start of the runtime: `hs_init` and `hs_main`.
use crate::abi::layout::{RtsOptsAll, SIZEOF_StgTSO};
use crate::abi::rts_flags::RtsConfig;
use crate::abi::Ways;
use crate::abi::{Closure, WORD};
use crate::api::admission::LIFETIME;
use crate::api::exit_code::*;
use crate::api::flags::setup;
use crate::api::lifetime::Start;
use crate::api::package_scheduler;
use crate::api::shutdown::{flush_standard_handles, heap_overflow_exit, perform, shutdownHaskellAndExit};
use crate::api::spread;
use crate::base::active_limit::ACTIVE_HECS;
use crate::base::config::{checks, reports, settings_now, HeapSuggestion};
use crate::base::{fatal, os_thread};
use crate::collector;
use crate::collector::roots::Visitor;
use crate::events::{event_loop, io_manager, seam, selection, shared_watcher, signals, ticker, waits};
use crate::hec::byte_budget::virtual_time;
use crate::hec::priority;
use crate::hec::run_order::{self, RunOrder};
use crate::observe::{blackhole_profile, eventlog};
use crate::sched;
use crate::sched::gc::sync_time;
use crate::sched::{gc, handoff, hec, in_call, task_table};
use crate::sync;
use crate::thread::create::new_io_thread;
use crate::thread::stack::StackSizes;
use crate::{memory, static_closure};
use std::time::Duration;

/// Starts the runtime. Later calls only increment the number of users.
/// # Safety
/// `argc` and `argv` are null, or as `main` got them. One OS thread calls this at a time.
#[no_mangle]
pub unsafe extern "C" fn hs_init_ghc(argc: *mut i32, argv: *mut *mut *mut libc::c_char, config: RtsConfig) {
    match LIFETIME.start() {
        Start::First => {}
        Start::Again => return,
        Start::TooLate => fatal::exit_with(EXIT_FAILURE, "hs_init() cannot be called after hs_exit()"),
    }
    // `base` asks C for the encoding of the locale.
    libc::setlocale(libc::LC_CTYPE, c"".as_ptr());
    let keep_cafs = config.keep_cafs != 0;
    crate::observe::stats::begin_init();
    eventlog::start_clock();
    spread::take_membership();
    setup::setup(argc, argv, config);
    let o = settings_now();
    let threaded = Ways::linked().threaded;
    spread::reserve_range(o.generations);
    memory::generation::init(o.generations);
    if keep_cafs {
        collector::caf::setKeepCAFs();
    }
    let stack = StackSizes {
        initial: o.initial_stack_words,
        chunk: o.stack_chunk_words,
        buffer: o.stack_chunk_buffer_words,
        // As on the stock runtime: a thread whose first stack is smaller than the maximum always gets one full chunk.
        max: match o.max_stack_words {
            max if max + SIZEOF_StgTSO / WORD <= o.initial_stack_words => max,
            max => max.max(o.initial_stack_words + o.stack_chunk_words),
        },
    };
    sched::init(sched::Settings { stack, threaded, ticks: o.tick.is_some() });
    if !o.default_slices || run_order::selected() != RunOrder::Levels {
        priority::disable_bursts();
    }
    if run_order::is_random() && o.hecs == 1 {
        virtual_time::start();
    }
    gc::set_alloc_limit_grace(o.alloc_limit_grace_bytes);
    collector::policy::max_heap::set_grace(o.heap_grace_bytes);
    gc::on_heap_exhausted(heap_overflow_exit);
    if let Some(limit) = o.long_gc_sync {
        sync_time::watch(sync_time::Watch { limit, on_slow: setup::long_gc_sync, on_stopped: setup::long_gc_sync_end });
    }
    collector::policy::heap_limits::init(collector_settings(&o));
    sched::spark::set_limit(o.max_local_sparks);
    eventlog::hooks::heap_initialised(eventlog::HeapShape {
        generations: o.named_generations as u16,
        maximum: o.max_heap_bytes.unwrap_or(0) as u64,
        nursery: collector::policy::heap_limits::settings().nursery_bytes as u64,
        // Address space is allocated by the block as well.
        megablock: memory::BLOCK_BYTES as u64,
        block: memory::BLOCK_BYTES as u64,
    });
    // Without time slices, a HEC that is blocked in a foreign call would go unnoticed.
    if o.tick.is_some() && !checks().oversubscribe {
        ACTIVE_HECS.set_cores(crate::base::cpus::at_start());
    }
    if crate::base::cpus::at_start() > 1 {
        memory::prefault::allow_helper();
    }
    crate::api::set_capabilities::make(o.hecs, None);
    let _ = crate::hec::ON_MESSAGE.set(handoff::deliver);
    register_roots();
    if reports().blackholes {
        blackhole_profile::start();
        collector::roots::register_weak_table(blackhole_profile::moved);
    }
    sync::init();
    sync::thread_ops::init(sync::thread_ops::Settings { stacks: stack, threaded });
    sync::wait_queues::set_scheduler(sync::wait_queues::Scheduler {
        sleep: waits::park,
        leave_sleep: waits::withdraw,
        interrupt_call: sched::safe_call::interrupt_call,
    });
    let base = !takes_over_events(threaded);
    os_thread::note_first_mask();
    signals::init(threaded, base, o.signal_handlers);
    sched::event_poll::init(sched::event_poll::EventManager {
        poll: if threaded { poll_events } else { poll_or_wait },
        poll_for: poll_events_for,
        look: event_loop::look,
        sleep: event_loop::sleep,
        wake: event_loop::wake,
        join_shared_watch: shared_watcher::join,
    });
    crate::prims::hpc::startupHpc();
    ticker::start(ticker::Settings {
        interval: o.tick.unwrap_or_default(),
        switch_ticks: o.context_switch_ticks.max(1),
        idle_delay: o.idle_gc.map(|i| i.after),
        idle_every: o.idle_gc.map_or(Duration::ZERO, |i| i.at_least_every),
        threaded,
    });
    if threaded && !base {
        shared_watcher::make_pollers();
    }
    if threaded && !base && o.tick.is_none() {
        sched::event_poll::always_watch_first();
    }
    if threaded {
        let me = task_table::current();
        handoff::acquire(me);
        if base {
            io_manager::start(me);
        } else {
            io_manager::start_own(me);
        }
        handoff::release(me);
    }
    crate::observe::stats::end_init();
    if !spread::runs_main() {
        perform(static_closure!(hecatonzmrts_Spread_writeLines_closure));
    }
    spread::join_run();
    if !spread::runs_main() {
        flush_standard_handles();
        libc::exit(0)
    }
}

fn collector_settings(o: &crate::base::config::Settings) -> collector::policy::heap_limits::Settings {
    let checks = checks();
    collector::policy::heap_limits::Settings {
        // One block is the smallest nursery.
        nursery_bytes: if checks.every_block { memory::BLOCK_BYTES } else { o.nursery_bytes },
        chunk_bytes: o.nursery_chunk_bytes,
        generations: o.generations,
        suggestion: if checks.every_block { HeapSuggestion::None } else { o.heap_suggestion },
        factor: o.old_gen_factor,
        min_old_bytes: o.min_old_gen_bytes,
        max_heap_bytes: o.max_heap_bytes,
        large_bytes: o.large_alloc_bytes,
        forced_threads: checks.gc_threads,
        check: checks.heap || checks.promote_at_once,
        spaced_checks: !checks.heap,
        vary_nurseries: checks.vary_nursery,
        promote_at_once: checks.promote_at_once,
        fixed_nurseries: run_order::is_random(),
        ..collector::policy::heap_limits::Settings::DEFAULT
    }
}

/// Puts the runtime's event manager in the place of `base`'s. False if `base`'s is to be used, which only the threaded
/// way has.
unsafe fn takes_over_events(threaded: bool) -> bool {
    let refused = match selection::selected() {
        selection::Selection::Base => Some(None),
        _ => seam::take_over(threaded).err().map(Some),
    };
    let Some(why) = refused.filter(|_| threaded) else { return true };
    selection::use_base(why);
    false
}

/// Starts handlers of signals, on behalf of HEC `no`: those are the first one's. Returns true if there were any.
unsafe fn start_signal_handlers(h: &mut crate::hec::Hec, no: usize) -> bool {
    if no != 0 || !sched::event_poll::has_signals() {
        return false;
    }
    // A signal that comes after this sets it again.
    sched::event_poll::set_signals(false);
    signals::start_handlers(h)
}

/// Runs between threads: handles signals, delays and descriptors.
unsafe fn poll_events(h: &mut crate::hec::Hec, idle: bool) -> bool {
    start_signal_handlers(h, h.no as usize) | event_loop::poll(h, idle)
}

/// The same on behalf of another HEC.
unsafe fn poll_events_for(h: &mut crate::hec::Hec, no: usize) {
    start_signal_handlers(h, no);
    event_loop::poll_for(h, no, false);
}

/// The same in the non-threaded way. If `idle`, waits for events; returns false if none can come.
unsafe fn poll_or_wait(h: &mut crate::hec::Hec, idle: bool) -> bool {
    let found = poll_events(h, idle);
    if found || !idle || h.has_runnable() {
        return found;
    }
    if sched::event_poll::has_waits(0) {
        handoff::idle_while(wait_for_events);
        poll_events(hec(), false);
        return true;
    }
    if signals::has_user_handlers() && !collect_finds_work() {
        handoff::idle_while(signals::wait);
        return start_signal_handlers(hec(), 0) || sched::interrupt::is_requested();
    }
    hec().has_runnable()
}

/// Sleeps until there may be events.
fn wait_for_events() {
    let slept = sched::interrupt::sleep_unless_requested(|requested| (!requested).then(|| event_loop::sleep(0)));
    if let Some(sched::event_poll::Slept::NoPoller(time)) = slept {
        signals::sleep(time);
    }
}

/// Runs a full collection before an endless wait for a signal: it may wake deadlocked threads.
unsafe fn collect_finds_work() -> bool {
    gc::collect(task_table::current(), crate::hec::GcRequest::Major, true);
    hec().has_runnable()
}

/// Closures of `base` that the runtime enters itself. They and the CAFs that they reach must stay alive although no
/// program refers to them.
fn visit_base_closures(visit: &mut Visitor) {
    let mut all = [
        static_closure!(base_GHCziTopHandler_runIO_closure),
        static_closure!(base_GHCziTopHandler_runNonIO_closure),
        static_closure!(base_GHCziTopHandler_flushStdHandles_closure),
        static_closure!(base_GHCziWeak_runFinalizzerBatch_closure),
        static_closure!(base_GHCziIOziException_stackOverflow_closure),
        static_closure!(base_GHCziIOziException_heapOverflow_closure),
        static_closure!(base_GHCziIOziException_allocationLimitExceeded_closure),
        static_closure!(base_GHCziIOziException_blockedIndefinitelyOnMVar_closure),
        static_closure!(base_GHCziIOziException_blockedIndefinitelyOnSTM_closure),
        static_closure!(base_GHCziIOziException_cannotCompactFunction_closure),
        static_closure!(base_GHCziIOziException_cannotCompactPinned_closure),
        static_closure!(base_GHCziIOziException_cannotCompactMutable_closure),
        static_closure!(base_GHCziIOPort_doubleReadException_closure),
        static_closure!(base_ControlziExceptionziBase_nonTermination_closure),
        static_closure!(base_ControlziExceptionziBase_nestedAtomically_closure),
        static_closure!(base_GHCziExceptionziType_divZZeroException_closure),
        static_closure!(base_GHCziExceptionziType_underflowException_closure),
        static_closure!(base_GHCziExceptionziType_overflowException_closure),
        static_closure!(base_GHCziConcziSync_runSparks_closure),
        static_closure!(base_GHCziConcziIO_ensureIOManagerIsRunning_closure),
        static_closure!(base_GHCziConcziIO_interruptIOManager_closure),
        static_closure!(base_GHCziConcziIO_ioManagerCapabilitiesChanged_closure),
        static_closure!(base_GHCziConcziSignal_runHandlersPtr_closure),
        static_closure!(base_GHCziPack_unpackCString_closure),
    ];
    for c in &mut all {
        visit(c);
    }
}

unsafe fn register_roots() {
    collector::roots::register(visit_base_closures);
    collector::roots::register(gc::roots);
    collector::roots::register_scoped(event_loop::roots);
    collector::roots::register(seam::roots);
    // SAFETY: roots are visited with the world stopped.
    collector::roots::register(|visit: &mut Visitor| unsafe { crate::prims::stable_ptr::roots(visit) });
    collector::roots::register_weak_table(|alive| crate::prims::stable_name::update(alive));
    collector::roots::register_weak_table(|alive| sched::spark::update(alive));
    collector::roots::register_weak_table(|alive| sched::lenient::update(alive));
    crate::spread::export::init();
    crate::spread::collect::init();
    crate::spread::kept::init();
}

/// # Safety
/// As for [`hs_init_ghc`].
#[no_mangle]
pub unsafe extern "C" fn hs_init(argc: *mut i32, argv: *mut *mut *mut libc::c_char) {
    hs_init_ghc(argc, argv, setup::defaultRtsConfig)
}

/// # Safety
/// As for [`hs_init_ghc`].
#[no_mangle]
pub unsafe extern "C" fn hs_init_with_rtsopts(argc: *mut i32, argv: *mut *mut *mut libc::c_char) {
    hs_init_ghc(argc, argv, RtsConfig { rts_opts_enabled: RtsOptsAll as u32, ..setup::defaultRtsConfig })
}

/// Ignores `_init_root`, as the stock runtime does: modules have no roots to initialise.
/// # Safety
/// As for [`hs_init_ghc`].
#[no_mangle]
pub unsafe extern "C" fn startupHaskell(argc: i32, argv: *mut *mut libc::c_char, _init_root: Option<extern "C" fn()>) {
    let (mut argc, mut argv) = (argc, argv);
    hs_init(&mut argc, &mut argv);
}

/// Runs a Haskell program. This is the body of the C `main` that ghc generates.
/// # Safety
/// As for [`hs_init_ghc`]; `main_closure` is `:Main.main`.
#[no_mangle]
pub unsafe extern "C" fn hs_main(
    argc: i32,
    argv: *mut *mut libc::c_char,
    main_closure: Closure,
    config: RtsConfig,
) -> ! {
    let (mut argc, mut argv) = (argc, argv);
    hs_init_ghc(&mut argc, &mut argv, config);
    let me = task_table::current();
    let under = package_scheduler::main_under_selected(main_closure);
    handoff::acquire(me);
    let main_closure = under.map_or(main_closure, |action| action.take());
    let t = new_io_thread(hec(), main_closure, &sched::settings().stack);
    let (status, _) = in_call::run_to_end(me, t);
    handoff::release(me);
    let code = match status {
        in_call::Status::Success => 0,
        in_call::Status::Killed => {
            fatal::print_message("main thread exited (uncaught exception)");
            EXIT_KILLED
        }
        in_call::Status::Interrupted => {
            fatal::print_message("interrupted");
            EXIT_INTERRUPTED
        }
        in_call::Status::HeapExhausted => EXIT_HEAP_OVERFLOW,
        in_call::Status::NotFinished => EXIT_INTERNAL_ERROR,
    };
    shutdownHaskellAndExit(code, 0)
}
