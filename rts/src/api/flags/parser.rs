//! The state of reading options, and what every option handler needs: complaints, the policy
//! on which options are allowed, sizes.
//!
//! Two kinds of mistake. A *wrong* option is complained about, reading goes on, and after its
//! source (built-in options, GHCRTS, command line) usage is printed and the program ends. A
//! bad *value* of the older options ends the program at once.
use crate::abi::layout::BLOCK_SHIFT;
use crate::abi::rts_flags::Flags;
use crate::abi::Ways;
use crate::api::flags::parse_result::{Exit, Messages};
use crate::api::flags::values;
use crate::api::flags::{Config, Policy};
use libc::FILE;

/// Opens a file for statistics.
pub type OpenFile<'a> = &'a mut dyn FnMut(&[u8]) -> Option<*mut FILE>;

pub struct Reader<'a> {
    pub ways: Ways,
    pub config: &'a Config,
    pub flags: Flags,
    pub said: Messages,
    /// Usage is due after this source.
    pub wrong: bool,
    /// `-qb` was given, so that its default no longer depends on `-A`.
    pub balance_given: bool,
    /// What the source that is being read may say.
    pub policy: Policy,
    pub open: OpenFile<'a>,
}

/// What one option leads to.
pub type Read = Result<(), Exit>;

fn join(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

impl Reader<'_> {
    /// A wrong option, quoted after the message.
    pub fn wrong_option(&mut self, message: &str, arg: &[u8]) {
        self.said.say(join(&[message.as_bytes(), arg]));
        self.wrong = true;
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

    /// The option belongs to another way of linking.
    pub fn requires(&mut self, arg: &[u8], flag: &str) {
        let end = format!(" requires the program to be built with {flag}");
        self.said.say(join(&[b"the flag ", arg, end.as_bytes()]));
        self.wrong = true;
    }

    /// Whether nothing follows the option's letter.
    pub fn alone(&mut self, arg: &[u8]) -> bool {
        if arg.len() > 2 {
            let option = String::from_utf8_lossy(&arg[..2]).into_owned();
            let message = format!("flag {option} given an argument when none was expected: ");
            self.wrong_option(&message, arg);
        }
        arg.len() == 2
    }

    pub fn end(&mut self, message: impl AsRef<[u8]>) -> Exit {
        self.said.say(message);
        self.said.exit(1)
    }

    /// How the stock runtime ends after what it can neither do nor explain by its usage.
    pub fn parser_error(&mut self) -> Exit {
        self.end("Internal error in the RTS options parser")
    }

    pub fn bad_option(&mut self, arg: &[u8]) -> Exit {
        self.end(join(&[b"bad RTS option: ", arg]))
    }

    /// The option is one of ours to come.
    pub fn unsupported(&mut self, arg: &[u8], feature: &str) -> Exit {
        let end = format!(": {feature} is not supported by Hecaton yet");
        self.end(join(&[arg, end.as_bytes()]))
    }

    /// An option that a program only takes when it was linked to take all of them.
    pub fn privileged(&mut self) -> Read {
        match self.policy {
            Policy::All => Ok(()),
            _ => Err(self.refuse("Most RTS options are disabled.")),
        }
    }

    pub fn refuse(&mut self, what: &str) -> Exit {
        let message = format!("{what} {}", self.config.how_to_enable());
        self.end(message)
    }

    /// The size that follows the first `prefix` bytes of the option, in bytes.
    fn size(&mut self, arg: &[u8], prefix: usize, min: u64, max: u64) -> Result<u64, Exit> {
        values::size(&arg[prefix..], min, max).map_err(|r| {
            let range = format!(": size outside allowed range ({} - {})", r.min, r.max);
            self.end(join(&[b"error in RTS option ", arg, range.as_bytes()]))
        })
    }

    /// A size of an area that needs two blocks or more, in blocks.
    pub fn area(&mut self, arg: &[u8], prefix: usize) -> Result<u32, Exit> {
        Ok((self.size(arg, prefix, 2 << BLOCK_SHIFT, i64::MAX as u64)? >> BLOCK_SHIFT) as u32)
    }

    /// A size of a block or more, in bytes.
    pub fn block_bytes(&mut self, arg: &[u8], prefix: usize, max: u64) -> Result<u64, Exit> {
        self.size(arg, prefix, 1 << BLOCK_SHIFT, max)
    }

    /// A size of a block or more, in blocks.
    pub fn blocks(&mut self, arg: &[u8], prefix: usize) -> Result<u32, Exit> {
        Ok((self.block_bytes(arg, prefix, u64::MAX)? >> BLOCK_SHIFT) as u32)
    }

    /// A size of a word or more, in words.
    pub fn words(&mut self, arg: &[u8], prefix: usize) -> Result<u32, Exit> {
        Ok((self.size(arg, prefix, 8, u64::MAX)? / 8) as u32)
    }

    /// A size that may be nothing but not more than 32 bits, in words.
    pub fn words_up_to_4g(&mut self, arg: &[u8], prefix: usize) -> Result<u32, Exit> {
        Ok((self.size(arg, prefix, 0, u32::MAX as u64)? / 8) as u32)
    }

    /// A number of one or more.
    pub fn count(&mut self, arg: &[u8], prefix: usize) -> Result<u64, Exit> {
        self.size(arg, prefix, 1, i64::MAX as u64)
    }
}
