//! Page of charts of the quantities over time.

use super::MethodRun;
use super::measures::{Measures, QUANTITIES};
use crate::plot::{self, Chart, Series};
use crate::render::body_color;

/// Indices of body colours in an order that reads well on white: light colours last.
const COLORS: [usize; 7] = [0, 1, 3, 4, 5, 6, 7];

/// Returns the page as SVG.
pub(super) fn page(title: &str, runs: &[MethodRun], measures: &[Measures]) -> String {
    let series: Vec<Series> = runs
        .iter()
        .enumerate()
        .map(|(k, run)| Series {
            label: run.label(),
            color: body_color(COLORS[k % COLORS.len()]),
            is_cut_short: run.failure().is_some(),
        })
        .collect();
    let charts: Vec<Chart> = QUANTITIES
        .iter()
        .map(|quantity| Chart {
            title: quantity.title.into(),
            unit: quantity.unit.into(),
            lines: measures
                .iter()
                .map(|one| one.moments.iter().map(|m| [m.time, (quantity.value)(m)]).collect())
                .collect(),
        })
        .collect();
    plot::page(title, &series, &charts)
}
