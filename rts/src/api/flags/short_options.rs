//! Options of one letter.
//!
//! Options for other ways of linking, and those for parallelism, events, profiling and debugging, are in
//! `way_options.rs`. Options with two hyphens are in `long_options.rs`.
use crate::abi::layout::*;
use crate::api::flags::parser::{Read, Reader};
use crate::api::flags::values;
use crate::base::config::MAX_NAMED_GENERATIONS;

/// The first address that `-xm` refuses: compiled code can jump only below 2 GB.
const MAX_LINKER_BASE: usize = 0x8000_0000;

impl Reader<'_> {
    /// Reads one argument of a source of options.
    pub fn argument(&mut self, arg: &[u8]) -> Read {
        if arg.first() != Some(&b'-') {
            self.wrong_option("unexpected RTS argument: ", arg);
            return Ok(());
        }
        let letter = arg.get(1).copied().unwrap_or(0);
        let value = arg.get(2..).unwrap_or(&[]);
        match letter {
            b'?' => self.has_errors = true,
            b'-' => return self.long_option(arg),

            b'A' | b'n' | b'O' | b'G' | b'F' | b'c' | b'w' | b'm' | b'M' | b'H' | b'I' | b'B' | b'Z' => {
                return self.memory_option(letter, arg, value)
            }
            b'K' | b'k' => return self.stack_option(letter, arg, value),

            b'T' => {
                if self.has_no_value(arg) {
                    self.flags.GcFlags.giveStats = COLLECT_GC_STATS as u32;
                }
            }
            b't' => return self.statistics(ONELINE_GC_STATS, value),
            b's' => return self.statistics(SUMMARY_GC_STATS, value),
            b'S' => return self.statistics(VERBOSE_GC_STATS, value),

            b'C' | b'V' | b'i' => return self.interval(letter, value),
            b'x' => return self.extended_option(arg),
            _ => return self.option_of_a_way(letter, arg, value),
        }
        Ok(())
    }

    fn memory_option(&mut self, letter: u8, arg: &[u8], value: &[u8]) -> Read {
        if arg.starts_with(b"-maxN") {
            return self.capabilities_up_to(arg);
        }
        self.privileged()?;
        match letter {
            b'A' if value.first() == Some(&b'L') => self.flags.GcFlags.largeAllocLim = self.area(arg, 3)?,
            b'A' => self.flags.GcFlags.minAllocAreaSize = self.area(arg, 2)?,
            b'n' => self.flags.GcFlags.nurseryChunkSize = self.area(arg, 2)?,
            b'O' => self.flags.GcFlags.minOldGenSize = self.blocks(arg, 2)?,
            b'G' => {
                let generations = self.count(arg, 2)?;
                if generations > MAX_NAMED_GENERATIONS as u64 {
                    self.wrong_option(&format!("more than {MAX_NAMED_GENERATIONS} generations: "), arg);
                } else {
                    self.flags.GcFlags.generations = generations as u32;
                }
            }
            b'F' => {
                let factor = values::number(value);
                if factor < 0.0 {
                    return Err(self.bad_option(arg));
                }
                self.flags.GcFlags.oldGenFactor = factor;
            }
            b'c' if value.is_empty() => self.flags.GcFlags.compact = true,
            b'c' => self.flags.GcFlags.compactThreshold = values::number(value),
            b'w' => self.flags.GcFlags.sweep |= self.has_no_value(arg),
            b'm' => match values::leading_number(value) {
                Some(percent) if (0.0..=100.0).contains(&percent) => self.flags.GcFlags.pcFreeHeap = percent,
                _ => return Err(self.bad_option(arg)),
            },
            b'M' if value.starts_with(b"grace=") => {
                self.flags.GcFlags.heapLimitGrace = self.block_bytes(arg, 8, u64::MAX)? as usize
            }
            b'M' => self.flags.GcFlags.maxHeapSize = self.blocks(arg, 2)?,
            b'H' if value.is_empty() => self.flags.GcFlags.heapSizeSuggestionAuto = true,
            b'H' => self.flags.GcFlags.heapSizeSuggestion = self.blocks(arg, 2)?,
            b'I' => self.idle_option(value),
            b'B' => self.flags.GcFlags.ringBell |= self.has_no_value(arg),
            _ => {
                if self.has_no_value(arg) {
                    self.flags.GcFlags.squeezeUpdFrames = false;
                }
            }
        }
        Ok(())
    }

    fn idle_option(&mut self, value: &[u8]) {
        let gc = &mut self.flags.GcFlags;
        match value {
            [] | [b'w'] => {}
            [b'w', wait @ ..] => gc.interIdleGCWait = values::nanoseconds(values::number(wait)),
            delay => {
                let delay = values::nanoseconds(values::number(delay));
                gc.doIdleGC = delay != 0;
                if delay != 0 {
                    gc.idleGCDelayTime = delay;
                }
            }
        }
    }

    fn stack_option(&mut self, letter: u8, arg: &[u8], value: &[u8]) -> Read {
        self.privileged()?;
        match (letter, value.first()) {
            (b'K', _) => self.flags.GcFlags.maxStkSize = self.words_up_to_4g(arg, 2)?,
            (_, Some(b'c')) => self.flags.GcFlags.stkChunkSize = self.words(arg, 3)?,
            (_, Some(b'b')) => self.flags.GcFlags.stkChunkBufferSize = self.words(arg, 3)?,
            (_, Some(b'i')) => self.flags.GcFlags.initialStkSize = self.words(arg, 3)?,
            _ => self.flags.GcFlags.initialStkSize = self.words(arg, 2)?,
        }
        Ok(())
    }

    /// `-t -s -S`, which may name a file; naming one is a privilege.
    fn statistics(&mut self, mode: usize, file: &[u8]) -> Read {
        self.flags.GcFlags.giveStats = mode as u32;
        self.flags.GcFlags.statsFile = std::ptr::null_mut();
        if file.is_empty() {
            return Ok(());
        }
        self.privileged()?;
        if file != b"stderr" {
            match (self.open)(file) {
                Some(opened) => self.flags.GcFlags.statsFile = opened,
                None => {
                    let message = [b"Can't open stats file ", file, b"\n"].concat();
                    self.messages.add(message);
                    self.has_errors = true;
                }
            }
        }
        Ok(())
    }

    /// `-C -V -i`: seconds, where `-C` and `-V` alone mean 0.
    fn interval(&mut self, letter: u8, value: &[u8]) -> Read {
        self.privileged()?;
        let time = match values::exact_number(value) {
            Some(seconds) => values::nanoseconds(seconds),
            None if value.is_empty() && letter == b'i' => return Ok(()),
            None if value.is_empty() => 0,
            None => {
                self.bad_value(&format!("-{}", letter as char));
                return Ok(());
            }
        };
        match letter {
            b'C' => self.flags.ConcFlags.ctxtSwitchTime = time,
            b'V' => self.flags.MiscFlags.tickInterval = time,
            _ => self.flags.ProfFlags.heapProfileInterval = time,
        }
        Ok(())
    }

    /// `-x` and a second letter.
    fn extended_option(&mut self, arg: &[u8]) -> Read {
        let value = arg.get(3..).unwrap_or(&[]);
        match arg.get(2) {
            None => self.incomplete(arg),
            Some(b'n') => self.flags.GcFlags.useNonmoving = true,
            Some(b'b') => {
                self.privileged()?;
                match value {
                    [] => self.wrong_option("-xb: requires argument", &[]),
                    _ => self.flags.GcFlags.heapBase = values::address(value, 0),
                }
            }
            Some(b'p') => {
                self.privileged()?;
                self.flags.MiscFlags.linkerAlwaysPic = true;
            }
            Some(b'm') => {
                self.privileged()?;
                match values::address(value, 16) {
                    at if at > MAX_LINKER_BASE => self.wrong_option("-xm: value must be <80000000", &[]),
                    _ if value.is_empty() => {}
                    at => self.flags.MiscFlags.linkerMemBase = at,
                }
            }
            Some(b'q') => {
                self.privileged()?;
                let bytes = self.block_bytes(arg, 3, i64::MAX as u64)?;
                self.flags.GcFlags.allocLimitGrace = (bytes >> BLOCK_SHIFT) as usize;
            }
            Some(b'c' | b't') => self.requires(arg, "-prof"),
            Some(_) => self.unknown(arg),
        }
        Ok(())
    }
}
