//! Curves as a picture: figures of several contenders at several sizes. Sizes are on a logarithmic scale, and so are
//! figures that differ by more than a factor of [`LINEAR`].
use super::plot::{text, Area, Painted, INK, LINE};
use crate::error::{Fail, Result};
use plotters::{prelude::*, style::text_anchor::HPos};
use std::path::Path;

const WIDTH: i32 = 760;
const HEIGHT: i32 = 420;
const LEFT: i32 = 80;
const RIGHT: i32 = 170;
const TOP: i32 = 50;
const BOTTOM: i32 = 60;
/// The factor by which figures may differ on a linear scale.
const LINEAR: f64 = 20.0;
/// A linear scale has about this many lines.
const LINES: f64 = 6.0;

const COLOURS: [RGBColor; 6] = [
    RGBColor(190, 60, 50),
    RGBColor(46, 125, 90),
    RGBColor(214, 158, 46),
    RGBColor(50, 90, 170),
    RGBColor(90, 90, 90),
    RGBColor(130, 60, 140),
];

pub struct Curve {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// The sizes.
pub struct Axis {
    pub name: &'static str,
    pub ticks: Vec<f64>,
}

/// Writes an SVG picture. `up` names the figures.
pub fn draw_curves(title: &str, across: &Axis, up: &str, curves: &[Curve], path: &Path) -> Result<()> {
    let area = SVGBackend::new(path, (WIDTH as u32, HEIGHT as u32)).into_drawing_area();
    paint(title, across, up, curves, &area).map_err(|e| Fail::new(format!("cannot draw {}: {e}", path.display())))
}

/// Where figures lie between the lower end of an axis (0) and the upper end (1).
#[derive(Debug, PartialEq)]
struct Scale {
    low: f64,
    high: f64,
    is_log: bool,
}

impl Scale {
    /// Of sizes. Zero stands where a third of the smallest size that is not zero would stand.
    fn of_sizes(sizes: impl Iterator<Item = f64> + Clone) -> Scale {
        let positive = sizes.clone().filter(|&s| s > 0.0);
        let low = positive.clone().fold(f64::INFINITY, f64::min);
        let low = if sizes.clone().any(|s| s == 0.0) { low / 3.0 } else { low };
        Scale { low, high: positive.fold(low, f64::max), is_log: true }
    }

    /// Of figures; its ends are lines.
    fn of_figures(figures: impl Iterator<Item = f64> + Clone) -> Scale {
        let high = figures.clone().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        let low = figures.clone().fold(high, f64::min);
        if low > 0.0 && high / low > LINEAR {
            let power = |x: f64| 10f64.powf(x);
            return Scale { low: power(low.log10().floor()), high: power(high.log10().ceil()), is_log: true };
        }
        let step = step(high);
        Scale { low: 0.0, high: (high / step).ceil() * step, is_log: false }
    }

    fn at(&self, value: f64) -> f64 {
        if self.is_log {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln().max(f64::MIN_POSITIVE)
        } else {
            value / self.high
        }
    }

