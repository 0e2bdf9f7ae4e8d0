//! Measures what lock-free evaluation saves (\[HMP05\], figures 4 and 6): a program compiled as usual, compiled to
//! claim thunks when they are entered, and with these claims and all updates done by atomic instructions. Only the
//! program's own modules are compiled anew; the prebuilt libraries enter their thunks as always. Sequential programs
//! on one HEC; CPU time, which other programs of the machine disturb less.
use super::Laboratory;
use crate::bench::alternate;
use crate::error::{Fail, Result};
use crate::programs::{Maker, Program};
use crate::report::{Better, Column, Grid};
use object::{Object, ObjectSection, SectionKind};
use std::fs;

/// One program of this many is measured when time is short.
const QUICK: usize = 4;

pub fn answer(lab: &Laboratory, progress: &dyn Fn(&str)) -> Result<Grid> {
    let sequential = lab.programs.iter().filter(|p| p.header.hecs.is_none() && p.header.aims.is_empty());
    let chosen: Vec<&Program> = sequential.step_by(if lab.quick { QUICK } else { 1 }).collect();
    let mut rows = Vec::new();
    for (n, program) in chosen.iter().enumerate() {
        progress(&format!("evaluation {}/{} {}", n + 1, chosen.len(), program.name));
        let contenders = [lab.plainly(program, &[])?, lab.grey(program, &[])?, lab.atomically(program, &[])?];
        let [plain, grey, atomic] = alternate(&program.name, &contenders, lab.runs)?.map(|s| s.cpu);
        let code = |maker: &Maker| code_bytes(maker, program);
        // An exchange is as long as a store, so atomic code is of the size of grey.
        let ratios = [grey / plain, atomic / plain, atomic / grey, code(&lab.grey)? / code(&lab.plain)?];
        rows.push((program.name.clone(), [&[plain, grey, atomic][..], &ratios].concat()));
    }
    let seconds = |head| Column::figure(head, 3);
    let ratio = |head| Column::ratio(head, Better::Lower);
    Ok(Grid {
        name: "evaluation",
        title: "Evaluation: CPU seconds lock-free, with grey-holing, and with that and updates by atomic instructions; size of grey code"
            .to_owned(),
        columns: vec![
            seconds("lock-free"),
            seconds("grey"),
            seconds("atomic"),
            ratio("grey:lock-free"),
            ratio("atomic:lock-free"),
            ratio("atomic:grey"),
            ratio("grey code"),
        ],
        rows,
        has_mean: true,
    })
}

/// The size of what ghc compiled of a program.
fn code_bytes(maker: &Maker, program: &Program) -> Result<f64> {
    let dir = maker.objects(program);
    let mut bytes = 0;
    for path in fs::read_dir(&dir).map_err(|e| Fail::io("read", &dir, e))?.flatten().map(|e| e.path()) {
        if path.extension().is_some_and(|e| e == "o") {
            let file = fs::read(&path).map_err(|e| Fail::io("read", &path, e))?;
            let parsed = object::File::parse(&*file).map_err(|e| Fail::new(format!("{}: {e}", path.display())))?;
            bytes += parsed.sections().filter(|s| s.kind() == SectionKind::Text).map(|s| s.size()).sum::<u64>();
        }
    }
    Ok(bytes as f64)
}
