//! How reading the options can end the program.

/// The program ends here: what to print where, and the exit code.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Exit {
    pub code: i32,
    pub out: Vec<u8>,
    pub err: Vec<u8>,
}

/// What is said on the way: lines for standard error, each after the program's name.
pub struct Messages {
    program: Vec<u8>,
    pub text: Vec<u8>,
}

impl Messages {
    pub fn new(program: &[u8]) -> Messages {
        Messages { program: program.to_vec(), text: Vec::new() }
    }

    /// One message. A second line in it has no name before it.
    pub fn say(&mut self, message: impl AsRef<[u8]>) {
        self.text.extend_from_slice(&self.program);
        self.text.extend_from_slice(b": ");
        self.text.extend_from_slice(message.as_ref());
        self.text.push(b'\n');
    }

    /// The end, after all that was said.
    pub fn exit(&mut self, code: i32) -> Exit {
        Exit { code, out: Vec::new(), err: std::mem::take(&mut self.text) }
    }
}
