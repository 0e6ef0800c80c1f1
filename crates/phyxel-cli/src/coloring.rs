//! Colours of particles: by body, or by a column with a legend.

use crate::render::{Color, ColorBar, ColorMap, body_color};
use phyxel_io::results::{ParticleColumn, ParticleTable};

/// Share of the width, about the middle, that a legend at the right leaves free.
const CLEAR_OF_LEGEND: f32 = 0.74;

/// Rule that gives particles their colours, the same in all frames.
#[derive(Clone, Debug)]
pub(crate) enum Coloring {
    /// Each body has its own colour.
    Body,
    /// Colours follow the values of a column; for a vector, its length.
    Column(ColorBar),
}

/// Parses "MIN:MAX" for clap.
pub(crate) fn parse_range(text: &str) -> Result<[f32; 2], String> {
    let expected = "two numbers MIN:MAX are expected, the first one smaller";
    let (min, max) = text.split_once(':').ok_or(expected)?;
    let number = |text: &str| text.trim().parse::<f32>().ok().filter(|value| value.is_finite());
    match number(min).zip(number(max)) {
        Some((min, max)) if min < max => Ok([min, max]),
        _ => Err(expected.into()),
    }
}

impl Coloring {
    /// Builds a colouring for all of the frames, so that a colour means the same in each of them.
    pub(crate) fn new(name: &str, range: Option<[f32; 2]>, tables: &[ParticleTable]) -> Result<Self, String> {
        if name == "body" {
            return if range.is_some() {
                Err("--range needs a column to --color-by".into())
            } else {
                Ok(Self::Body)
            };
        }
        let found: Vec<(&ParticleTable, &ParticleColumn)> =
            tables.iter().filter_map(|table| Some((table, column(table, name)?))).collect();
        let Some((_, first)) = found.first() else { return Err(unknown(name, tables)) };
        let (label, unit) = (name.to_owned(), first.unit.trim_start_matches('1').to_owned());
        let values =
            found.iter().flat_map(|(table, column)| (0..table.id.len()).map(|row| value(column, row)));
        let (map, [min, max]) = match (range, bulk_range(values)) {
            (Some(range), _) => (map_for(range), range),
            (None, None) => (ColorMap::Sequential, [0.0, 1.0]),
            // the middle of a diverging map must be zero
            (None, Some([min, max])) if map_for([min, max]) == ColorMap::Diverging => {
                (ColorMap::Diverging, [min.min(-max), max.max(-min)])
            }
            (None, Some(bulk)) => (ColorMap::Sequential, bulk),
        };
        Ok(Self::Column(ColorBar { label, unit, min, max, map }))
    }

    /// Returns the colour of each particle.
    pub(crate) fn colors(&self, table: &ParticleTable) -> Vec<Color> {
        let n_rows = table.id.len();
        match self {
            Self::Body => table.body.iter().map(|&body| body_color(body as usize)).collect(),
            Self::Column(bar) => match column(table, &bar.label) {
                Some(column) => {
                    (0..n_rows).map(|row| bar.map.color_by(value(column, row), bar.min, bar.max)).collect()
                }
                None => vec![Color::MISSING; n_rows],
            },
        }
    }

    /// Returns the share of a picture's width, about the middle, that the legend leaves free.
    pub(crate) fn clear_share(&self) -> f32 {
        if self.legend().is_some() { CLEAR_OF_LEGEND } else { 1.0 }
    }

    /// Returns the legend, if there is one.
    pub(crate) fn legend(&self) -> Option<ColorBar> {
        match self {
            Self::Body => None,
            Self::Column(bar) => Some(bar.clone()),
        }
    }
}

/// Share of the values at each end that may lie beyond the colours: a few extreme particles must not darken all others.
const CUT: f64 = 0.002;

/// Returns the range of all finite values except the most extreme ones; if these are no outliers, of all values.
fn bulk_range(values: impl Iterator<Item = f32>) -> Option<[f32; 2]> {
    let mut finite: Vec<f32> = values.filter(|value| value.is_finite()).collect();
    let cut = (CUT * finite.len() as f64) as usize;
    let last = finite.len().checked_sub(1)?;
    let mut at = |k: usize| *finite.select_nth_unstable_by(k, f32::total_cmp).1;
    let ([min, max], [low, high]) = ([at(0), at(last)], [at(cut), at(last - cut)]);
    let width = high - low;
    let end = |bulk: f32, extreme: f32| if (extreme - bulk).abs() > 0.25 * width { bulk } else { extreme };
    if width > 0.0 { Some([end(low, min), end(high, max)]) } else { Some([min, max]) }
}

