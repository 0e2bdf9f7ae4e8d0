//! Builds the Haskell package `hecaton` from `library/`, and registers it in a database of its own.
//!
//! `build/library` is made as `build/lib` is: it is absent or complete, holds a stamp, and is exchanged in one step.
//! All paths in its database are relative (`${pkgroot}`), so it may be made elsewhere. `library/hecaton.cabal` says
//! what the package is called, which modules it has, and what it depends on.
//!
//! In `build/library`:
//!     package.conf.d/  the database, for `-package-db`
//!     modules/         interfaces
//!     lib/             a static and a shared library
//!     html/            documentation by haddock, where that is installed
//!
//! ghc keeps what it compiled in `build/library-objects`, and compiles again what changed.
use super::{exchange, fingerprint, lock, steps::tool};
use crate::error::{Fail, Result};
use crate::ghc::{Ghc, VERSION};
use crate::project::{is_executable, Project};
use std::{
    collections::HashMap,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Brings the package up to date and returns the folder of its database.
pub fn ensure_built(project: &Project) -> Result<PathBuf> {
    let ghc = Ghc::find(project)?;
    let dir = dir(project);
    if !is_current(project, &ghc, &dir)? {
        ghc.check_version()?;
        let _lock = lock(&project.build_dir())?;
        if !is_current(project, &ghc, &dir)? {
            build(project, &ghc, &dir)?;
        }
    }
    Ok(dir.join(DATABASE))
}

/// The folder of the database of a package that has been built.
pub fn database(project: &Project) -> Option<PathBuf> {
    Some(dir(project).join(DATABASE)).filter(|db| db.is_dir())
}

/// Tells one build of the package from another.
pub fn identity(project: &Project) -> String {
    fs::read_to_string(dir(project).join(STAMP)).unwrap_or_default()
}

pub const NAME: &str = "hecaton";
const DATABASE: &str = "package.conf.d";
const STAMP: &str = "stamp";

fn dir(project: &Project) -> PathBuf {
    project.build_dir().join("library")
}

fn is_current(project: &Project, ghc: &Ghc, dir: &Path) -> Result<bool> {
    match fs::read_to_string(dir.join(STAMP)) {
        Ok(stamp) => Ok(stamp == fingerprint::of_package(project, ghc)?),
        Err(_) => Ok(false),
    }
}

fn build(project: &Project, ghc: &Ghc, dir: &Path) -> Result<()> {
    let stamp = fingerprint::of_package(project, ghc)?;
    let package = Package::read(project, ghc)?;
    package.compile()?;
    let tmp = project.build_dir().join("library-tmp");
    if tmp.exists() {
        fs::remove_dir_all(&tmp).map_err(|e| Fail::io("remove", &tmp, e))?;
    }
    let made = package.install(&tmp).and_then(|()| {
        let path = tmp.join(STAMP);
        fs::write(&path, stamp).map_err(|e| Fail::io("write", &path, e))?;
        exchange(&tmp, dir).map_err(|e| Fail::io("put in place", dir, e))
    });
    // Either an incomplete package or the replaced old one.
    let _ = fs::remove_dir_all(&tmp);
    made
}

struct Package<'a> {
    ghc: &'a Ghc,
    /// What the `.cabal` file says.
    fields: Fields,
    /// `hecaton-VERSION`.
    id: String,
    sources: PathBuf,
    /// C headers.
    headers: PathBuf,
    objects: PathBuf,
}

