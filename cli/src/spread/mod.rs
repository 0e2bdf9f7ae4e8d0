//! What starts and watches the processing elements (PEs) of `hecaton spread`.
pub mod launch;
pub mod watch;
mod whole_lines;
