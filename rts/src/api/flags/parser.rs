//! The state of option parsing, and what all option handlers need: error messages, the policy, sizes.
//!
//! *Protocol* for mistakes
//!
//! - After a *wrong option*, a message is added and parsing continues. At the end of its source (built-in options,
//!   GHCRTS, command line), usage is printed and the program ends.
//! - A bad *value* of one of the older options ends the program at once.
use crate::abi::layout::BLOCK_SHIFT;
use crate::abi::rts_flags::Flags;
use crate::abi::Ways;
use crate::api::flags::parse_result::{Exit, Messages};
use crate::api::flags::values;
use crate::api::flags::{Config, Policy, SchedulerName};
use libc::FILE;

/// Opens a file for statistics.
pub type OpenFile<'a> = &'a mut dyn FnMut(&[u8]) -> Option<*mut FILE>;

pub struct Reader<'a> {
    pub ways: Ways,
    pub config: &'a Config,
    pub flags: Flags,
    /// What `--scheduler` names.
    pub scheduler: Option<SchedulerName>,
    pub messages: Messages,
    /// A source has a wrong option, so usage follows.
    pub has_errors: bool,
    /// `-qb` was given, so its default does not depend on `-A`.
    pub balance_given: bool,
    /// What the current source may contain.
    pub policy: Policy,
    pub open: OpenFile<'a>,
}

/// The result of one option.
pub type Read = Result<(), Exit>;

fn join(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

impl Reader<'_> {
    /// A wrong option, which is quoted after the message.
    pub fn wrong_option(&mut self, message: &str, arg: &[u8]) {
        self.messages.add(join(&[message.as_bytes(), arg]));
        self.has_errors = true;
    }

    pub fn unknown(&mut self, arg: &[u8]) {
        self.wrong_option("unknown RTS option: ", arg);
    }

    pub fn incomplete(&mut self, arg: &[u8]) {
        self.wrong_option("incomplete RTS option: ", arg);
    }

    pub fn bad_value(&mut self, option: &str) {
        self.wrong_option("bad value for ", option.as_bytes());
    }

    /// The option needs another way of linking.
    pub fn requires(&mut self, arg: &[u8], flag: &str) {
        let end = format!(" requires the program to be built with {flag}");
        self.messages.add(join(&[b"the flag ", arg, end.as_bytes()]));
        self.has_errors = true;
    }

    /// Is there nothing after the option's letter? Otherwise reports a mistake.
    pub fn has_no_value(&mut self, arg: &[u8]) -> bool {
        if arg.len() > 2 {
            let option = String::from_utf8_lossy(&arg[..2]).into_owned();
            let message = format!("flag {option} given an argument when none was expected: ");
            self.wrong_option(&message, arg);
        }
        arg.len() == 2
    }

    pub fn exit_with(&mut self, message: impl AsRef<[u8]>) -> Exit {
        self.messages.add(message);
        self.messages.exit(1)
    }

    /// Ends as the stock runtime does after an option that it can neither accept nor explain.
    pub fn parser_error(&mut self) -> Exit {
        self.exit_with("Internal error in the RTS options parser")
    }

    pub fn bad_option(&mut self, arg: &[u8]) -> Exit {
        self.exit_with(join(&[b"bad RTS option: ", arg]))
    }

    /// The option is not supported yet.
    pub fn unsupported(&mut self, arg: &[u8], feature: &str) -> Exit {
        let end = format!(": {feature} is not supported by Hecaton yet");
        self.exit_with(join(&[arg, end.as_bytes()]))
    }

    /// An option that is allowed only if the program was linked to accept all options.
    pub fn privileged(&mut self) -> Read {
        match self.policy {
            Policy::All => Ok(()),
            _ => Err(self.exit_disabled("Most RTS options are disabled.")),
        }
    }

    pub fn exit_disabled(&mut self, what: &str) -> Exit {
        let message = format!("{what} {}", self.config.how_to_enable());
        self.exit_with(message)
    }

    /// The size that follows the first `prefix` bytes of the option, in bytes.
    fn size(&mut self, arg: &[u8], prefix: usize, min: u64, max: u64) -> Result<u64, Exit> {
        values::size(&arg[prefix..], min, max).map_err(|r| {
            let range = format!(": size outside allowed range ({} - {})", r.min, r.max);
            self.exit_with(join(&[b"error in RTS option ", arg, range.as_bytes()]))
        })
    }

    /// A size of an area of at least two blocks, in blocks.
    pub fn area(&mut self, arg: &[u8], prefix: usize) -> Result<u32, Exit> {
        Ok((self.size(arg, prefix, 2 << BLOCK_SHIFT, i64::MAX as u64)? >> BLOCK_SHIFT) as u32)
    }

    /// A size of at least one block, in bytes.
    pub fn block_bytes(&mut self, arg: &[u8], prefix: usize, max: u64) -> Result<u64, Exit> {
        self.size(arg, prefix, 1 << BLOCK_SHIFT, max)
    }

    /// A size of at least one block, in blocks.
    pub fn blocks(&mut self, arg: &[u8], prefix: usize) -> Result<u32, Exit> {
        Ok((self.block_bytes(arg, prefix, u64::MAX)? >> BLOCK_SHIFT) as u32)
    }

    /// A size of at least one word, in words.
    pub fn words(&mut self, arg: &[u8], prefix: usize) -> Result<u32, Exit> {
        Ok((self.size(arg, prefix, 8, u64::MAX)? / 8) as u32)
    }

    /// A size of at most 32 bits, which may be 0, in words.
    pub fn words_up_to_4g(&mut self, arg: &[u8], prefix: usize) -> Result<u32, Exit> {
        Ok((self.size(arg, prefix, 0, u32::MAX as u64)? / 8) as u32)
    }

    /// A number of at least one.
    pub fn count(&mut self, arg: &[u8], prefix: usize) -> Result<u64, Exit> {
        self.size(arg, prefix, 1, i64::MAX as u64)
    }
}
