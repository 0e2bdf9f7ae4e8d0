//! The hosts of a run, as `--hosts` names them.
use super::launch::MAX_ON_HOST;
use crate::error::{Fail, Result};

/// The most processing elements (PEs) of a run (`rts/src/spread/membership.rs`).
pub const MAX_ELEMENTS: usize = 1000;

/// A host, and how many PEs it has.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// As the command takes it that reaches the host: it may begin with the name of a user.
    pub name: String,
    pub count: usize,
}

impl Host {
    /// The name by which other hosts find it.
    pub fn address(&self) -> &str {
        self.name.rsplit_once('@').map_or(&self.name, |(_, host)| host)
    }
}

/// The hosts in a list like `a:2,b:4,c`. With `elements`, that many PEs are dealt to them in order, as far as each has
/// room; what gets none is left out.
pub fn parse(list: &str, elements: Option<usize>) -> Result<Vec<Host>> {
    let mut hosts = list.split(',').map(parse_one).collect::<Result<Vec<Host>>>()?;
    let room: usize = hosts.iter().map(|host| host.count).sum();
    let mut left = elements.unwrap_or(room);
    if left > room {
        return Err(Fail::usage(format!("-n {left} is more than --hosts has room for: {room}")));
    }
    if left > MAX_ELEMENTS {
        return Err(Fail::usage(format!("{left} processing elements are too many: a run has {MAX_ELEMENTS} at most")));
    }
    for host in &mut hosts {
        host.count = host.count.min(left);
        left -= host.count;
    }
    hosts.retain(|host| host.count > 0);
    Ok(hosts)
}

fn parse_one(text: &str) -> Result<Host> {
    let (name, count) = match text.rsplit_once(':') {
        Some((name, count)) => (name, count.parse().ok().filter(|count| (1..=MAX_ON_HOST).contains(count))),
        None => (text, Some(1)),
    };
    let count = count.ok_or_else(|| Fail::usage(format!("--hosts: {text}: a host has 1 to {MAX_ON_HOST} elements")))?;
    let host = Host { name: name.to_owned(), count };
    // One that begins with a dash would be an option of the command that reaches it.
    if host.address().is_empty() || name.starts_with('-') || name.contains(|c: char| c.is_whitespace() || c == '\0') {
        return Err(Fail::usage(format!("--hosts: `{name}' is not the name of a host")));
    }
    Ok(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(list: &str, elements: Option<usize>) -> String {
        match parse(list, elements) {
            Ok(hosts) => hosts.iter().map(|host| format!("{}:{} ", host.name, host.count)).collect(),
            Err(fail) => fail.message,
        }
    }

    #[test]
    fn hosts_are_read() {
        assert_eq!(shown("a:2,b:4", None), "a:2 b:4 ");
        assert_eq!(shown("a,me@b.example:3,a:128", None), "a:1 me@b.example:3 a:128 ");
        assert_eq!(parse("me@b", None).unwrap()[0].address(), "b");
        for wrong in ["", ",a", "a,", ":2", "me@:2", "-oProxyCommand=x:2", "a b", "a\0"] {
            assert!(shown(wrong, None).contains("is not the name of a host"), "{wrong}");
        }
        for wrong in ["a:", "a:0", "a:129", "a:-1", "a:x", "a:2:x"] {
            assert!(shown(wrong, None).contains("1 to 128"), "{wrong}");
        }
    }

    #[test]
    fn elements_are_dealt_in_order() {
        assert_eq!(shown("a:2,b:4,c:1", Some(7)), "a:2 b:4 c:1 ");
        assert_eq!(shown("a:2,b:4,c:1", Some(3)), "a:2 b:1 ");
        assert_eq!(shown("a:2,b:4", Some(7)), "-n 7 is more than --hosts has room for: 6");
        let many = ["a:128"; 8].join(",");
        assert!(shown(&many, None).contains("1000 at most"));
        assert!(shown(&many, Some(1000)).ends_with("a:104 "));
    }
}
