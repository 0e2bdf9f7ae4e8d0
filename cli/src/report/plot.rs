//! Ratios as a picture: for each quantity a panel of bars, one a row, that reach from 1.0 to the ratio, on a
//! logarithmic scale from a quarter to four times.
use super::geometric_mean;
use crate::error::{Fail, Result};
use plotters::{
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};
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
pub const INK: RGBColor = RGBColor(40, 40, 40);
pub const LINE: RGBColor = RGBColor(205, 205, 205);

/// Which side of 1.0 is the good one.
#[derive(Clone, Copy, PartialEq)]
pub enum Better {
    Lower,
    Higher,
}

/// One quantity: a ratio for each row.
pub struct Panel {
    pub title: String,
    pub values: Vec<f64>,
    pub better: Better,
}

/// Writes an SVG picture with a row for each name and, if asked for, one for the geometric mean.
pub fn draw(names: &[&str], panels: &[Panel], with_mean: bool, path: &Path) -> Result<()> {
    let width = NAMES + panels.len() as i32 * (PANEL + GAP);
    let height = HEAD + (names.len() + usize::from(with_mean)) as i32 * ROW + GAP;
    let area = SVGBackend::new(path, (width as u32, height as u32)).into_drawing_area();
    paint(names, panels, with_mean, &area, height)
        .map_err(|e| Fail::new(format!("cannot draw {}: {e}", path.display())))
}

pub type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
pub type Painted = std::result::Result<(), Box<dyn std::error::Error>>;

fn paint(names: &[&str], panels: &[Panel], with_mean: bool, area: &Area, height: i32) -> Painted {
    area.fill(&WHITE)?;
    for (row, name) in names.iter().copied().chain(with_mean.then_some("geometric mean")).enumerate() {
        text(area, name, (NAMES - 10, middle(row)), HPos::Right, 13)?;
    }
    for (n, panel) in panels.iter().enumerate() {
        paint_panel(panel, with_mean, area, NAMES + n as i32 * (PANEL + GAP), height)?;
    }
    area.present()?;
    Ok(())
}

fn paint_panel(panel: &Panel, with_mean: bool, area: &Area, left: i32, height: i32) -> Painted {
    text(area, &panel.title, (left + PANEL / 2, 16), HPos::Center, 14)?;
    for (ratio, label) in [(0.25, "¼"), (0.5, "½"), (1.0, "1"), (2.0, "2"), (4.0, "4")] {
        let x = left + offset(ratio);
        let colour = if ratio == 1.0 { INK } else { LINE };
        area.draw(&PathElement::new(vec![(x, HEAD - 10), (x, height - GAP)], colour))?;
        text(area, label, (x, HEAD - 20), HPos::Center, 12)?;
    }
    let mean = with_mean.then(|| geometric_mean(panel.values.iter().copied()));
    for (row, ratio) in panel.values.iter().copied().chain(mean).enumerate() {
        let (from, to) = (left + offset(ratio.min(1.0)), left + offset(ratio.max(1.0)));
        let corners = [(from, middle(row) - BAR / 2), (to, middle(row) + BAR / 2)];
        area.draw(&Rectangle::new(corners, panel.better.colour(ratio).filled()))?;
        // On the side of the line where there is no bar.
        let (x, side) =
            if ratio > 1.0 { (left + offset(1.0) - 4, HPos::Right) } else { (left + offset(1.0) + 4, HPos::Left) };
        text(area, &format!("{ratio:.2}"), (x, middle(row)), side, 11)?;
    }
    Ok(())
}

impl Better {
    fn colour(self, ratio: f64) -> RGBColor {
        let worse_by = if self == Better::Lower { ratio } else { 1.0 / ratio };
        if worse_by <= 1.0 {
            GOOD
        } else if worse_by <= 1.25 {
            FAIR
        } else {
            BAD
        }
    }
}

fn middle(row: usize) -> i32 {
    HEAD + row as i32 * ROW + ROW / 2
}

/// Where in a panel a ratio lies.
fn offset(ratio: f64) -> i32 {
    let part = (ratio.clamp(1.0 / LARGEST, LARGEST).ln() / LARGEST.ln() + 1.0) / 2.0;
    (part * f64::from(PANEL)) as i32
}

pub fn text(area: &Area, words: &str, at: (i32, i32), side: HPos, size: i32) -> Painted {
    let style = TextStyle::from(("sans-serif", size).into_font()).color(&INK).pos(Pos::new(side, VPos::Center));
    area.draw(&Text::new(words.to_owned(), at, style))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_logarithmic_and_bounded() {
        assert_eq!((offset(0.25), offset(1.0), offset(4.0)), (0, PANEL / 2, PANEL));
        assert_eq!(offset(100.0), PANEL);
    }

    #[test]
    fn colours_say_which_way_is_better() {
        assert!(
            Better::Lower.colour(0.9) == GOOD && Better::Lower.colour(1.1) == FAIR && Better::Lower.colour(2.0) == BAD
        );
        assert!(Better::Higher.colour(1.9) == GOOD && Better::Higher.colour(0.5) == BAD);
    }

    #[test]
    fn a_picture_is_written() {
        let path = std::env::temp_dir().join(format!("hecaton-chart-{}.svg", std::process::id()));
        let panel = Panel { title: "elapsed".into(), values: vec![0.5], better: Better::Lower };
        draw(&["queens"], &[panel], true, &path).unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().contains("queens"));
        std::fs::remove_file(&path).unwrap();
    }
}
