//! Splits Rust sources into tokens, as far as needed to find names, paths and items.

/// The tokens of a text: names and numbers, `::`, and single characters. Comments, strings, characters and the quotes
/// of lifetimes are left out.
pub fn tokens(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = length(rest);
        let token = &rest[..length];
        let is_left_out = first.is_whitespace() || token.starts_with("//") || token.starts_with("/*");
        if !is_left_out && !token.ends_with(['"', '\'', '#']) || token == "#" {
            all.push(token);
        }
        rest = &rest[length..];
    }
    all
}

/// How long the token, comment or space is that a text begins with.
fn length(text: &str) -> usize {
    let until = |end: &str, from: usize| text[from..].find(end).map_or(text.len(), |i| from + i + end.len());
    let name = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    if text.starts_with("//") {
        return until("\n", 0);
    }
    if text.starts_with("/*") {
        return until("*/", 2);
    }
    if text.starts_with("::") {
        return 2;
    }
    if matches!(&text[..name], "r" | "br" | "cr") && text[name..].starts_with(['"', '#']) {
        let hashes = text[name..].bytes().take_while(|b| *b == b'#').count();
        return until(&format!("\"{}", "#".repeat(hashes)), name + hashes + 1);
    }
    if matches!(&text[..name], "" | "b" | "c") && text[name..].starts_with('"') {
        return quoted(text, name, '"');
    }
    let mut after = text[name..].chars().skip(1);
    if matches!(&text[..name], "" | "b") && text[name..].starts_with('\'') {
        // Otherwise it is a lifetime.
        if after.next() == Some('\\') || after.next() == Some('\'') {
            return quoted(text, name, '\'');
        }
    }
    name.max(text.chars().next().map_or(0, char::len_utf8))
}

/// Where the quotation ends that begins at `from`.
fn quoted(text: &str, from: usize, quote: char) -> usize {
    let mut escaped = false;
    for (i, c) in text[from..].char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return from + i + 1,
            _ => {}
        }
    }
    text.len()
}

const TEST_ONLY: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];

/// Leaves out the items that only tests have.
pub fn without_tests(tokens: Vec<&str>) -> Vec<&str> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at..].starts_with(&TEST_ONLY) {
            at = item_end(&tokens, at + TEST_ONLY.len());
        } else {
            kept.push(tokens[at]);
            at += 1;
        }
    }
    kept
}

/// Where the item ends that begins, with its attributes, at `at`.
fn item_end(tokens: &[&str], mut at: usize) -> usize {
    let mut depth = 0;
    while at < tokens.len() {
        match tokens[at] {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 && matches!(tokens[at - 1], "}" | ";") {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_is_left() {
        let text = "// use a::b;\nfn f<'a>(c: &'a [u8]) { /* g() */ \
                    m(\"x \\\" y\", 'c', '\\'', b'\"', r#\"a\"b\"#, b\"z\"); }";
        let expected = "fn f < a > ( c : & a [ u8 ] ) { m ( , , , , , ) ; }";
        assert_eq!(tokens(text).join(" "), expected);
    }

    #[test]
    fn test_items_are_left_out() {
        let text = "#[cfg(test)]\nmod tests;\n#[cfg(test)]\n#[a(b)]\npub fn f<A, B>() { g(); }\n\
                    mod kept;\n#[cfg(test)]\nuse a::{b, c};";
        assert_eq!(without_tests(tokens(text)).join(" "), "mod kept ; ;");
    }
}
