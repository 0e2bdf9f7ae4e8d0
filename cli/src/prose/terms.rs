//! Names that mechanisms had before they got the terms of the field, and where they must not come back.

/// Not in any name.
const MECHANISMS: [&str; 32] = [
    "crew",
    "crews",
    "crowd",
    "crowded",
    "door",
    "doors",
    "doze",
    "dozes",
    "dozing",
    "eagerness",
    "foresight",
    "giver",
    "givers",
    "letter",
    "letters",
    "linger",
    "lingers",
    "looker",
    "muster",
    "musters",
    "nobodys",
    "nudge",
    "patience",
    "pursuit",
    "returners",
    "seat",
    "seated",
    "seating",
    "seats",
    "standby",
    "tenure",
    "whereabouts",
];
/// Ordinary words: not in names of one to three words. (Names of tests are sentences.)
const ORDINARY: [&str; 24] = [
    "brief",
    "coming",
    "company",
    "dear",
    "departure",
    "departures",
    "heart",
    "hurry",
    "keeping",
    "lately",
    "lead",
    "mail",
    "offer",
    "offers",
    "owed",
    "pace",
    "pay",
    "quiet",
    "resting",
    "roll",
    "settled",
    "stretch",
    "vain",
    "whose",
];
/// Not in constants: they have a MAX, a MIN or a threshold.
const OF_CONSTANTS: [&str; 9] = ["dear", "lately", "least", "looks", "most", "much", "some", "sure", "worth"];
/// Names that have one of these words for a reason: a term of the field, or a word of the command line.
const ALLOWED: [&str; 3] = ["roll_back", "CREW", "CREW_STRESS"];
/// Not in prose, outside of code in backquotes.
const NICKNAMES: [&str; 30] = [
    "crew",
    "crews",
    "crowd",
    "crowded",
    "crumbs",
    "door",
    "doors",
    "doze",
    "dozes",
    "dozing",
    "foresight",
    "gait",
    "gaits",
    "letter",
    "letters",
    "muster",
    "musters",
    "patience",
    "right of way",
    "seat",
    "seats",
    "stand by",
    "standby",
    "stands by",
    "tenure",
    "tenured",
    "the roll",
    "the storm",
    "the departures",
    "the offers",
];

/// An old term in a name that occurs in a file.
pub fn in_name_of(path: &str, name: &str) -> Option<&'static str> {
    in_name(name).filter(|term| !is_letter(path, term))
}

/// An old term in a name.
fn in_name(name: &str) -> Option<&'static str> {
    if ALLOWED.contains(&name) {
        return None;
    }
    let words = words(name);
    let is_constant = !name.chars().any(char::is_lowercase);
    let among = |terms: &[&'static str]| terms.iter().copied().find(|t| words.iter().any(|w| w == t));
    among(&MECHANISMS)
        .or_else(|| among(&ORDINARY).filter(|_| words.len() <= 3))
        .or_else(|| among(&OF_CONSTANTS).filter(|_| is_constant))
}

/// An old term in a part of a file's name.
pub fn in_file_name(name: &str) -> Option<&'static str> {
    in_name(&name.to_lowercase())
}

/// What old terms there are in prose.
pub fn in_prose(path: &str, text: &str) -> Vec<String> {
    // Code has been checked where it is.
    let plain: String = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let plain: Vec<String> =
        plain.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_lowercase).collect();
    let plain = format!(" {} ", plain.join(" "));
    let found = NICKNAMES.iter().filter(|n| plain.contains(&format!(" {n} ")));
    found.filter(|n| !is_letter(path, n)).map(|n| format!("\"{n}\" in prose")).collect()
}

/// Options are letters.
fn is_letter(path: &str, word: &str) -> bool {
    word.starts_with("letter") && (path.starts_with("rts/src/api/") || path.starts_with("cli/"))
}

/// The words of a name, in small letters.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    for part in name.split('_') {
        let mut word = String::new();
        let mut was_small = false;
        for c in part.chars() {
            if c.is_uppercase() && was_small {
                words.push(std::mem::take(&mut word));
            }
            was_small = !c.is_uppercase();
            word.extend(c.to_lowercase());
        }
        words.push(word);
    }
    words.retain(|w| !w.is_empty());
    words
}

#[test]
fn old_terms_are_found_in_names_and_prose() {
    assert_eq!(words("aBigCase_OF_2x"), ["a", "big", "case", "of", "2x"]);
    assert_eq!(in_name("HecSeat"), Some("seat"));
    assert_eq!(in_name("is_quiet"), Some("quiet"));
    assert_eq!(in_name("a_name_that_is_quiet_long"), None);
    assert_eq!((in_name("MOST_RUNS"), in_name("most_runs")), (Some("most"), None));
    assert_eq!(in_name("roll_back"), None);
    assert_eq!(in_prose("docs/a.md", "The Crew, and `crew`"), ["\"crew\" in prose"]);
    assert!(in_prose("docs/a.md", "seated crewmen").is_empty());
    assert!(in_prose("rts/src/api/flags/a.rs", "a letter").is_empty());
    assert_eq!(
        (in_name_of("rts/src/api/a.rs", "letter"), in_name_of("rts/src/a.rs", "letter")),
        (None, Some("letter"))
    );
}