impl<'a> Package<'a> {
    fn read(project: &Project, ghc: &'a Ghc) -> Result<Package<'a>> {
        let path = project.root.join("library/hecaton.cabal");
        let text = fs::read_to_string(&path).map_err(|e| Fail::io("read", &path, e))?;
        let fields = Fields::parse(&text);
        let id = format!("{}-{}", fields.text("name"), fields.text("version"));
        let folder = |field| project.root.join("library").join(fields.text(field));
        let (sources, headers) = (folder("hs-source-dirs"), folder("include-dirs"));
        Ok(Package { ghc, fields, id, sources, headers, objects: project.build_dir().join("library-objects") })
    }

    fn modules(&self) -> Vec<&str> {
        [self.fields.words("exposed-modules"), self.fields.words("other-modules")].concat()
    }

    /// The flags that say which package this is, and what it may import.
    fn flags(&self) -> Vec<String> {
        let mut flags = vec![format!("-this-unit-id={}", self.id), format!("-i{}", self.sources.display())];
        flags.push(format!("-I{}", self.headers.display()));
        flags.extend(["-package-env=-", "-no-user-package-db", "-hide-all-packages"].map(str::to_owned));
        flags.extend(self.fields.words("build-depends").iter().map(|on| format!("-package={on}")));
        flags.push(format!("-X{}", self.fields.text("default-language")));
        flags.extend(self.fields.words("ghc-options").iter().map(|&flag| flag.to_owned()));
        flags
    }

    /// Compiles what changed, for static and for shared libraries.
    fn compile(&self) -> Result<()> {
        fs::create_dir_all(&self.objects).map_err(|e| Fail::io("create", &self.objects, e))?;
        let mut command = Command::new(&self.ghc.path);
        command.args(["--make", "-v0", "-dynamic-too", "-Werror"]).args(self.flags());
        command.arg("-outputdir").arg(&self.objects).args(self.modules());
        tool("compiling the package hecaton", &mut command).map(drop)
    }

    /// Makes the folder that programs use.
    fn install(&self, dir: &Path) -> Result<()> {
        for folder in [DATABASE, "modules", "lib"] {
            let folder = dir.join(folder);
            fs::create_dir_all(&folder).map_err(|e| Fail::io("create", &folder, e))?;
        }
        for ending in ["hi", "dyn_hi"] {
            for from in self.made(ending) {
                let to = dir.join("modules").join(from.strip_prefix(&self.objects).expect("below it"));
                let folder = to.parent().expect("it has a folder");
                fs::create_dir_all(folder).map_err(|e| Fail::io("create", folder, e))?;
                fs::copy(&from, &to).map_err(|e| Fail::io("copy", &from, e))?;
            }
        }
        let archive = dir.join(format!("lib/libHS{}.a", self.id));
        tool("archiving the package hecaton", Command::new("ar").arg("rcs").arg(archive).args(self.made("o")))?;
        let shared = dir.join(format!("lib/libHS{}-ghc{VERSION}.so", self.id));
        let mut link = Command::new(&self.ghc.path);
        link.args(["-shared", "-dynamic", "-v0"]).args(self.flags()).arg("-o").arg(shared).args(self.made("dyn_o"));
        tool("linking the package hecaton", &mut link)?;
        let has_documentation = self.document(&dir.join("html"))?;
        let description = dir.join(format!("{}.conf", self.id));
        fs::write(&description, self.description(has_documentation)?)
            .map_err(|e| Fail::io("write", &description, e))?;
        let mut register = Command::new(self.beside("ghc-pkg"));
        register.args(["register", "-v0"]).arg(format!("--package-db={}", dir.join(DATABASE).display()));
        tool("registering the package hecaton", register.arg(&description)).map(drop)
    }

    /// The files of one kind that ghc made of the modules.
    fn made(&self, ending: &str) -> Vec<PathBuf> {
        self.modules().iter().map(|m| self.objects.join(m.replace('.', "/")).with_extension(ending)).collect()
    }

    /// Writes documentation where haddock is installed, and says whether it is.
    fn document(&self, html: &Path) -> Result<bool> {
        let haddock = self.beside("haddock");
        if !is_executable(&haddock) {
            return Ok(false);
        }
        fs::create_dir_all(html).map_err(|e| Fail::io("create", html, e))?;
        let mut command = Command::new(haddock);
        command.args(["--html", "--hyperlinked-source", "--no-warnings"]).arg("--odir").arg(html);
        command.arg("--dump-interface").arg(html.join("hecaton.haddock"));
        command.args(["--package-name", self.fields.text("name"), "--package-version", self.fields.text("version")]);
        command.args(["--title", self.fields.text("name")]);
        for module in self.fields.words("other-modules") {
            command.arg("--hide").arg(module);
        }
        command.args(self.flags().iter().map(|flag| format!("--optghc={flag}")));
        // ghc would take an outdated object for up to date without a folder of its own.
        command.arg(format!("--optghc=-outputdir={}", html.join("objects").display()));
        command.args(self.modules().iter().map(|m| self.sources.join(m.replace('.', "/")).with_extension("hs")));
        tool("documenting the package hecaton", &mut command)?;
        let _ = fs::remove_dir_all(html.join("objects"));
        Ok(true)
    }

    /// What the database says of the package.
    fn description(&self, has_documentation: bool) -> Result<String> {
        let ask = |what: &str, command: &mut Command| {
            tool(what, command)
                .map(|out| String::from_utf8_lossy(&out).split_whitespace().collect::<Vec<_>>().join(" "))
        };
        let mut hash = Command::new(&self.ghc.path);
        hash.arg("--abi-hash").args(self.flags()).arg(format!("-i{}", self.objects.display())).args(self.modules());
        let abi = ask("hashing the package hecaton", &mut hash)?;
        let mut depends = Vec::new();
        for on in self.fields.words("build-depends") {
            let mut field = Command::new(self.beside("ghc-pkg"));
            field.args(["field", "--global", "--simple-output", on, "id"]);
            depends.push(ask("looking for a package", &mut field)?);
        }
        let (id, fields) = (&self.id, &self.fields);
        let mut lines: Vec<(&str, String)> =
            ["name", "version", "license", "maintainer", "synopsis"].map(|f| (f, fields.text(f).to_owned())).into();
        lines.extend([
            ("id", id.clone()),
            ("key", id.clone()),
            ("visibility", "public".into()),
            ("abi", abi),
            ("exposed", "True".into()),
            ("exposed-modules", fields.words("exposed-modules").join(" ")),
            ("hidden-modules", fields.words("other-modules").join(" ")),
            ("import-dirs", "${pkgroot}/modules".into()),
            ("library-dirs", "${pkgroot}/lib".into()),
            ("dynamic-library-dirs", "${pkgroot}/lib".into()),
            ("hs-libraries", format!("HS{id}")),
            ("depends", depends.join(" ")),
            // A comma would divide options that are not quoted.
            ("ld-options", fields.text("ld-options").split_whitespace().map(|o| format!("\"{o}\" ")).collect()),
        ]);
        if has_documentation {
            lines.push(("haddock-interfaces", "${pkgroot}/html/hecaton.haddock".into()));
            lines.push(("haddock-html", "${pkgroot}/html".into()));
        }
        Ok(lines.iter().map(|(field, value)| format!("{field}: {value}\n")).collect())
    }

    /// A tool that comes with this ghc, or the one on PATH.
    fn beside(&self, name: &str) -> PathBuf {
        let beside = self.ghc.path.with_file_name(name);
        if is_executable(&beside) {
            beside
        } else {
            name.into()
        }
    }
}

/// The fields of a `.cabal` file, as far as such a simple one has them: `name: value`, and further lines of the value
/// that are indented more than its name.
struct Fields(HashMap<String, String>);

impl Fields {
    fn parse(text: &str) -> Fields {
        let mut fields: HashMap<String, String> = HashMap::new();
        let (mut name, mut column) = (String::new(), 0);
        for line in text.lines().filter(|l| !l.trim_start().starts_with("--")) {
            let indented = line.len() - line.trim_start().len();
            match line.split_once(':') {
                Some((field, value)) if name.is_empty() || indented <= column => {
                    (name, column) = (field.trim().to_lowercase(), indented);
                    fields.insert(name.clone(), value.trim().to_owned());
                }
                _ if indented > column => {
                    if let Some(value) = fields.get_mut(&name) {
                        *value = format!("{value} {}", line.trim()).trim().to_owned();
                    }
                }
                // The head of a section.
                _ => name.clear(),
            }
        }
        Fields(fields)
    }

