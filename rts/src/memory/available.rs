//! The most memory that the system can give the process.
//!
//! A request beyond that is refused at once. The system itself would grant it, because it counts pages only when they
//! are touched. It would then kill this or another process while the pages are being touched.
//!
//! The least of these limits counts:
//!
//! - the machine's memory with its swap space,
//! - the limits of the process's control groups and their ancestors (cgroup v1 and v2),
//! - `RLIMIT_AS` and `RLIMIT_DATA`.
//!
//! Limits may change while the program runs, so they are read again for a request that is not small compared with the
//! last limit.
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A request of at most this part (one in 16) of the last known limit is granted without reading the limits again.
const UNCHECKED_DIVISOR: usize = 16;

/// The limit in bytes when it was last read; 0 before.
static LAST_LIMIT: AtomicUsize = AtomicUsize::new(0);

/// Can the system give `bytes` bytes? Preserves `errno`. Not for small requests (`prims/alloc.rs`): reading the limits
/// costs as much as touching some pages.
pub fn can_grant(bytes: usize) -> bool {
    bytes <= LAST_LIMIT.load(Ordering::Relaxed) / UNCHECKED_DIVISOR || bytes <= read_limit()
}

#[cold]
fn read_limit() -> usize {
    // SAFETY: a thread-local address.
    let errno = unsafe { *libc::__errno_location() };
    let limit =
        system_limit(Path::new("/")).min(resource_limit(libc::RLIMIT_AS)).min(resource_limit(libc::RLIMIT_DATA));
    LAST_LIMIT.store(limit, Ordering::Relaxed);
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    limit
}

fn resource_limit(resource: libc::__rlimit_resource_t) -> usize {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: a query.
    unsafe { libc::getrlimit(resource, &mut limit) };
    usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX)
}

/// The limit that the machine and its control groups set, by the files below `root`.
fn system_limit(root: &Path) -> usize {
    let machine = machine_bytes(root).unwrap_or(usize::MAX);
    control_group_bytes(root).unwrap_or(usize::MAX).min(machine)
}

fn read(root: &Path, file: &str) -> Option<String> {
    fs::read(root.join(file)).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Bytes of memory and swap space.
fn machine_bytes(root: &Path) -> Option<usize> {
    let text = read(root, "proc/meminfo")?;
    let kilobytes = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.split_whitespace().next()?.parse::<usize>().ok()
    };
    kilobytes("MemTotal")?.saturating_add(kilobytes("SwapTotal").unwrap_or(0)).checked_mul(1 << 10)
}

/// The least limit of the process's control groups and their ancestors.
fn control_group_bytes(root: &Path) -> Option<usize> {
    let groups = read(root, "proc/self/cgroup")?;
    let mounts = read(root, "proc/self/mountinfo")?;
    let least = |group: Group| {
        let mounted = mounts.lines().filter_map(|line| group.folders(line)).flatten();
        mounted.filter_map(|folder| group.limit(&root.join(folder.strip_prefix("/").ok()?))).min()
    };
    groups.lines().filter_map(Group::parse).filter_map(least).min()
}

/// A control group of the process that may limit memory.
#[derive(Clone, Copy)]
struct Group<'a> {
    /// Path within its hierarchy.
    path: &'a str,
    /// Of cgroup v2, which has all controllers in one hierarchy.
    unified: bool,
}

