//! Unit tests of options: texts, exit codes and values that programs and scripts expect.
use crate::abi::layout::*;
use crate::api::flags::defaults::defaults;
use crate::api::flags::*;
use crate::hec::run_order::RunOrder;
use crate::hec::sched_groups;

const GB: u64 = 1 << 30;
const PLAIN: Ways = Ways { threaded: false, debug: false, eventlog: false, dynamic: false };
const THREADED: Ways = Ways { threaded: true, ..PLAIN };
const DEBUG: Ways = Ways { debug: true, eventlog: true, ..PLAIN };
const EVENTLOG: Ways = Ways { eventlog: true, ..PLAIN };

struct Case<'a> {
    ways: Ways,
    policy: Policy,
    built_in: &'a str,
    ghcrts: Option<&'a str>,
    hs_main: bool,
    package: bool,
}

const CASE: Case = Case { ways: PLAIN, policy: Policy::All, built_in: "", ghcrts: None, hs_main: true, package: false };

impl Case<'_> {
    fn run(&self, line: &str) -> Result<Parsed, Exit> {
        let args = argv::words(format!("./p {line}").as_bytes());
        let Case { policy, hs_main, package, .. } = *self;
        let config = Config { policy, rts_opts: self.built_in.as_bytes().to_vec(), hs_main, package };
        let sources = Sources { args: &args, ghcrts: self.ghcrts.map(|s| s.as_bytes().to_vec()) };
        let mut open = |path: &[u8]| (!path.starts_with(b"/none")).then_some(8 as *mut libc::FILE);
        parse(b"p", &sources, &config, self.ways, defaults(self.ways, 20 * GB), &mut open)
    }

    /// The flags that these runtime options result in.
    fn flags(&self, options: &str) -> Flags {
        match self.run(&format!("+RTS {options}")) {
            Ok(parsed) => parsed.flags,
            Err(e) => panic!("{options}: {}", String::from_utf8_lossy(&e.err)),
        }
    }

    /// Exit code, messages, and whether usage follows.
    fn refusal(&self, line: &str) -> (i32, String, bool) {
        let exit = match self.run(line) {
            Ok(_) => panic!("{line} was accepted"),
            Err(exit) => exit,
        };
        let text = String::from_utf8(exit.err).unwrap();
        match text.find("p: \np: Usage:") {
            Some(at) => (exit.code, text[..at].to_owned(), true),
            None => (exit.code, text, false),
        }
    }
}

fn refused(case: &Case, option: &str, message: &str, usage: bool) {
    let expected = (1, format!("p: {message}\n"), usage);
    assert_eq!(case.refusal(&format!("+RTS {option}")), expected, "{option}");
}

#[test]
fn default_flags() {
    let f = CASE.flags("");
    assert_eq!(f.GcFlags.maxStkSize, 2147483648);
    assert_eq!((f.GcFlags.minAllocAreaSize, f.GcFlags.minOldGenSize), (256, 256));
    assert_eq!((f.ConcFlags.ctxtSwitchTicks, f.ProfFlags.heapProfileIntervalTicks), (2, 10));
    assert!(!f.GcFlags.doIdleGC && f.ParFlags.nCapabilities == 0);
    let f = Case { ways: THREADED, ..CASE }.flags("");
    assert!(f.GcFlags.doIdleGC && f.ParFlags.nCapabilities == 1);
    assert_eq!(f.ParFlags.parGcLoadBalancingGen, 1);
}

