//! Configuration from C at start and end: flags, arguments, hooks.
use crate::abi::layout::*;
use crate::abi::rts_flags::{flags, set_flags, Flags, RtsConfig};
use crate::abi::{Tso, Ways, WORD};
use crate::api::flags::defaults::{defaults, machine_memory};
use crate::api::flags::parse_result::Messages;
use crate::api::flags::{parse, Config, Exit, Parsed, Policy, SchedulerName, Sources};
use crate::api::{package_scheduler, spread};
use crate::base::{config, program_args};
use crate::hec::run_order::{self, RunOrder};
use crate::observe::eventlog;
use crate::observe::eventlog::FileEventLogWriter;
use crate::observe::stats;
use libc::{c_char, c_int, FILE};
use std::ffi::{CStr, CString, OsStr};
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::ptr;

// A program may define functions with these names; the default ones are in `c/hooks.c`.
extern "C" {
    fn FlagDefaultsHook();
    fn OnExitHook();
    fn StackOverflowHook(stack_bytes: usize);
    fn OutOfHeapHook(request_bytes: usize, heap_bytes: usize);
    fn MallocFailHook(request_bytes: usize, what: *const c_char);
    fn LongGCSync(hec: u32, elapsed: i64);
    fn LongGCSyncEnd(elapsed: i64);
}

/// The initial configuration for C programs.
#[no_mangle]
pub static defaultRtsConfig: RtsConfig = RtsConfig {
    rts_opts_enabled: RtsOptsSafeOnly as u32,
    rts_opts_suggestions: 1,
    rts_opts: ptr::null(),
    rts_hs_main: 0,
    keep_cafs: 0,
    eventlog_writer: &FileEventLogWriter,
    defaultsHook: Some(FlagDefaultsHook),
    onExitHook: Some(OnExitHook),
    stackOverflowHook: Some(StackOverflowHook),
    outOfHeapHook: Some(OutOfHeapHook),
    mallocFailHook: Some(MallocFailHook),
    gcDoneHook: None,
    longGCSync: Some(LongGCSync),
    longGCSyncEnd: Some(LongGCSyncEnd),
};

/// The configuration in force; the default one until `hs_init`.
static mut CONFIG: Option<RtsConfig> = None;

pub fn config() -> RtsConfig {
    // SAFETY: written once, by `setup`, while one thread runs.
    unsafe { (&raw const CONFIG).read() }.unwrap_or(defaultRtsConfig)
}

/// May advice name RTS options, and would they be accepted?
pub struct Advice {
    pub wanted: bool,
    pub accepted: bool,
}

pub fn advice() -> Advice {
    let config = config();
    Advice { wanted: config.rts_opts_suggestions != 0, accepted: Policy::of(config.rts_opts_enabled) == Policy::All }
}

fn read_config(config: &RtsConfig) -> Config {
    let rts_opts = match config.rts_opts.is_null() {
        true => Vec::new(),
        // SAFETY: C's contract for this field.
        false => unsafe { CStr::from_ptr(config.rts_opts) }.to_bytes().to_vec(),
    };
    let hs_main = config.rts_hs_main != 0;
    Config { policy: Policy::of(config.rts_opts_enabled), rts_opts, hs_main, package: package_scheduler::is_linked() }
}

fn open_for_statistics(path: &[u8]) -> Option<*mut FILE> {
    let path = CString::new(path).ok()?;
    // SAFETY: terminated strings.
    let file = unsafe { libc::fopen(path.as_ptr(), c"w".as_ptr()) };
    (!file.is_null()).then_some(file)
}

fn c_strings(args: Vec<Vec<u8>>) -> Vec<CString> {
    args.into_iter().map(|a| CString::new(a).unwrap_or_default()).collect()
}

/// Prints the messages and ends the process. Of several processing elements, PE 0 does so for all.
fn end(exit: Exit) -> ! {
    if !spread::runs_main() {
        spread::end_with_pe_0()
    }
    let _ = std::io::stderr().write_all(&exit.err);
    let _ = std::io::stdout().write_all(&exit.out);
    let _ = std::io::stdout().flush();
    // SAFETY: no other code of the runtime runs yet.
    unsafe { libc::exit(exit.code) }
}

/// What the environment variable `HECATON_SCHEDULER` names, as `--scheduler` does. It is for any program, whatever
/// options that accepts. A wrong name ends the process; `program` precedes the message.
fn scheduler_of_environment(program: &[u8], config: &Config) -> Option<SchedulerName> {
    let name = std::env::var_os("HECATON_SCHEDULER")?;
    match SchedulerName::read(name.as_bytes(), config) {
        Ok(scheduler) => Some(scheduler),
        Err(wrong) => {
            let mut messages = Messages::new(program);
            messages.add(format!("{wrong}: HECATON_SCHEDULER={}", name.to_string_lossy()));
            end(messages.exit(1))
        }
    }
}

