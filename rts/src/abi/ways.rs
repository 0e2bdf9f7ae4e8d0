//! The way that the program is linked with (`-threaded`, `-debug`, `-eventlog`, `-dynamic`).
//!
//! All ways contain the same runtime. One small object file tells them apart.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ways {
    pub threaded: bool,
    pub debug: bool,
    pub eventlog: bool,
    pub dynamic: bool,
}

#[cfg(not(test))]
impl Ways {
    /// The way this program is linked with.
    pub fn linked() -> Ways {
        use libc::c_int;
        extern "C" {
            static hecaton_way_threaded: c_int;
            static hecaton_way_debug: c_int;
            static hecaton_way_eventlog: c_int;
            static hecaton_way_dynamic: c_int;
        }
        // SAFETY: constants.
        unsafe {
            Ways {
                threaded: hecaton_way_threaded != 0,
                debug: hecaton_way_debug != 0,
                eventlog: hecaton_way_eventlog != 0,
                dynamic: hecaton_way_dynamic != 0,
            }
        }
    }
}

#[cfg(test)]
impl Ways {
    /// Unit tests are linked without a way. They run as the threaded one.
    pub fn linked() -> Ways {
        Ways { threaded: true, ..Ways::default() }
    }
}

impl Ways {
    /// The way's name in the output of `--info`.
    pub fn name(&self) -> String {
        let mut name = String::from("rts");
        for (on, part) in [
            (self.threaded, "_thr"),
            (self.debug, "_debug"),
            (self.eventlog && !self.debug, "_l"),
            (self.dynamic, "_dyn"),
        ] {
            if on {
                name.push_str(part);
            }
        }
        if name == "rts" {
            name.push_str("_v");
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let way = |threaded, debug, eventlog, dynamic| Ways { threaded, debug, eventlog, dynamic }.name();
        assert_eq!(way(false, false, false, false), "rts_v");
        assert_eq!(way(true, false, false, false), "rts_thr");
        assert_eq!(way(false, false, true, false), "rts_l");
        assert_eq!(way(true, true, true, false), "rts_thr_debug");
        assert_eq!(way(false, true, true, true), "rts_debug_dyn");
    }
}