#[test]
fn events_of_collections_enable_statistics() {
    let given = |ways: Ways, options: &str| Case { ways, ..CASE }.flags(options).GcFlags.giveStats as usize;
    for (options, stats) in [
        ("-l", COLLECT_GC_STATS),
        ("-lg", COLLECT_GC_STATS),
        ("-l-ag", COLLECT_GC_STATS),
        ("-l-g", NO_GC_STATS),
        ("-la-g", NO_GC_STATS),
        ("-l -s", SUMMARY_GC_STATS),
        ("", NO_GC_STATS),
    ] {
        assert_eq!(given(EVENTLOG, options), stats, "{options}");
    }
    for (options, stats) in
        [("-v", COLLECT_GC_STATS), ("-v-g", NO_GC_STATS), ("-Dg", COLLECT_GC_STATS), ("-Ds", NO_GC_STATS)]
    {
        assert_eq!(given(DEBUG, options), stats, "{options}");
    }
}

#[test]
fn memory_options() {
    let gc = |options| CASE.flags(options).GcFlags;
    assert_eq!(gc("-A8k").minAllocAreaSize, 2);
    assert_eq!(gc("-A1.5m").minAllocAreaSize, 384);
    assert_eq!(gc("-A10000w").minAllocAreaSize, 19);
    assert_eq!(gc("-A15m").nurseryChunkSize, 0);
    assert_eq!(gc("-A16m").nurseryChunkSize, 1024);
    assert_eq!(gc("-A16m -n1m").nurseryChunkSize, 256);
    assert_eq!(gc("-AL100m").largeAllocLim, 25600);
    assert_eq!(gc("-O100m").minOldGenSize, 25600);
    assert_eq!(gc("-G2x").generations, 2);
    assert_eq!(gc("-G1.9").generations, 1);
    assert_eq!(gc("-F1.5").oldGenFactor, 1.5);
    assert_eq!(gc("-Fx").oldGenFactor, 0.0);
    assert_eq!(gc("-m3x").pcFreeHeap, 3.0);
    assert_eq!(gc("-c30.5").compactThreshold, 30.5);
    assert!(gc("-c").compact && gc("-w").sweep && gc("-B").ringBell);
    assert!(!gc("-Z").squeezeUpdFrames);
    assert!(gc("-H").heapSizeSuggestionAuto);
    assert_eq!(gc("-M100m -H200m").maxHeapSize, 51200);
    assert_eq!(gc("-M2m -A4m").minAllocAreaSize, 512);
    assert_eq!(gc("-Mgrace=1.5m").heapLimitGrace, 1572864);
    assert_eq!(gc("-xq1m").allocLimitGrace, 256);
    assert!(gc("-xn").useNonmoving && !gc("-xn --copying-gc").useNonmoving);
    assert_eq!(gc("-I1.5").idleGCDelayTime, 1_500_000_000);
    assert!(gc("-I0.3").doIdleGC && !gc("-I0").doIdleGC && !gc("-I").doIdleGC);
    assert_eq!(gc("-Iw0.5").interIdleGCWait, 500_000_000);
    assert_eq!(gc("-xb0x10000").heapBase, 65536);
}

#[test]
fn stack_options() {
    let gc = |options| CASE.flags(options).GcFlags;
    assert_eq!(gc("-K8m").maxStkSize, 1 << 20);
    assert_eq!((gc("-K").maxStkSize, gc("-Kx").maxStkSize, gc("-K1e30").maxStkSize), (0, 0, 0));
    assert_eq!((gc("-k4k").initialStkSize, gc("-ki2m").initialStkSize), (512, 262144));
    assert_eq!(gc("-kc2k").stkChunkSize, 256);
    assert_eq!(gc("-kb8").stkChunkBufferSize, 1);
    let too_big = "stack chunk buffer size (-kb) must be less than 50%\nof the stack chunk size (-kc)";
    refused(&CASE, "-kc1k", too_big, true);
    refused(&CASE, "-kb32k", too_big, true);
}

