//! The results as text and as JSON.
use super::{geometric_mean, Pair, Sample, QUANTITIES};
use serde_json::{json, Value};

/// Prints one line per program (stock, Hecaton and their ratio for each quantity) and the geometric means of the ratios.
pub fn print(pairs: &[Pair]) {
    let width = pairs.iter().map(|p| p.name.len()).max().unwrap_or(0).max("geometric mean".len());
    let heads: Vec<String> = QUANTITIES.iter().map(|q| format!("{:^27}", format!("{} ({})", q.name, q.unit))).collect();
    println!("{:width$} | {}", "", heads.join(" | "));
    let columns = format!("{:>9} {:>9} {:>7}", "stock", "hecaton", "ratio");
    println!("{:width$} | {}", "program", QUANTITIES.map(|_| columns.clone()).join(" | "));
    for pair in pairs {
        let cells = QUANTITIES.iter().map(|q| {
            let digits = if q.unit == "s" { 3 } else { 1 };
            format!("{:>9.digits$} {:>9.digits$} {:>7.2}", (q.get)(&pair.stock), (q.get)(&pair.hecaton), pair.ratio(q))
        });
        println!("{:width$} | {}", pair.name, cells.collect::<Vec<_>>().join(" | "));
    }
    let means = QUANTITIES.iter().map(|q| format!("{:>27.2}", geometric_mean(pairs.iter().map(|p| p.ratio(q)))));
    println!("{:width$} | {}", "geometric mean", means.collect::<Vec<_>>().join(" | "));
}

pub fn json(pairs: &[Pair], runs: usize) -> Value {
    let sample = |s: &Sample| json!({"elapsed_seconds": s.elapsed, "gc_seconds": s.gc, "longest_pause_seconds": s.pause, "peak_bytes": s.peak});
    let named = |of: &dyn Fn(usize) -> f64| json!({"elapsed": of(0), "gc": of(1), "longest_pause": of(2), "peak_memory": of(3)});
    let programs: Vec<Value> = pairs
        .iter()
        .map(|p| json!({"name": p.name, "stock": sample(&p.stock), "hecaton": sample(&p.hecaton), "ratio": named(&|q| p.ratio(&QUANTITIES[q]))}))
        .collect();
    let means = named(&|q| geometric_mean(pairs.iter().map(|p| p.ratio(&QUANTITIES[q]))));
    json!({"runs": runs, "statistic": "median", "programs": programs, "geometric_mean": means})
}
