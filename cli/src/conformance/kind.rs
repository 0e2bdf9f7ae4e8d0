//! The kinds of run: what is different for a program from running plainly.

pub struct Kind {
    pub name: &'static str,
    /// What is added to the environment.
    pub(super) env: &'static [(&'static str, &'static str)],
    /// How many times longer than plainly a run may take.
    pub(super) slowdown: u32,
    /// Over how many processing elements (PEs) `hecaton spread` runs it, if that runs it.
    pub(super) elements: Option<&'static str>,
}

/// For each scheduler of the package a kind of run on one, two and four HECs.
macro_rules! of_package {
    ($($name:literal),*) => {
        [$(
            scheduler(concat!($name, "-N1"), &[("HECATON_SCHEDULER", $name), ("GHCRTS", "-N1")]),
            scheduler(concat!($name, "-N2"), &[("HECATON_SCHEDULER", $name), ("GHCRTS", "-N2")]),
            scheduler(concat!($name, "-N4"), &[("HECATON_SCHEDULER", $name), ("GHCRTS", "-N4")])
        ),*]
    };
}

pub const PLAIN: Kind = Kind { name: "plain", env: &[], slowdown: 1, elements: None };
pub const SMALL: Kind = Kind { name: "small", env: &[("GHCRTS", "-A16k")], slowdown: 3, ..PLAIN };
pub const CHECK: Kind = Kind {
    name: "check",
    env: &[("HECATON_CHECK", "heap,oversubscribe,vary-nursery,steal-thunks,eager-modify")],
    slowdown: 6,
    ..PLAIN
};
/// Several GC threads for every collection. Otherwise the runtime would call helpers for large ones only.
pub const CREW: Kind =
    Kind { name: "crew", env: &[("HECATON_CHECK", "heap,oversubscribe,gc-threads=4")], slowdown: 8, ..PLAIN };
/// Nothing ages, and a collection follows every block, so that old objects soon refer to young ones.
pub const OLD: Kind = Kind {
    name: "old",
    env: &[("HECATON_CHECK", "old,oversubscribe,steal-thunks,eager-modify")],
    slowdown: 30,
    ..PLAIN
};
pub const STRESS: Kind = Kind {
    name: "stress",
    env: &[("HECATON_CHECK", "heap,oversubscribe,every-block,steal-thunks,eager-modify")],
    slowdown: 30,
    ..PLAIN
};
pub const CREW_STRESS: Kind = Kind {
    name: "crew-stress",
    env: &[("HECATON_CHECK", "heap,oversubscribe,every-block,gc-threads=4")],
    slowdown: 60,
    ..PLAIN
};

/// Runs on several HECs, for programs linked with `-threaded`. Four may all be busy, however few cores there are, and
/// get their nurseries in small chunks.
pub const HECS: [Kind; 4] = [
    hecs("1", &[("GHCRTS", "-N1")]),
    hecs("2", &[("GHCRTS", "-N2")]),
    hecs("4", &[("GHCRTS", "-N4 -n16k"), ("HECATON_CHECK", "oversubscribe,steal-thunks,eager-modify")]),
    hecs("8", &[("GHCRTS", "-N8 -A64k -n16k")]),
];

/// Runs with another event manager than the one that is used by default, for programs that wait for descriptors.
pub const MANAGERS: [Kind; 2] =
    [manager("base", &[("GHCRTS", "--io-manager=base")]), manager("poll", &[("GHCRTS", "--io-manager=poll")])];

/// Runs with another order of the run queues, for programs about threads. The random one has a virtual clock as well.
pub const SCHEDULERS: [Kind; 3] = [
    scheduler("fifo", &[("HECATON_SCHEDULER", "fifo")]),
    scheduler("lifo", &[("HECATON_SCHEDULER", "lifo")]),
    scheduler("random", &[("HECATON_SCHEDULER", "random:1")]),
];

/// Runs under the schedulers of the package, each on one, two and four HECs, for programs about threads. These are
/// linked with the package and with `-threaded`.
pub const PACKAGE: [Kind; 27] =
    of_package!["Deadline", "FairShare", "Fifo", "Gang", "Lifo", "Priority", "Random:1", "RoundRobin", "WorkStealing"];

/// Runs over several PEs, plainly and with the heap checker in each, for programs linked with `-threaded`.
pub const PES: [Kind; 4] = [
    pes("pes2", "2", &[]),
    pes("pes2-check", "2", CHECK.env),
    pes("pes4", "4", &[]),
    pes("pes4-check", "4", CHECK.env),
];

/// All kinds of run.
pub(super) fn all() -> impl Iterator<Item = &'static Kind> {
    const KINDS: [&Kind; 7] = [&PLAIN, &SMALL, &CHECK, &OLD, &CREW, &STRESS, &CREW_STRESS];
    KINDS.into_iter().chain(&HECS).chain(&MANAGERS).chain(&SCHEDULERS).chain(&PACKAGE).chain(&PES)
}

/// The kind of run of this name.
pub fn kind(name: &str) -> Option<&'static Kind> {
    all().find(|k| k.name == name)
}

impl Kind {
    pub(super) fn sets(&self, variable: &str) -> bool {
        self.env.iter().any(|(name, _)| *name == variable)
    }

    /// Is it for programs linked with `-threaded`?
    pub fn is_threaded(&self) -> bool {
        HECS.iter().any(|k| k.name == self.name) || self.is_under_package() || self.elements.is_some()
    }

    /// Is it over one of these numbers of PEs?
    pub fn is_over(&self, numbers: &[String]) -> bool {
        self.elements.is_some_and(|elements| numbers.iter().any(|number| number == elements))
    }

    /// Does a header mean it by this? `Lifo-N1` is a single kind. `Lifo` stands for those of a scheduler of the
    /// package, and `-N1` for those on this number of HECs.
    pub(super) fn is_called(&self, name: &str) -> bool {
        let part = self.is_under_package().then(|| self.name.strip_prefix(name).or(self.name.strip_suffix(name)));
        self.name == name || part.flatten().is_some_and(|rest| rest.starts_with("-N") || name.starts_with("-N"))
    }

    /// Do the programs run under a scheduler of the package?
    pub fn is_under_package(&self) -> bool {
        PACKAGE.iter().any(|k| k.name == self.name)
    }
}

const fn hecs(name: &'static str, env: &'static [(&'static str, &'static str)]) -> Kind {
    Kind { name, env, slowdown: 4, ..PLAIN }
}

const fn manager(name: &'static str, env: &'static [(&'static str, &'static str)]) -> Kind {
    Kind { name, env, slowdown: 2, ..PLAIN }
}

const fn scheduler(name: &'static str, env: &'static [(&'static str, &'static str)]) -> Kind {
    Kind { name, env, slowdown: 10, ..PLAIN }
}

/// All PEs share the machine, and each checks its heap.
const fn pes(name: &'static str, elements: &'static str, env: &'static [(&'static str, &'static str)]) -> Kind {
    Kind { name, env, slowdown: 12, elements: Some(elements) }
}