#[test]
fn times() {
    let f = |options| {
        let f = CASE.flags(options);
        let ticks = (f.ConcFlags.ctxtSwitchTicks, f.ProfFlags.heapProfileIntervalTicks);
        (f.MiscFlags.tickInterval, ticks.0, ticks.1)
    };
    const MS: i64 = 1_000_000;
    assert_eq!(f("-C0"), (10 * MS, 0, 10));
    assert_eq!(f("-C"), (10 * MS, 0, 10));
    assert_eq!(f("-C0.005"), (5 * MS, 1, 20));
    assert_eq!(f("-C1"), (10 * MS, 100, 10));
    assert_eq!(f("-V0.001"), (MS, 20, 100));
    assert_eq!(f("-V1"), (20 * MS, 1, 5));
    assert_eq!(f("-V1 -C0.5"), (100 * MS, 5, 1));
    assert_eq!(f("-V0 -C1"), (0, 0, 0));
    assert_eq!(f("-V-1"), (10 * MS, 2, 10));
    assert_eq!(f("-i"), (10 * MS, 2, 10));
    assert_eq!(f("-i0"), (10 * MS, 2, 0));
    assert_eq!(CASE.flags("-V").GcFlags.idleGCDelayTime, 0);
    for option in ["-C", "-V", "-i"] {
        refused(&CASE, &format!("{option}x"), &format!("bad value for {option}"), true);
        refused(&CASE, &format!("{option}1x"), &format!("bad value for {option}"), true);
    }
}

#[test]
fn statistics() {
    let gc = |options| CASE.flags(options).GcFlags;
    for (options, mode) in [("-T", 1), ("-t", 2), ("-s", 3), ("-S", 4), ("-t -S -T", 1), ("-T -s", 3)] {
        assert_eq!(gc(options).giveStats, mode, "{options}");
        assert!(gc(options).statsFile.is_null());
    }
    assert!(!gc("-sfile").statsFile.is_null());
    assert!(gc("-sfile -t").statsFile.is_null() && gc("-tstderr").statsFile.is_null());
    refused(&CASE, "-S/none/x", "Can't open stats file /none/x\n", true);
    refused(&CASE, "-Tx", "flag -T given an argument when none was expected: -Tx", true);
}

#[test]
fn sizes_out_of_range() {
    let int = "9223372036854775807";
    let word = "18446744073709551615";
    for (options, min, max) in [
        ("-A -A0 -A4k -A-1 -Afoo -A16t -A1e30 -AL -ALx -n -n0 -n4k", "8192", int),
        ("-O -O1k -H0 -Hx -M -M1k -Mgrace -Mgrace= -Mgrace=1k -Mgracex", "4096", word),
        ("-G -G0 -Gx -G-1 -G1e30", "1", int),
        ("-k -k1 -ki -kc -kb -kx -k-1", "8", word),
        ("-K5g -K-1 -Knan", "0", "4294967295"),
        ("-xq -xq1", "4096", int),
    ] {
        for option in options.split(' ') {
            let message = format!("error in RTS option {option}: size outside allowed range ({min} - {max})");
            refused(&CASE, option, &message, false);
        }
    }
}

#[test]
fn schedulers() {
    let package = Case { package: true, ..CASE };
    let named = |line: &str| package.run(line).ok().and_then(|parsed| parsed.scheduler);
    let order = |order| Some(SchedulerName::Order(order));
    assert_eq!(named("+RTS -A2m"), None);
    assert_eq!(named("+RTS --scheduler=fifo"), order(RunOrder::Fifo));
    assert_eq!(named("+RTS --scheduler=fifo --scheduler=random:3"), order(RunOrder::Random { seed: 3 }));
    assert_eq!(named("+RTS --scheduler=Random:3"), Some(SchedulerName::OfPackage(c"Random:3".to_owned())));
    let c_main = Case { hs_main: false, ..package };
    let message = "schedulers of the package hecaton need a main in Haskell: --scheduler=Lifo";
    refused(&c_main, "--scheduler=Lifo", message, true);
}

#[test]
fn scheduler_faults() {
    for (line, is_fatal) in [("+RTS --scheduler-faults=fatal", true), ("+RTS --scheduler-faults=eject", false)] {
        assert!(CASE.run(line).is_ok());
        assert_eq!(sched_groups::is_fatal(), is_fatal);
    }
}