    fn lines(&self) -> Vec<f64> {
        if !self.is_log {
            let step = step(self.high);
            return (0..=(self.high / step).round() as u32).map(|n| f64::from(n) * step).collect();
        }
        let decades = (self.high / self.low).log10().round() as i32;
        let digits: &[f64] = if decades <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let lines = (0..=decades).flat_map(|d| digits.iter().map(move |digit| self.low * 10f64.powi(d) * digit));
        lines.filter(|line| *line <= self.high * 1.001).collect()
    }
}

/// The distance between the lines of a linear scale up to `high`: 1, 2 or 5 times a power of ten.
fn step(high: f64) -> f64 {
    let rough = high / LINES;
    let power = 10f64.powf(rough.log10().floor());
    power * [1.0, 2.0, 5.0, 10.0].into_iter().find(|digit| digit * power >= rough * 0.999).unwrap_or(10.0)
}

/// A number, with letters in the place of whole thousands and millions.
fn short(figure: f64) -> String {
    let (divided, letter) = match figure {
        f if f >= 1e6 && f % 1e5 == 0.0 => (f / 1e6, "M"),
        f if f >= 1e4 && f % 1e3 == 0.0 => (f / 1e3, "k"),
        f => (f, ""),
    };
    // Figures that a step has been added to several times are not exact.
    format!("{}{letter}", (divided * 1e6).round() / 1e6)
}

fn paint(title: &str, across: &Axis, up: &str, curves: &[Curve], area: &Area) -> Painted {
    let sizes = Scale::of_sizes(across.ticks.iter().copied());
    let figures = Scale::of_figures(curves.iter().flat_map(|c| c.points.iter().map(|(_, figure)| *figure)));
    let x = |size: f64| LEFT + (sizes.at(size) * f64::from(WIDTH - LEFT - RIGHT)) as i32;
    let y = |figure: f64| HEIGHT - BOTTOM - (figures.at(figure) * f64::from(HEIGHT - TOP - BOTTOM)) as i32;
    area.fill(&WHITE)?;
    text(area, title, (LEFT, 16), HPos::Left, 14)?;
    text(area, up, (LEFT, 34), HPos::Left, 12)?;
    for line in figures.lines() {
        area.draw(&PathElement::new(vec![(LEFT, y(line)), (WIDTH - RIGHT, y(line))], LINE))?;
        text(area, &short(line), (LEFT - 8, y(line)), HPos::Right, 12)?;
    }
    for &size in &across.ticks {
        area.draw(&PathElement::new(vec![(x(size), TOP), (x(size), HEIGHT - BOTTOM)], LINE))?;
        text(area, &short(size), (x(size), HEIGHT - BOTTOM + 14), HPos::Center, 11)?;
    }
    text(area, across.name, ((LEFT + WIDTH - RIGHT) / 2, HEIGHT - BOTTOM + 36), HPos::Center, 12)?;
    area.draw(&PathElement::new(vec![(LEFT, TOP), (LEFT, HEIGHT - BOTTOM), (WIDTH - RIGHT, HEIGHT - BOTTOM)], INK))?;
    for (n, curve) in curves.iter().enumerate() {
        let colour = COLOURS[n % COLOURS.len()];
        let points: Vec<(i32, i32)> = curve.points.iter().map(|(size, figure)| (x(*size), y(*figure))).collect();
        for point in &points {
            area.draw(&Circle::new(*point, 3, colour.filled()))?;
        }
        area.draw(&PathElement::new(points, colour.stroke_width(2)))?;
        let row = TOP + 10 + 20 * n as i32;
        area.draw(&Rectangle::new([(WIDTH - RIGHT + 15, row - 5), (WIDTH - RIGHT + 25, row + 5)], colour.filled()))?;
        text(area, &curve.name, (WIDTH - RIGHT + 32, row), HPos::Left, 12)?;
    }
    area.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_logarithmic_and_may_be_zero() {
        let scale = Scale::of_sizes([10.0, 100.0, 1000.0].into_iter());
        assert_eq!([10.0, 1000.0].map(|s| scale.at(s)), [0.0, 1.0]);
        assert!((scale.at(100.0) - 0.5).abs() < 1e-12);
        let scale = Scale::of_sizes([0.0, 30.0, 1000.0].into_iter());
        assert_eq!((scale.low, scale.at(0.0)), (10.0, 0.0));
    }

    #[test]
    fn figures_are_linear_unless_they_differ_much() {
        let scale = Scale::of_figures([30.0, 57.0].into_iter());
        assert_eq!(scale, Scale { low: 0.0, high: 60.0, is_log: false });
        assert_eq!(scale.lines(), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
        let scale = Scale::of_figures([0.03, 40.0].into_iter());
        assert!(scale.is_log && scale.at(0.03) > 0.0 && scale.at(40.0) < 1.0);
        assert_eq!(scale.lines().len(), 5);
        assert_eq!(Scale::of_figures([0.0, 0.0].into_iter()).at(0.0), 0.0);
    }

    #[test]
    fn large_figures_are_short() {
        let short = [5.0, 12000.0, 16384.0, 3e6, 2.5e6, 0.1 + 0.2].map(short);
        assert_eq!(short, ["5", "12k", "16384", "3M", "2.5M", "0.3"]);
    }

    #[test]
    fn a_picture_is_written() {
        let path = std::env::temp_dir().join(format!("hecaton-curves-{}.svg", std::process::id()));
        let curve = |name: &str| Curve { name: name.into(), points: vec![(1.0, 2.0), (10.0, 3.0)] };
        let across = Axis { name: "clients", ticks: vec![1.0, 10.0] };
        draw_curves("Servers", &across, "requests", &[curve("stock"), curve("hecaton")], &path).unwrap();
        let drawn = std::fs::read_to_string(&path).unwrap();
        assert!(["Servers", "clients", "requests", "stock", "hecaton"].iter().all(|word| drawn.contains(word)));
        std::fs::remove_file(&path).unwrap();
    }
}
