//! Whether an MPI launcher has started this process as one of several, and whether the program is to run over all.
//!
//! *Protocol*
//! 1. Launchers tell each process its number and how many there are, in variables of the environment ([`NUMBERS`]). If
//!    there are several, the program runs over them as its PEs.
//! 2. It does not if it is linked with MPI itself, or if [`VARIABLE`] is `off`. Other values of that ask for MPI in any
//!    case: `on`, `openmpi`, `mpich`, or the path of a shim.
//! 3. Once this is decided the variable is `off`: a program that this one starts has the launcher's variables, too, and
//!    is no part of the run.
//! 4. The number and count that MPI itself says must be those of the environment. They differ if the shim is of another
//!    kind of MPI than the launcher.
//! 5. If several fail the first PE is to say so. The others wait for a while, in which the launcher ends them.
use crate::base::fatal::system_error;
use crate::cluster::ids::{Pe, COORDINATOR};
use crate::spread::transport::mpi::Mpi;
use crate::spread::transport::mpi_library::{self, Library, NotOpened, Place, Shim};
use crate::spread::transport::Transport;
use std::io;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

pub const VARIABLE: &str = "HECATON_MPI";
/// How long others leave it to PE 0 to say why the run does not start.
const TO_SPEAK: Duration = Duration::from_secs(3);
const KINDS: [&str; 2] = ["openmpi", "mpich"];
/// Number, count, and the kinds of MPI that it may be. `SLURM_PROCID` is not among them: a script for a job has it.
const NUMBERS: [(&str, &str, [&str; 2]); 4] = [
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", KINDS),
    ("PMI_RANK", "PMI_SIZE", ["mpich", "openmpi"]),
    ("PMIX_RANK", "SLURM_STEP_NUM_TASKS", KINDS),
    ("PMIX_RANK", "SLURM_NTASKS", KINDS),
];

/// What the environment says.
#[derive(Debug, PartialEq)]
struct Job {
    /// Number and count, if a launcher has told them.
    place: Option<(usize, usize)>,
    /// Shims that may fit: names or a path.
    shims: Vec<String>,
}

/// Reads the environment. `None`: the program runs by itself.
fn read(get: impl Fn(&str) -> Option<String>, is_linked: impl Fn() -> bool) -> Result<Option<Job>, String> {
    let number = |name: &str| get(name)?.parse().ok();
    let found = NUMBERS.iter().find_map(|(rank, size, kinds)| Some(((number(rank)?, number(size)?), *kinds)));
    let (place, kinds) = found.map_or((None, KINDS), |(place, kinds)| (Some(place), kinds));
    let is_alone = place.is_some_and(|(_, size)| size == 1);
    let names = |kinds: &[&str]| kinds.iter().map(|kind| mpi_library::file_name(kind)).collect();
    let shims = match get(VARIABLE).as_deref() {
        Some("off") => return Ok(None),
        None | Some("") if place.is_none() || is_linked() => return Ok(None),
        None | Some("" | "on") => names(&kinds),
        Some(kind) if KINDS.contains(&kind) => names(&[kind]),
        Some(path) if path.contains('/') => vec![path.to_owned()],
        Some(other) => {
            return Err(format!("{VARIABLE} is `{other}'; it takes on, off, openmpi, mpich or the path of a shim"));
        }
    };
    Ok((!is_alone).then_some(Job { place, shims }))
}

