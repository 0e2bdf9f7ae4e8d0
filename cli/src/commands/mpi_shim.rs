//! `hecaton mpi-shim`: the functions of this machine's MPI that programs load when an MPI launcher starts them
//! (`rts/mpi/shim.c`).
use crate::error::{reason, Fail, Result};
use crate::project::{on_path, Project};
use std::{
    env, fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    process::{self, Command, Output},
};

/// Below the user's folder. Programs look there.
const FOLDER: &str = ".local/lib/hecaton";
/// What is before the kind of MPI in the source, when it is preprocessed.
const KIND: &str = "hec_mpi_kind[] = \"";

#[derive(clap::Args)]
pub struct Options {
    /// MPI's C compiler, if it is not mpicc: a name on PATH, or a path
    #[arg(long, value_name = "COMMAND", default_value = "mpicc")]
    mpicc: String,
    /// Where to put the library, if not in ~/.local/lib/hecaton, where programs look for it
    #[arg(long, value_name = "FOLDER")]
    to: Option<PathBuf>,
}

pub fn run(project: &Project, options: &Options) -> Result<()> {
    let mpicc = &options.mpicc;
    if !mpicc.contains('/') && on_path(mpicc).next().is_none() {
        return Err(Fail::new(format!(
            "there is no {mpicc}; MPI's C compiler is in Debian's packages libopenmpi-dev and libmpich-dev"
        )));
    }
    let source = project.root.join("rts/mpi/shim.c");
    let kind = kind_of(mpicc, &source)?;
    let folder = match &options.to {
        Some(folder) => folder.clone(),
        None => Path::new(&env::var_os("HOME").ok_or_else(|| Fail::new("HOME is not set (see --to)"))?).join(FOLDER),
    };
    fs::create_dir_all(&folder).map_err(|e| Fail::io("create", &folder, e))?;
    let library = folder.join(format!("libhecaton-mpi-{kind}.so"));
    // Programs that run keep the file that they have opened.
    let new = folder.join(format!(".libhecaton-mpi-{kind}.{}", process::id()));
    let mut compile = Command::new(mpicc);
    compile.args(["-O2", "-shared", "-fPIC", "-o"]).arg(&new).arg(&source);
    let output = compile.output().map_err(|e| cannot_run(mpicc, &e))?;
    if !output.status.success() {
        let _ = fs::remove_file(&new);
        return Err(failed(mpicc, &output));
    }
    fs::rename(&new, &library).map_err(|e| Fail::io("create", &library, e))?;
    println!("{}", library.display());
    Ok(())
}

/// Which MPI a compiler is for.
fn kind_of(mpicc: &str, source: &Path) -> Result<String> {
    let output = Command::new(mpicc).args(["-E", "-P"]).arg(source).output().map_err(|e| cannot_run(mpicc, &e))?;
    if !output.status.success() {
        return Err(failed(mpicc, &output));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let kind = text.split_once(KIND).and_then(|(_, rest)| rest.split_once('"'));
    kind.map(|(kind, _)| kind.to_owned()).ok_or_else(|| Fail::new(format!("{mpicc} does not preprocess as gcc does")))
}

fn cannot_run(mpicc: &str, error: &std::io::Error) -> Fail {
    match error.kind() {
        ErrorKind::NotFound => Fail::new(format!("there is no {mpicc}")),
        _ => Fail::new(format!("cannot run {mpicc}: {}", reason(error))),
    }
}

/// The compiler's first error.
fn failed(mpicc: &str, output: &Output) -> Fail {
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().find(|line| line.contains("error")).or(said.lines().next()).unwrap_or("it failed");
    Fail::new(format!("{mpicc}: {line}"))
}