#[test]
fn wrong_options() {
    for option in ["-F-1", "-m", "-m101", "-mx", "-ma", "-m-1"] {
        refused(&CASE, option, &format!("bad RTS option: {option}"), false);
    }
    for option in ["-a", "-f", "-0", "-", "-E", "-QQ", "--foo", "--infox", "--help", "-xr", "-xz"] {
        refused(&CASE, option, &format!("unknown RTS option: {option}"), true);
    }
    for option in
        ["--machine-readablex", "--io-manager=foo", "--numa", "--install-signal-handlers", "--scheduler-faults=x"]
    {
        refused(&CASE, option, &format!("unknown RTS option: {option}"), true);
    }
    for name in ["", "levels", "random", "random:x", "Lifo"] {
        let option = &format!("--scheduler={name}");
        let message = format!("no such scheduler (there are fifo, lifo and random:<seed>): {option}");
        refused(&CASE, option, &message, true);
    }
    for option in ["-wx", "-Zx", "-Bx"] {
        let message = format!("flag {} given an argument when none was expected: {option}", &option[..2]);
        refused(&CASE, option, &message, true);
    }
    refused(&CASE, "foo", "unexpected RTS argument: foo", true);
    refused(&CASE, "-x", "incomplete RTS option: -x", true);
    refused(&CASE, "-xb", "-xb: requires argument", true);
    refused(&CASE, "-oxx", "Unknown output flag -ox\np: Internal error in the RTS options parser", false);
    refused(&CASE, "-o", "Unknown output flag -o\0\np: Internal error in the RTS options parser", false);
    refused(&CASE, "--foo -RTS a +RTS --bar", "unknown RTS option: --foo\np: unknown RTS option: --bar", true);
    let generations = |options| CASE.flags(options).GcFlags.generations;
    assert_eq!([generations("-G13"), generations("-G1000")], [13, 1000]);
    refused(&CASE, "-G1001", "more than 1000 generations: -G1001", true);
    let both = "The non-moving collector cannot be used in conjunction with\nthe compacting collector.";
    refused(&CASE, "-xn -c", both, true);
    refused(&CASE, "-xn -G1", "The non-moving collector doesn't support -G1", false);
}

#[test]
fn options_of_other_ways() {
    let requires = |case: &Case, options: &str, flag: &str| {
        for option in options.split(' ') {
            let message = format!("the flag {option} requires the program to be built with {flag}");
            refused(case, option, &message, true);
        }
    };
    requires(&CASE, "-N -N2 -Nx -maxN2 -q -qg -qn2 -qm -e -e10 -g1", "-threaded");
    requires(&CASE, "-DS -D -DX -v", "-debug");
    requires(&CASE, "-l -lx -ol -olfoo", "-eventlog, -prof or -debug");
    requires(&CASE, "-p -P -pa -po -pj -hc -hd -hx -R -R10 -L10 -xc -xt -help", "-prof");
    requires(&CASE, "-r -rx", "-ticky");
    let threaded = Case { ways: THREADED, ..CASE };
    requires(&threaded, "-DS -v", "-debug");
    refused(&threaded, "-g2", "unknown RTS option: -g2", true);
    assert!(!threaded.flags("-g1").ParFlags.parGcEnabled);
}

#[test]
fn unsupported_options() {
    let unsupported = |ways: Ways, option: &str, feature: &str| {
        let case = Case { ways, ..CASE };
        refused(&case, option, &format!("{option}: {feature} is not supported by Hecaton yet"), false);
    };
    unsupported(DEBUG, "-r", "ticky-ticky profiling");
    unsupported(PLAIN, "-h", "heap profiling");
    unsupported(PLAIN, "-hT", "heap profiling");
}

