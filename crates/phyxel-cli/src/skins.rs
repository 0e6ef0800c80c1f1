//! Skins as surfaces of a result: from the particles of a frame to what its file holds.

use phyxel_io::export::{Moment, Take};
use phyxel_io::results::{LedgerTable, SurfaceTable};
use phyxel_skin::{Matter, Skin, SkinError, SkinParams, skin};

/// The volume of each body in each frame, as far as a result tells it: the ledger has the volume of all bodies together,
/// Σ V_i det F_i; each body has the part of it that it started with, by the spacing of its particles.
pub(crate) struct Volumes {
    shares: Vec<f64>,
    together: Vec<f64>,
}

impl Volumes {
    /// From the first frame and the ledger.
    pub(crate) fn new(start: &Moment, n_bodies: usize, ledger: &LedgerTable) -> Self {
        let mut shares = vec![0.0; n_bodies];
        for (&body, &radius) in start.particles.body.iter().zip(&start.particles.radius) {
            shares[body as usize] += (2.0 * f64::from(radius)).powi(3);
        }
        let all: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= all);
        Self { shares, together: ledger.numbers("volume").unwrap_or_default() }
    }

    /// Of a body in a frame; none where the ledger does not say. [m³]
    pub(crate) fn of(&self, body: usize, frame: usize) -> Option<f64> {
        let volume = self.shares.get(body)? * self.together.get(frame)?;
        (volume > 0.0 && volume.is_finite()).then_some(volume)
    }
}

/// The skin of a body at a moment.
pub(crate) fn skin_of(
    take: &Take<'_>,
    moment: &Moment,
    body: usize,
    volume: Option<f64>,
    params: &SkinParams,
) -> Result<Skin, SkinError> {
    let rows = moment.rows_of(body);
    let table = &moment.particles;
    let positions: Vec<[f32; 3]> = rows.iter().map(|&row| table.position[row]).collect();
    let radii: Vec<f32> = rows.iter().map(|&row| table.radius[row]).collect();
    let column = take.velocity_column().map(|column| table.columns[column].values.as_slice());
    let velocities: Vec<[f32; 3]> = column.map_or_else(Vec::new, |values| {
        rows.iter().map(|&row| [values[3 * row], values[3 * row + 1], values[3 * row + 2]]).collect()
    });
    skin(&Matter { positions: &positions, radii: &radii, velocities: &velocities, volume }, params)
}

/// A skin as the file of a surface has it.
pub(crate) fn table_of(skin: Skin, time: f64) -> SurfaceTable {
    SurfaceTable {
        time,
        face_sizes: vec![3; skin.triangles.len()],
        corners: skin.triangles.into_iter().flatten().collect(),
        position: skin.vertices,
        normal: skin.normals,
        velocity: skin.velocities,
        ..SurfaceTable::default()
    }
}