fn map_for([min, max]: [f32; 2]) -> ColorMap {
    if min < 0.0 && max > 0.0 { ColorMap::Diverging } else { ColorMap::Sequential }
}

/// Finds a column by its name; "speed" is also found as the length of "velocity".
fn column<'a>(table: &'a ParticleTable, name: &str) -> Option<&'a ParticleColumn> {
    let find = |name: &str| table.columns.iter().find(|column| column.name == name);
    find(name).or_else(|| if name == "speed" { find("velocity") } else { None })
}

fn value(column: &ParticleColumn, row: usize) -> f32 {
    let n = column.n_components;
    match &column.values[row * n..(row + 1) * n] {
        [value] => *value,
        components => components.iter().map(|x| x * x).sum::<f32>().sqrt(),
    }
}

fn unknown(name: &str, tables: &[ParticleTable]) -> String {
    let columns = tables.first().map_or(&[][..], |table| &table.columns);
    let names: Vec<&str> =
        std::iter::once("body").chain(columns.iter().map(|column| column.name.as_str())).collect();
    format!(
        "the frames have no column \"{name}\"; there is {}. Others must be asked for in the scene: [output] columns = [...]",
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, n_components: usize, values: &[f32]) -> ParticleTable {
        let n_rows = values.len() / n_components;
        let column =
            ParticleColumn { name: name.into(), unit: "Pa".into(), n_components, values: values.to_vec() };
        ParticleTable {
            time: 0.0,
            position: vec![[0.0; 3]; n_rows],
            id: (0..n_rows as u32).collect(),
            body: vec![0; n_rows],
            radius: vec![0.1; n_rows],
            columns: vec![column],
            point_sets: Vec::new(),
        }
    }

    fn bar(coloring: &Coloring) -> ColorBar {
        coloring.legend().unwrap()
    }

    #[test]
    fn the_range_is_that_of_all_frames_and_skips_what_is_no_number() {
        let tables = [table("stress", 1, &[1.0, 2.0]), table("stress", 1, &[f32::NAN, 7.0])];
        let coloring = Coloring::new("stress", None, &tables).unwrap();
        assert_eq!((bar(&coloring).min, bar(&coloring).max), (1.0, 7.0));
        assert_eq!(bar(&coloring).map, ColorMap::Sequential);
        assert_eq!(coloring.colors(&tables[1])[0], Color::MISSING);
    }

    #[test]
    fn a_few_extreme_particles_do_not_set_the_range() {
        let mut values: Vec<f32> = (0..1000).map(|k| k as f32 * 1e-3).collect();
        values[500] = 1e6;
        let coloring = Coloring::new("stress", None, &[table("stress", 1, &values)]).unwrap();
        assert!(bar(&coloring).max < 1.0 && bar(&coloring).max > 0.99 && bar(&coloring).min == 0.0);
    }

    #[test]
    fn signed_quantities_have_their_middle_at_zero() {
        let coloring = Coloring::new("pressure", None, &[table("pressure", 1, &[-1.0, 5.0])]).unwrap();
        assert_eq!(
            (bar(&coloring).min, bar(&coloring).max, bar(&coloring).map),
            (-5.0, 5.0, ColorMap::Diverging)
        );
        let given = Coloring::new("pressure", Some([-1.0, 2.0]), &[table("pressure", 1, &[0.0])]).unwrap();
        assert_eq!((bar(&given).min, bar(&given).max), (-1.0, 2.0));
    }

    #[test]
    fn vectors_are_coloured_by_length_and_velocity_gives_the_speed() {
        let coloring =
            Coloring::new("speed", None, &[table("velocity", 3, &[3.0, 4.0, 0.0, 0.0, 0.0, 1.0])]).unwrap();
        assert_eq!((bar(&coloring).min, bar(&coloring).max), (1.0, 5.0));
    }

    #[test]
    fn an_unknown_column_is_answered_with_those_that_are_there() {
        let error = Coloring::new("strain", None, &[table("stress", 1, &[1.0])]).unwrap_err();
        assert!(error.contains("body, stress"), "{error}");
        assert!(parse_range("2:1").is_err() && parse_range("a:b").is_err());
        assert_eq!(parse_range("-1e3:2"), Ok([-1000.0, 2.0]));
    }
}
