//! The header of a test or benchmark program: the comment lines it begins with. Those of the form `-- key: value` say
//! how it is to be compiled and run; the others are for the reader.
use std::time::Duration;

const KEYS: [&str; 21] = [
    "ghc",
    "args",
    "stdin",
    "rtsopts",
    "c",
    "env",
    "timeout",
    "compare",
    "exit",
    "needs",
    "skip-small",
    "skip-check",
    "skip-stress",
    "skip-hecs",
    "skip-pes",
    "skip-order",
    "skip-package",
    "skip-kinds",
    "skip-poll",
    "hecs",
    "aim",
];

#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// Flags for ghc.
    pub ghc: Vec<String>,
    pub args: Vec<String>,
    /// `\n` and `\t` stand for themselves in the header; several lines follow each other.
    pub stdin: String,
    /// The policy of -rtsopts, if it is not `all`.
    pub rtsopts: Option<String>,
    /// C sources beside the program.
    pub c: Vec<String>,
    pub env: Vec<(String, String)>,
    pub timeout: Option<Duration>,
    /// What has to agree with the stock runtime.
    pub compare: Compare,
    /// The exit code that it must have on both runtimes, for a program that finds out itself whether it fails.
    pub exit: Option<i32>,
    /// Haskell packages without which the program is skipped.
    pub needs: Vec<String>,
    /// Why the program is not run with a tiny nursery.
    pub skip_small: Option<String>,
    /// Why the program is not run with the heap checker.
    pub skip_check: Option<String>,
    /// Why the program is not run with a collection and a check at every allocation block.
    pub skip_stress: Option<String>,
    /// Why the program is not run on several HECs.
    pub skip_hecs: Option<String>,
    /// Why it is not run over several processing elements (PEs).
    pub skip_pes: Option<String>,
    /// Why it is not run with the event manager on poll(2).
    pub skip_poll: Option<String>,
    pub skip_order: Option<String>,
    /// Why it is not run under the schedulers of the package.
    pub skip_package: Option<String>,
    /// In which other kinds it is not run, and why.
    pub skip_kinds: Vec<Skipped>,
    /// On how many HECs a parallel benchmark is measured, beside one.
    pub hecs: Option<u32>,
    /// What a benchmark with a goal of its own aims at.
    pub aims: Vec<Aim>,
}

/// Kinds of run that a program is left out of.
#[derive(Clone, Debug, PartialEq)]
pub struct Skipped {
    /// The names of kinds: `Lifo-N1`, `Lifo` for this scheduler on any number of HECs, `-N2` for all schedulers of the
    /// package on two.
    pub kinds: Vec<String>,
    pub reason: String,
}

/// A goal: at most this multiple of the stock runtime's figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Aim {
    pub quantity: Aimed,
    pub at_most: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aimed {
    Elapsed,
    Memory,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compare {
    pub stdout: bool,
    pub stderr: bool,
    pub exit: bool,
}

impl Header {
    /// Is this a sequential benchmark on Debian's libraries?
    pub fn is_real(&self) -> bool {
        !self.needs.is_empty() && self.hecs.is_none()
    }

    /// Reads the header of `source`; the error says which line is wrong.
    pub fn parse(source: &str) -> Result<Header, String> {
        let all = Compare { stdout: true, stderr: true, exit: true };
        let mut header = Header {
            ghc: Vec::new(),
            args: Vec::new(),
            stdin: String::new(),
            rtsopts: None,
            c: Vec::new(),
            env: Vec::new(),
            timeout: None,
            compare: all,
            exit: None,
            needs: Vec::new(),
            skip_small: None,
            skip_check: None,
            skip_stress: None,
            skip_hecs: None,
            skip_pes: None,
            skip_poll: None,
            skip_order: None,
            skip_package: None,
            skip_kinds: Vec::new(),
            hecs: None,
            aims: Vec::new(),
        };
        let mut has_flags = false;
        for line in source.lines().take_while(|l| l.starts_with("--")) {
            let Some((key, value)) = key_and_value(line) else { continue };
            let words = || value.split_whitespace().map(str::to_owned);
            match key {
                "ghc" => {
                    has_flags = true;
                    header.ghc.extend(words());
                }
                "args" => header.args.extend(split_quoted(value)),
                "stdin" => header.stdin += &(value.replace("\\n", "\n").replace("\\t", "\t") + "\n"),
                "rtsopts" => header.rtsopts = Some(value.to_owned()).filter(|v| v != "all"),
                "c" => header.c.extend(words()),
                "env" => {
                    let (name, content) =
                        value.split_once('=').ok_or_else(|| format!("`{line}`: expected NAME=VALUE"))?;
                    header.env.push((name.to_owned(), content.to_owned()));
                }
                "timeout" => {
                    let seconds = value.parse().map_err(|_| format!("`{line}`: expected a number of seconds"))?;
                    if seconds < 60 {
                        return Err(format!("`{line}`: a loaded machine may need a minute for anything"));
                    }
                    header.timeout = Some(Duration::from_secs(seconds));
                }
                "compare" => {
                    header.compare =
                        compare(value).ok_or_else(|| format!("`{line}`: expected some of stdout, stderr, exit"))?
                }
                "exit" => {
                    let code = value.parse().map_err(|_| format!("`{line}`: expected an exit code"))?;
                    header.exit = Some(code);
                }
                "needs" => header.needs.extend(value.replace(',', " ").split_whitespace().map(str::to_owned)),
                "skip-small" => header.skip_small = Some(value.to_owned()),
                "skip-check" => header.skip_check = Some(value.to_owned()),
                "skip-stress" => header.skip_stress = Some(value.to_owned()),
                "hecs" => {
                    let hecs = value.parse().ok().filter(|n| *n > 1);
                    header.hecs = Some(hecs.ok_or_else(|| format!("`{line}`: expected a number above 1"))?);
                }
                "aim" => header
                    .aims
                    .push(aim(value).ok_or_else(|| format!("`{line}`: expected elapsed or memory, and a ratio"))?),
                "skip-pes" => header.skip_pes = Some(value.to_owned()),
                "skip-poll" => header.skip_poll = Some(value.to_owned()),
                "skip-order" => header.skip_order = Some(value.to_owned()),
                "skip-kinds" => header
                    .skip_kinds
                    .push(skipped(value).ok_or_else(|| format!("`{line}`: expected names of kinds, `;`, and why"))?),
                "skip-package" => header.skip_package = Some(value.to_owned()),
                _ => header.skip_hecs = Some(value.to_owned()),
            }
        }
        if !has_flags {
            header.ghc = vec!["-O".to_owned(), "-threaded".to_owned()];
        }
        Ok(header)
    }
}

/// Prose may have colons too, so only the known keys count.
fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.trim_start_matches('-').split_once(':')?;
    let key = key.trim();
    KEYS.contains(&key).then_some((key, value.trim()))
}

