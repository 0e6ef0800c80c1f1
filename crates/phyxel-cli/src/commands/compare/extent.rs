//! Bounding box of the matter in a frame, without a few particles that were flung away: they would make all else small.

use crate::render::Bounds;
use phyxel::math::glam::Vec3;
use phyxel_io::results::ParticleTable;

/// Column that marks particles that have lost contact with the matter.
const STRAY: &str = "stray";
/// Largest share of the particles at each end of an axis that may be left out.
const CUT: f64 = 0.002;
/// Distance of the outermost particle from the rest, over the rest's width, above which the share `CUT` is left out.
const FAR: f32 = 1.0;

/// Returns the box around all particles of a frame with their radii, without strays.
pub(super) fn matter_bounds(table: &ParticleTable) -> Bounds {
    let strays = table.columns.iter().find(|column| column.name == STRAY && column.n_components == 1);
    let is_stray = |row: usize| strays.is_some_and(|column| column.values[row] > 0.5);
    let rows: Vec<usize> = (0..table.position.len())
        .filter(|&row| !is_stray(row) && table.position[row].iter().all(|x| x.is_finite()))
        .collect();
    let ends: [Option<[f32; 2]>; 3] = std::array::from_fn(|axis| {
        let end =
            |sign: f32| rows.iter().map(move |&row| table.position[row][axis] + sign * table.radius[row]);
        Some([matter_end(end(-1.0), -1.0)?, matter_end(end(1.0), 1.0)?])
    });
    match ends {
        [Some(x), Some(y), Some(z)] => {
            Bounds { min: Vec3::new(x[0], y[0], z[0]), max: Vec3::new(x[1], y[1], z[1]) }
        }
        _ => Bounds::EMPTY,
    }
}

/// Returns the lower (`side` −1) or upper (1) end of the values, without a few that are far from the rest.
fn matter_end(values: impl Iterator<Item = f32>, side: f32) -> Option<f32> {
    let mut outward: Vec<f32> = values.map(|value| side * value).collect();
    let last = outward.len().checked_sub(1)?;
    let cut = (CUT * outward.len() as f64) as usize;
    let mut at = |k: usize| *outward.select_nth_unstable_by(k, f32::total_cmp).1;
    let [inner, bulk, extreme] = [at(cut), at(last - cut), at(last)];
    let is_far = extreme - bulk > FAR * (bulk - inner);
    Some(side * if is_far { bulk } else { extreme })
}

#[cfg(test)]
mod tests {
    use super::*;
    use phyxel_io::results::ParticleColumn;

    fn row_of(n_particles: usize) -> ParticleTable {
        ParticleTable {
            time: 0.0,
            position: (0..n_particles).map(|k| [k as f32 / n_particles as f32, 0.0, 1.0]).collect(),
            id: (0..n_particles as u32).collect(),
            body: vec![0; n_particles],
            radius: vec![0.5; n_particles],
            columns: Vec::new(),
            point_sets: Vec::new(),
        }
    }

    #[test]
    fn the_box_has_the_radii_and_no_strays() {
        let mut table = row_of(10);
        table.position[3] = [0.0, 7.0, 0.0];
        assert_eq!(matter_bounds(&table).max.y, 7.5, "a part of the matter as long as nobody says otherwise");
        let mut values = vec![0.0; 10];
        values[3] = 1.0;
        table.columns.push(ParticleColumn { name: STRAY.into(), unit: "1".into(), n_components: 1, values });
        let bounds = matter_bounds(&table);
        assert_eq!((bounds.min.y, bounds.max.y, bounds.max.z), (-0.5, 0.5, 1.5));
    }

    #[test]
    fn a_few_far_particles_and_numbers_that_are_none_are_left_out() {
        let mut table = row_of(2000);
        table.position[7] = [500.0, -300.0, 0.0];
        table.position[8] = [f32::NAN, 0.0, 0.0];
        let bounds = matter_bounds(&table);
        assert!(bounds.max.x < 1.5 && bounds.min.y == -0.5, "{bounds:?}");
        // a thin thread is matter
        for k in 0..20 {
            table.position[k] = [0.0, 0.3 * k as f32, 1.0];
        }
        assert_eq!(matter_bounds(&table).max.y, 0.3 * 19.0 + 0.5);
        assert!(matter_bounds(&ParticleTable::default()).is_empty());
    }
}
