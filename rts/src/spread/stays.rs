//! Why a value stays: the text that a user reads in the exception `NotTransferable`.
//!
//! It names the innermost constructor that has what cannot travel, with its module, because that is what a user can
//! look for: `an IORef or STRef (GHC.STRef.STRef holds a MutVar#)`.
use crate::abi::Info;
use crate::base::poison::unpoisoned;
use crate::spread::{constructors, fields};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

/// What keeps an object here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stays(pub &'static str);

/// Types by their constructors, where the names differ from what users write.
const TYPES: [(&str, &str); 8] = [
    ("GHC.STRef.STRef", "an IORef or STRef"),
    ("GHC.MVar.MVar", "an MVar"),
    ("GHC.Conc.Sync.TVar", "a TVar"),
    ("GHC.Conc.Sync.ThreadId", "a ThreadId"),
    ("GHC.IO.Handle.Types.FileHandle", "a Handle"),
    ("GHC.IO.Handle.Types.DuplexHandle", "a Handle"),
    ("GHC.Arr.STArray", "an IOArray or STArray"),
    ("Data.Array.Base.STUArray", "an IOUArray or STUArray"),
];

/// Texts by info table and what is held. There are as many as constructors that hold such things.
static TEXTS: LazyLock<Mutex<HashMap<(usize, &str), &str>>> = LazyLock::new(Mutex::default);

impl Stays {
    /// The same, with what holds it.
    /// # Safety
    /// `owner` is the header of an object.
    pub unsafe fn held_by(self, owner: Info) -> Stays {
        let mut texts = unpoisoned(TEXTS.lock());
        let text = texts.entry((owner.0, self.0)).or_insert_with(|| text(owner, self.0).leak());
        Stays(text)
    }
}

unsafe fn text(owner: Info, held: &str) -> String {
    let kind = owner.kind();
    if fields::is_function(kind) {
        return format!("a function that holds {held}");
    }
    if fields::is_thunk(kind) {
        return format!("unevaluated work that holds {held}");
    }
    let Some(name) = fields::is_constructor(kind).then(|| constructors::name(owner)).flatten() else {
        return held.to_owned();
    };
    match TYPES.iter().find(|(constructor, _)| *constructor == name) {
        Some((_, written)) => format!("{written} ({name} holds {held})"),
        None => format!("{name}, which holds {held}"),
    }
}