/// This process's place among those of an MPI launcher, and its transport.
type Joined = (Place, &'static dyn Transport);

/// Joins the others that an MPI launcher has started. `None`: the program runs by itself.
/// # Errors
/// If it cannot take part. Then this is PE 0, or PE 0 has had the time to say so.
/// # Safety
/// One OS thread runs. Called once.
pub unsafe fn take() -> Result<Option<Joined>, String> {
    let get = |name: &str| std::env::var_os(name)?.into_string().ok();
    let Some(job) = read(get, mpi_library::is_linked)? else { return Ok(None) };
    std::env::set_var(VARIABLE, "off");
    let joined = join(&job);
    if joined.is_err() && job.place.is_some_and(|(rank, _)| rank > 0) {
        thread::sleep(TO_SPEAK);
    }
    joined
}

fn join(job: &Job) -> Result<Option<Joined>, String> {
    let mut shim = open(&job.shims).map_err(|why| not_joined(job, &why))?;
    let place = shim.start().map_err(|why| not_joined(job, &why))?;
    if let Some((_, expected)) = job.place.filter(|expected| *expected != (place.rank, place.size)) {
        let size = place.size;
        let why = format!("MPI has {size} processes, and the launcher {expected}: is it of another MPI than the shim?");
        return Err(not_joined(job, &why));
    }
    if place.size == 1 {
        shim.finish();
        return Ok(None);
    }
    let (Ok(pe), Ok(count)) = (u16::try_from(place.rank), u16::try_from(place.size)) else {
        return Err(format!("MPI has {} processes, which are too many", place.size));
    };
    let failed = |e: io::Error| format!("cannot watch MPI: {}", system_error(&e));
    let mpi = Mpi::new(shim, Pe(pe), count).map_err(failed)?;
    let transport: &'static Mpi<Shim> = RUNNING.get_or_init(|| mpi);
    // SAFETY: the function may be called at any time.
    unsafe { libc::atexit(leave) };
    if Pe(pe) != COORDINATOR {
        ignore_signals_of_terminal();
    }
    Ok(Some((place, transport)))
}

/// The first of these shims that is there.
fn open(shims: &[String]) -> Result<Shim, String> {
    for name in shims {
        match Shim::open(name) {
            Err(NotOpened::Missing) => {}
            Err(NotOpened::Broken(why)) => return Err(why),
            Ok(shim) => return Ok(shim),
        }
    }
    Err(format!("there is no {}; `hecaton mpi-shim' makes it", shims.join(" or ")))
}

fn not_joined(job: &Job, why: &str) -> String {
    let place = job.place.map_or(String::new(), |(rank, size)| format!(" as process {rank} of {size}"));
    format!("cannot take part{place} in a run by MPI: {why} ({VARIABLE}=off runs each process by itself)")
}

static RUNNING: OnceLock<Mpi<Shim>> = OnceLock::new();

/// This process ends by C's `exit`.
extern "C" fn leave() {
    if let Some(mpi) = RUNNING.get() {
        mpi.leave();
    }
}

/// Launchers may pass them on to all. They are for PE 0.
fn ignore_signals_of_terminal() {
    for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP] {
        // SAFETY: no handler of this process is set yet.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_from(variables: &[(&str, &str)], is_linked: bool) -> Result<Option<Job>, String> {
        let get = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
        read(get, || is_linked)
    }

    fn job(place: Option<(usize, usize)>, kinds: &[&str]) -> Result<Option<Job>, String> {
        Ok(Some(Job { place, shims: kinds.iter().map(|kind| mpi_library::file_name(kind)).collect() }))
    }

    #[test]
    fn launchers_are_recognised() {
        let open_mpi = [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "4"), ("PMIX_RANK", "1")];
        assert_eq!(read_from(&open_mpi, false), job(Some((1, 4)), &["openmpi", "mpich"]));
        let mpich = [("PMI_RANK", "0"), ("PMI_SIZE", "2")];
        assert_eq!(read_from(&mpich, false), job(Some((0, 2)), &["mpich", "openmpi"]));
        let slurm = [("PMIX_RANK", "3"), ("SLURM_PROCID", "3"), ("SLURM_NTASKS", "8")];
        assert_eq!(read_from(&slurm, false), job(Some((3, 8)), &KINDS));
        let step = [("PMIX_RANK", "1"), ("SLURM_NTASKS", "8"), ("SLURM_STEP_NUM_TASKS", "2")];
        assert_eq!(read_from(&step, false), job(Some((1, 2)), &KINDS));
        for alone in [
            &[][..],
            &[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "8")],
            &[("PMI_RANK", "0"), ("PMI_SIZE", "1")],
            &[("PMI_RANK", "x"), ("PMI_SIZE", "2")],
            &[("PMI_RANK", "0")],
        ] {
            assert_eq!(read_from(alone, false), Ok(None), "{alone:?}");
        }
    }

    #[test]
    fn the_variable_decides() {
        let with = |value, is_linked| read_from(&[("PMI_RANK", "0"), ("PMI_SIZE", "2"), (VARIABLE, value)], is_linked);
        assert_eq!(with("off", false), Ok(None));
        assert_eq!(with("", true), Ok(None));
        assert_eq!(with("on", true), job(Some((0, 2)), &["mpich", "openmpi"]));
        assert_eq!(with("openmpi", false), job(Some((0, 2)), &["openmpi"]));
        assert_eq!(with("/a/b.so", false), Ok(Some(Job { place: Some((0, 2)), shims: vec!["/a/b.so".to_owned()] })));
        let why = "HECATON_MPI is `lam'; it takes on, off, openmpi, mpich or the path of a shim";
        assert_eq!(with("lam", false), Err(why.to_owned()));
        assert_eq!(read_from(&[(VARIABLE, "on")], false), job(None, &KINDS));
        let alone = [("PMI_RANK", "0"), ("PMI_SIZE", "1"), (VARIABLE, "on")];
        assert_eq!(read_from(&alone, false), Ok(None));
    }

    #[test]
    fn what_is_missing_is_said_in_one_line() {
        let job = job(Some((0, 4)), &["none", "neither"]).unwrap().unwrap();
        let expected = "cannot take part as process 0 of 4 in a run by MPI: there is no libhecaton-mpi-none.so or \
                        libhecaton-mpi-neither.so; `hecaton mpi-shim' makes it (HECATON_MPI=off runs each process by \
                        itself)";
        assert_eq!(join(&job).err().as_deref(), Some(expected));
    }
}
