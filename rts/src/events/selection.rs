//! Which event manager a program uses, and which back end: `+RTS --io-manager`.
use crate::events::poller::{available, Kind, Poller};
use crate::observe::eventlog::waits::event_manager_chosen;
use crate::sched::settings;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// What the option asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Selection {
    /// The runtime's, with the best back end.
    Auto,
    /// The runtime's, with this back end.
    BackEnd(Kind),
    /// The one in `base`.
    Base,
}

const AUTO: u8 = u8::MAX;
const BASE: u8 = u8::MAX - 1;

static SELECTION: AtomicU8 = AtomicU8::new(AUTO);
/// The manager of `base` is used.
static USES_BASE: AtomicBool = AtomicBool::new(false);

pub fn select(selection: Selection) {
    let code = match selection {
        Selection::Auto => AUTO,
        Selection::Base => BASE,
        Selection::BackEnd(kind) => kind as u8,
    };
    SELECTION.store(code, Ordering::Relaxed);
}

pub fn selected() -> Selection {
    match SELECTION.load(Ordering::Relaxed) {
        AUTO => Selection::Auto,
        BASE => Selection::Base,
        code => Kind::ALL.into_iter().find(|&kind| kind as u8 == code).map_or(Selection::Auto, Selection::BackEnd),
    }
}

/// Why a program of this way cannot use a back end, even where the system offers it.
fn unsuitable(kind: Kind, threaded: bool) -> Option<&'static str> {
    // A request in a ring keeps its file open, and in this way the runtime is not told of a close: the other end would
    // not see it.
    (kind == Kind::IoUring && !threaded).then_some("it needs a program that is linked with -threaded")
}

/// Says in one line why a program of this way cannot use a back end here, if so.
pub fn unavailable(kind: Kind, threaded: bool) -> Option<String> {
    unsuitable(kind, threaded).map(str::to_owned).or_else(|| available(kind).err())
}

/// A poller of an event loop. If the back end that was asked for is not available, the best that is.
pub fn new_poller() -> io::Result<Poller> {
    let wanted = match selected() {
        Selection::BackEnd(kind) => Some(kind),
        Selection::Auto | Selection::Base => None,
    };
    let mut refused = String::new();
    let mut refuse = |kind: Kind, why: &str| refused += &format!(", because {} is not available: {why}", kind.name());
    let suitable = wanted.filter(|&kind| {
        let why = unsuitable(kind, settings().threaded);
        why.inspect(|why| refuse(kind, why)).is_none()
    });
    let poller = Poller::first_of(suitable.into_iter().chain(Kind::ALL), |kind, why| refuse(kind, &why.to_string()))?;
    event_manager_chosen(poller.kind().name().to_owned() + &refused);
    Ok(poller)
}

/// From now on the manager of `base` is used, because it was asked for, or why the runtime's cannot be.
pub fn use_base(why: Option<String>) {
    USES_BASE.store(true, Ordering::Relaxed);
    event_manager_chosen(why.map_or("base".to_owned(), |why| format!("base, because {why}")));
}

pub fn uses_base() -> bool {
    USES_BASE.load(Ordering::Relaxed)
}

/// For C.
#[no_mangle]
pub extern "C" fn hec_uses_base() -> u8 {
    uses_base().into()
}
