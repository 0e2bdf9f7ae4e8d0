//! The output of `+RTS --info`: a description of this runtime as a list that programs read.
use crate::abi::layout::*;
use crate::abi::Ways;

pub fn pairs(ways: Ways, built_in_options: &[u8]) -> String {
    let build = format!("{BUILD_ARCH}-{BUILD_VENDOR}-{BUILD_OS}");
    let host = format!("{HOST_ARCH}-{HOST_VENDOR}-{HOST_OS}");
    let options = String::from_utf8_lossy(built_in_options);
    let runtime = concat!("Hecaton ", env!("CARGO_PKG_VERSION"));
    // The libraries run where the compiler runs, so target and host are the same.
    let pairs = [
        ("GHC RTS", "YES"),
        ("GHC version", GHC_VERSION),
        ("RTS way", &ways.name()),
        ("Build platform", &build),
        ("Build architecture", BUILD_ARCH),
        ("Build OS", BUILD_OS),
        ("Build vendor", BUILD_VENDOR),
        ("Host platform", &host),
        ("Host architecture", HOST_ARCH),
        ("Host OS", HOST_OS),
        ("Host vendor", HOST_VENDOR),
        ("Target platform", &host),
        ("Target architecture", HOST_ARCH),
        ("Target OS", HOST_OS),
        ("Target vendor", HOST_VENDOR),
        ("Word size", "64"),
        ("Compiler unregisterised", "NO"),
        ("Tables next to code", "YES"),
        ("Runtime", runtime),
        ("Flag -with-rtsopts", &options),
    ];
    let lines: Vec<String> = pairs.iter().map(|(key, value)| format!("(\"{key}\", \"{value}\")\n")).collect();
    format!(" [{} ]\n", lines.join(" ,"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn shape() {
        let text = super::pairs(Default::default(), b"-A2m");
        assert!(text.starts_with(" [(\"GHC RTS\", \"YES\")\n ,(\"GHC version\", \"9."), "{text}");
        assert!(text.ends_with(" ,(\"Flag -with-rtsopts\", \"-A2m\")\n ]\n"), "{text}");
        assert!(text.contains(" ,(\"RTS way\", \"rts_v\")\n"));
        let version = env!("CARGO_PKG_VERSION");
        assert!(text.contains(&format!(" ,(\"Runtime\", \"Hecaton {version}\")\n")), "{text}");
    }
}
