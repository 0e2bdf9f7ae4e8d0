//! What an agent is to start, and where the processing elements (PEs) are: contents of frames.
//!
//! Both are texts, each of which ends with a zero byte, because paths and arguments have none. Only the run's key is
//! bytes.
use std::{ffi::OsString, os::unix::ffi::OsStringExt};

/// The version of what launcher and agent tell each other.
const VERSION: &str = "1";
/// Bytes of a run's key.
pub const KEY: usize = 32;

#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    pub key: [u8; KEY],
    /// The host, as the user calls it.
    pub host: String,
    /// The first PE of this host, how many it has, and how many there are.
    pub first: usize,
    pub count: usize,
    pub total: usize,
    pub folder: OsString,
    pub environment: Vec<(OsString, OsString)>,
    /// The program and its arguments.
    pub command: Vec<OsString>,
}

impl Assignment {
    pub fn write(&self) -> Vec<u8> {
        let numbers = [self.first, self.count, self.total, self.environment.len()].map(|n| n.to_string().into());
        let heads = [VERSION.into(), self.host.clone().into(), self.folder.clone()];
        let variables = self.environment.iter().flat_map(|(name, value)| [name.clone(), value.clone()]);
        let texts = heads.into_iter().chain(numbers).chain(variables).chain(self.command.iter().cloned());
        [&self.key[..], &joined(texts)].concat()
    }

    pub fn read(bytes: &[u8]) -> Option<Assignment> {
        let (key, rest) = bytes.split_at_checked(KEY)?;
        let mut texts = split(rest)?.into_iter();
        if texts.next()? != VERSION {
            return None;
        }
        let host = texts.next()?.into_string().ok()?;
        let folder = texts.next()?;
        let mut number = || texts.next()?.to_str()?.parse().ok();
        let (first, count, total, variables): (usize, usize, usize, usize) =
            (number()?, number()?, number()?, number()?);
        let environment = (0..variables).map(|_| texts.next().zip(texts.next())).collect::<Option<_>>()?;
        let command: Vec<OsString> = texts.collect();
        let fits = count > 0 && first.checked_add(count)? <= total && !command.is_empty();
        let key = key.try_into().ok()?;
        fits.then_some(Assignment { key, host, first, count, total, folder, environment, command })
    }
}

/// The PEs of a host: by which name others find it, and their ports.
#[derive(Clone, Debug, PartialEq)]
pub struct Places {
    pub address: String,
    pub ports: Vec<u16>,
}

pub fn write_table(hosts: &[Places]) -> Vec<u8> {
    let line = |host: &Places| {
        let ports = host.ports.iter().map(u16::to_string);
        std::iter::once(host.address.clone()).chain(ports).collect::<Vec<_>>().join(" ")
    };
    joined(hosts.iter().map(|host| line(host).into()))
}

pub fn read_table(bytes: &[u8]) -> Option<Vec<Places>> {
    let line = |text: OsString| {
        let text = text.into_string().ok()?;
        let mut words = text.split(' ');
        let address = words.next()?.to_owned();
        Some(Places { address, ports: words.map(|port| port.parse().ok()).collect::<Option<_>>()? })
    };
    split(bytes)?.into_iter().map(line).collect()
}

fn joined(texts: impl Iterator<Item = OsString>) -> Vec<u8> {
    texts.flat_map(|text| text.into_vec().into_iter().chain([0])).collect()
}

fn split(bytes: &[u8]) -> Option<Vec<OsString>> {
    let whole = bytes.strip_suffix(&[0])?;
    Some(whole.split(|&byte| byte == 0).map(|text| OsString::from_vec(text.to_vec())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assignment() -> Assignment {
        Assignment {
            key: std::array::from_fn(|n| n as u8),
            host: "me@b".to_owned(),
            first: 2,
            count: 3,
            total: 5,
            folder: "/a folder".into(),
            environment: vec![("HECATON_CHECK".into(), "".into()), ("HECATON_SHOW".into(), "a=b".into())],
            command: vec!["/bin/x".into(), "".into(), OsString::from_vec(vec![0xff, b'\n', b' '])],
        }
    }

    #[test]
    fn assignments_are_read_as_they_were_written() {
        let whole = assignment();
        assert_eq!(Assignment::read(&whole.write()).as_ref(), Some(&whole));
        let plain = Assignment { environment: vec![], command: vec!["x".into()], ..whole.clone() };
        assert_eq!(Assignment::read(&plain.write()), Some(plain));
        for wrong in [Assignment { first: 3, ..whole.clone() }, Assignment { count: 0, ..whole.clone() }] {
            assert_eq!(Assignment::read(&wrong.write()), None);
        }
        assert_eq!(Assignment::read(&Assignment { command: vec![], ..whole.clone() }.write()), None);
        let mut other = whole.write();
        other[KEY] = b'0';
        assert_eq!(Assignment::read(&other), None);
        assert_eq!(Assignment::read(&whole.write()[..KEY]), None);
    }

    #[test]
    fn tables_are_read_as_they_were_written() {
        let host = |address: &str, ports: &[u16]| Places { address: address.to_owned(), ports: ports.to_vec() };
        let hosts = [host("a", &[1, 65535]), host("b.example", &[7])];
        assert_eq!(read_table(&write_table(&hosts)).unwrap(), hosts);
        assert_eq!(read_table(b"a 1"), None);
        assert_eq!(read_table(b"a 65536\0"), None);
    }
}
