//! Options that depend on the way of linking: parallelism, event log, profiling, debugging.
use crate::abi::layout::*;
use crate::api::flags::parser::{Read, Reader};
use crate::api::flags::values;
use crate::base::config::processors;
use crate::hec::MAX_HECS;

/// The link options that give a program an event log.
const FOR_EVENTS: &str = "-eventlog, -prof or -debug";

impl Reader<'_> {
    pub(super) fn option_of_a_way(&mut self, letter: u8, arg: &[u8], value: &[u8]) -> Read {
        match letter {
            b'N' => self.capabilities(arg, value),
            b'q' => return self.parallel_option(arg, value),
            b'e' => return self.sparks_option(arg, value),
            b'g' => {
                self.privileged()?;
                match (self.ways.threaded, value.first()) {
                    (false, _) => self.requires(arg, "-threaded"),
                    // An old option for one GC thread.
                    (true, Some(b'1')) => self.flags.ParFlags.parGcEnabled = false,
                    (true, _) => self.unknown(arg),
                }
            }
            b'l' if self.ways.eventlog => self.trace(TRACE_EVENTLOG, value),
            b'l' => self.requires(arg, FOR_EVENTS),
            b'o' => return self.output_option(arg, value),
            b'v' if self.ways.debug => self.trace(TRACE_STDERR, value),
            b'v' => self.requires(arg, "-debug"),
            b'P' | b'p' | b'R' | b'L' => self.requires(arg, "-prof"),
            b'h' if matches!(value.first(), None | Some(b'T')) => {
                self.privileged()?;
                return Err(self.unsupported(arg, "heap profiling"));
            }
            b'h' => self.requires(arg, "-prof"),
            b'r' if self.ways.debug => return Err(self.unsupported(arg, "ticky-ticky profiling")),
            b'r' => self.requires(arg, "-ticky"),
            b'D' if self.ways.debug => return self.debug_option(arg, value),
            b'D' => self.requires(arg, "-debug"),
            _ => self.unknown(arg),
        }
        Ok(())
    }

    /// `-N<n>`. `-N` alone means as many as there are processors.
    fn capabilities(&mut self, arg: &[u8], value: &[u8]) {
        if !self.ways.threaded {
            return self.requires(arg, "-threaded");
        }
        let wanted = if value.is_empty() { processors() as i64 } else { values::integer(value) };
        if !(1..=MAX_HECS as i64).contains(&wanted) {
            return self.bad_value("-N");
        }
        self.flags.ParFlags.nCapabilities = wanted as u32;
    }

    /// `-maxN<n>`: as many as there are processors, but at most `n`.
    pub(super) fn capabilities_up_to(&mut self, arg: &[u8]) -> Read {
        if !self.ways.threaded {
            self.requires(arg, "-threaded");
            return Ok(());
        }
        match values::integer(&arg[5..]) {
            n if n <= 0 => self.bad_value("-maxN"),
            n => {
                let max = n.min(MAX_HECS as i64) as usize;
                self.flags.ParFlags.nCapabilities = processors().min(max) as u32;
            }
        }
        Ok(())
    }

    fn sparks_option(&mut self, arg: &[u8], value: &[u8]) -> Read {
        self.privileged()?;
        if !self.ways.threaded {
            self.requires(arg, "-threaded");
        } else if !value.is_empty() {
            match values::integer(value) {
                n if n > 0 => self.flags.ParFlags.maxLocalSparks = n as u32,
                _ => self.bad_value("-e"),
            }
        }
        Ok(())
    }

    fn parallel_option(&mut self, arg: &[u8], value: &[u8]) -> Read {
        self.privileged()?;
        if !self.ways.threaded {
            self.requires(arg, "-threaded");
            return Ok(());
        }
        let number = value.get(1..).unwrap_or(&[]);
        let par = &mut self.flags.ParFlags;
        match value.first() {
            None => self.incomplete(arg),
            Some(b'g') if number.is_empty() => par.parGcEnabled = false,
            Some(b'g') => par.parGcGen = values::integer(number) as u32,
            Some(b'b') if number.is_empty() => par.parGcLoadBalancingEnabled = false,
            Some(b'b') => {
                par.parGcLoadBalancingGen = values::integer(number) as u32;
                self.balance_given = true;
            }
            Some(b'n') => match values::integer(number) {
                n if n > 0 => par.parGcThreads = n as u32,
                _ => self.wrong_option("-qn must be 1 or greater", &[]),
            },
            Some(b'i') => par.parGcNoSyncWithIdle = values::integer(number) as u32,
            Some(b'a') => par.setAffinity = true,
            Some(b'm') => par.migrate = false,
            // An old option ("do not wake threads on other HECs"), still accepted.
            Some(b'w') => {}
            Some(_) => self.unknown(arg),
        }
        Ok(())
    }

    /// `-l -v`: classes of events. Each of these options starts from the default classes.
    fn trace(&mut self, to: usize, classes: &[u8]) {
        let trace = &mut self.flags.TraceFlags;
        trace.tracing = to as i32;
        (trace.scheduler, trace.gc, trace.sparks_sampled, trace.user, trace.waits) = (true, true, true, true, true);
        let mut wanted = true;
        for &letter in classes {
            let trace = &mut self.flags.TraceFlags;
            match letter {
                b'-' => {
                    wanted = false;
                    continue;
                }
                b'a' => {
                    let all = [
                        &mut trace.scheduler,
                        &mut trace.gc,
                        &mut trace.sparks_sampled,
                        &mut trace.sparks_full,
                        &mut trace.user,
                        &mut trace.waits,
                    ];
                    all.into_iter().for_each(|class| *class = wanted);
                }
                b's' => trace.scheduler = wanted,
                b'g' => trace.gc = wanted,
                b'n' => trace.nonmoving_gc = wanted,
                b'p' => trace.sparks_sampled = wanted,
                b'f' => trace.sparks_full = wanted,
                b'u' => trace.user = wanted,
                b'w' => trace.waits = wanted,
                b't' => trace.timestamp = wanted,
                other => self.messages.add([&b"unknown trace option: "[..], &[other]].concat()),
            }
            wanted = true;
        }
    }

    fn output_option(&mut self, arg: &[u8], value: &[u8]) -> Read {
        match value {
            [b'l'] if self.ways.eventlog => self.wrong_option("-ol expects filename", &[]),
            [b'l', file @ ..] if self.ways.eventlog => {
                // Never freed: a log that begins at any time may use it.
                let file = std::ffi::CString::new(file).unwrap_or_default();
                self.flags.TraceFlags.trace_output = file.into_raw();
            }
            [b'l', ..] => self.requires(arg, FOR_EVENTS),
            // C takes the end of the string for the letter, and prints it.
            _ => {
                let letter = value.first().copied().unwrap_or(0);
                self.messages.add([&b"Unknown output flag -o"[..], &[letter]].concat());
                return Err(self.parser_error());
            }
        }
        Ok(())
    }

    fn debug_option(&mut self, arg: &[u8], value: &[u8]) -> Read {
        for letter in value {
            let debug = &mut self.flags.DebugFlags;
            *match letter {
                b's' => &mut debug.scheduler,
                b'i' => &mut debug.interpreter,
                b'w' => &mut debug.weak,
                b'G' => &mut debug.gccafs,
                b'g' => &mut debug.gc,
                b'n' => &mut debug.nonmoving_gc,
                b'b' => &mut debug.block_alloc,
                b'S' => &mut debug.sanity,
                b'Z' => &mut debug.zero_on_gc,
                b't' => &mut debug.stable,
                b'p' => &mut debug.prof,
                b'l' => &mut debug.linker,
                b'a' => &mut debug.apply,
                b'm' => &mut debug.stm,
                b'z' => &mut debug.squeeze,
                b'c' => &mut debug.hpc,
                b'r' => &mut debug.sparks,
                b'C' => &mut debug.compact,
                _ => return Err(self.bad_option(arg)),
            } = true;
        }
        // Debug messages.
        self.flags.TraceFlags.tracing = TRACE_STDERR as i32;
        Ok(())
    }
}