#[test]
fn classes_of_events() {
    let trace = |options| Case { ways: DEBUG, ..CASE }.flags(options).TraceFlags;
    let chosen = |options| {
        let t = trace(options);
        [t.scheduler, t.gc, t.nonmoving_gc, t.sparks_sampled, t.sparks_full, t.user, t.waits, t.timestamp]
    };
    let named = |letters: &str| ['s', 'g', 'n', 'p', 'f', 'u', 'w', 't'].map(|l| letters.contains(l));
    assert_eq!(trace("").tracing, 0);
    assert_eq!(chosen(""), named(""));
    for (options, letters) in [
        ("-l", "sgpuw"),
        ("-la", "sgpfuw"),
        ("-l-a", ""),
        ("-l-ag", "g"),
        ("-lfnt", "sgpfuwnt"),
        ("-l-s-u", "gpw"),
        ("-l-w", "sgpu"),
        ("-ls-g", "spuw"),
        ("-l-", "sgpuw"),
        // Each option starts from the defaults, except for classes that are off by default.
        ("-l-a -lu", "sgpuw"),
        ("-v-au", "u"),
    ] {
        assert_eq!(chosen(options), named(letters), "{options}");
    }
    for (options, to) in [("-l", 1), ("-v", 2), ("-v -l", 1), ("-l -v", 2), ("-DS -l", 1), ("-l -DS", 2)] {
        assert_eq!(trace(options).tracing, to, "{options}");
    }
    let case = Case { ways: EVENTLOG, ..CASE };
    refused(&case, "-ol", "-ol expects filename", true);
    assert!(trace("-l").trace_output.is_null());
    let file = unsafe { std::ffi::CStr::from_ptr(trace("-olfoo").trace_output) };
    assert_eq!(file.to_bytes(), b"foo");
    let parsed = case.run("+RTS -lxgy").unwrap_or_else(|_| panic!("refused"));
    let message = "p: unknown trace option: x\np: unknown trace option: y\n";
    assert_eq!(String::from_utf8(parsed.err).unwrap(), message);
}

#[test]
fn parallel_options() {
    let case = Case { ways: THREADED, ..CASE };
    let par = |options| case.flags(options).ParFlags;
    assert!(!par("-qg").parGcEnabled && par("-qg0").parGcEnabled);
    assert_eq!(par("-qg5").parGcGen, 5);
    assert!(!par("-qb").parGcLoadBalancingEnabled);
    assert_eq!(par("-qb0").parGcLoadBalancingGen, 0);
    assert_eq!(par("-A32m").parGcLoadBalancingGen, 0);
    assert_eq!(par("-A32m -qb1").parGcLoadBalancingGen, 1);
    assert_eq!((par("-qn2").parGcThreads, par("-qi10").parGcNoSyncWithIdle), (2, 10));
    assert!(par("-qa").setAffinity && !par("-qm").migrate && par("-qw").migrate);
    assert_eq!((par("-e").maxLocalSparks, par("-e10").maxLocalSparks), (4096, 10));
    refused(&case, "-e0", "bad value for -e", true);
    refused(&case, "-q", "incomplete RTS option: -q", true);
    refused(&case, "-q1", "unknown RTS option: -q1", true);
    refused(&case, "-qn0", "-qn must be 1 or greater", true);
}

#[test]
fn numa_nodes() {
    let threaded = Case { ways: THREADED, ..CASE };
    for option in ["--numa", "--numa=3", "--numa=x", "--numa-mask=3", "--numax"] {
        let text = format!(
            "{option}: This GHC build was compiled without NUMA support.\np: Internal error in the RTS options parser"
        );
        refused(&threaded, option, &text, false);
        refused(&CASE, option, &format!("unknown RTS option: {option}"), true);
    }
    refused(&threaded, "--debug-numa=2", "unknown RTS option: --debug-numa=2", true);
    let case = Case { ways: Ways { threaded: true, ..DEBUG }, ..CASE };
    for (option, mask) in [("--debug-numa=1", 1), ("--debug-numa=2x", 3), ("--debug-numa=16", 0xffff)] {
        let gc = case.flags(option).GcFlags;
        assert_eq!((gc.numa, gc.numaMask), (true, mask));
    }
    for option in
        ["--debug-numa", "--debug-numa=", "--debug-numa=0", "--debug-numa=-1", "--debug-numa=x", "--debug-numax"]
    {
        refused(&case, option, &format!("{option}: missing number of nodes"), true);
    }
    refused(&case, "--debug-numa=17", "--debug-numa=17: Too many NUMA nodes (max 16)", true);
}