impl<'a> Group<'a> {
    /// From a line `id:controllers:path` of `/proc/self/cgroup`.
    fn parse(line: &'a str) -> Option<Group<'a>> {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let unified = controllers.is_empty();
        (unified || controllers.split(',').any(|name| name == "memory")).then_some(Group { path, unified })
    }

    /// The folders of the group and its ancestors, innermost first, if this line of `/proc/self/mountinfo` mounts its
    /// hierarchy. In a container the mounted part may begin at the group or above it, or have another name. Then the
    /// mounted part counts.
    fn folders(&self, mount: &str) -> Option<Vec<PathBuf>> {
        let (fields, options) = mount.split_once(" - ")?;
        let mut fields = fields.split(' ').skip(3);
        let (top, at) = (unescaped(fields.next()?), unescaped(fields.next()?));
        let mut options = options.split(' ');
        let is_ours = match (options.next()?, self.unified) {
            ("cgroup2", unified) => unified,
            ("cgroup", unified) => !unified && options.nth(1)?.split(',').any(|option| option == "memory"),
            _ => false,
        };
        let inner = Path::new(self.path).strip_prefix(&top).unwrap_or(Path::new(""));
        let inner = if inner.starts_with("..") { Path::new("") } else { inner };
        is_ours.then(|| inner.ancestors().map(|part| Path::new(&at).join(part)).collect())
    }

    fn limit(&self, folder: &Path) -> Option<usize> {
        let file = if self.unified { "memory.max" } else { "memory.limit_in_bytes" };
        // No limit is the word `max`, or a number beyond all memory.
        read(folder, file)?.trim().parse().ok()
    }
}

/// Decodes a path of `mountinfo`, where blanks and the like are `\\` and three octal digits.
fn unescaped(field: &str) -> String {
    let mut path = Vec::new();
    let mut rest = field.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.filter(|_| *first == b'\\').and_then(|digits| u8::from_str_radix(digits, 8).ok());
        path.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &after[3..] } else { after };
    }
    String::from_utf8_lossy(&path).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine with 16 MB of memory and 4 MB of swap space, and some more files.
    struct Machine(PathBuf);

    impl Machine {
        fn new(name: &str, files: &[(&str, &str)]) -> Machine {
            let root = std::env::temp_dir().join(format!("hecaton-{}-{name}", std::process::id()));
            let meminfo = ("proc/meminfo", "MemTotal:       16384 kB\nMemFree:  5 kB\nSwapTotal:   4096 kB\n");
            for (file, text) in [meminfo].iter().chain(files) {
                let file = root.join(file);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, text).unwrap();
            }
            Machine(root)
        }
        fn limit_megabytes(&self) -> usize {
            system_limit(&self.0) >> 20
        }
    }

    impl Drop for Machine {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    const V2: &str =
        "24 1 0:22 / /proc rw - proc proc rw\n30 23 0:27 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";

    #[test]
    fn without_control_groups_memory_and_swap_count() {
        assert_eq!(Machine::new("bare", &[]).limit_megabytes(), 20);
        let none = [("proc/self/cgroup", "0::/\n"), ("proc/self/mountinfo", V2)];
        assert_eq!(Machine::new("root", &none).limit_megabytes(), 20);
        assert_eq!(system_limit(Path::new("/nowhere")), usize::MAX);
    }

    #[test]
    fn the_least_limit_of_a_group_and_its_ancestors_counts() {
        let at = |inner: &'static str, outer: &'static str, top: &'static str| {
            let files = [
                ("proc/self/cgroup", "0::/outer/inner\n"),
                ("proc/self/mountinfo", V2),
                ("sys/fs/cgroup/outer/inner/memory.max", inner),
                ("sys/fs/cgroup/outer/memory.max", outer),
                ("sys/fs/cgroup/memory.max", top),
                ("sys/fs/cgroup/other/memory.max", "1048576\n"),
            ];
            Machine::new("nested", &files).limit_megabytes()
        };
        assert_eq!(at("5242880\n", "max\n", "max\n"), 5);
        assert_eq!(at("max\n", "6291456\n", "max\n"), 6);
        assert_eq!(at("6291456\n", "5242880\n", "max\n"), 5);
        assert_eq!(at("6291456\n", "5242880\n", "4194304\n"), 4);
        assert_eq!(at("max\n", "max\n", "max\n"), 20);
        assert_eq!(at("1073741824\n", "max\n", "max\n"), 20);
    }

    #[test]
    fn a_container_that_sees_its_own_part_of_the_hierarchy_is_limited_by_it() {
        for (n, (path, top)) in
            [("/box/7", "/box/7"), ("/box/7", "/box"), ("/../../box/7", "/"), ("/box/7", "/elsewhere")]
                .iter()
                .enumerate()
        {
            let inner = if *top == "/box" { "sys/fs/cgroup/7/memory.max" } else { "sys/fs/cgroup/memory.max" };
            let files = [
                ("proc/self/cgroup", &format!("0::{path}\n") as &str),
                ("proc/self/mountinfo", &V2.replace("0:27 /", &format!("0:27 {top}"))),
                (inner, "3145728\n"),
            ];
            assert_eq!(Machine::new(&format!("box{n}"), &files).limit_megabytes(), 3, "{path} under {top}");
        }
    }

    #[test]
    fn the_first_version_has_a_hierarchy_for_memory() {
        let mounts = "33 32 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                      36 32 0:33 / /sys/fs/my\\040groups rw - cgroup cgroup rw,memory\n\
                      43 32 0:40 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let at = |inner: &'static str, outer: &'static str| {
            let files = [
                ("proc/self/cgroup", "9:name=systemd:/a\n4:memory,hugetlb:/a/b\n1:cpu:/c\n0::/\n"),
                ("proc/self/mountinfo", mounts),
                ("sys/fs/my groups/a/b/memory.limit_in_bytes", inner),
                ("sys/fs/my groups/a/memory.limit_in_bytes", outer),
                ("sys/fs/cgroup/cpu/c/memory.limit_in_bytes", "1048576\n"),
            ];
            Machine::new("first", &files).limit_megabytes()
        };
        assert_eq!(at("7340032\n", "9223372036854771712\n"), 7);
        assert_eq!(at("9223372036854771712\n", "2097152\n"), 2);
        assert_eq!(at("9223372036854771712\n", "9223372036854771712\n"), 20);
    }

    #[test]
    fn a_request_beyond_all_memory_is_refused() {
        assert!(can_grant(1 << 20));
        assert!(!can_grant(1 << 60));
        let limit = LAST_LIMIT.load(Ordering::Relaxed);
        assert!(can_grant(limit) && !can_grant(limit + 1));
    }
}
