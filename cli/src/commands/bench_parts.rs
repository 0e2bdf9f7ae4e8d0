//! What the commands `hecaton bench events`, `schedulers` and `spread` have in common: their options.
use clap::ValueEnum;

#[derive(clap::Args)]
pub struct Options<P: ValueEnum + Clone + Send + Sync + 'static> {
    /// How many times each figure is measured; the median counts
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    pub runs: u16,
    /// More and larger sizes, and longer runs: about an hour
    #[arg(long)]
    pub full: bool,
    /// Only these parts
    #[arg(value_enum)]
    parts: Vec<P>,
}

impl<P: ValueEnum + Clone + PartialEq + Send + Sync + 'static> Options<P> {
    /// The parts that are asked for: all if none is named.
    pub fn parts(&self) -> Vec<P> {
        let asked = |part: &&P| self.parts.is_empty() || self.parts.contains(part);
        P::value_variants().iter().filter(asked).cloned().collect()
    }
}
