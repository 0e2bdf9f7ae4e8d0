//! Figures as text, JSON and pictures: a grid has a row for each thing measured and a column for each quantity.
mod curves;
mod plot;

pub use curves::{draw_curves, Axis, Curve};
pub use plot::{draw, Better, Panel};

use crate::error::{Fail, Result};
use serde_json::{json, Value};
use std::{
    fs,
    io::{stderr, IsTerminal},
    path::Path,
};

/// Shows on a terminal what is being done, in place of the line before.
pub fn progress(what: &str) {
    if stderr().is_terminal() {
        eprint!("\r\x1b[K{what}");
    }
}

pub fn write_json(path: &Path, all: &Value) -> Result<()> {
    fs::write(path, format!("{all:#}\n")).map_err(|e| Fail::io("write", path, e))
}

pub struct Column {
    pub head: String,
    pub digits: usize,
    /// Ratios have a panel in the picture, and a geometric mean if the rows are of a kind.
    pub ratio: Option<Better>,
}

pub struct Grid {
    /// Its key in JSON and its file name.
    pub name: &'static str,
    pub title: String,
    pub columns: Vec<Column>,
    /// NaN stands for what was not measured.
    pub rows: Vec<(String, Vec<f64>)>,
    /// Whether the rows are of a kind, so that the mean of their ratios says something.
    pub has_mean: bool,
}

impl Column {
    pub fn figure(head: impl Into<String>, digits: usize) -> Column {
        Column { head: head.into(), digits, ratio: None }
    }

    pub fn ratio(head: impl Into<String>, better: Better) -> Column {
        Column { head: head.into(), digits: 2, ratio: Some(better) }
    }
}

impl Grid {
    /// The figures of a column, in the order of the rows.
    pub fn column(&self, n: usize) -> impl Iterator<Item = f64> + '_ {
        self.rows.iter().map(move |(_, values)| values[n])
    }

    fn means(&self) -> Vec<Option<f64>> {
        let mean = |(n, c): (usize, &Column)| c.ratio.map(|_| geometric_mean(self.column(n)));
        self.columns.iter().enumerate().map(mean).collect()
    }

    /// The title, a line of heads, a line for each row, and the geometric means of ratios.
    pub fn text(&self) -> String {
        let first = self.rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max(MEAN.len());
        let widths: Vec<usize> = self.columns.iter().map(|c| c.head.chars().count().max(8)).collect();
        let heads: String = self.columns.iter().zip(&widths).map(|(c, w)| format!("  {:>w$}", c.head)).collect();
        let cells = |values: &[Option<f64>]| -> String {
            let cell = |((value, column), w): ((&Option<f64>, &Column), &usize)| match value {
                Some(v) if v.is_nan() => format!("  {:>w$}", "-"),
                Some(v) => format!("  {v:>w$.digits$}", digits = column.digits),
                None => format!("  {:w$}", ""),
            };
            values.iter().zip(&self.columns).zip(&widths).map(cell).collect()
        };
        let mut out = format!("{}\n{:first$}{heads}\n", self.title, "");
        for (name, values) in &self.rows {
            let values: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
            out += &format!("{name:first$}{}\n", cells(&values));
        }
        if self.has_mean {
            out += format!("{MEAN:first$}{}", cells(&self.means())).trim_end();
            out += "\n";
        }
        out
    }

    pub fn json(&self) -> Value {
        let object = |values: &mut dyn Iterator<Item = Option<f64>>| -> Value {
            self.columns
                .iter()
                .zip(values)
                .filter_map(|(c, v)| Some((c.head.clone(), json!(v?))))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|(name, values)| json!({"name": name, "figures": object(&mut values.iter().copied().map(Some))}))
            .collect();
        let mut all = json!({"title": self.title, "rows": rows});
        if self.has_mean {
            all["geometric_mean"] = object(&mut self.means().into_iter());
        }
        all
    }

    /// A picture of the columns that are ratios.
    pub fn plot(&self, path: &Path) -> Result<()> {
        let names: Vec<&str> = self.rows.iter().map(|(name, _)| name.as_str()).collect();
        let panels = self.columns.iter().enumerate().filter_map(|(n, c)| {
            let values = self.column(n).collect();
            c.ratio.map(|better| Panel { title: c.head.clone(), values, better })
        });
        draw(&names, &panels.collect::<Vec<_>>(), self.has_mean, path)
    }
}

const MEAN: &str = "geometric mean";

pub fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), v| (sum + v.ln(), count + 1));
    if count == 0 {
        return 1.0;
    }
    (sum / f64::from(count)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometric_means() {
        assert!((geometric_mean([0.5, 2.0].into_iter()) - 1.0).abs() < 1e-12);
        assert!((geometric_mean([2.0, 8.0].into_iter()) - 4.0).abs() < 1e-12);
        assert_eq!(geometric_mean(std::iter::empty()), 1.0);
    }

    #[test]
    fn ratios_have_means_and_figures_have_not() {
        let columns = vec![Column::figure("seconds", 1), Column::ratio("speed-up", Better::Higher)];
        let rows = vec![("a".to_owned(), vec![3.0, 1.0]), ("b".to_owned(), vec![4.0, 4.0])];
        let grid = Grid { name: "g", title: "T".to_owned(), columns, rows, has_mean: true };
        let lines = "T\n                 seconds  speed-up\na                    3.0      1.00\nb                    4.0      4.00\n\
                     geometric mean                2.00\n";
        assert_eq!(grid.text(), lines);
        assert_eq!(grid.json()["geometric_mean"], json!({"speed-up": 2.0}));
        assert_eq!(grid.json()["rows"][1], json!({"name": "b", "figures": {"seconds": 4.0, "speed-up": 4.0}}));
    }
}
