//! Values of borrowed thunks, which go back to their lenders.
//!
//! With a value of the lender's such a value may come again to this processing element (PE). If that runs actions,
//! they would get by this way what refers to objects of the lender, and not only to those that a result has as parts
//! (`parts.rs`). So such a PE returns whole values alone, and gives the others up: the lender evaluates the thunk.
use crate::cluster::element::Object;
use crate::cluster::ids::{Address, COORDINATOR};
use crate::hec::Hec;
use crate::spread::graph::Graph;
use crate::spread::pack::BUDGET;
use crate::spread::readers::look_with;
use crate::spread::{calls, kept, parts, run};

/// The most bytes of a value that must be whole.
const WHOLE_BUDGET: usize = 1 << 20;

/// The state of an object that a thread has evaluated for others, packed if it is evaluated.
/// # Safety
/// The caller holds the HEC. The address is that of an own fixed object, or of a kept thunk.
pub unsafe fn look(hec: &mut Hec, address: Address) -> Object<Graph> {
    let is_borrowed = kept::is_name(address);
    let must_be_whole = is_borrowed && (run::joined().me() == COORDINATOR || calls::any_guests());
    match look_with(hec, address, if must_be_whole { WHOLE_BUDGET } else { BUDGET }) {
        Object::Evaluated(graph) if must_be_whole && !graph.is_whole() => {
            Object::Stays("a value that is not whole".to_owned())
        }
        Object::Evaluated(graph) => {
            if is_borrowed && run::joined().has_loans() {
                parts::note_returned(&graph);
            }
            Object::Evaluated(graph)
        }
        other => other,
    }
}
