//! The ledger as JSON for the page: only columns of numbers, with their units.

use crate::results::{LedgerTable, ledger_cells};
use phyxel::world::Ledger;
use serde_json::{Value, json};

/// Name of the only column that is not a number.
const REASON: &str = "time_step_reason";

/// Returns the names and units of the columns, taken from the ledger of any moment of the run.
pub fn ledger_columns(ledger: &Ledger) -> Value {
    heads(ledger_cells(ledger).iter().map(|cell| cell.0.as_str()))
}

/// Returns a row of numbers; `null` for cells without a number.
pub fn ledger_row(ledger: &Ledger) -> Value {
    let cells = ledger_cells(ledger);
    cells.iter().filter(|cell| cell.0 != REASON).map(|cell| number(&cell.1)).collect()
}

/// Returns the columns and all rows of a ledger that was read.
pub(crate) fn table_json(table: &LedgerTable) -> Value {
    json!({ "columns": heads(table.columns.iter().map(String::as_str)), "rows": rows_from(table, 0) })
}

/// Returns the rows from `first` to the end.
pub(crate) fn rows_from(table: &LedgerTable, first: usize) -> Value {
    let row = |row: &Vec<String>| -> Value {
        let cells = table.columns.iter().zip(row).filter(|cell| cell.0 != REASON);
        cells.map(|cell| number(cell.1)).collect()
    };
    table.rows.iter().skip(first).map(row).collect()
}

fn heads<'a>(names: impl Iterator<Item = &'a str>) -> Value {
    names.filter(|&name| name != REASON).map(|name| json!({ "name": name, "unit": unit(name) })).collect()
}

fn number(cell: &str) -> Value {
    cell.parse::<f64>().ok().filter(|value| value.is_finite()).map_or(Value::Null, Value::from)
}

/// Returns the SI unit of a column; empty for counts.
fn unit(name: &str) -> &'static str {
    let base = name.strip_suffix(['x', 'y', 'z']).and_then(|base| base.strip_suffix('_')).unwrap_or(name);
    match base {
        "time" | "time_step" => "s",
        "kinetic_energy" | "elastic_energy" | "gravity_energy" => "J",
        "deviatoric_energy" | "volumetric_energy" | "residual_energy" | "repulsion_energy" => "J",
        "heat" | "contact_gain" | "energy_error" => "J",
        "energy_error_percent" => "%",
        "momentum" => "kg m/s",
        "angular_momentum" => "kg m²/s",
        "volume" => "m³",
        "max_speed" => "m/s",
        _ if base.ends_with("_force") => "N",
        _ if base.ends_with("_torque") => "N m",
        _ if base.ends_with("_work") => "J",
        _ => "",
    }
}
