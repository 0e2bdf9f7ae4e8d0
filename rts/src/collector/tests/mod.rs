//! The tests of the collector, each with one GC thread and with several.

macro_rules! with_threads {
    ($name:ident, $threads:literal) => {
        mod $name {
            /// GC threads that every collection of these tests has.
            const THREADS: usize = $threads;
            include!("cases.rs");
        }
    };
}

with_threads!(alone, 1);
with_threads!(two, 2);
with_threads!(four, 4);
