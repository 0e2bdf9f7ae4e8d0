//! Checks names that select tests and programs, and suggests the nearest for a misspelt one.
use crate::error::{Fail, Result};

/// How alike two names must be (0 to 1) for one to be meant by the other.
const ALIKE: f64 = 0.8;

/// Refuses the first of `wanted` that is part of no name; `kind` says what the names are of.
pub fn check(kind: &str, wanted: &[String], names: &[String]) -> Result<()> {
    match wanted.iter().find(|w| !names.iter().any(|n| n.contains(w.as_str()))) {
        None => Ok(()),
        Some(unknown) => Err(Fail::usage(match nearest(unknown, names) {
            Some(near) => format!("no {kind} is called {unknown}; did you mean {near}?"),
            None => format!("no {kind} is called {unknown}"),
        })),
    }
}

fn nearest<'a>(unknown: &str, names: &'a [String]) -> Option<&'a str> {
    let alike = names.iter().map(|name| (strsim::jaro_winkler(unknown, name), name.as_str()));
    alike.filter(|(alike, _)| *alike >= ALIKE).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names_are_answered_with_the_nearest() {
        let names = ["conc_turns", "conc_many", "stm_bank", "unit"].map(str::to_owned);
        let said = |wanted: &[&str]| {
            let wanted: Vec<String> = wanted.iter().map(|s| (*s).to_owned()).collect();
            check("test", &wanted, &names).err().map(|f| (f.message, f.code))
        };
        assert_eq!(said(&["conc", "bank"]), None);
        assert_eq!(
            said(&["conc", "stm_bnak"]),
            Some(("no test is called stm_bnak; did you mean stm_bank?".to_owned(), 2))
        );
        assert_eq!(said(&["zzz"]), Some(("no test is called zzz".to_owned(), 2)));
    }
}
