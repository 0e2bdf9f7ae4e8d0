//! The collector's unit tests, each run with one, two and four GC workers.

macro_rules! with_threads {
    ($name:ident, $threads:literal) => {
        mod $name {
            /// The number of GC workers of every collection in these tests.
            const THREADS: usize = $threads;
            include!("cases.rs");
        }
    };
}

with_threads!(alone, 1);
with_threads!(two, 2);
with_threads!(four, 4);
