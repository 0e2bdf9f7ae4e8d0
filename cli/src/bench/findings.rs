//! What a part of the benchmark has measured: for each size and each contender the medians of some quantities. As
//! tables, JSON and pictures.
use crate::bench::estimate::median;
use crate::bench::goals::{Bound, Targets};
use crate::bench::sampling::turns;
use crate::error::Result;
use crate::report::{draw_curves, write_json, Axis, Better, Column, Curve, Grid};
use serde_json::{json, Value};
use std::path::Path;

pub struct Quantity {
    /// Its key in JSON, and a part of the name of its picture.
    pub key: &'static str,
    /// As in `elapsed seconds`.
    pub name: &'static str,
    pub digits: usize,
    pub better: Better,
}

/// Two contenders whose figures are divided.
pub struct Ratio {
    pub head: String,
    pub of: usize,
    pub to: usize,
}

/// The figures at one size, or of one thing of several.
pub struct Row {
    pub label: String,
    /// Where it lies on the curve, if there is one.
    pub size: Option<f64>,
    /// Of each contender a figure for each quantity; `None` if it was not measured at this size.
    pub figures: Vec<Option<Vec<f64>>>,
}

pub struct Findings {
    pub part: String,
    pub title: String,
    /// What the rows are; what the sizes are numbers of.
    pub along: &'static str,
    pub contenders: Vec<String>,
    pub ratios: Vec<Ratio>,
    pub quantities: &'static [Quantity],
    pub rows: Vec<Row>,
    /// What limited the measurement, and what went wrong.
    pub notes: Vec<String>,
    /// Figures that the project aims at: what is measured, the figure, and its bound.
    pub aims: Vec<(String, f64, Bound)>,
}

/// Has `contenders` contenders measured in turns, `runs` times. Returns the medians of each quantity, and `None` for a
/// contender that has once answered `None`.
pub fn medians(
    contenders: usize,
    runs: usize,
    mut measure: impl FnMut(usize) -> Result<Option<Vec<f64>>>,
) -> Result<Vec<Option<Vec<f64>>>> {
    let all: Vec<usize> = (0..contenders).collect();
    let mut samples = vec![Vec::new(); contenders];
    for round in 0..runs {
        for n in turns(&all, round) {
            samples[n].push(measure(n)?);
        }
    }
    let of_one = |samples: Vec<Option<Vec<f64>>>| {
        let samples: Vec<Vec<f64>> = samples.into_iter().collect::<Option<_>>()?;
        let quantities = samples.first().map_or(0, Vec::len);
        Some((0..quantities).map(|q| median(samples.iter().map(|s| s[q]))).collect())
    };
    Ok(samples.into_iter().map(of_one).collect())
}

impl Row {
    pub fn at(size: usize, figures: Vec<Option<Vec<f64>>>) -> Row {
        Row { label: size.to_string(), size: Some(size as f64), figures }
    }
}

impl Findings {
    /// Findings without notes and aims.
    pub fn new(
        part: &str,
        title: impl Into<String>,
        along: &'static str,
        contenders: Vec<String>,
        ratios: Vec<Ratio>,
        quantities: &'static [Quantity],
        rows: Vec<Row>,
    ) -> Findings {
        let (part, title) = (part.to_owned(), title.into());
        Findings { part, title, along, contenders, ratios, quantities, rows, notes: Vec::new(), aims: Vec::new() }
    }

    /// Aims at a ratio in the row with this label, if that was measured. Quantities and ratios are given by their
    /// numbers.
    pub fn aim_at_ratio(&mut self, label: &str, quantity: usize, ratio: usize, bound: Bound) {
        let Some(row) = self.rows.iter().find(|row| row.label == label) else { return };
        let Ratio { head, of, to } = &self.ratios[ratio];
        let measured = self.figure(row, *of, quantity) / self.figure(row, *to, quantity);
        self.aim(format!("{label}, {head}"), quantity, measured, bound);
    }

    /// Aims at a contender's figure in the row with this label.
    pub fn aim_at_figure(&mut self, label: &str, quantity: usize, contender: usize, bound: Bound) {
        let Some(row) = self.rows.iter().find(|row| row.label == label) else { return };
        let measured = self.figure(row, contender, quantity);
        self.aim(format!("{label}, {}", self.contenders[contender]), quantity, measured, bound);
    }

