//! What must be the same on all PEs.

/// The version of what PEs send each other, HELLO itself excepted.
const VERSION: &str = "2";

/// What must be the same on all PEs, because they send each other addresses: values with names for messages. The
/// version of the protocol comes first, because another one may have other names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build(pub Vec<(String, String)>);

impl Build {
    pub fn new(values: &[(&str, String)]) -> Build {
        let version = ("version of the protocol", VERSION.to_owned());
        let all = [version].into_iter().chain(values.iter().cloned());
        Build(all.map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// In which way `theirs` differs first, to be read after the name of that PE.
    pub fn difference(&self, theirs: &Build) -> Option<String> {
        self.0.iter().enumerate().find_map(|(i, (name, ours))| match theirs.0.get(i) {
            Some((same, value)) if same == name && value == ours => None,
            Some((same, value)) if same == name => Some(format!("has {name} {value}, but PE 0 has {ours}")),
            _ => Some(format!("does not say its {name}")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named() {
        let build = |id: &str| Build::new(&[("build id", id.to_owned())]);
        let ours = build("a");
        assert_eq!(ours.difference(&build("a")), None);
        let says = |values: &[(&str, &str)]| {
            let values = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            ours.difference(&Build(values.collect())).unwrap()
        };
        let version = ("version of the protocol", VERSION);
        assert_eq!(says(&[("version of the protocol", "0")]), format!("has {} 0, but PE 0 has {VERSION}", version.0));
        assert_eq!(says(&[version]), "does not say its build id");
        assert_eq!(says(&[]), "does not say its version of the protocol");
    }
}
