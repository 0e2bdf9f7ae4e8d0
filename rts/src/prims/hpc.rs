//! Program coverage: counts of the ticks that `-fhpc` compiles in, in a `.tix` file.
//!
//! *Protocol*
//!
//! 1. Modules register from constructors before the file is read, or later when code is loaded.
//! 2. The file is read at start, and the counts of earlier runs are added.
//! 3. The file is written at the end. Its text is `Tix [ TixModule "Main" 1234567 3 [1,2,3], … ]`.
//!
//! *Locking*: one lock.
use crate::base::fatal;
use crate::base::fatal::exit_with;
use libc::c_char;
use std::ffi::CStr;
use std::path::PathBuf;
use std::ptr;
use std::sync::{Mutex, PoisonError};

/// `HpcModuleInfo`. `base` reads it through the list at [`hs_hpc_rootModule`].
#[repr(C)]
pub struct Module {
    name: *const c_char,
    ticks: u32,
    hash: u32,
    counts: *mut u64,
    from_file: bool,
    next: *mut Module,
}

/// The record of a module in the file.
#[derive(Debug, PartialEq)]
struct Record {
    name: String,
    hash: u32,
    counts: Vec<u64>,
}

struct State {
    root: *mut Module,
    /// Records from the file for modules that have not registered yet.
    records: Vec<Record>,
    file: Option<PathBuf>,
    pid: i32,
}
// SAFETY: modules live for ever.
unsafe impl Send for State {}

static STATE: Mutex<State> = Mutex::new(State { root: ptr::null_mut(), records: Vec::new(), file: None, pid: 0 });

fn with<R>(f: impl FnOnce(&mut State) -> R) -> R {
    f(&mut STATE.lock().unwrap_or_else(PoisonError::into_inner))
}

struct Parser<'a>(&'a str);

impl<'a> Parser<'a> {
    fn token(&mut self, t: &str) -> Option<()> {
        self.0 = self.0.trim_start().strip_prefix(t)?;
        Some(())
    }
    fn number(&mut self) -> Option<u64> {
        let s = self.0.trim_start();
        let end = s.find(|c: char| !c.is_ascii_digit()).unwrap_or(s.len());
        self.0 = &s[end..];
        s[..end].parse().ok()
    }
    fn string(&mut self) -> Option<&'a str> {
        self.token("\"")?;
        let (s, rest) = self.0.split_once('"')?;
        self.0 = rest;
        Some(s)
    }
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        self.token("[")?;
        let mut items = Vec::new();
        if self.token("]").is_some() {
            return Some(items);
        }
        loop {
            items.push(item(self)?);
            if self.token(",").is_none() {
                self.token("]")?;
                return Some(items);
            }
        }
    }
    fn record(&mut self) -> Option<Record> {
        self.token("TixModule")?;
        let name = self.string()?.to_owned();
        let hash = self.number()? as u32;
        let ticks = self.number()? as usize;
        let counts = self.list(Parser::number)?;
        (counts.len() == ticks).then_some(Record { name, hash, counts })
    }
}

fn parse(text: &str) -> Option<Vec<Record>> {
    let mut p = Parser(text);
    p.token("Tix")?;
    p.list(Parser::record)
}

fn render<'a>(modules: impl Iterator<Item = (&'a str, u32, &'a [u64])>) -> String {
    let one = |(name, hash, counts): (&str, u32, &[u64])| {
        let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
        format!(" TixModule \"{name}\" {hash} {} [{}]", counts.len(), counts.join(","))
    };
    format!("Tix [{}]\n", modules.map(one).collect::<Vec<_>>().join(","))
}

impl State {
    /// Adds the file's counts of a registered module.
    unsafe fn claim(&mut self, m: &Module) {
        let name = CStr::from_ptr(m.name).to_string_lossy();
        let Some(i) = self.records.iter().position(|r| r.name == name) else { return };
        let r = self.records.swap_remove(i);
        if r.hash != m.hash || r.counts.len() != m.ticks as usize {
            exit_with(1, &format!("module {name} does not match its record in the .tix file; remove the file"));
        }
        for (i, n) in r.counts.into_iter().enumerate() {
            *m.counts.add(i) += n;
        }
    }
}

/// Registers a module, once.
/// # Safety
/// `name` is a string, `counts` has `ticks` elements, and both live for ever.
#[no_mangle]
pub unsafe extern "C" fn hs_hpc_module(name: *const c_char, ticks: u32, hash: u32, counts: *mut u64) {
    with(|s| {
        let mut m = s.root;
        while !m.is_null() {
            if (*m).counts == counts {
                return;
            }
            m = (*m).next;
        }
        let module = Module { name, ticks, hash, counts, from_file: false, next: s.root };
        s.claim(&module);
        s.root = Box::into_raw(Box::new(module));
    })
}

/// The list of modules.
#[no_mangle]
pub extern "C" fn hs_hpc_rootModule() -> *mut Module {
    with(|s| s.root)
}

/// Reads the counts of earlier runs, if the program has coverage counts.
#[no_mangle]
pub extern "C" fn startupHpc() {
    with(|s| {
        if s.root.is_null() {
            return;
        }
        // SAFETY: a query.
        s.pid = unsafe { libc::getpid() };
        let program = crate::base::fatal::program_name();
        let file =
            std::env::var_os("HPCTIXFILE").map_or_else(|| PathBuf::from(format!("{program}.tix")), PathBuf::from);
        if let Ok(text) = std::fs::read_to_string(&file) {
            match parse(&text) {
                Some(records) => s.records = records,
                None => exit_with(1, &format!("cannot read the .tix file {}", file.display())),
            }
        }
        s.file = Some(file);
        let mut m = s.root;
        while !m.is_null() {
            // SAFETY: modules live for ever.
            unsafe {
                s.claim(&*m);
                m = (*m).next;
            }
        }
    })
}

/// Writes the counts. A forked child does not: its parent does.
#[no_mangle]
pub extern "C" fn exitHpc() {
    with(|s| {
        // SAFETY: a query.
        let parent = unsafe { libc::getpid() } == s.pid;
        let Some(file) = s.file.take().filter(|_| parent) else { return };
        let mut found: Vec<(String, u32, &[u64])> = Vec::new();
        let mut m = s.root;
        while !m.is_null() {
            // SAFETY: modules live for ever, and so do their names and counts.
            unsafe {
                let name = CStr::from_ptr((*m).name).to_string_lossy().into_owned();
                let counts = std::slice::from_raw_parts((*m).counts, (*m).ticks as usize);
                found.push((name, (*m).hash, counts));
                m = (*m).next;
            }
        }
        // Modules of the file that this run did not register keep their counts.
        found.extend(s.records.iter().map(|r| (r.name.clone(), r.hash, &r.counts[..])));
        let text = render(found.iter().map(|(n, h, c)| (n.as_str(), *h, *c)));
        if let Err(e) = std::fs::write(&file, text) {
            fatal::print_message(&format!("cannot write {}: {}", file.display(), fatal::system_error(&e)));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_records_can_be_parsed() {
        let text = "Tix [ TixModule \"Main\" 350941442 3 [2,0,7], TixModule \"A.B\" 1 0 []]\n";
        let records = parse(text).unwrap_or_default();
        assert_eq!(records.len(), 2);
        assert_eq!(records[0].counts, [2, 0, 7]);
        let again = render(records.iter().map(|r| (r.name.as_str(), r.hash, &r.counts[..])));
        assert_eq!(again, text);
        assert_eq!(parse("Tix [ TixModule \"Main\" 1 3 [1]]"), None);
    }
}
