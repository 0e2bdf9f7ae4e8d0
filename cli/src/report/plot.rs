//! The results as a picture: for each quantity a panel of bars, one a program, that reach from 1.0 (as stock) to the ratio, on a
//! logarithmic scale from a quarter to four times.
use super::{geometric_mean, Pair, Quantity, QUANTITIES};
use crate::fail::{Fail, Result};
use plotters::{prelude::*, style::text_anchor::{HPos, Pos, VPos}};
use std::path::Path;

const NAMES: i32 = 170;
const PANEL: i32 = 260;
const GAP: i32 = 20;
const HEAD: i32 = 60;
const ROW: i32 = 20;
const BAR: i32 = 14;
const LARGEST: f64 = 4.0;

const GOOD: RGBColor = RGBColor(46, 125, 90);
const FAIR: RGBColor = RGBColor(214, 158, 46);
const BAD: RGBColor = RGBColor(190, 60, 50);
const INK: RGBColor = RGBColor(40, 40, 40);
const LINE: RGBColor = RGBColor(205, 205, 205);

pub fn draw(pairs: &[Pair], path: &Path) -> Result<()> {
    let width = NAMES + QUANTITIES.len() as i32 * (PANEL + GAP);
    let height = HEAD + (pairs.len() as i32 + 1) * ROW + GAP;
    let area = SVGBackend::new(path, (width as u32, height as u32)).into_drawing_area();
    paint(pairs, &area, height).map_err(|e| Fail::new(format!("cannot draw {}: {e}", path.display())))
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Painted = std::result::Result<(), Box<dyn std::error::Error>>;

fn paint(pairs: &[Pair], area: &Area, height: i32) -> Painted {
    area.fill(&WHITE)?;
    for (row, name) in pairs.iter().map(|p| p.name.as_str()).chain(["geometric mean"]).enumerate() {
        text(area, name, (NAMES - 10, middle(row)), HPos::Right, 13)?;
    }
    for (n, quantity) in QUANTITIES.iter().enumerate() {
        panel(pairs, area, quantity, NAMES + n as i32 * (PANEL + GAP), height)?;
    }
    area.present()?;
    Ok(())
}

fn panel(pairs: &[Pair], area: &Area, quantity: &Quantity, left: i32, height: i32) -> Painted {
    text(area, &format!("{}, Hecaton : stock", quantity.name), (left + PANEL / 2, 16), HPos::Center, 14)?;
    for (ratio, label) in [(0.25, "¼"), (0.5, "½"), (1.0, "1"), (2.0, "2"), (4.0, "4")] {
        let x = left + offset(ratio);
        let colour = if ratio == 1.0 { INK } else { LINE };
        area.draw(&PathElement::new(vec![(x, HEAD - 10), (x, height - GAP)], colour))?;
        text(area, label, (x, HEAD - 20), HPos::Center, 12)?;
    }
    let mean = geometric_mean(pairs.iter().map(|p| p.ratio(quantity)));
    for (row, ratio) in pairs.iter().map(|p| p.ratio(quantity)).chain([mean]).enumerate() {
        let (from, to) = (left + offset(ratio.min(1.0)), left + offset(ratio.max(1.0)));
        let corners = [(from, middle(row) - BAR / 2), (to, middle(row) + BAR / 2)];
        let colour = if ratio <= 1.0 { GOOD } else if ratio <= 1.25 { FAIR } else { BAD };
        area.draw(&Rectangle::new(corners, colour.filled()))?;
        // On the side of the line where there is no bar.
        let (x, side) = if ratio > 1.0 { (left + offset(1.0) - 4, HPos::Right) } else { (left + offset(1.0) + 4, HPos::Left) };
        text(area, &format!("{ratio:.2}"), (x, middle(row)), side, 11)?;
    }
    Ok(())
}

fn middle(row: usize) -> i32 {
    HEAD + row as i32 * ROW + ROW / 2
}

/// Where in a panel a ratio lies.
fn offset(ratio: f64) -> i32 {
    let part = (ratio.clamp(1.0 / LARGEST, LARGEST).ln() / LARGEST.ln() + 1.0) / 2.0;
    (part * f64::from(PANEL)) as i32
}

fn text(area: &Area, words: &str, at: (i32, i32), side: HPos, size: i32) -> Painted {
    let style = TextStyle::from(("sans-serif", size).into_font()).color(&INK).pos(Pos::new(side, VPos::Center));
    area.draw(&Text::new(words.to_owned(), at, style))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Sample;

    #[test]
    fn the_scale_is_logarithmic_and_bounded() {
        assert_eq!((offset(0.25), offset(1.0), offset(4.0)), (0, PANEL / 2, PANEL));
        assert_eq!(offset(100.0), PANEL);
    }

    #[test]
    fn a_picture_is_written() {
        let path = std::env::temp_dir().join(format!("hecaton-chart-{}.svg", std::process::id()));
        let sample = Sample { elapsed: 1.0, gc: 0.5, pause: 0.01, peak: 1e7 };
        let pair = Pair { name: "queens".into(), stock: sample.clone(), hecaton: sample };
        draw(&[pair], &path).unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().contains("queens"));
        std::fs::remove_file(&path).unwrap();
    }
}
