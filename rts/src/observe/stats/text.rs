//! The output of `-t -s -S`. Scripts rely on its fields, widths and order.
use crate::abi::rts_flags::flags;
use crate::abi::rts_stats::{GcDetails, RtsStats};
use crate::abi::Ways;
use crate::base::clock::{seconds, TimePair};
use crate::base::config::{settings_now, stats_mode_now, StatsMode, MAX_GENERATIONS};
use crate::base::program_args;
use crate::observe::stats::derived::{average_live, share, Phases};
use crate::observe::stats::machine_readable;
use crate::observe::stats::totals::{FinalData, OfGeneration, Stats, NO_GENERATION};
use std::fmt::Write as _;
use std::io::Write as _;

/// Writes to the statistics file.
pub fn emit(text: &str) {
    emit_bytes(text.as_bytes());
}

pub fn emit_bytes(text: &[u8]) {
    let file = flags().GcFlags.statsFile;
    if file.is_null() {
        // There is no way left to report an error.
        let _ = std::io::stderr().write_all(text);
    } else {
        // SAFETY: an open file of C.
        unsafe { libc::fwrite(text.as_ptr().cast(), 1, text.len(), file) };
    }
}

fn close() {
    let mut flags = flags();
    if !flags.GcFlags.statsFile.is_null() {
        // SAFETY: an open file of C, which is forgotten here. The program is at its end.
        unsafe {
            libc::fclose(flags.GcFlags.statsFile);
            flags.GcFlags.statsFile = std::ptr::null_mut();
            flags.GcFlags.giveStats = 0;
            crate::abi::rts_flags::set_flags(flags);
        }
    }
}

/// The command line, quoted for a shell.
pub fn command_line() -> Vec<u8> {
    let quote = |arg: &std::ffi::CString| {
        let inner: Vec<u8> =
            arg.as_bytes().iter().flat_map(|&b| if b == b'\'' { b"'\\''".to_vec() } else { vec![b] }).collect();
        [&b"'"[..], &inner, b"' "].concat()
    };
    let program: Vec<u8> = program_args::args().iter().flat_map(quote).collect();
    let runtime: Vec<u8> = program_args::rts_args().iter().flat_map(quote).collect();
    [&program[..], b"+RTS ", &runtime, b"\n"].concat()
}

/// The number with its digits in groups of three.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub const VERBOSE_HEAD: &str = "    \
    Alloc    Copied     Live     GC     GC      TOT      TOT  Page Flts
    bytes     bytes     bytes   user   elap     user     elap
";

/// The line of one collection for `-S`.
pub fn verbose_line(gc: &GcDetails, time: TimePair, total: TimePair, during: i64, between: i64) -> String {
    let (allocated, copied, live) = (gc.allocated_bytes, gc.copied_bytes, gc.live_bytes);
    format!(
        "{allocated:9} {copied:9} {live:9} {:6.3} {:6.3} {:8.3} {:8.3} {during:4} {between:4}  (Gen: {:2})\n",
        seconds(time.cpu),
        seconds(time.elapsed),
        seconds(total.cpu),
        seconds(total.elapsed),
        gc.gen,
    )
}

pub(in crate::observe) fn final_report(s: &Stats, end: &FinalData, others: &str) {
    let phases = Phases::of(s);
    let generations = &by_name(&s.of, settings_now().named_generations);
    let flags = flags();
    let ways = Ways::linked();
    let mode = stats_mode_now();
    if mode == StatsMode::Verbose {
        emit(&format!("{:9} {:9} {:9} {:6.3} {:6.3}\n\n", end.allocated, "", "", 0.0, 0.0));
    }
    match mode {
        StatsMode::Off | StatsMode::Collect => {}
        StatsMode::OneLine if flags.MiscFlags.machineReadable => {
            emit(&machine_readable::pairs(&s.totals, generations, &phases, end, ways))
        }
        StatsMode::OneLine => emit(&one_line(&s.totals, &phases)),
        StatsMode::Summary | StatsMode::Verbose => {
            let counters = flags.MiscFlags.internalCounters;
            emit(&summary(&s.totals, generations, &phases, end, ways));
            if crate::observe::gc_phases::is_enabled() {
                let all: Vec<_> = generations.iter().map(|g| g.phases).collect();
                emit(&crate::observe::gc_phases::table(&all));
            }
            if counters {
                emit(&machine_readable::internal_counters(generations.len(), ways));
            }
            emit(others);
        }
    }
    close();
}

