//! Table of a comparison: a row per quantity, a column per method.

use super::MethodRun;
use super::measures::{FrameMeasures, Measures, cell};
use crate::frame_loop::Outcome;
use crate::scene_source::number;
use crate::table::Table;
use phyxel_io::scene::listed;

/// Counters that the ledger gives per frame; all others are values at the time of the frame.
const PER_FRAME: [&str; 2] = ["solver_iterations", "unconverged_solves"];
/// Columns of the ledger that are not counters, besides forces.
const NO_COUNTERS: [&str; 38] = [
    "time",
    "time_step",
    "time_step_reason",
    "steps",
    "kinetic_energy",
    "elastic_energy",
    "deviatoric_energy",
    "volumetric_energy",
    "residual_energy",
    "repulsion_energy",
    "gravity_energy",
    "plastic_work",
    "heat",
    "obstacle_work",
    "grip_work",
    "field_work",
    "hand_work",
    "contact_gain",
    "energy_error",
    "energy_error_percent",
    "momentum_x",
    "momentum_y",
    "momentum_z",
    "angular_momentum_x",
    "angular_momentum_y",
    "angular_momentum_z",
    "volume",
    "least_volume_ratio",
    "largest_volume_ratio",
    "inverted",
    "particles",
    "nearest_median",
    "nearest_smallest",
    "crowded",
    "pieces",
    "yielded",
    "pinched",
    "max_speed",
];

/// Value in the table for one method.
enum Cell {
    Text(String),
    /// NaN if the method does not provide the value.
    Number(f64),
}

struct Row {
    name: String,
    unit: &'static str,
    cells: Vec<Cell>,
}

/// Returns the table as CSV: `quantity,unit`, then a column per method; cells of unknown values are empty.
pub(super) fn csv(runs: &[MethodRun], measures: &[Measures]) -> String {
    let methods: Vec<&str> = runs.iter().map(|run| run.method).collect();
    let mut text = format!("quantity,unit,{}\n", methods.join(","));
    for row in rows(runs, measures) {
        let cells: Vec<String> = row
            .cells
            .iter()
            .map(|value| match value {
                Cell::Text(text) => text.clone(),
                Cell::Number(value) => cell(*value),
            })
            .collect();
        text += &format!("{},{},{}\n", row.name, row.unit, cells.join(","));
    }
    text
}

/// Formats the same table for the terminal, with a note on methods that have no elastic energy.
pub(super) fn shown(runs: &[MethodRun], measures: &[Measures]) -> String {
    let methods = runs.iter().map(|run| run.method.to_owned());
    let head = ["quantity".to_owned(), "unit".to_owned()].into_iter().chain(methods).collect();
    let mut table = Table::with_head(head, 2..2 + runs.len());
    for row in rows(runs, measures) {
        let cells = row.cells.iter().map(|cell| match cell {
            Cell::Text(text) => text.clone(),
            Cell::Number(value) if value.is_finite() => number(*value),
            Cell::Number(_) => "–".to_owned(),
        });
        table.row([row.name.clone(), row.unit.to_owned()].into_iter().chain(cells));
    }
    let without: Vec<&str> = runs
        .iter()
        .zip(measures)
        .filter(|(_, one)| one.moments.iter().all(|moment| moment.elastic.is_nan()))
        .map(|(run, _)| run.method)
        .collect();
    let mut text = table.to_string();
    if !without.is_empty() {
        let have = if without.len() == 1 { "has" } else { "have" };
        text += &format!("{} {have} no elastic energy, and so no total energy\n", listed(without, "and"));
    }
    text
}

fn rows(runs: &[MethodRun], measures: &[Measures]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut put = |name: &str, unit: &'static str, value: &dyn Fn(&MethodRun, &Measures) -> Cell| {
        let cells = runs.iter().zip(measures).map(|(run, measures)| value(run, measures)).collect();
        rows.push(Row { name: name.to_owned(), unit, cells });
    };
    put("status", "", &|run, _| Cell::Text(status(run)));
    put("frames", "", &|_, m| Cell::Number(m.last_frame() as f64));
    put("particles_start", "", &|_, m| Cell::Number(column(m, "particles", first)));
    put("particles_end", "", &|_, m| Cell::Number(column(m, "particles", last)));
    put("nearest_median_least", "", &|_, m| Cell::Number(column(m, "nearest_median", least)));
    put("nearest_smallest_least", "", &|_, m| Cell::Number(column(m, "nearest_smallest", least)));
    put("crowded_peak", "", &|_, m| Cell::Number(column(m, "crowded", peak)));
    put("pieces_end", "", &|_, m| Cell::Number(column(m, "pieces", last)));
    put("total_energy_start", "J", &|_, m| over(m, FrameMeasures::total_energy, first));
    put("total_energy_end", "J", &|_, m| over(m, FrameMeasures::total_energy, last));
    put("total_energy_peak", "J", &|_, m| over(m, FrameMeasures::total_energy, peak));
    put("kinetic_energy_end", "J", &|_, m| over(m, |moment| moment.kinetic, last));
    put("kinetic_energy_peak", "J", &|_, m| over(m, |moment| moment.kinetic, peak));
    put("elastic_energy_end", "J", &|_, m| over(m, |moment| moment.elastic, last));
    put("elastic_energy_peak", "J", &|_, m| over(m, |moment| moment.elastic, peak));
    put("deviatoric_energy_end", "J", &|_, m| Cell::Number(column(m, "deviatoric_energy", last)));
    put("volumetric_energy_end", "J", &|_, m| Cell::Number(column(m, "volumetric_energy", last)));
    put("residual_energy_end", "J", &|_, m| Cell::Number(column(m, "residual_energy", last)));
    put("residual_energy_peak", "J", &|_, m| Cell::Number(column(m, "residual_energy", peak)));
    put("repulsion_energy_end", "J", &|_, m| Cell::Number(column(m, "repulsion_energy", last)));
    put("plastic_work_end", "J", &|_, m| Cell::Number(column(m, "plastic_work", last)));
    put("heat_end", "J", &|_, m| Cell::Number(column(m, "heat", last)));
    put("energy_error_end", "J", &|_, m| Cell::Number(column(m, "energy_error", last)));
    put("volume_change_end", "%", &|_, m| over(m, volume_change, last));
    put("volume_change_largest", "%", &|_, m| over(m, volume_change, largest));
    put("height_end", "m", &|_, m| over(m, FrameMeasures::height, last));
    put("spread_end", "m", &|_, m| over(m, FrameMeasures::spread, last));
    put("max_speed_peak", "m/s", &|_, m| Cell::Number(column(m, "max_speed", peak)));
    put("wall_time", "s", &|run, _| Cell::Number(run.tally.wall_seconds));
    put("wall_time_per_frame", "s", &|_, m| over(m, |moment| moment.seconds, mean));
    put("steps", "", &|run, _| Cell::Number(run.tally.n_steps as f64));
    put("steps_per_frame", "", &|_, m| over(m, |moment| moment.steps, mean));
    put("time_step_smallest", "s", &|_, m| Cell::Number(column(m, "time_step", smallest_positive)));
    put("yielded_peak", "", &|_, m| Cell::Number(column(m, "yielded", peak)));
    for name in counters(measures) {
        let whole = if PER_FRAME.contains(&name) { sum } else { last };
        put(name, "", &|_, m| Cell::Number(column(m, name, whole)));
    }
    rows
}

