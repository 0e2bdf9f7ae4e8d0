//! Failures of commands: one line for the user, and an exit code for scripts.
use std::{fmt, io, path::Path};

/// A failure that ends the command.
#[derive(Debug)]
pub struct Fail {
    /// What happened, in one line; printed after `hecaton: `. Empty when everything has been said already.
    pub message: String,
    pub code: i32,
}

pub type Result<T> = std::result::Result<T, Fail>;

impl Fail {
    pub fn new(message: impl Into<String>) -> Fail {
        Fail { message: message.into(), code: 1 }
    }

    /// A wrong argument.
    pub fn usage(message: impl Into<String>) -> Fail {
        Fail { message: message.into(), code: 2 }
    }

    /// Ends the command with `code` and no further words.
    pub fn silent(code: i32) -> Fail {
        Fail { message: String::new(), code }
    }

    /// A failed operation on a file; a full disk is called by its name.
    pub fn io(what: &str, path: &Path, error: io::Error) -> Fail {
        if error.raw_os_error() == Some(libc::ENOSPC) {
            return Fail::new(format!("the disk is full (could not {what} {})", path.display()));
        }
        Fail::new(format!("cannot {what} {}: {}", path.display(), reason(&error)))
    }
}

/// What the system says of an error, without the number that Rust adds.
pub fn reason(error: &io::Error) -> String {
    let said = error.to_string();
    match said.rsplit_once(" (os error ") {
        Some((words, _)) => words.to_owned(),
        None => said,
    }
}

impl fmt::Display for Fail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_have_no_number() {
        assert_eq!(reason(&io::Error::from_raw_os_error(libc::EACCES)), "Permission denied");
        assert_eq!(reason(&io::Error::other("of ours")), "of ours");
        assert_eq!(
            Fail::io("open", Path::new("/x"), io::Error::from_raw_os_error(libc::ENOENT)).message,
            "cannot open /x: No such file or directory"
        );
    }
}
