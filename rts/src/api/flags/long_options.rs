//! Options that begin with two hyphens.
use crate::abi::layout::*;
use crate::api::flags::parser::{Read, Reader};
use crate::api::flags::{rts_info, values, SchedulerName};
use crate::events::poller::Kind;
use crate::events::selection;
use crate::events::selection::Selection;
use crate::hec::lenient_pool;
use crate::hec::sched_groups;
use crate::observe::stats::activation_time;
use crate::spread::why_fetch;

/// Most nodes that `--debug-numa` simulates. The stock runtime has the same limit, and names it in its message.
const MAX_NUMA_NODES: i64 = 16;

fn back_end(name: &[u8]) -> Option<Kind> {
    Kind::from_name(std::str::from_utf8(name).ok()?)
}

impl Reader<'_> {
    pub(super) fn long_option(&mut self, arg: &[u8]) -> Read {
        let name = &arg[2..];
        match name {
            b"info" => {
                let mut exit = self.messages.exit(0);
                exit.out = rts_info::pairs(self.ways, &self.config.rts_opts).into_bytes();
                return Err(exit);
            }
            b"copying-gc" => self.flags.GcFlags.useNonmoving = false,
            b"nonmoving-gc" => self.flags.GcFlags.useNonmoving = true,
            b"internal-counters" => {
                self.flags.MiscFlags.internalCounters = true;
                activation_time::measure();
            }
            b"gc-phases" => crate::observe::gc_phases::enable(),
            _ if name.starts_with(b"numa") && self.ways.threaded => {
                self.messages.add([arg, b": This GHC build was compiled without NUMA support."].concat());
                return Err(self.parser_error());
            }
            _ if name.starts_with(b"debug-numa") && self.ways.threaded && self.ways.debug => self.debug_numa(arg),
            _ if name.starts_with(b"long-gc-sync=") => {
                self.flags.GcFlags.longGCSync = values::nanoseconds(values::number(&name[13..]))
            }
            _ => return self.privileged_long_option(arg, name),
        }
        Ok(())
    }

    fn privileged_long_option(&mut self, arg: &[u8], name: &[u8]) -> Read {
        let misc = &mut self.flags.MiscFlags;
        match name {
            b"machine-readable" => misc.machineReadable = true,
            b"disable-delayed-os-memory-return" => misc.disableDelayedOsMemoryReturn = true,
            b"install-signal-handlers=yes" => misc.install_signal_handlers = true,
            b"install-signal-handlers=no" => misc.install_signal_handlers = false,
            b"install-seh-handlers=yes" => misc.install_seh_handlers = true,
            b"install-seh-handlers=no" => misc.install_seh_handlers = false,
            b"generate-stack-traces=yes" => misc.generate_stack_trace = true,
            b"generate-stack-traces=no" => misc.generate_stack_trace = false,
            b"generate-crash-dumps" => misc.generate_dump_file = true,
            b"io-manager=auto" => selection::select(Selection::Auto),
            b"io-manager=base" => selection::select(Selection::Base),
            b"io-manager=native" => misc.ioManager = IO_MNGR_NATIVE as u32,
            b"io-manager=posix" => misc.ioManager = IO_MNGR_POSIX as u32,
            b"why-fetch" => why_fetch::enable(),
            b"scheduler-faults=eject" => sched_groups::set_fatal(false),
            b"scheduler-faults=fatal" => sched_groups::set_fatal(true),
            _ if name.starts_with(b"lenient=") => match values::integer(&name[8..]) {
                n if n >= 0 => lenient_pool::set_limit(n as usize),
                _ => self.bad_value("--lenient"),
            },
            _ if name.starts_with(b"scheduler=") => match SchedulerName::read(&name[10..], self.config) {
                Ok(scheduler) => self.scheduler = Some(scheduler),
                Err(wrong) => self.wrong_option(&format!("{wrong}: "), arg),
            },
            _ => match name.strip_prefix(b"io-manager=").and_then(back_end) {
                Some(kind) => selection::select(Selection::BackEnd(kind)),
                None => {
                    self.unknown(arg);
                    return Ok(());
                }
            },
        }
        self.privileged()
    }

    /// `--debug-numa=<n>` simulates a machine with n nodes. All HECs use the same memory. The mask is stored for
    /// programs that read it.
    fn debug_numa(&mut self, arg: &[u8]) {
        let value = arg.strip_prefix(b"--debug-numa=").unwrap_or(&[]);
        let complaint: &[u8] = match values::integer(value) {
            nodes if nodes <= 0 => b": missing number of nodes",
            nodes if nodes > MAX_NUMA_NODES => b": Too many NUMA nodes (max 16)",
            nodes => {
                self.flags.GcFlags.numa = true;
                self.flags.GcFlags.numaMask = (1 << nodes) - 1;
                return;
            }
        };
        self.wrong_option("", &[arg, complaint].concat());
    }
}
