//! Messages of global collections as bytes, behind the kind of message: the cycle's number, a byte that says which step
//! it is, and the step's fields.
use super::bytes::{put_credits, put_number, Reader};
use super::ids::Address;
use super::message::Step;
use super::ring::Question;

mod step {
    pub const REQUEST: u8 = 1;
    pub const BEGIN: u8 = 2;
    pub const FLUSH: u8 = 3;
    pub const MARK: u8 = 4;
    pub const TRACED: u8 = 5;
    pub const INACTIVE: u8 = 6;
    pub const STILL: u8 = 7;
    pub const OVER: u8 = 8;
    pub const HELD: u8 = 9;
    pub const BALANCED: u8 = 10;
    pub const END: u8 = 11;
    pub const ENDED: u8 = 12;
}

fn put_list(to: &mut Vec<u8>, numbers: impl ExactSizeIterator<Item = u64>) {
    put_number(to, numbers.len() as u64);
    numbers.for_each(|number| put_number(to, number));
}

pub(super) fn put_step(to: &mut Vec<u8>, cycle: u64, step: &Step) {
    put_number(to, cycle);
    match step {
        Step::Request => to.push(step::REQUEST),
        Step::Begin(members) => {
            to.push(step::BEGIN);
            put_list(to, members.iter().map(|pe| pe.0.into()));
        }
        Step::Flush => to.push(step::FLUSH),
        Step::Mark { phase, addresses } => {
            to.extend([step::MARK, *phase]);
            put_list(to, addresses.iter().map(|address| address.0));
        }
        Step::Traced => to.push(step::TRACED),
        Step::Asked { phase, question } => {
            let (kind, asker) = match question {
                Question::Inactive { asker } => (step::INACTIVE, asker),
                Question::Still { asker } => (step::STILL, asker),
            };
            to.extend([kind, *phase]);
            put_number(to, asker.0.into());
        }
        Step::Over { phase } => to.extend([step::OVER, *phase]),
        Step::Held(credits) => {
            to.push(step::HELD);
            put_credits(to, credits);
        }
        Step::Balanced => to.push(step::BALANCED),
        Step::End => to.push(step::END),
        Step::Ended => to.push(step::ENDED),
    }
}

pub(super) fn step(from: &mut Reader) -> Option<(u64, Step)> {
    let cycle = from.number()?;
    let step = match from.byte()? {
        step::REQUEST => Step::Request,
        step::BEGIN => Step::Begin(from.list(Reader::pe)?),
        step::FLUSH => Step::Flush,
        step::MARK => Step::Mark { phase: from.byte()?, addresses: from.list(|from| from.number().map(Address))? },
        step::TRACED => Step::Traced,
        step::INACTIVE => Step::Asked { phase: from.byte()?, question: Question::Inactive { asker: from.pe()? } },
        step::STILL => Step::Asked { phase: from.byte()?, question: Question::Still { asker: from.pe()? } },
        step::OVER => Step::Over { phase: from.byte()? },
        step::HELD => Step::Held(from.list(Reader::credit)?),
        step::BALANCED => Step::Balanced,
        step::END => Step::End,
        step::ENDED => Step::Ended,
        _ => return None,
    };
    Some((cycle, step))
}

/// Any step, for tests.
#[cfg(test)]
pub(super) fn random_step(random: &mut crate::base::random::Random) -> Step {
    use super::credit::Credit;
    use super::ids::{Block, Pe};
    let pe = Pe(random.magnitude(16) as u16);
    let phase = random.number() as u8;
    match random.below(12) {
        0 => Step::Request,
        1 => Step::Begin((0..random.below(9)).map(|_| Pe(random.magnitude(16) as u16)).collect()),
        2 => Step::Flush,
        3 => Step::Mark { phase, addresses: (0..random.below(9)).map(|_| Address(random.magnitude(64))).collect() },
        4 => Step::Traced,
        5 => Step::Asked { phase, question: Question::Inactive { asker: pe } },
        6 => Step::Asked { phase, question: Question::Still { asker: pe } },
        7 => Step::Over { phase },
        8 => Step::Held(vec![Credit { block: Block(random.magnitude(64)), weight: random.magnitude(64) }]),
        9 => Step::Balanced,
        10 => Step::End,
        _ => Step::Ended,
    }
}
