//! Generates the layouts of `abi` from the headers of the installed GHC.
use std::{env, path::PathBuf, process::Command};

fn run(cmd: &mut Command) -> String {
    let out = cmd.output().unwrap_or_else(|e| panic!("cannot run {cmd:?}: {e}"));
    if !out.status.success() {
        panic!("{cmd:?} failed:\n{}", String::from_utf8_lossy(&out.stderr));
    }
    String::from_utf8(out.stdout).expect("UTF-8 output")
}

fn main() {
    println!("cargo:rerun-if-changed=abi");
    println!("cargo:rerun-if-env-changed=HECATON_GHC");
    let ghc = env::var("HECATON_GHC").unwrap_or_else(|_| "ghc".into());
    let libdir = run(Command::new(&ghc).arg("--print-libdir")).trim().to_owned();
    println!("cargo:rerun-if-changed={libdir}/include/DerivedConstants.h");
    let out = PathBuf::from(env::var("OUT_DIR").unwrap());
    let probe = out.join("layout");
    run(Command::new("gcc")
        .args(["-O0", "-w", "-I"])
        .arg(format!("{libdir}/include"))
        .arg("abi/layout.c")
        .arg("-o")
        .arg(&probe));
    std::fs::write(out.join("abi.rs"), run(&mut Command::new(&probe))).unwrap();
}
