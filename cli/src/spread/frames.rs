//! What the launcher tells an agent, through the agent's standard input.
//!
//! ```text
//!   frame:  kind 1   length 4, the little end first   contents
//! ```

/// Bytes of the longest frame. One that is longer is none.
const MAX_FRAME: usize = 1 << 24;
const HEAD: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// What is to be started ([`super::assignment`]).
    Assignment,
    /// Where all PEs are.
    Table,
    /// Standard input of the program.
    Input,
    EndOfInput,
    /// A signal for PE 0.
    Signal,
}

const KINDS: [Kind; 5] = [Kind::Assignment, Kind::Table, Kind::Input, Kind::EndOfInput, Kind::Signal];

pub fn put(to: &mut Vec<u8>, kind: Kind, contents: &[u8]) {
    to.push(kind as u8);
    to.extend_from_slice(&(contents.len() as u32).to_le_bytes());
    to.extend_from_slice(contents);
}

/// What has come, as far as it is no whole frame.
#[derive(Default)]
pub struct Frames {
    begun: Vec<u8>,
}

impl Frames {
    pub fn add(&mut self, bytes: &[u8]) {
        self.begun.extend_from_slice(bytes);
    }

    /// Takes the next frame, if it is whole.
    /// # Errors
    /// If what has come is no frame.
    pub fn take(&mut self) -> Result<Option<(Kind, Vec<u8>)>, ()> {
        let Some((head, rest)) = self.begun.split_at_checked(HEAD) else { return Ok(None) };
        let kind = *KINDS.get(usize::from(head[0])).ok_or(())?;
        let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
        if length > MAX_FRAME {
            return Err(());
        }
        let Some(contents) = rest.get(..length).map(<[u8]>::to_vec) else { return Ok(None) };
        self.begun.drain(..HEAD + length);
        Ok(Some((kind, contents)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_were_written() {
        let mut bytes = vec![];
        let all = KINDS.map(|kind| (kind, vec![kind as u8; 300 * kind as usize]));
        all.iter().for_each(|(kind, contents)| put(&mut bytes, *kind, contents));
        for pieces in [1, 7, 10_000] {
            let (mut frames, mut got) = (Frames::default(), vec![]);
            for piece in bytes.chunks(pieces) {
                frames.add(piece);
                while let Some(frame) = frames.take().unwrap() {
                    got.push(frame);
                }
            }
            assert_eq!(got, all);
        }
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        for wrong in [[5, 0, 0, 0, 0], [0, 1, 0, 0, 1]] {
            let mut frames = Frames::default();
            frames.add(&wrong);
            assert_eq!(frames.take(), Err(()));
        }
    }
}
