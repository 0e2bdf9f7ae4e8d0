//! Runtime options: from the command line, `GHCRTS` and linking (`-with-rtsopts`) to `RtsFlags`.
//!
//! *Protocol* of start-up ([`setup::setup`])
//!
//! 1. The defaults are written to `RtsFlags`. The program's `defaultsHook` may change them.
//! 2. Built-in options are read into a copy of the flags, then `GHCRTS`, then the command line. Each source is subject
//!    to the policy that the program was linked with (`-rtsopts`).
//! 3. The flags are normalised and become `RtsFlags`. The program's own arguments are stored.
//!
//! *Invariants*
//!
//! - Parsing has no effect except that it opens statistics files. [`parse`] returns the flags, or how the program ends.
//!
//! *Checked by* `tests.rs`, and `tests/commands/options.sh` against the stock runtime.
mod argv;
mod defaults;
mod long_options;
mod normalise;
mod parse_result;
mod parser;
mod policy;
mod rts_info;
mod scheduler_name;
pub mod setup;
mod short_options;
#[cfg(test)]
mod tests;
mod usage;
mod values;
mod way_options;

pub use crate::api::flags::parse_result::Exit;
pub use crate::api::flags::policy::{Config, Policy};
pub use crate::api::flags::scheduler_name::SchedulerName;
pub use crate::base::config::settings_now;

use crate::abi::rts_flags::Flags;
use crate::abi::Ways;
use crate::api::flags::parse_result::Messages;
use crate::api::flags::parser::{OpenFile, Read, Reader};

/// Where options come from.
pub struct Sources<'a> {
    /// The command line, the program's path first.
    pub args: &'a [Vec<u8>],
    pub ghcrts: Option<Vec<u8>>,
}

/// The result of parsing.
pub struct Parsed {
    pub flags: Flags,
    /// What `--scheduler` names.
    pub scheduler: Option<SchedulerName>,
    /// The program's own arguments, its path first.
    pub prog_args: Vec<Vec<u8>>,
    /// All runtime options, in the order of parsing.
    pub rts_args: Vec<Vec<u8>>,
    /// Warnings for standard error.
    pub err: Vec<u8>,
}

/// Parses all options on top of `flags`. `name` precedes messages.
pub fn parse(
    name: &[u8],
    sources: &Sources,
    config: &Config,
    ways: Ways,
    flags: Flags,
    open: OpenFile,
) -> Result<Parsed, Exit> {
    let mut reader = Reader {
        ways,
        config,
        flags,
        scheduler: None,
        messages: Messages::new(name),
        has_errors: false,
        balance_given: false,
        policy: Policy::All,
        open,
    };
    let mut rts_args = argv::words(&config.rts_opts);
    reader.source(&rts_args, Policy::All)?;
    if let Some(ghcrts) = &sources.ghcrts {
        match config.policy {
            Policy::IgnoreAll => {}
            Policy::None => {
                let advice = config.how_to_enable();
                let warning = "Warning: Ignoring GHCRTS variable as RTS options are disabled.";
                reader.messages.add(format!("{warning}\n         {advice}"));
            }
            policy => {
                let words = argv::words(ghcrts);
                reader.source(&words, policy)?;
                rts_args.extend(words);
            }
        }
    }
    let (prog_args, from_line) = argv::command_line(sources.args, config.policy);
    reader.source(&from_line, config.policy)?;
    rts_args.extend(from_line);
    reader.normalise()?;
    let Reader { flags, scheduler, messages, .. } = reader;
    Ok(Parsed { flags, scheduler, prog_args, rts_args, err: messages.text })
}

impl Reader<'_> {
    /// Parses one source. Reports all its mistakes before usage ends the program.
    fn source(&mut self, args: &[Vec<u8>], policy: Policy) -> Read {
        // Under `ignore`, no argument on the command line is an option, and GHCRTS is unrestricted.
        self.policy = match policy {
            Policy::Ignore => Policy::All,
            other => other,
        };
        for arg in args {
            if self.policy == Policy::None {
                return Err(self.exit_disabled("RTS options are disabled."));
            }
            self.argument(arg)?;
        }
        self.usage_if_errors()
    }

    fn usage_if_errors(&mut self) -> Read {
        if !self.has_errors {
            return Ok(());
        }
        for line in usage::lines(self.ways) {
            self.messages.add(line);
        }
        Err(self.messages.exit(1))
    }
}