    /// Aims at what is a contender's figure in the last row by that in the first one.
    pub fn aim_at_last(&mut self, quantity: usize, contender: usize, bound: Bound) {
        let (Some(first), Some(last)) = (self.rows.first(), self.rows.last()) else { return };
        let measured = self.figure(last, contender, quantity) / self.figure(first, contender, quantity);
        self.aim(
            format!("{} : {}, {}", last.label, first.label, self.contenders[contender]),
            quantity,
            measured,
            bound,
        );
    }

    fn aim(&mut self, what: String, quantity: usize, measured: f64, bound: Bound) {
        if !measured.is_nan() {
            self.aims.push((format!("{} {}, {what}", self.part, self.quantities[quantity].key), measured, bound));
        }
    }

    /// The figure of a contender, given by its name, in the row with this label.
    pub fn figure_at(&self, label: &str, contender: &str, quantity: usize) -> Option<f64> {
        let row = self.rows.iter().find(|row| row.label == label)?;
        let contender = self.contenders.iter().position(|name| name == contender)?;
        Some(row.figures[contender].as_ref()?[quantity])
    }

    /// The figure of a contender, NaN if there is none.
    fn figure(&self, row: &Row, contender: usize, quantity: usize) -> f64 {
        row.figures[contender].as_ref().map_or(f64::NAN, |figures| figures[quantity])
    }

    /// A row for each size; columns for the contenders and the ratios.
    fn grid(&self, n: usize) -> Grid {
        let quantity = &self.quantities[n];
        let mut columns: Vec<Column> =
            self.contenders.iter().map(|name| Column::figure(name.clone(), quantity.digits)).collect();
        columns.extend(self.ratios.iter().map(|r| Column::ratio(r.head.clone(), quantity.better)));
        let row = |row: &Row| {
            let figure = |contender| self.figure(row, contender, n);
            let figures = (0..self.contenders.len()).map(figure);
            // A ratio to nothing is none.
            let ratios =
                self.ratios.iter().map(|r| figure(r.of) / Some(figure(r.to)).filter(|f| *f != 0.0).unwrap_or(f64::NAN));
            (row.label.clone(), figures.chain(ratios).collect())
        };
        Grid {
            name: quantity.key,
            title: format!("{}: {}, by {}", self.title, quantity.name, self.along),
            columns,
            rows: self.rows.iter().map(row).collect(),
            has_mean: false,
        }
    }

