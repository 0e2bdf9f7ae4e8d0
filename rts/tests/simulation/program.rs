//! The programs that simulated PEs run: trees of tasks. A task makes children, sparks them, works for a while, and
//! then needs the values of its children and of all that it refers to.
//!
//! A task refers to some of what its parent refers to, and to earlier siblings. So values are needed by tasks that were
//! stolen by different PEs. All is a function of the task and the seed: the right answer is known without any PE.
//!
//! Some tasks are placed at a PE instead of sparked. The values of some may not leave the PE that has evaluated them.
use crate::base::random::Random;
use crate::cluster::ids::Pe;
use crate::cluster::message::Reason;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Task {
    pub id: u64,
    pub depth: u32,
}

/// What a child refers to.
#[derive(Clone, Copy)]
pub enum Reference {
    OfParent(usize),
    Sibling(usize),
}

/// What becomes of the lenient evaluation of a task.
#[derive(Clone, Copy, PartialEq)]
pub enum Leniently {
    Evaluated,
    /// There is always something else to do.
    Waits,
    Frozen,
}

#[derive(Clone, Copy, Debug)]
pub struct Program {
    pub seed: u64,
    pub depth: u32,
    /// The most children of a task.
    pub fanout: u64,
    /// The longest work of a task, in microseconds.
    pub work: u64,
    /// Of 1,000 tasks, how many are placed.
    pub placed: u64,
    /// Of 1,000 tasks, how many are lent to those who need their values.
    pub wanted: u64,
    /// Of 1,000 tasks, how many are sparked for lenient evaluation.
    pub lenient: u64,
    /// Of 1,000 tasks, how many have a value that stays.
    pub staying: u64,
    /// Of 1,000 tasks, how many have a value with a part, which is evaluated when it is needed.
    pub partial: u64,
}

/// The most references of a task.
const MAX_REFERENCES: usize = 4;

impl Program {
    pub fn main(&self) -> Task {
        Task { id: self.seed, depth: self.depth }
    }

    fn random(&self, task: Task, of: u64) -> Random {
        Random(Random(task.id ^ self.seed.rotate_left(17)).number() ^ of)
    }

    /// The children of a task that has this number of references, and what each child refers to.
    pub fn children(&self, task: Task, references: usize) -> Vec<(Task, Vec<Reference>)> {
        if task.depth == 0 {
            return vec![];
        }
        let mut random = self.random(task, 1);
        let number = 1 + random.below(self.fanout);
        let mut children = vec![];
        for n in 0..number as usize {
            let mut chosen = vec![];
            for reference in (0..n).map(Reference::Sibling).chain((0..references).map(Reference::OfParent)) {
                if random.below(2) == 0 && chosen.len() < MAX_REFERENCES {
                    chosen.push(reference);
                }
            }
            children.push((Task { id: random.number(), depth: task.depth - 1 }, chosen));
        }
        children
    }

    pub fn work(&self, task: Task) -> u64 {
        1 + self.random(task, 2).below(self.work)
    }

    /// Another PE that is to evaluate a task of this one's, if the task is to be placed.
    pub fn place(&self, task: Task, me: Pe, pes: u16) -> Option<Pe> {
        let mut random = self.random(task, 4);
        let is_placed = pes > 1 && random.below(1_000) < self.placed;
        is_placed.then(|| Pe((me.0 + 1 + random.below(u64::from(pes) - 1) as u16) % pes))
    }

    /// Is its thunk lent to who needs its value? The others are evaluated at their owner.
    pub fn is_lent_when_wanted(&self, task: Task) -> bool {
        self.random(task, 6).below(1_000) < self.wanted
    }

    /// Why a spark for it is lent.
    pub fn reason_to_lend(&self, task: Task) -> Reason {
        if self.random(task, 7).below(1_000) < self.lenient {
            Reason::Lenient(0)
        } else {
            Reason::Stolen
        }
    }

    /// What becomes of its lenient evaluation at a borrower.
    pub fn lenient_evaluation(&self, task: Task) -> Leniently {
        self.random(task, 8).pick(&[Leniently::Evaluated, Leniently::Waits, Leniently::Frozen])
    }

    /// May its value not leave the PE that has evaluated it?
    pub fn stays(&self, task: Task) -> bool {
        self.random(task, 5).below(1_000) < self.staying
    }

    /// The part of its value, which refers to its first child.
    pub fn part(&self, task: Task) -> Option<Task> {
        let mut random = self.random(task, 6);
        let is_partial = random.below(1_000) < self.partial;
        is_partial.then(|| Task { id: random.number(), depth: 0 })
    }

    /// What is known of a value when its part is evaluated.
    pub fn with_part(number: u64, part: u64) -> u64 {
        Random(number.rotate_left(11) ^ part).number()
    }

    /// In which order a task needs the values of its references and children.
    pub fn demands<T: Copy>(&self, task: Task, references: &[T], children: &[T]) -> Vec<T> {
        let mut random = self.random(task, 3);
        let mut demands = [references, children].concat();
        for n in (1..demands.len()).rev() {
            demands.swap(n, random.below(n as u64 + 1) as usize);
        }
        demands
    }

    /// The value of a task, from those of its demands.
    pub fn value(&self, task: Task, values: &[u64]) -> u64 {
        values.iter().fold(task.id, |sum, value| Random(sum ^ value.rotate_left(7)).number())
    }

    /// About how long that many PEs take.
    pub fn expected_time(&self, pes: u16) -> u64 {
        self.evaluate(self.main()).1.len() as u64 * self.work / 2 / u64::from(pes)
    }

    /// The right value of a task that refers to nothing, and all tasks that are evaluated for it.
    pub fn evaluate(&self, task: Task) -> (u64, Vec<Task>) {
        let mut tasks = vec![];
        (self.evaluate_with(task, &[], &mut tasks).0, tasks)
    }

    /// The number, and the value of the first child.
    fn evaluate_with(&self, task: Task, references: &[u64], tasks: &mut Vec<Task>) -> (u64, Option<u64>) {
        tasks.push(task);
        let mut values: Vec<u64> = vec![];
        for (child, chosen) in self.children(task, references.len()) {
            let of = |reference: &Reference| match *reference {
                Reference::OfParent(n) => references[n],
                Reference::Sibling(n) => values[n],
            };
            let chosen: Vec<u64> = chosen.iter().map(of).collect();
            let (number, first) = self.evaluate_with(child, &chosen, tasks);
            values.push(match self.part(child) {
                None => number,
                Some(part) => Program::with_part(number, self.evaluate_with(part, first.as_slice(), tasks).0),
            });
        }
        (self.value(task, &self.demands(task, references, &values)), values.first().copied())
    }
}