fn status(run: &MethodRun) -> String {
    match (&run.outcome, run.failure()) {
        (_, Some(failure)) => failure,
        (Outcome::Interrupted(frame), _) => format!("interrupted after frame {frame}"),
        _ => "done".to_owned(),
    }
}

/// Returns the names of the counters of all methods, each once, in the order of the ledgers.
fn counters(measures: &[Measures]) -> Vec<&str> {
    let is_force = |name: &str| {
        let quantity = name.strip_suffix(['x', 'y', 'z']).unwrap_or_default();
        quantity.ends_with("_force_") || quantity.ends_with("_torque_")
    };
    let mut counters: Vec<&str> = Vec::new();
    for name in measures.iter().flat_map(|one| &one.ledger.columns) {
        if !NO_COUNTERS.contains(&name.as_str()) && !is_force(name) && !counters.contains(&name.as_str()) {
            counters.push(name);
        }
    }
    counters
}

/// Returns the change of the volume since the start (%).
fn volume_change(moment: &FrameMeasures) -> f64 {
    100.0 * (moment.volume_ratio - 1.0)
}

fn over(measures: &Measures, value: fn(&FrameMeasures) -> f64, whole: fn(&[f64]) -> f64) -> Cell {
    Cell::Number(whole(&measures.moments.iter().map(value).collect::<Vec<_>>()))
}

fn column(measures: &Measures, name: &str, whole: fn(&[f64]) -> f64) -> f64 {
    measures.ledger.numbers(name).map_or(f64::NAN, |values| whole(&values))
}

fn first(values: &[f64]) -> f64 {
    values.first().copied().unwrap_or(f64::NAN)
}

fn last(values: &[f64]) -> f64 {
    values.last().copied().unwrap_or(f64::NAN)
}

/// Returns the largest value; NaN only if there is no number.
fn peak(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NAN, f64::max)
}

/// Returns the smallest value; NaN only if there is no number.
fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NAN, f64::min)
}

/// Returns the value that is furthest from zero, with its sign.
fn largest(values: &[f64]) -> f64 {
    let further = |far: f64, value: f64| if far.is_nan() || value.abs() > far.abs() { value } else { far };
    values.iter().copied().fold(f64::NAN, further)
}

fn sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

fn mean(values: &[f64]) -> f64 {
    let known: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    known.iter().sum::<f64>() / known.len() as f64
}

fn smallest_positive(values: &[f64]) -> f64 {
    values.iter().copied().filter(|&value| value > 0.0).fold(f64::NAN, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use phyxel_io::results::LedgerTable;

    #[test]
    fn wholes_skip_what_is_not_known() {
        let values = [f64::NAN, 1.0, -3.0, 2.0];
        assert_eq!((peak(&values), largest(&values), mean(&values)), (2.0, -3.0, 0.0));
        assert_eq!((last(&values), sum(&values[1..]), smallest_positive(&values)), (2.0, 0.0, 1.0));
        assert_eq!(least(&values), -3.0);
        assert!(first(&values).is_nan() && peak(&[]).is_nan() && mean(&[]).is_nan() && last(&[]).is_nan());
    }

    #[test]
    fn counters_are_those_of_all_methods_without_sums_and_forces() {
        let measures = |columns: &str| Measures {
            moments: Vec::new(),
            ledger: LedgerTable {
                columns: columns.split(',').map(str::to_owned).collect(),
                rows: Vec::new(),
            },
        };
        let two = [
            measures("time,steps,max_speed,floor_force_x,floor_force_y,floor_force_z,degenerate"),
            measures("time,solver_iterations,degenerate,splits"),
        ];
        assert_eq!(counters(&two), ["degenerate", "solver_iterations", "splits"]);
    }
}
