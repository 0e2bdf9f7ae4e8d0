//! How option parsing can end the program.

/// The program's exit code and output, if it ends here.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Exit {
    pub code: i32,
    pub out: Vec<u8>,
    pub err: Vec<u8>,
}

/// Messages for standard error, each after the program's name.
pub struct Messages {
    program: Vec<u8>,
    pub text: Vec<u8>,
}

impl Messages {
    pub fn new(program: &[u8]) -> Messages {
        Messages { program: program.to_vec(), text: Vec::new() }
    }

    /// Adds a message. Only its first line has the name before it.
    pub fn add(&mut self, message: impl AsRef<[u8]>) {
        self.text.extend_from_slice(&self.program);
        self.text.extend_from_slice(b": ");
        self.text.extend_from_slice(message.as_ref());
        self.text.push(b'\n');
    }

    /// The exit, after all messages so far.
    pub fn exit(&mut self, code: i32) -> Exit {
        Exit { code, out: Vec::new(), err: std::mem::take(&mut self.text) }
    }
}
