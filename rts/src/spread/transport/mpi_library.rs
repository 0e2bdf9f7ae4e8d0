//! What the transport needs of MPI: [`Library`], and the *shim* that has it.
//!
//! The kinds of MPI differ in their binary interfaces, and many machines have none. So the functions are in a shared
//! library with an interface of its own (`rts/mpi/shim.c`), which `hecaton mpi-shim` makes where MPI is installed, and
//! which is opened by name. Its symbols are global: parts of Open MPI find others in this way.
use crate::base::os_thread::with_all_blocked;
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::mem::transmute_copy;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The version of the interface. The shim has the same number.
const INTERFACE: c_int = 1;

/// Packets without waiting. Its functions are called by one OS thread at a time.
pub trait Library: Send {
    type Request: Send;
    /// Begins to send, until the receiver has taken the bytes.
    /// # Safety
    /// The bytes stay until the request is done.
    unsafe fn send(&mut self, to: usize, tag: i32, bytes: &[u8]) -> Self::Request;
    /// Begins to receive. Those of one tag are filled in order.
    /// # Safety
    /// The buffer stays until the request is done or withdrawn.
    unsafe fn receive(&mut self, tag: i32, buffer: &mut [u8]) -> Self::Request;
    /// Begins to wait until all have begun to.
    fn barrier(&mut self) -> Self::Request;
    /// Is it done? For one that receives: from whom, and how many bytes. Once it has been done it is not used again.
    fn done(&mut self, request: &Self::Request) -> Option<(usize, usize)>;
    /// Withdraws a request to receive.
    fn withdraw(&mut self, request: Self::Request);
    /// Nothing is under way with anybody. All do this together.
    fn finish(&mut self);
}

/// A request of the shim.
pub struct Pending(*mut c_void);

// SAFETY: the shim may be called from any OS thread.
unsafe impl Send for Pending {}

type Start = unsafe extern "C" fn(*mut c_int, *mut c_int, *mut c_int) -> *const c_char;

pub struct Shim {
    start: Start,
    send: unsafe extern "C" fn(c_int, c_int, *const c_void, c_int) -> *mut c_void,
    receive: unsafe extern "C" fn(c_int, *mut c_void, c_int) -> *mut c_void,
    barrier: unsafe extern "C" fn() -> *mut c_void,
    is_done: unsafe extern "C" fn(*mut c_void, *mut c_int, *mut c_int) -> c_int,
    withdraw: unsafe extern "C" fn(*mut c_void),
    finish: unsafe extern "C" fn(),
}

/// This process among those of the launcher.
#[derive(Debug, PartialEq)]
pub struct Place {
    pub rank: usize,
    pub size: usize,
    /// Those of this host.
    pub neighbours: Range<usize>,
}

/// Why there is no shim.
#[derive(Debug, PartialEq)]
pub enum NotOpened {
    /// There is no file.
    Missing,
    /// It cannot be used, for a reason in the system's words.
    Broken(String),
}

/// The name of the shim's file for a kind of MPI.
pub fn file_name(kind: &str) -> String {
    format!("libhecaton-mpi-{kind}.so")
}

/// Where a shim may be: beside the program, where `hecaton mpi-shim` puts it, or where the system looks.
fn places(name: &str) -> Vec<PathBuf> {
    let beside = std::env::current_exe().ok().and_then(|path| Some(path.parent()?.to_owned()));
    let own = std::env::var_os("HOME").map(|home| Path::new(&home).join(".local/lib/hecaton"));
    let files = [beside, own].into_iter().flatten().map(|folder| folder.join(name)).filter(|path| path.is_file());
    files.chain([PathBuf::from(name)]).collect()
}

impl Shim {
    /// Opens a shim. A name without a slash is looked for.
    /// # Errors
    /// If there is none, or it cannot be used.
    pub fn open(name: &str) -> Result<Shim, NotOpened> {
        let all = if name.contains('/') { vec![PathBuf::from(name)] } else { places(name) };
        let mut result = Err(NotOpened::Missing);
        for path in all {
            // A file that is there, but cannot be used, says more than one that is not there.
            match Shim::open_file(&path) {
                Err(NotOpened::Missing) => {}
                opened => result = opened,
            }
            if result.is_ok() {
                break;
            }
        }
        result
    }

