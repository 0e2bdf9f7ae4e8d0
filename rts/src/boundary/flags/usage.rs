//! The text of `+RTS -?`, which also follows a wrong option.
use crate::contract::Ways;

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
  -n<size>   With several HECs, hand out allocation areas in chunks of this size
             (default: 512k, or 4m from -A16m on)
  -O<size>   Let the old generation grow to this size at least (default: 1m)
  -G<n>      Number of generations (default: 2)
  -F<n>      Collect an old generation when it has grown by this factor (default: 2.0)
  -H[<size>] Use this much memory from the start; alone: as much as was used before
  -M<size>   Maximum heap size (default: no limit)
  -Mgrace=<size>
             Allow this much more after a HeapOverflow exception (default: 1m)
  -m<n>      Keep this percentage of the maximum heap size free (default: 3)
  -c[<n>]    Compact the oldest generation in place, always or from <n>% of -M on
  -w         Mark the oldest generation instead of copying it
  -xn, --nonmoving-gc, --copying-gc
             Collector of the oldest generation
  -xq<size>  Allow this much after an AllocationLimitExceeded exception (default: 100k)
  --disable-delayed-os-memory-return
             Give memory back so that it shows at once
  -B         Ring the bell at each collection

Stacks:
  -K<size>   Maximum stack size (default: 80% of memory)
  -ki<size>  Stack size of a new thread (default: 1k)
  -kc<size>  Size of stack chunks (default: 32k)
  -kb<size>  Copy this much to a new chunk (default: 1k)
  -Z         Do not squeeze update frames

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
  -i<secs>   Time between samples (default: 0.1)
";

const THREADED: &str = "  -I<secs>   Collect after this idle time (default: 0.3; 0: never)
  -Iw<secs>  Time between two such collections at least

Parallelism:
  -N[<n>], -maxN<n>
             Number of HECs (capabilities): 1 by default; with -N as many as
             there are processors, with -maxN<n> no more than this
  -qg[<n>]   Share only collections of generation n and older ones (without n: none)
  -qb[<n>]   Let threads take each other's work only in those (default: chosen)
  -qn<n>     At most so many threads for a collection (default: -N, or free cores)
  -qa        Keep each thread that collects on a core
  -qm -qi<n> Thread placement; accepted
  --long-gc-sync=<secs>
             Tell when HECs take longer than this to stop for a collection
  -e<n>      Maximum number of sparks of a HEC (default: 4096)
";

const EVENTLOG: &str = "
Events:
  -l[<classes>]
             Log events to <prog>.eventlog. Classes: s threads, g collections,
             p sparks (counted), u the program's own (these by default),
             f sparks (each), n non-moving collector (none yet), a all;
             -<class> leaves it out
  -ol<file>  Log to this file
";

const DEBUG: &str = "
Debugging:
  -D<letters>
             Debug output and checks: s i w G g n b S Z t p a l m z c r C
             (-DS checks the heap at each collection)
  -v[<classes>]
             Print events on stderr; classes as for -l, and t: with their times
";

const TAIL: &str = "
Other:
  --install-signal-handlers=<yes|no>
  --io-manager=<native|posix>
  -xb<addr> -xm<addr> -xp
             Where memory is; accepted

These options may also come from the environment variable GHCRTS.
Programs linked in other ways (-threaded, -debug, -eventlog) have others.
See the GHC User's Guide, and Hecaton's README for what differs.
";

/// The lines, without the program's name before them.
pub fn lines(ways: Ways) -> impl Iterator<Item = &'static str> {
    let threaded = if ways.threaded { THREADED } else { "" };
    let events = if ways.eventlog { EVENTLOG } else { "" };
    let debug = if ways.debug { DEBUG } else { "" };
    [HEAD, threaded, events, debug, TAIL].into_iter().flat_map(str::lines)
}