    fn text(&self, field: &str) -> &str {
        self.0.get(field).map_or("", String::as_str)
    }

    fn words(&self, field: &str) -> Vec<&str> {
        self.text(field).split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty()).collect()
    }
}

/// The flags that make the package visible, for a ghc with these arguments. `-clear-package-db` takes every database
/// away, so whatever brings GHC's own back brings this one as well.
pub fn visible(database: &Path, args: &[impl AsRef<OsStr>]) -> Vec<std::ffi::OsString> {
    let flags = || ["-package-db".into(), database.as_os_str().to_owned()];
    let mut all: Vec<_> = flags().into();
    for arg in args {
        all.push(arg.as_ref().to_owned());
        if arg.as_ref() == "-global-package-db" {
            all.extend(flags());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_may_go_on_in_further_lines() {
        let fields =
            Fields::parse("name: a\n-- no\nlibrary\n  exposed-modules:\n    A\n    B.C\n  build-depends: x, y\n");
        assert_eq!((fields.text("name"), fields.words("exposed-modules")), ("a", vec!["A", "B.C"]));
        assert_eq!((fields.words("build-depends"), fields.text("other-modules")), (vec!["x", "y"], ""));
    }

    #[test]
    fn the_package_comes_back_with_the_global_database() {
        let seen = |line: &str| visible(Path::new("/db"), &line.split(' ').collect::<Vec<_>>());
        let words = |line: &str| line.split(' ').map(std::ffi::OsString::from).collect::<Vec<_>>();
        assert_eq!(seen("-O"), words("-package-db /db -O"));
        let cleared = "-clear-package-db -global-package-db";
        assert_eq!(seen(cleared), words(&format!("-package-db /db {cleared} -package-db /db")));
    }
}
