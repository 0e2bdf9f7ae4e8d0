//! The results of sequential programs as text, as JSON and as a picture.
use super::{Pair, Sample, QUANTITIES};
use crate::bench::goals::is_gc_bound;
use crate::error::Result;
use crate::report::{draw, geometric_mean, Better, Panel};
use serde_json::{json, Value};
use std::path::Path;

/// Prints one line per program (stock, Hecaton and their ratio for each quantity) and the geometric means of the
/// ratios. An asterisk marks GC-bound programs.
pub fn print(pairs: &[Pair]) {
    let marked = |p: &Pair| format!("{}{}", p.name, if is_gc_bound(p) { " *" } else { "" });
    let width = pairs.iter().map(|p| marked(p).len()).max().unwrap_or(0).max("geometric mean".len());
    let heads: Vec<String> = QUANTITIES.iter().map(|q| format!("{:^27}", format!("{} ({})", q.name, q.unit))).collect();
    println!("{:width$} | {}", "", heads.join(" | "));
    let columns = format!("{:>9} {:>9} {:>7}", "stock", "hecaton", "ratio");
    println!("{:width$} | {}", "program", QUANTITIES.map(|_| columns.clone()).join(" | "));
    for pair in pairs {
        let cells = QUANTITIES.iter().map(|q| {
            let digits = if q.unit == "s" { 3 } else { 1 };
            format!("{:>9.digits$} {:>9.digits$} {:>7.2}", (q.get)(&pair.stock), (q.get)(&pair.hecaton), pair.ratio(q))
        });
        println!("{:width$} | {}", marked(pair), cells.collect::<Vec<_>>().join(" | "));
    }
    let means = QUANTITIES.iter().map(|q| format!("{:>27.2}", geometric_mean(pairs.iter().map(|p| p.ratio(q)))));
    println!("{:width$} | {}", "geometric mean", means.collect::<Vec<_>>().join(" | "));
}

pub fn json(pairs: &[Pair]) -> Value {
    let sample = |s: &Sample| {
        json!({
            "elapsed_seconds": s.elapsed, "cpu_seconds": s.cpu, "gc_seconds": s.gc, "longest_pause_seconds": s.pause, "peak_bytes": s.peak,
        })
    };
    let named = |of: &dyn Fn(usize) -> f64| json!({"elapsed": of(0), "gc": of(1), "longest_pause": of(2), "peak_memory": of(3)});
    let programs: Vec<Value> = pairs
        .iter()
        .map(|p| json!({"name": p.name, "gc_bound": is_gc_bound(p), "stock": sample(&p.stock), "hecaton": sample(&p.hecaton), "ratio": named(&|q| p.ratio(&QUANTITIES[q]))}))
        .collect();
    let means = named(&|q| geometric_mean(pairs.iter().map(|p| p.ratio(&QUANTITIES[q]))));
    json!({"programs": programs, "geometric_mean": means})
}

pub fn picture(pairs: &[Pair], path: &Path) -> Result<()> {
    let names: Vec<&str> = pairs.iter().map(|p| p.name.as_str()).collect();
    let panels = QUANTITIES.map(|q| Panel {
        title: format!("{}, Hecaton : stock", q.name),
        values: pairs.iter().map(|p| p.ratio(&q)).collect(),
        better: Better::Lower,
    });
    draw(&names, &panels, true, path)
}