#[test]
fn numbers_of_hecs() {
    let case = Case { ways: THREADED, ..CASE };
    let here = crate::base::config::processors() as u32;
    for (options, hecs) in [("-N1", 1), ("-N", here), ("-maxN1", 1), ("-maxN999", here), ("-N2 -N1", 1), ("-N2 -N4", 4)]
    {
        let parsed = case.run(&format!("+RTS {options}")).unwrap_or_else(|_| panic!("{options}"));
        assert_eq!(parsed.flags.ParFlags.nCapabilities, hecs);
        assert!(parsed.err.is_empty(), "{options}");
    }
    for option in ["-N0", "-N-1", "-Nx"] {
        refused(&case, option, "bad value for -N", true);
    }
    for option in ["-maxN", "-maxN0", "-maxNx"] {
        refused(&case, option, "bad value for -maxN", true);
    }
}

#[test]
fn debug_options() {
    let case = Case { ways: DEBUG, ..CASE };
    let f = case.flags("-DS");
    assert!(f.DebugFlags.sanity && f.DebugFlags.zero_on_gc && f.TraceFlags.tracing == 2);
    let f = case.flags("-Dsiwgnbtplamzcr");
    assert!(f.DebugFlags.scheduler && f.DebugFlags.sparks && !f.DebugFlags.sanity);
    refused(&case, "-DSx", "bad RTS option: -DSx", false);
}

#[test]
fn warnings() {
    let message = |options: &str| String::from_utf8(CASE.run(options).ok().unwrap().err).unwrap();
    assert_eq!(message("+RTS -G1 -c"), "p: WARNING: compact/sweep is incompatible with -G1; disabled\n");
    let small = "p: maximum heap size (-M) is smaller than minimum alloc area size (-A)\n";
    assert_eq!(message("+RTS -M100k"), small);
    assert_eq!(message("+RTS -M1m"), "");
    let low = "p: Provided heap start address 0x10000 is lower than minimum address 0x200000000\n";
    assert_eq!(message("+RTS -xb0x10000"), low);
    assert_eq!(message("+RTS -xb0x200000000"), "");
}

#[test]
fn information() {
    let exit = CASE.run("+RTS --info --foo").err().unwrap();
    assert_eq!((exit.code, exit.err.len()), (0, 0));
    assert!(exit.out.starts_with(b" [(\"GHC RTS\", \"YES\")\n"));
    assert_eq!(CASE.refusal("+RTS -?"), (1, String::new(), true));
    assert!(CASE.run("--info").is_ok() && CASE.run("-?").is_ok());
}