/// Parses all options. Ends the process if they demand it. Afterwards `argc` and `argv` (either may be null) are the
/// program's own arguments.
/// # Safety
/// The first step of `hs_init`, called once, while one OS thread runs. `argv` has `argc` strings.
pub unsafe fn setup(argc: *mut c_int, argv: *mut *mut *mut c_char, config: RtsConfig) {
    (&raw mut CONFIG).write(Some(config));
    let ways = Ways::linked();
    set_flags(defaults(ways, machine_memory()));
    if let Some(hook) = config.defaultsHook {
        hook();
    }

    let given = match argc.is_null() || argv.is_null() {
        true => Vec::new(),
        false => program_args::copy_args(*argc, *argv),
    };
    program_args::set_full(&given, &[]);
    let args: Vec<Vec<u8>> = match argc.is_null() {
        true => vec![b"<unknown>".to_vec()],
        false => given.iter().map(|a| a.as_bytes().to_vec()).collect(),
    };
    let sources = Sources { args: &args, ghcrts: std::env::var_os(OsStr::from_bytes(b"GHCRTS")).map(|v| v.into_vec()) };
    let name = args.first().map_or(&[][..], |a| program_args::base_name(a)).to_vec();
    let options = read_config(&config);
    let scheduler = scheduler_of_environment(&name, &options);
    let mut open = |path: &[u8]| open_for_statistics(if spread::runs_main() { path } else { b"/dev/null" });
    match parse(&name, &sources, &options, ways, flags(), &mut open) {
        Err(exit) => end(exit),
        Ok(mut parsed) => {
            if parsed.scheduler.is_none() {
                // Only on one HEC does a seed stand for a schedule.
                if matches!(scheduler, Some(SchedulerName::Order(RunOrder::Random { .. }))) {
                    parsed.flags.ParFlags.nCapabilities = 1;
                }
                parsed.scheduler = scheduler;
            }
            accept(parsed, &given, argc, argv)
        }
    }
    stats::set_gc_done_hook(config.gcDoneHook);
    // Unknown words are reported now, not at the first collection, and not by each processing element.
    if spread::runs_main() {
        config::checks();
        config::reports();
    }
    eventlog::configure(spread::event_log_writer(config.eventlog_writer));
}

unsafe fn accept(parsed: Parsed, given: &[CString], argc: *mut c_int, argv: *mut *mut *mut c_char) {
    let Parsed { mut flags, scheduler, prog_args, rts_args, err } = parsed;
    if spread::runs_main() {
        let _ = std::io::stderr().write_all(&err);
    } else {
        // The files would be those of PE 0, which asks for what this one has counted (`spread/counts.rs`).
        flags.GcFlags.giveStats = flags.GcFlags.giveStats.min(COLLECT_GC_STATS as u32);
        // As text, events would run into those of PE 0. A log goes to PE 0 (`spread/event_log.rs`).
        if flags.TraceFlags.tracing != TRACE_EVENTLOG as i32 {
            flags.TraceFlags.tracing = TRACE_NONE as i32;
        }
    }
    set_flags(flags);
    match scheduler {
        Some(SchedulerName::Order(order)) => run_order::select(order),
        Some(SchedulerName::OfPackage(name)) => package_scheduler::select(name),
        None => {}
    }
    program_args::set_program(&c_strings(prog_args));
    program_args::set_full(given, &c_strings(rts_args));
    if !argc.is_null() && !argv.is_null() {
        *argc = program_args::prog_argc;
        *argv = program_args::prog_argv;
    }
    stats::write_command_line(&flags);
}

/// Runs the program's `onExitHook`.
pub fn on_exit() {
    if let Some(hook) = config().onExitHook {
        // SAFETY: C's contract for this field.
        unsafe { hook() }
    }
}

/// Runs the program's `longGCSync`.
pub fn long_gc_sync(hec: u32, elapsed: i64) {
    if let Some(hook) = config().longGCSync {
        // SAFETY: C's contract for this field.
        unsafe { hook(hec, elapsed) }
    }
}

/// Runs the program's `longGCSyncEnd`.
pub fn long_gc_sync_end(elapsed: i64) {
    if let Some(hook) = config().longGCSyncEnd {
        // SAFETY: C's contract for this field.
        unsafe { hook(elapsed) }
    }
}

/// Runs the program's `mallocFailHook`.
pub fn malloc_failed(bytes: usize, what: &CStr) {
    if let Some(hook) = config().mallocFailHook {
        // SAFETY: C's contract for this field.
        unsafe { hook(bytes, what.as_ptr()) }
    }
}

/// Called by `base` for an uncaught StackOverflow.
/// # Safety
/// `tso` is a thread.
#[no_mangle]
pub unsafe extern "C" fn reportStackOverflow(tso: Tso) {
    if let Some(hook) = config().stackOverflowHook {
        hook(tso.obj().tot_stack_size as usize * WORD);
    }
}

/// Called by `base` for an uncaught HeapOverflow.
/// # Safety
/// C's contract for `outOfHeapHook` holds.
#[no_mangle]
pub unsafe extern "C" fn reportHeapOverflow() {
    if let Some(hook) = config().outOfHeapHook {
        hook(0, maximum_heap(&flags()));
    }
}

fn maximum_heap(flags: &Flags) -> usize {
    (flags.GcFlags.maxHeapSize as usize) << BLOCK_SHIFT
}