    fn open_file(path: &Path) -> Result<Shim, NotOpened> {
        let broken = |why: &str| NotOpened::Broken(why.to_owned());
        let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| NotOpened::Missing)?;
        // SAFETY: the name is a string. The symbols of a shim with this number have the types of this file.
        unsafe {
            let handle = libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL);
            if handle.is_null() {
                let why = CStr::from_ptr(libc::dlerror()).to_string_lossy();
                let is_missing =
                    why.starts_with(&*path.to_string_lossy()) && why.ends_with("No such file or directory");
                return Err(if is_missing { NotOpened::Missing } else { broken(&why) });
            }
            let symbol = |name: &CStr| {
                let found = libc::dlsym(handle, name.as_ptr());
                if found.is_null() {
                    return Err(broken(&format!("{} has no {}", path.display(), name.to_string_lossy())));
                }
                Ok(found)
            };
            let found = *symbol(c"hec_mpi_interface")?.cast::<c_int>();
            if found != INTERFACE {
                let (path, expected) = (path.display(), INTERFACE);
                return Err(broken(&format!("{path} has interface {found}, but this program needs {expected}")));
            }
            Ok(Shim {
                start: function(symbol(c"hec_mpi_start")?),
                send: function(symbol(c"hec_mpi_send")?),
                receive: function(symbol(c"hec_mpi_receive")?),
                barrier: function(symbol(c"hec_mpi_barrier")?),
                is_done: function(symbol(c"hec_mpi_is_done")?),
                withdraw: function(symbol(c"hec_mpi_withdraw")?),
                finish: function(symbol(c"hec_mpi_finish")?),
            })
        }
    }

    /// Starts MPI, and waits until all processes have.
    /// # Errors
    /// If MPI does not start.
    pub fn start(&mut self) -> Result<Place, String> {
        let (mut rank, mut size, mut neighbours) = (0, 0, [0; 2]);
        // OS threads of MPI take no signals that are for Haskell.
        // SAFETY: the pointers are to live locals.
        let why = with_all_blocked(|_| unsafe { (self.start)(&mut rank, &mut size, neighbours.as_mut_ptr()) });
        if !why.is_null() {
            // SAFETY: it is a string that is never freed.
            return Err(unsafe { CStr::from_ptr(why) }.to_string_lossy().into_owned());
        }
        let [first, count] = neighbours.map(|n| n as usize);
        Ok(Place { rank: rank as usize, size: size as usize, neighbours: first..first + count })
    }
}

/// A symbol as a function of the type that is expected.
/// # Safety
/// It has that type.
unsafe fn function<F>(symbol: *mut c_void) -> F {
    transmute_copy(&symbol)
}

/// Has the program been linked with MPI, to use it itself?
pub fn is_linked() -> bool {
    // SAFETY: the name is a string.
    unsafe { !libc::dlsym(libc::RTLD_DEFAULT, c"MPI_Init".as_ptr()).is_null() }
}

// SAFETY (all calls): the shim is started, and the caller keeps the bytes.
impl Library for Shim {
    type Request = Pending;

    unsafe fn send(&mut self, to: usize, tag: i32, bytes: &[u8]) -> Pending {
        Pending((self.send)(to as c_int, tag, bytes.as_ptr().cast(), bytes.len() as c_int))
    }

    unsafe fn receive(&mut self, tag: i32, buffer: &mut [u8]) -> Pending {
        Pending((self.receive)(tag, buffer.as_mut_ptr().cast(), buffer.len() as c_int))
    }

    fn barrier(&mut self) -> Pending {
        Pending(unsafe { (self.barrier)() })
    }

    fn done(&mut self, request: &Pending) -> Option<(usize, usize)> {
        let (mut from, mut length) = (0, 0);
        let is_done = unsafe { (self.is_done)(request.0, &mut from, &mut length) } != 0;
        is_done.then_some((from.max(0) as usize, length.max(0) as usize))
    }

    fn withdraw(&mut self, request: Pending) {
        unsafe { (self.withdraw)(request.0) }
    }

    fn finish(&mut self) {
        unsafe { (self.finish)() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_shim_is_not_used() {
        assert_eq!(Shim::open("libhecaton-mpi-none.so").err(), Some(NotOpened::Missing));
        assert_eq!(Shim::open("/nowhere/libhecaton-mpi-none.so").err(), Some(NotOpened::Missing));
        let Some(NotOpened::Broken(why)) = Shim::open("libc.so.6").err() else { panic!("opened") };
        assert_eq!(why, "libc.so.6 has no hec_mpi_interface");
        let file = std::env::temp_dir().join(format!("hecaton-shim-{}", std::process::id()));
        std::fs::write(&file, "no library").unwrap();
        let Some(NotOpened::Broken(why)) = Shim::open(file.to_str().unwrap()).err() else { panic!("opened") };
        std::fs::remove_file(&file).unwrap();
        assert!(why.contains("file too short") || why.contains("invalid ELF header"), "{why}");
    }
}
