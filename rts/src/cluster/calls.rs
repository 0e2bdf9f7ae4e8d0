//! Calls: `IO` actions that other PEs perform.
//!
//! *States at the caller*: `OPEN → CLOSED`. A closed call has no record.
//!
//! | message or event | what the caller does |
//! |---|---|
//! | RETURNED | gives the result, a value or an exception, to those who wait for it |
//! | the other PE is lost | gives them `PELost` |
//!
//! The other PE makes a thread for the action, and sends RETURNED at its end, however it ends. CANCEL throws to that
//! thread. If the action has ended, CANCEL meets nothing: RETURNED is on its way.
use super::ids::{Call, Pe};
use std::collections::BTreeMap;

/// The caller's side.
#[derive(Default)]
pub struct Calls {
    open: BTreeMap<Call, Pe>,
}

impl Calls {
    pub fn begin(&mut self, to: Pe, call: Call) {
        self.open.insert(call, to);
    }

    /// RETURNED has come. True if the call was open.
    pub fn end(&mut self, from: Pe, call: Call) -> bool {
        let is_open = self.open.get(&call) == Some(&from);
        if is_open {
            self.open.remove(&call);
        }
        is_open
    }

    /// The PE that performs it, if it is open.
    pub fn place(&self, call: Call) -> Option<Pe> {
        self.open.get(&call).copied()
    }

    /// Closes the calls to a lost PE.
    pub fn on_lost(&mut self, pe: Pe) -> Vec<Call> {
        self.open.extract_if(.., |_, place| *place == pe).map(|(call, _)| call).collect()
    }
}