/// One entry for each of `named` generations. Generations that the oldest one represents have none.
fn by_name(of: &[OfGeneration; MAX_GENERATIONS], named: usize) -> Vec<OfGeneration> {
    let mut all = vec![NO_GENERATION; named];
    let younger = named.min(MAX_GENERATIONS) - 1;
    all[..younger].copy_from_slice(&of[..younger]);
    all[named - 1] = of[younger];
    all
}

fn one_line(t: &RtsStats, p: &Phases) -> String {
    format!(
        "<<ghc: {} bytes, {} GCs, {}/{} avg/max bytes residency ({} samples), {}M in use, \
         {:.3} INIT ({:.3} elapsed), {:.3} MUT ({:.3} elapsed), {:.3} GC ({:.3} elapsed) :ghc>>\n",
        t.allocated_bytes,
        t.gcs,
        average_live(t),
        t.max_live_bytes,
        t.major_gcs,
        t.max_mem_in_use_bytes >> 20,
        seconds(p.init.cpu),
        seconds(p.init.elapsed),
        seconds(p.mutator.cpu),
        seconds(p.mutator.elapsed),
        seconds(p.gc.cpu),
        seconds(p.gc.elapsed),
    )
}

fn summary(t: &RtsStats, generations: &[OfGeneration], p: &Phases, end: &FinalData, ways: Ways) -> String {
    let mut text = String::new();
    summary_into(&mut text, t, generations, p, end, ways).expect("writing to a string");
    text
}

