//! Shipped Cmm in a form that models can run: statement by statement, with the same branches and jumps.
//!
//! A model lists the conditions and the statements that it knows, each with its meaning in the model. Any other
//! statement is an error, so that a model follows every edit of the Cmm of its protocol.
use std::collections::VecDeque;

/// Files of Cmm, without comments.
pub struct Source {
    text: String,
    macros: Vec<Macro>,
}

struct Macro {
    name: String,
    parameters: Vec<String>,
    body: Vec<String>,
}

impl Source {
    /// Of macros of one name, the first is taken: those of `texts` can be replaced by `own`.
    pub fn new(own: &str, texts: &[&str]) -> Source {
        let all = [&[own], texts].concat().join("\n").replace("\\\n", " ");
        let mut text = String::new();
        for (n, part) in all.split("/*").enumerate() {
            text += if n == 0 { part } else { part.split_once("*/").expect("a comment ends").1 };
        }
        let macros = text.lines().filter_map(Macro::read).collect();
        text = text.lines().filter(|l| !l.starts_with('#')).collect::<Vec<_>>().join("\n");
        Source { text, macros }
    }

    /// The code of a procedure or of a return point.
    pub fn procedure<C: Copy, A: Copy>(
        &self,
        name: &str,
        conditions: &[(&str, C)],
        statements: &[(&str, Option<A>)],
    ) -> Code<C, A> {
        let returns_to = format!("INFO_TABLE_RET({name},");
        let is_head = |l: &&str| {
            l.starts_with(&returns_to)
                || l.strip_prefix(name).is_some_and(|r| r.trim().is_empty() || r.starts_with(" ("))
        };
        let head = self.text.lines().find(is_head).unwrap_or_else(|| panic!("{name} is defined nowhere"));
        let from = head.as_ptr() as usize - self.text.as_ptr() as usize;
        let rest = tokens(&self.text[from..]);
        // A name, arguments perhaps, and a block or a macro that stands for one.
        let mut at = 1;
        if rest[at] == "(" {
            at = closing(&rest, at) + 1;
        }
        let begin = at;
        if rest[at] != "{" {
            at += 1;
        }
        let mut code = VecDeque::from(self.expand(&rest[begin..=closing(&rest, at)]));
        let mut reader =
            Reader { name, conditions, statements, steps: Vec::new(), labels: Vec::new(), jumps: Vec::new() };
        reader.block(&mut code);
        reader.finish()
    }

    /// Puts what they stand for in the place of macros that have parameters.
    fn expand(&self, code: &[String]) -> Vec<String> {
        let mut out = Vec::new();
        let mut at = 0;
        while at < code.len() {
            let found = self.macros.iter().find(|m| m.name == code[at]);
            let Some(m) = found.filter(|_| code.get(at + 1).is_some_and(|t| t == "(")) else {
                out.push(code[at].clone());
                at += 1;
                continue;
            };
            let end = closing(code, at + 1);
            let arguments = arguments(&code[at + 2..end]);
            let argument = |t: &String| m.parameters.iter().position(|p| p == t).map(|n| arguments[n].clone());
            let mut body: Vec<String> = Vec::new();
            for token in &m.body {
                body.extend(argument(token).unwrap_or_else(|| vec![token.clone()]));
            }
            while let Some(join) = body.iter().position(|t| t == "##") {
                let joined = format!("{}{}", body[join - 1], body[join + 1]);
                body.splice(join - 1..=join + 1, [joined]);
            }
            out.extend(self.expand(&body));
            at = end + 1;
        }
        out
    }
}

impl Macro {
    fn read(line: &str) -> Option<Macro> {
        let (name, rest) = line.strip_prefix("#define ")?.split_once('(')?;
        // (One without parameters keeps its name.)
        if name.contains(' ') {
            return None;
        }
        let (parameters, body) = rest.split_once(')')?;
        let parameters = parameters.split(',').map(|p| p.trim().to_owned()).collect();
        Some(Macro { name: name.to_owned(), parameters, body: tokens(body) })
    }
}

/// Splits code into words, numbers, strings and signs.
fn tokens(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let len = match first {
            '"' => rest[1..].find('"').expect("a string ends") + 2,
            c if word(c) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            _ => ["##", "==", "!=", ">=", "<=", "&&", "||", "<<"]
                .iter()
                .find(|s| rest.starts_with(**s))
                .map_or(1, |s| s.len()),
        };
        all.push(rest[..len].to_owned());
        rest = rest[len..].trim_start();
    }
    all
}

/// Where the bracket that opens at `from` closes.
fn closing(code: &[String], from: usize) -> usize {
    let mut depth = 0;
    for (n, token) in code.iter().enumerate().skip(from) {
        match token.as_str() {
            "(" | "{" | "[" => depth += 1,
            ")" | "}" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return n;
        }
    }
    panic!("a bracket stays open: {}", code[from..].join(" "))
}