    fn grids(&self) -> impl Iterator<Item = Grid> + '_ {
        (0..self.quantities.len()).map(|n| self.grid(n))
    }

    pub fn text(&self) -> String {
        let tables: Vec<String> = self.grids().map(|grid| grid.text()).collect();
        let notes: String = self.notes.iter().map(|note| format!("note: {note}\n")).collect();
        tables.join("\n") + &notes
    }

    fn json(&self) -> Value {
        let mut aims = Targets::default();
        self.add_aims(&mut aims);
        let mut all = json!({"notes": self.notes, "targets": aims.json()});
        for grid in self.grids() {
            all[grid.name] = grid.json();
        }
        all
    }

    pub fn add_aims(&self, targets: &mut Targets) {
        for (what, measured, bound) in &self.aims {
            targets.add(what, *measured, *bound);
        }
    }

    /// Writes the figures, medians of `runs` runs, and the pictures into folder `dir`.
    pub fn write(&self, dir: &Path, runs: usize) -> Result<()> {
        let mut all = self.json();
        all["runs"] = runs.into();
        write_json(&dir.join(format!("{}.json", self.part)), &all)?;
        self.draw(dir)
    }

    /// Draws a picture of each quantity: curves along several sizes, otherwise bars for the ratios.
    fn draw(&self, dir: &Path) -> Result<()> {
        for (n, quantity) in self.quantities.iter().enumerate() {
            let path = dir.join(format!("{}-{}.svg", self.part, quantity.key));
            let ticks: Vec<f64> = self.rows.iter().filter_map(|row| row.size).collect();
            if ticks.len() > 1 {
                draw_curves(&self.title, &Axis { name: self.along, ticks }, quantity.name, &self.curves(n), &path)?;
            } else {
                self.grid(n).plot(&path)?;
            }
        }
        Ok(())
    }

    fn curves(&self, n: usize) -> Vec<Curve> {
        let curve = |(contender, name): (usize, &String)| {
            let points = self.rows.iter().filter_map(|row| Some((row.size?, self.figure(row, contender, n))));
            Curve { name: name.clone(), points: points.filter(|(_, figure)| !figure.is_nan()).collect() }
        };
        self.contenders.iter().enumerate().map(curve).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUANTITIES: [Quantity; 2] = [
        Quantity { key: "elapsed", name: "seconds", digits: 1, better: Better::Lower },
        Quantity { key: "memory", name: "MB", digits: 0, better: Better::Lower },
    ];

    fn findings() -> Findings {
        let mut findings = Findings::new(
            "delays",
            "Delays",
            "threads",
            vec!["stock".into(), "hecaton".into()],
            vec![Ratio { head: "h:s".into(), of: 1, to: 0 }],
            &QUANTITIES,
            vec![
                Row::at(10, vec![Some(vec![4.0, 40.0]), Some(vec![1.0, 10.0])]),
                Row::at(20, vec![None, Some(vec![2.0, 20.0])]),
            ],
        );
        findings.notes.push("stock is too slow".into());
        findings
    }

    #[test]
    fn aims_are_at_ratios_figures_and_growth() {
        let mut findings = findings();
        findings.aim_at_ratio("10", 0, 0, Bound::AtMost(0.1));
        findings.aim_at_ratio("20", 0, 0, Bound::AtMost(0.1));
        findings.aim_at_ratio("30", 0, 0, Bound::AtMost(0.1));
        findings.aim_at_figure("20", 1, 1, Bound::AtMost(50.0));
        findings.aim_at_last(1, 1, Bound::AtMost(1.1));
        let aims: Vec<(&str, f64)> =
            findings.aims.iter().map(|(what, measured, _)| (what.as_str(), *measured)).collect();
        let expected = [
            ("delays elapsed, 10, h:s", 0.25),
            ("delays memory, 20, hecaton", 20.0),
            ("delays memory, 20 : 10, hecaton", 2.0),
        ];
        assert_eq!(aims, expected);
    }

    #[test]
    fn contenders_take_turns_and_medians_count() {
        let mut order = Vec::new();
        let figures = medians(2, 3, |n| {
            order.push(n);
            Ok(Some(vec![[5.0, 1.0, 3.0][(order.len() - 1) / 2], n as f64]))
        });
        assert_eq!(order, [0, 1, 1, 0, 1, 0]);
        assert_eq!(figures.unwrap(), [Some(vec![3.0, 0.0]), Some(vec![3.0, 1.0])]);
        assert_eq!(medians(1, 2, |_| Ok(None)).unwrap(), [None]);
    }

    #[test]
    fn there_is_a_table_for_each_quantity() {
        let text = findings().text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "Delays: seconds, by threads");
        assert!(lines[2].starts_with("10 ") && lines[2].ends_with("4.0       1.0      0.25"), "{text}");
        assert!(lines[3].ends_with("-       2.0         -"), "{text}");
        assert!(text.contains("Delays: MB, by threads") && text.ends_with("note: stock is too slow\n"));
    }

    #[test]
    fn json_has_what_the_tables_have() {
        let json = findings().json();
        assert_eq!(json["memory"]["rows"][0]["figures"], json!({"stock": 40.0, "hecaton": 10.0, "h:s": 0.25}));
        assert_eq!(json["elapsed"]["rows"][1]["figures"]["stock"], Value::Null);
        assert_eq!(json["notes"][0], "stock is too slow");
    }

    #[test]
    fn curves_leave_out_what_was_not_measured() {
        let curves = findings().curves(1);
        assert_eq!((curves[0].name.as_str(), &curves[0].points[..]), ("stock", &[(10.0, 40.0)][..]));
        assert_eq!(curves[1].points, [(10.0, 10.0), (20.0, 20.0)]);
    }

    #[test]
    fn pictures_are_curves_along_sizes_and_bars_otherwise() {
        let dir = std::env::temp_dir().join(format!("hecaton-findings-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let drawn = |findings: &Findings| {
            findings.write(&dir, 3).unwrap();
            assert!(std::fs::read_to_string(dir.join("delays.json")).unwrap().contains("\"runs\": 3"));
            std::fs::read_to_string(dir.join("delays-memory.svg")).unwrap()
        };
        let mut findings = findings();
        assert!(drawn(&findings).contains("threads"));
        findings.rows.remove(1);
        let bars = drawn(&findings);
        assert!(!bars.contains("threads") && bars.contains("h:s"));
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
