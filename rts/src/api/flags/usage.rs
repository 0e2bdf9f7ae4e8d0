//! The text of `+RTS -?`. It is also printed after a wrong option.
use crate::abi::Ways;
use crate::events::poller::Kind;
use crate::events::selection;

const HEAD: &str = "
Usage: <prog> <args> [+RTS <rtsopts> | -RTS <args>] ... --RTS <args>

  +RTS     Options for the runtime system (Hecaton) follow
  -RTS     Arguments for the program follow
  --RTS    All that follows is for the program, even +RTS

Information:
  -?         Print this text and end
  --info     Print what this runtime system is, as a list of pairs

Memory (sizes: 4096, 64k, 20m, 1g):
  -A<size>   Allocate this much between collections (default: 1m)
  -AL<size>  Allocate this much in large objects between collections (default: as -A)
  -n<size>   With several HECs, divide allocation areas into chunks of this size
             (default: 512k, or 4m from -A16m on)
  -O<size>   Let the old generation grow to this size at least (default: 1m)
  -G<n>      Number of generations (default: 2; the oldest of twelve stands for
             all that are older)
  -F<n>      Collect an old generation when it has grown by this factor (default: 2.0)
  -H[<size>] Use this much memory from the start; alone: as much as was used before
  -M<size>   Maximum heap size (default: no limit)
  -Mgrace=<size>
             Allow this much more after a HeapOverflow exception (default: 1m)
  -xq<size>  Allow this much after an AllocationLimitExceeded exception (default: 100k)
  -B         Ring the bell at each collection

Stacks:
  -K<size>   Maximum stack size (default: 80% of memory)
  -ki<size>  Stack size of a new thread (default: 1k)
  -kc<size>  Size of stack chunks (default: 32k)
  -kb<size>  Copy this much to a new chunk (default: 1k)

Statistics:
  -T         Collect statistics for the program to read
  -t[<file>] One line at the end
  -s[<file>] Summary at the end
  -S[<file>] A line for each collection, and the summary
  --machine-readable, --internal-counters
  --gc-phases
             With -s and -S: where the time of collections went, and what they copied

Time:
  -C<secs>   Time between context switches (default: 0.02; 0: as often as possible)
  -V<secs>   Time between ticks of the clock for all of this (default: 0.01; 0: no clock)
";

const THREADED: &str = "  -I<secs>   Collect after this idle time (default: 0.3; 0: never)
  -Iw<secs>  Time between two such collections at least

Parallelism:
  -N[<n>], -maxN<n>
             Number of HECs (capabilities): 1 by default; with -N as many as
             there are processors, with -maxN<n> no more than this
  -qg[<n>]   Share only collections of generation n and older ones (without n: none)
  -qb[<n>]   Let threads take each other's work only in those (default: chosen)
  -qn<n>     At most this many threads for a collection (default: -N, or free cores)
  -qa        Bind each GC thread to a core
  --long-gc-sync=<secs>
             Report if HECs take longer than this to stop for a collection
  -e<n>      Maximum number of sparks of a HEC (default: 4096)
  --lenient=<n>
             Maximum number of lenient sparks of a HEC (default: 256; 0: none)
  --why-fetch
             With several processing elements, report at the end what these
             have fetched most from each other
";

const EVENTLOG: &str = "
Events:
  -l[<classes>]
             Log events to <prog>.eventlog. Classes: s threads, g collections,
             p sparks (counted), u the program's own, w waits for descriptors
             and time (these by default), f sparks (each), a all; -<class>
             leaves it out
  -ol<file>  Log to this file
";

const DEBUG: &str = "
Debugging:
  -D<letters>
             S checks the heap at each collection; s, g and r print events of
             threads, collections and sparks on stderr (with -l: log them)
  -v[<classes>]
             Print events on stderr; classes as for -l, and t: with their times
";

const OTHER: &str = "
Other:
  --install-signal-handlers=<yes|no>
  --io-manager=<auto|epoll|poll|io_uring|kqueue|base>
             How to wait for descriptors and time; base: by the event manager of the
             base library, where it has one (default: auto)
  --scheduler=<fifo|lifo|random:<seed>>
             Which thread runs next: that which has waited longest, the last one that
             became runnable, or a random one, which also runs for a random time. With
             -N1, a seed always gives the same schedule (default: threads that wait
             often before those that compute). In a program with the package hecaton
             also one of its schedulers, such as RoundRobin, for main
  --scheduler-faults=<eject|fatal>
             What a fault of a scheduler of the program does: its threads go to the one
             of the runtime (eject), or the program ends (default: eject)
";

/// Options that are accepted but have no effect; some depend on the way.
const WITHOUT_EFFECT: &str = "
Accepted, but without effect on Hecaton (docs/limitations.md says why):
  -c[<n>] -w -xn --nonmoving-gc --copying-gc
             The oldest generation is always copied
  -m<n> -Z -i<secs> -xb<addr> -xm<addr> -xp --disable-delayed-os-memory-return
  --io-manager=<native|posix> --generate-crash-dumps
  --generate-stack-traces=<yes|no> --install-seh-handlers=<yes|no>
";
const WITHOUT_EFFECT_THREADED: &str = "  -qm -qi<n> -qw
";
const WITHOUT_EFFECT_EVENTLOG: &str = "  -ln        There is no non-moving collector to log
";
const WITHOUT_EFFECT_DEBUG: &str = "  -D with the letters i w G n b Z t p a l m z c C
";
const WITHOUT_EFFECT_THREADED_DEBUG: &str = "  --debug-numa=<n>
";

const REFUSED: &str = "
Refused, because Hecaton does not support them:
  -h -hT     Heap profiles
";
const REFUSED_THREADED: &str = "  --numa[=<mask>]
             Memory of several nodes, as in every GHC that is built without it
";
const REFUSED_DEBUG: &str = "  -r[<file>] Ticky-ticky counts
";

const TAIL: &str = "
These options may also come from the environment variable GHCRTS.
Programs linked in other ways (-threaded, -debug, -eventlog) have others.
See the GHC User's Guide, and docs/limitations.md of Hecaton for what differs.
";

/// Which back ends of `--io-manager` cannot be used here, and why.
fn unavailable(ways: Ways) -> impl Iterator<Item = String> {
    Kind::ALL.into_iter().filter_map(move |kind| {
        let why = selection::unavailable(kind, ways.threaded)?;
        Some(format!("             {} is not available here: {why}", kind.name()))
    })
}

/// The lines, without the program's name.
pub fn lines(ways: Ways) -> impl Iterator<Item = String> {
    let parts = [
        (true, HEAD),
        (ways.threaded, THREADED),
        (ways.eventlog, EVENTLOG),
        (ways.debug, DEBUG),
        (true, OTHER),
        (true, WITHOUT_EFFECT),
        (ways.threaded, WITHOUT_EFFECT_THREADED),
        (ways.eventlog, WITHOUT_EFFECT_EVENTLOG),
        (ways.debug, WITHOUT_EFFECT_DEBUG),
        (ways.threaded && ways.debug, WITHOUT_EFFECT_THREADED_DEBUG),
        (true, REFUSED),
        (ways.threaded, REFUSED_THREADED),
        (ways.debug, REFUSED_DEBUG),
        (true, TAIL),
    ];
    let lines = move |(_, part): (bool, &'static str)| {
        let notes: Vec<String> = if part == OTHER { unavailable(ways).collect() } else { Vec::new() };
        part.lines().map(str::to_owned).chain(notes).collect::<Vec<_>>()
    };
    parts.into_iter().filter(|(here, _)| *here).flat_map(lines)
}
