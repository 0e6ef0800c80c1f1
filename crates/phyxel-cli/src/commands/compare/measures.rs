//! Compared quantities over time, from the ledger, the frames and the clock.

use super::MethodRun;
use super::extent::matter_bounds;
use crate::failure::Failure;
use crate::render::Bounds;
use phyxel_io::results::{LedgerTable, ResultFolder};

/// Measured values of a frame. NaN if the method does not provide a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameMeasures {
    /// Time of the frame (s).
    pub(super) time: f64,
    /// Kinetic energy (J).
    pub(super) kinetic: f64,
    /// Elastic energy (J).
    pub(super) elastic: f64,
    /// Energy in the field of gravity (J).
    pub(super) gravity: f64,
    /// Volume over that of frame 0.
    pub(super) volume_ratio: f64,
    /// The box around the matter (m).
    pub(super) bounds: Bounds,
    /// Wall time of the frame (s).
    pub(super) seconds: f64,
    /// Steps in the frame.
    pub(super) steps: f64,
}

impl FrameMeasures {
    /// Returns the sum of kinetic, elastic and gravity energy; NaN if one of them is not known.
    pub(super) fn total_energy(&self) -> f64 {
        self.kinetic + self.elastic + self.gravity
    }

    /// Returns the height of the highest point of the matter (m).
    pub(super) fn height(&self) -> f64 {
        if self.bounds.is_empty() { f64::NAN } else { f64::from(self.bounds.max.y) }
    }

    /// Returns the larger one of the horizontal extents (m).
    pub(super) fn spread(&self) -> f64 {
        let size = self.bounds.size();
        if self.bounds.is_empty() { f64::NAN } else { f64::from(size.x.max(size.z)) }
    }
}

/// A quantity over time.
pub(super) struct Quantity {
    /// Name of the column in series.csv.
    pub(super) key: &'static str,
    /// Title in the plots.
    pub(super) title: &'static str,
    /// Unit; may be empty.
    pub(super) unit: &'static str,
    pub(super) value: fn(&FrameMeasures) -> f64,
}

/// All plotted quantities, in order.
pub(super) const QUANTITIES: [Quantity; 8] = [
    Quantity { key: "total_energy", title: "total energy", unit: "J", value: FrameMeasures::total_energy },
    Quantity { key: "kinetic_energy", title: "kinetic energy", unit: "J", value: |m| m.kinetic },
    Quantity { key: "elastic_energy", title: "elastic energy", unit: "J", value: |m| m.elastic },
    Quantity {
        key: "volume_ratio",
        title: "volume over volume at the start",
        unit: "",
        value: |m| m.volume_ratio,
    },
    Quantity { key: "height", title: "height of the highest point", unit: "m", value: FrameMeasures::height },
    Quantity {
        key: "spread",
        title: "spread, larger horizontal extent",
        unit: "m",
        value: FrameMeasures::spread,
    },
    Quantity { key: "wall_time", title: "wall time per frame", unit: "s", value: |m| m.seconds },
    Quantity { key: "steps", title: "steps per frame", unit: "", value: |m| m.steps },
];

/// Measured values of a run.
pub(super) struct Measures {
    pub(super) moments: Vec<FrameMeasures>,
    pub(super) ledger: LedgerTable,
}

impl Measures {
    /// Reads the ledger and the frames of a finished run.
    pub(super) fn read(run: &MethodRun) -> Result<Self, Failure> {
        let folder = ResultFolder::open(&run.folder)?;
        let ledger = folder.ledger()?;
        let n_rows = ledger.rows.len();
        let column = |name: &str| ledger.numbers(name).unwrap_or_else(|| vec![f64::NAN; n_rows]);
        let [time, kinetic, elastic, gravity, volume, steps] =
            ["time", "kinetic_energy", "elastic_energy", "gravity_energy", "volume", "steps"].map(column);
        let mut moments = Vec::with_capacity(n_rows);
        for k in 0..n_rows {
            // frame 0 is the start: nothing was computed for it
            let computed = k.checked_sub(1);
            moments.push(FrameMeasures {
                time: time[k],
                kinetic: kinetic[k],
                elastic: elastic[k],
                gravity: gravity[k],
                volume_ratio: volume[k] / volume[0],
                bounds: matter_bounds(&folder.read_frame(k)?),
                seconds: computed.and_then(|k| run.frame_seconds.get(k).copied()).unwrap_or(f64::NAN),
                steps: if computed.is_some() { steps[k] } else { f64::NAN },
            });
        }
        Ok(Self { moments, ledger })
    }

    /// Returns the number of the last frame.
    pub(super) fn last_frame(&self) -> usize {
        self.moments.len().saturating_sub(1)
    }
}

/// Returns one row per method and frame; cells of unknown values are empty.
pub(super) fn csv(runs: &[MethodRun], measures: &[Measures]) -> String {
    let keys = QUANTITIES.map(|quantity| quantity.key).join(",");
    let mut text = format!("method,frame,time,{keys}\n");
    for (run, measures) in runs.iter().zip(measures) {
        for (frame, moment) in measures.moments.iter().enumerate() {
            let values = QUANTITIES.map(|quantity| cell((quantity.value)(moment))).join(",");
            text += &format!("{},{frame},{},{values}\n", run.method, cell(moment.time));
        }
    }
    text
}

/// Formats a number in the shortest form that reads back as the same number; returns an empty text if it is not finite.
pub(super) fn cell(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phyxel::math::glam::vec3;

    #[test]
    fn extents_are_of_the_box_and_energies_add_up_only_if_all_are_known() {
        let mut moment = FrameMeasures {
            time: 0.0,
            kinetic: 1.0,
            elastic: 2.0,
            gravity: 4.0,
            volume_ratio: 1.0,
            bounds: Bounds { min: vec3(-1.0, 0.5, 0.0), max: vec3(1.0, 3.0, 5.0) },
            seconds: f64::NAN,
            steps: f64::NAN,
        };
        assert_eq!((moment.total_energy(), moment.height(), moment.spread()), (7.0, 3.0, 5.0));
        moment.elastic = f64::NAN;
        moment.bounds = Bounds::EMPTY;
        assert!(moment.total_energy().is_nan() && moment.height().is_nan() && moment.spread().is_nan());
        assert_eq!((cell(0.1), cell(f64::NAN)), ("0.1".into(), String::new()));
    }
}
