//! Skins as surfaces of a result: from the particles of a frame to what the file of a surface holds.

use phyxel_io::results::{ParticleTable, SurfaceTable};
use phyxel_skin::{Matter, Skin, SkinError, SkinParams, skin};

/// The particles of a frame, wherever they are kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    /// (m)
    pub(crate) position: &'a [[f32; 3]],
    /// Half the local spacing (m).
    pub(crate) radius: &'a [f32],
    /// Index of the body.
    pub(crate) body: &'a [u32],
    /// Three numbers a row, or none (m/s).
    pub(crate) velocity: &'a [f32],
}

impl<'a> Rows<'a> {
    /// Of a frame that was read.
    pub(crate) fn of(table: &'a ParticleTable) -> Self {
        Self {
            position: &table.position,
            radius: &table.radius,
            body: &table.body,
            velocity: table.vectors("velocity").map_or(&[], <[[f32; 3]]>::as_flattened),
        }
    }
}

/// The volume of each body, as far as a result tells it: the ledger has that of all bodies together, Σ V_i det F_i; each has
/// the share of it that it had at the start, by the spacing of its particles.
#[derive(Clone, Debug)]
pub(crate) struct Shares(Vec<f64>);

impl Shares {
    /// From the first frame.
    pub(crate) fn new(start: Rows<'_>, n_bodies: usize) -> Self {
        let mut shares = vec![0.0; n_bodies];
        for (&body, &radius) in start.body.iter().zip(start.radius) {
            shares[body as usize] += (2.0 * f64::from(radius)).powi(3);
        }
        let all: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= all);
        Self(shares)
    }

    /// Of a body, when all bodies together have this volume; none where that makes no sense (m³).
    pub(crate) fn volume(&self, body: usize, together: Option<f64>) -> Option<f64> {
        let volume = self.0.get(body)? * together?;
        (volume > 0.0 && volume.is_finite()).then_some(volume)
    }
}

/// The skin of a body.
pub(crate) fn skin_of(
    rows: Rows<'_>,
    body: usize,
    volume: Option<f64>,
    params: &SkinParams,
) -> Result<Skin, SkinError> {
    let own: Vec<usize> = (0..rows.body.len()).filter(|&row| rows.body[row] as usize == body).collect();
    let positions: Vec<[f32; 3]> = own.iter().map(|&row| rows.position[row]).collect();
    let radii: Vec<f32> = own.iter().map(|&row| rows.radius[row]).collect();
    let velocity = |&row: &usize| rows.velocity.get(3 * row..3 * row + 3).map(|v| [v[0], v[1], v[2]]);
    let velocities: Vec<[f32; 3]> = own.iter().filter_map(velocity).collect();
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
