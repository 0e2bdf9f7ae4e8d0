//! The division of a command line into the program's arguments and the runtime's.
use crate::api::flags::Policy;

/// The words of an option string.
pub fn words(text: &[u8]) -> Vec<Vec<u8>> {
    let is_space = |b: &u8| b.is_ascii_whitespace() || *b == 0x0b;
    text.split(is_space).filter(|w| !w.is_empty()).map(<[u8]>::to_vec).collect()
}

/// Splits a command line into the program's arguments and the runtime's. `--` ends the runtime's options and is itself
/// an argument of the program. `--RTS` ends them and belongs to neither.
pub fn command_line(args: &[Vec<u8>], policy: Policy) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    if matches!(policy, Policy::Ignore | Policy::IgnoreAll) {
        return (args.to_vec(), Vec::new());
    }
    let (mut program, mut runtime) = (Vec::new(), Vec::new());
    let mut is_runtime = false;
    let mut rest = args.iter();
    program.extend(rest.next().cloned());
    while let Some(arg) = rest.next() {
        match &arg[..] {
            b"--RTS" => program.extend(rest.by_ref().cloned()),
            b"--" => {
                program.push(arg.clone());
                program.extend(rest.by_ref().cloned());
            }
            b"+RTS" => is_runtime = true,
            b"-RTS" => is_runtime = false,
            _ if is_runtime => runtime.push(arg.clone()),
            _ => program.push(arg.clone()),
        }
    }
    (program, runtime)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> (String, String) {
        let args = words(format!("prog {line}").as_bytes());
        let (program, runtime) = command_line(&args, Policy::All);
        let join = |v: Vec<Vec<u8>>| String::from_utf8(v.join(&b' ')).unwrap();
        (join(program), join(runtime))
    }

    #[test]
    fn command_lines() {
        for (line, program, runtime) in [
            ("", "prog", ""),
            ("a b", "prog a b", ""),
            ("+RTS", "prog", ""),
            ("a +RTS -A2m -RTS b", "prog a b", "-A2m"),
            ("+RTS +RTS -A2m", "prog", "-A2m"),
            ("-RTS a", "prog a", ""),
            ("--RTS +RTS -A2m", "prog +RTS -A2m", ""),
            ("+RTS -A2m --RTS a +RTS", "prog a +RTS", "-A2m"),
            ("-- +RTS -A2m", "prog -- +RTS -A2m", ""),
            ("+RTS -A2m -- a -RTS", "prog -- a -RTS", "-A2m"),
            ("a --RTS --RTS b", "prog a --RTS b", ""),
            ("a +RTS -x -RTS b +RTS -y", "prog a b", "-x -y"),
            ("+RTSx --info", "prog +RTSx --info", ""),
        ] {
            assert_eq!(split(line), (program.into(), runtime.into()), "{line}");
        }
    }

    #[test]
    fn nothing_is_taken_when_ignored() {
        let args = words(b"prog +RTS -A2m -RTS --RTS x");
        for policy in [Policy::Ignore, Policy::IgnoreAll] {
            assert_eq!(command_line(&args, policy), (args.clone(), vec![]));
        }
    }
}