fn summary_into(
    w: &mut String,
    t: &RtsStats,
    generations: &[OfGeneration],
    p: &Phases,
    end: &FinalData,
    ways: Ways,
) -> std::fmt::Result {
    writeln!(w, "{:>16} bytes allocated in the heap", grouped(t.allocated_bytes))?;
    writeln!(w, "{:>16} bytes copied during GC", grouped(t.copied_bytes))?;
    let samples = t.major_gcs;
    let live = grouped(t.max_live_bytes);
    writeln!(w, "{live:>16} bytes maximum residency ({samples} sample(s))")?;
    writeln!(w, "{:>16} bytes maximum slop", grouped(t.max_slop_bytes))?;
    let used = t.max_mem_in_use_bytes >> 20;
    let lost = end.fragmentation >> 20;
    writeln!(w, "{used:>16} MiB total memory in use ({lost} MB lost due to fragmentation)\n")?;

    writeln!(w, "{:36} Tot time (elapsed)  Avg pause  Max pause", "")?;
    for (i, g) in generations.iter().enumerate() {
        let average = share(seconds(g.time.elapsed), g.collections as f64);
        writeln!(
            w,
            "  Gen {i:2}     {:5} colls, {:5} par   {:6.3}s  {:6.3}s     {average:3.4}s    {:3.4}s",
            g.collections,
            g.par_collections,
            seconds(g.time.cpu),
            seconds(g.time.elapsed),
            seconds(g.max_pause),
        )?;
    }
    writeln!(w)?;

    if generations.iter().any(|g| g.par_collections > 0) {
        let percent = 100.0 * p.balance;
        writeln!(w, "  Parallel GC work balance: {percent:.2}% (serial 0%, perfect 100%)\n")?;
    }
    if ways.threaded {
        let (tasks, sparks) = (end.tasks, end.sparks);
        writeln!(
            w,
            "  TASKS: {} ({} bound, {} peak workers ({} total), using -N{})\n",
            tasks.total, tasks.bound, tasks.peak_workers, tasks.workers, end.hecs,
        )?;
        writeln!(
            w,
            "  SPARKS: {} ({} converted, {} overflowed, {} dud, {} GC'd, {} fizzled)\n",
            sparks.created(),
            sparks.converted,
            sparks.overflowed,
            sparks.dud,
            sparks.collected,
            sparks.fizzled,
        )?;
        let lenient = end.lenient;
        if lenient.created() > 0 {
            writeln!(
                w,
                "  LENIENT: {} ({} converted, {} overflowed, {} frozen, {} dropped, {} fizzled)\n",
                lenient.kept + lenient.overflowed,
                lenient.converted,
                lenient.overflowed,
                lenient.dud,
                lenient.collected,
                lenient.fizzled,
            )?;
        }
    }
    let events = end.events;
    if events.is_used() {
        writeln!(
            w,
            "  EVENTS: {} waits ({} verified), {} timers, {} wake-ups ({} by descriptors, {} by timers)\n",
            events.waits,
            events.verified,
            events.timers,
            events.woken(),
            events.woken_by_descriptors,
            events.woken_by_timers,
        )?;
        let (sleeps, woken) = (events.sleeps, events.interrupted_sleeps);
        writeln!(w, "  POLLS: {} ({sleeps} blocked, {woken} of them woken by other tasks)\n", events.polls)?;
    }
    if end.upcalls.any() {
        writeln!(w, "  UPCALLS: {}\n", end.upcalls)?;
        if let Some(ns) = end.activations {
            writeln!(w, "  ACTIVATIONS: {:.3}s in switches and upcalls\n", seconds(ns as i64))?;
        }
    }
    for (name, time) in
        [("INIT ", p.init), ("MUT  ", p.mutator), ("GC   ", p.gc), ("EXIT ", p.exit), ("Total", p.total)]
    {
        let (cpu, elapsed) = (seconds(time.cpu), seconds(time.elapsed));
        writeln!(w, "  {name}   time  {cpu:7.3}s  ({elapsed:7.3}s elapsed)")?;
    }
    writeln!(w)?;
    if !ways.threaded {
        let cpu = 100.0 * share(p.gc.cpu as f64, p.total.cpu as f64);
        let elapsed = 100.0 * share(p.gc.elapsed as f64, p.total.elapsed as f64);
        writeln!(w, "  %GC     time     {cpu:5.1}%  ({elapsed:.1}% elapsed)\n")?;
    }
    writeln!(w, "  Alloc rate    {} bytes per MUT second\n", grouped(p.alloc_rate))?;
    let (cpu, elapsed) = (100.0 * p.productivity.0, 100.0 * p.productivity.1);
    writeln!(w, "  Productivity {cpu:5.1}% of total user, {elapsed:.1}% of total elapsed\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::stats::EventCounts;

    #[test]
    fn groups() {
        for (n, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567")] {
            assert_eq!(grouped(n), text);
        }
    }

    fn example() -> (RtsStats, [OfGeneration; 2], Phases, FinalData) {
        let ms = |cpu: i64, elapsed: i64| TimePair { cpu: cpu * 1_000_000, elapsed: elapsed * 1_000_000 };
        let totals = RtsStats {
            gcs: 126,
            major_gcs: 9,
            allocated_bytes: 130683752,
            copied_bytes: 140109168,
            max_live_bytes: 17894312,
            cumulative_live_bytes: 53835240,
            max_slop_bytes: 95320,
            max_mem_in_use_bytes: 45088768,
            ..RtsStats::default()
        };
        let of = |collections, time, max_pause: i64| OfGeneration {
            collections,
            par_collections: 0,
            time,
            max_pause: max_pause * 100_000,
            phases: Default::default(),
        };
        let generations = [of(117, ms(60, 60), 10), of(9, ms(69, 69), 224)];
        let phases = Phases {
            init: ms(0, 0),
            mutator: ms(69, 70),
            gc: ms(128, 128),
            exit: ms(0, 0),
            total: ms(198, 198),
            alloc_rate: 1881465193,
            productivity: (0.351, 0.351),
            balance: 0.0,
        };
        let tasks = crate::observe::stats::Tasks { total: 4, bound: 1, workers: 3, peak_workers: 3 };
        (totals, generations, phases, FinalData { tasks, hecs: 1, ..FinalData::default() })
    }

    #[test]
    fn summary_of_the_unthreaded_way() {
        let (totals, generations, phases, end) = example();
        let expected = "     130,683,752 bytes allocated in the heap
     140,109,168 bytes copied during GC
      17,894,312 bytes maximum residency (9 sample(s))
          95,320 bytes maximum slop
              43 MiB total memory in use (0 MB lost due to fragmentation)

                                     Tot time (elapsed)  Avg pause  Max pause
  Gen  0       117 colls,     0 par    0.060s   0.060s     0.0005s    0.0010s
  Gen  1         9 colls,     0 par    0.069s   0.069s     0.0077s    0.0224s

  INIT    time    0.000s  (  0.000s elapsed)
  MUT     time    0.069s  (  0.070s elapsed)
  GC      time    0.128s  (  0.128s elapsed)
  EXIT    time    0.000s  (  0.000s elapsed)
  Total   time    0.198s  (  0.198s elapsed)

  %GC     time      64.6%  (64.6% elapsed)

  Alloc rate    1,881,465,193 bytes per MUT second

  Productivity  35.1% of total user, 35.1% of total elapsed

";
        assert_eq!(summary(&totals, &generations, &phases, &end, Ways::default()), expected);
    }

    #[test]
    fn summary_of_the_threaded_way() {
        let (totals, generations, phases, end) = example();
        let ways = Ways { threaded: true, ..Ways::default() };
        let text = summary(&totals, &generations, &phases, &end, ways);
        let expected = "
  TASKS: 4 (1 bound, 3 peak workers (3 total), using -N1)

  SPARKS: 0 (0 converted, 0 overflowed, 0 dud, 0 GC'd, 0 fizzled)

  INIT    time ";
        assert!(text.contains(expected), "{text}");
        assert!(!text.contains("%GC"));
    }

    #[test]
    fn summary_of_events() {
        let (totals, generations, phases, end) = example();
        let events = EventCounts {
            waits: 10,
            verified: 2,
            timers: 5,
            woken_by_descriptors: 9,
            woken_by_timers: 4,
            polls: 30,
            sleeps: 6,
            interrupted_sleeps: 1,
        };
        let text = summary(&totals, &generations, &phases, &FinalData { events, ..end }, Ways::default());
        let expected = "
  EVENTS: 10 waits (2 verified), 5 timers, 13 wake-ups (9 by descriptors, 4 by timers)

  POLLS: 30 (6 blocked, 1 of them woken by other tasks)

  INIT    time ";
        assert!(text.contains(expected), "{text}");
        // Polls alone are not worth a line.
        let events = EventCounts { polls: 7, ..EventCounts::default() };
        let text = summary(&totals, &generations, &phases, &FinalData { events, ..end }, Ways::default());
        assert!(!text.contains("POLLS"), "{text}");
    }

    #[test]
    fn lines() {
        let (totals, _, phases, _) = example();
        assert_eq!(
            one_line(&totals, &phases),
            "<<ghc: 130683752 bytes, 126 GCs, 5981693/17894312 avg/max bytes residency \
             (9 samples), 43M in use, 0.000 INIT (0.000 elapsed), 0.069 MUT (0.070 elapsed), \
             0.128 GC (0.128 elapsed) :ghc>>\n"
        );
        let gc = GcDetails {
            gen: 1,
            allocated_bytes: 1040552,
            copied_bytes: 538112,
            live_bytes: 595512,
            ..GcDetails::default()
        };
        let us = |n: i64| TimePair { cpu: n * 1000, elapsed: n * 1000 };
        assert_eq!(
            verbose_line(&gc, us(600), us(3000), 0, 0),
            "  1040552    538112    595512  0.001  0.001    0.003    0.003    0    0  (Gen:  1)\n"
        );
        assert_eq!(
            VERBOSE_HEAD.lines().next().unwrap(),
            "    Alloc    Copied     Live     GC     GC      TOT      TOT  Page Flts"
        );
    }
}