#[test]
fn only_safe_options() {
    let case = Case { policy: Policy::SafeOnly, ..CASE };
    for option in ["-t", "-s", "-S", "-T", "-xn", "--copying-gc", "--internal-counters", "--long-gc-sync=1"] {
        assert!(case.run(&format!("+RTS {option}")).is_ok(), "{option}");
    }
    let disabled = "Most RTS options are disabled. Link with -rtsopts to enable them.";
    for option in [
        "-A2m",
        "-A1",
        "-G3",
        "-c",
        "-w",
        "-m3",
        "-max",
        "-M1g",
        "-I1",
        "-K1m",
        "-kc1k",
        "-tf",
        "-tstderr",
        "-C1",
        "-V1",
        "-i1",
        "-Z",
        "-B",
        "-xb1",
        "-xp",
        "-xm0",
        "-xq1m",
        "-e",
        "-g1",
        "-q",
        "-qg",
        "-h",
        "-hT",
        "--machine-readable",
        "--io-manager=posix",
        "--scheduler=lifo",
        "--scheduler-faults=fatal",
    ] {
        refused(&case, option, disabled, false);
    }
    refused(&case, "-foo -A2m", &format!("unknown RTS option: -foo\np: {disabled}"), false);
    refused(&case, "--foo", "unknown RTS option: --foo", true);
    refused(&case, "-hc", "the flag -hc requires the program to be built with -prof", true);
    refused(&case, "-N2", "the flag -N2 requires the program to be built with -threaded", true);
    assert_eq!(case.run("+RTS --info").err().unwrap().code, 0);
    let c_main = Case { hs_main: false, ..case };
    let c_disabled = "Most RTS options are disabled. Use hs_init_with_rtsopts() to enable them.";
    refused(&c_main, "-A2m", c_disabled, false);
    let threaded = Case { policy: Policy::SafeOnly, ways: THREADED, ..CASE };
    assert!(threaded.run("+RTS -N1 -maxN2").is_ok());
}

#[test]
fn no_options() {
    let case = Case { policy: Policy::None, ..CASE };
    let none = "RTS options are disabled. Link with -rtsopts to enable them.";
    for option in ["-A2m", "--info", "-?", "foo", "--foo"] {
        refused(&case, option, none, false);
    }
    for line in ["", "+RTS", "+RTS -RTS", "--RTS +RTS", "-- +RTS -A2m", "--info"] {
        assert!(case.run(line).is_ok(), "{line}");
    }
    let parsed = Case { ghcrts: Some("-G3"), ..case }.run("").ok().unwrap();
    assert_eq!(parsed.flags.GcFlags.generations, 2);
    let warning = "p: Warning: Ignoring GHCRTS variable as RTS options are disabled.
         Link with -rtsopts to enable them.\n";
    assert_eq!(String::from_utf8(parsed.err).unwrap(), warning);
}

#[test]
fn ignored_options() {
    for (policy, generations) in [(Policy::Ignore, 3), (Policy::IgnoreAll, 2)] {
        let case = Case { policy, ghcrts: Some(" -G3\t-A2m "), ..CASE };
        let parsed = case.run("a +RTS -G5 --RTS b").ok().unwrap();
        assert_eq!(parsed.prog_args.len(), 6);
        assert_eq!(parsed.flags.GcFlags.generations, generations);
    }
}

#[test]
fn sources_in_order() {
    let case = Case { built_in: "-G3 -A2m -M1g", ghcrts: Some("-G4 -A3m"), ..CASE };
    let parsed = case.run("a +RTS -G5").ok().unwrap();
    let gc = parsed.flags.GcFlags;
    assert_eq!((gc.generations, gc.minAllocAreaSize, gc.maxHeapSize), (5, 768, 262144));
    let rts: Vec<&[u8]> = parsed.rts_args.iter().map(|a| &a[..]).collect();
    assert_eq!(rts, [&b"-G3"[..], b"-A2m", b"-M1g", b"-G4", b"-A3m", b"-G5"]);
    // Built-in options are unrestricted, even where those of the command line are not.
    for policy in [Policy::None, Policy::SafeOnly, Policy::IgnoreAll] {
        let case = Case { policy, built_in: "-G3", ..CASE };
        assert_eq!(case.flags("").GcFlags.generations, 3);
        refused(&Case { built_in: "--foo", ..case }, "-A2m", "unknown RTS option: --foo", true);
    }
    let case = Case { ghcrts: Some("--baz"), ..CASE };
    refused(&case, "--foo", "unknown RTS option: --baz", true);
    let case = Case { ghcrts: Some("-A2m -- x"), ..CASE };
    refused(&case, "", "unknown RTS option: --\np: unexpected RTS argument: x", true);
}
