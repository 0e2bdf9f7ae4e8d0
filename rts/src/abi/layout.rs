//! Constants generated from the installed headers.
include!(concat!(env!("OUT_DIR"), "/abi.rs"));