fn compare(list: &str) -> Option<Compare> {
    let mut chosen = Compare { stdout: false, stderr: false, exit: false };
    for word in list.replace(',', " ").split_whitespace() {
        match word {
            "stdout" => chosen.stdout = true,
            "stderr" => chosen.stderr = true,
            "exit" => chosen.exit = true,
            _ => return None,
        }
    }
    Some(chosen)
}

fn skipped(text: &str) -> Option<Skipped> {
    let (kinds, reason) = text.split_once(';')?;
    let kinds: Vec<String> = kinds.split_whitespace().map(str::to_owned).collect();
    (!kinds.is_empty()).then(|| Skipped { kinds, reason: reason.trim().to_owned() })
}

fn aim(text: &str) -> Option<Aim> {
    let (name, ratio) = text.split_once(' ')?;
    let quantity = match name {
        "elapsed" => Aimed::Elapsed,
        "memory" => Aimed::Memory,
        _ => return None,
    };
    Some(Aim { quantity, at_most: ratio.trim().parse().ok()? })
}

/// Splits at blanks outside of single or double quotes.
fn split_quoted(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in text.chars() {
        match quote {
            Some(q) if c == q => quote = None,
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                word.get_or_insert_with(String::new);
            }
            None if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_with(String::new).push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_apply_without_keys() {
        let header = Header::parse("-- Checks: nothing\nmodule Main where\n-- args: too late\n").unwrap();
        assert_eq!(header.ghc, ["-O", "-threaded"]);
        assert!(header.args.is_empty() && header.compare.stderr);
    }

    #[test]
    fn keys_are_read() {
        let text = "-- It does things\n-- ghc: -O0\n-- args: a 'b c' \"\" +RTS -K1m\n-- stdin: x\\ty\n-- stdin: z\n-- rtsopts: some\n\
                    -- env: A=b=c\n-- timeout: 70\n-- compare: stdout, exit\n-- exit: 3\n-- needs: aeson, lens\n-- c: a.c\n-- skip-small: slow\n\
                    -- skip-kinds: Lifo-N1 random; it waits by yielding\n";
        let header = Header::parse(text).unwrap();
        assert_eq!(header.ghc, ["-O0"]);
        assert_eq!(header.args, ["a", "b c", "", "+RTS", "-K1m"]);
        assert_eq!(header.stdin, "x\ty\nz\n");
        assert_eq!(header.rtsopts.as_deref(), Some("some"));
        assert_eq!(header.env, [("A".to_owned(), "b=c".to_owned())]);
        assert_eq!(header.timeout, Some(Duration::from_secs(70)));
        assert_eq!(header.compare, Compare { stdout: true, stderr: false, exit: true });
        assert_eq!(header.exit, Some(3));
        assert_eq!(header.needs, ["aeson", "lens"]);
        let skipped = Skipped { kinds: vec!["Lifo-N1".into(), "random".into()], reason: "it waits by yielding".into() };
        assert_eq!(header.skip_kinds, [skipped]);
        assert_eq!((header.c, header.skip_small.as_deref()), (vec!["a.c".to_owned()], Some("slow")));
    }

    #[test]
    fn benchmarks_say_what_they_measure() {
        let header = Header::parse("-- hecs: 2\n-- aim: elapsed 0.02\n-- aim: memory 0.5\n").unwrap();
        assert_eq!(header.hecs, Some(2));
        let aim = |quantity, at_most| Aim { quantity, at_most };
        assert_eq!(header.aims, [aim(Aimed::Elapsed, 0.02), aim(Aimed::Memory, 0.5)]);
    }

    #[test]
    fn bad_values_are_named() {
        assert!(Header::parse("-- timeout: soon\n").unwrap_err().contains("timeout: soon"));
        assert!(Header::parse("-- timeout: 20\n").unwrap_err().contains("timeout: 20"));
        assert!(Header::parse("-- compare: all\n").is_err());
        assert!(Header::parse("-- env: X\n").is_err());
        assert!(Header::parse("-- hecs: 1\n").unwrap_err().contains("above 1"));
        assert!(Header::parse("-- aim: speed 2\n").is_err());
        assert!(Header::parse("-- skip-kinds: Lifo\n").unwrap_err().contains("and why"));
    }
}