fn arguments(code: &[String]) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    let mut at = 0;
    while at < code.len() {
        let end = if ["(", "{", "["].contains(&code[at].as_str()) { closing(code, at) } else { at };
        if code[at] == "," {
            all.push(Vec::new());
        } else {
            all.last_mut().expect("one at least").extend_from_slice(&code[at..=end]);
        }
        at = end + 1;
    }
    all
}

enum Step<C, A> {
    Do(A),
    /// Goes on there if the condition does not hold.
    Unless(C, usize),
    Go(usize),
}

/// A procedure, as a model runs it.
pub struct Code<C, A>(Vec<Step<C, A>>);

/// What a thread of a model has in its registers, and what it works on.
pub trait Machine<C, A, End> {
    fn holds(&mut self, condition: C) -> bool;
    /// Does what a statement says; something if that leaves the procedure.
    fn act(&mut self, statement: A) -> Option<End>;
}

impl<C: Copy, A: Copy> Code<C, A> {
    pub fn run<End>(&self, machine: &mut impl Machine<C, A, End>) -> End {
        let mut at = 0;
        loop {
            match &self.0[at] {
                Step::Do(statement) => {
                    if let Some(end) = machine.act(*statement) {
                        return end;
                    }
                    at += 1;
                }
                Step::Unless(condition, to) => at = if machine.holds(*condition) { at + 1 } else { *to },
                Step::Go(to) => at = *to,
            }
        }
    }
}

struct Reader<'a, C, A> {
    name: &'a str,
    conditions: &'a [(&'a str, C)],
    statements: &'a [(&'a str, Option<A>)],
    steps: Vec<Step<C, A>>,
    labels: Vec<(String, usize)>,
    /// Steps that go to a label.
    jumps: Vec<(usize, String)>,
}

impl<C: Copy, A: Copy> Reader<'_, C, A> {
    fn block(&mut self, code: &mut VecDeque<String>) {
        assert_eq!(code.pop_front().as_deref(), Some("{"), "{}: a block begins", self.name);
        while code[0] != "}" {
            self.statement(code);
        }
        code.pop_front();
    }

    fn statement(&mut self, code: &mut VecDeque<String>) {
        match (code[0].as_str(), code[1].as_str()) {
            (";", _) => drop(code.pop_front()),
            ("{", _) => self.block(code),
            ("if", _) => {
                code.pop_front();
                let condition = self.condition(&take_brackets(code));
                if code[0] == "(" {
                    take_brackets(code);
                }
                let branch = self.steps.len();
                self.steps.push(Step::Unless(condition, 0));
                self.block(code);
                let mut otherwise = self.steps.len();
                if code.front().is_some_and(|t| t == "else") {
                    code.pop_front();
                    self.steps.push(Step::Go(0));
                    otherwise += 1;
                    self.block(code);
                    self.steps[otherwise - 1] = Step::Go(self.steps.len());
                }
                self.steps[branch] = Step::Unless(condition, otherwise);
            }
            ("goto", label) => {
                self.jumps.push((self.steps.len(), label.to_owned()));
                self.steps.push(Step::Go(0));
                code.drain(..2);
            }
            (label, ":") => {
                self.labels.push((label.to_owned(), self.steps.len()));
                code.drain(..2);
            }
            _ => {
                let end = code.iter().position(|t| t == ";").expect("a statement ends");
                let text: Vec<String> = code.drain(..=end).take(end).collect();
                // Declarations say nothing.
                if ["W_", "P_", "gcptr"].contains(&text[0].as_str()) {
                    return;
                }
                let known = self.statements.iter().find(|(t, _)| tokens(t) == text);
                let (_, act) =
                    known.unwrap_or_else(|| panic!("{}: the model does not know `{}`", self.name, text.join(" ")));
                self.steps.extend(act.map(Step::Do));
            }
        }
    }

    fn condition(&self, text: &[String]) -> C {
        let known = self.conditions.iter().find(|(t, _)| tokens(t) == text);
        known.unwrap_or_else(|| panic!("{}: the model does not know `{}`", self.name, text.join(" "))).1
    }

    fn finish(mut self) -> Code<C, A> {
        for (step, label) in &self.jumps {
            let there = self.labels.iter().find(|(l, _)| l == label);
            self.steps[*step] = Step::Go(there.unwrap_or_else(|| panic!("{}: no label {label}", self.name)).1);
        }
        Code(self.steps)
    }
}

/// Takes what stands in brackets at the front.
fn take_brackets(code: &mut VecDeque<String>) -> Vec<String> {
    let end = closing(code.make_contiguous(), 0);
    code.drain(..=end).take(end).skip(1).collect()
}
