//! Skins as surfaces of a result: from the particles of a frame to the contents of a surface file.

use phyxel::math::cube;
use phyxel_io::results::{ParticleTable, SurfaceTable};
use phyxel_skin::{Matter, Skin, SkinError, SkinParams, skin};

/// Particles of a frame, borrowed from any storage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    /// Positions (m).
    pub(crate) position: &'a [[f32; 3]],
    /// Half the local spacing (m).
    pub(crate) radius: &'a [f32],
    /// Index of the body of each particle.
    pub(crate) body: &'a [u32],
    /// Velocities, three numbers per particle; may be empty (m/s).
    pub(crate) velocity: &'a [f32],
}

impl<'a> Rows<'a> {
    /// Borrows the particles of a frame that was read.
    pub(crate) fn of(table: &'a ParticleTable) -> Self {
        Self {
            position: &table.position,
            radius: &table.radius,
            body: &table.body,
            velocity: table.vectors("velocity").map_or(&[], <[[f32; 3]]>::as_flattened),
        }
    }
}

/// Share of each body in the volume. The ledger only has the volume of all bodies together, Σ V_i det F_i; each body
/// keeps the share that it had at the start, by the spacing of its particles.
#[derive(Clone, Debug)]
pub(crate) struct Shares(Vec<f64>);

impl Shares {
    /// Computes the shares from the first frame.
    pub(crate) fn new(start: Rows<'_>, n_bodies: usize) -> Self {
        let mut shares = vec![0.0; n_bodies];
        for (&body, &radius) in start.body.iter().zip(start.radius) {
            shares[body as usize] += cube(2.0 * f64::from(radius));
        }
        let all: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= all);
        Self(shares)
    }

    /// Returns the volume of a body if all bodies have the volume `together` (m³); `None` if it is unknown.
    pub(crate) fn volume(&self, body: usize, together: Option<f64>) -> Option<f64> {
        let volume = self.0.get(body)? * together?;
        (volume > 0.0 && volume.is_finite()).then_some(volume)
    }
}

/// Makes the skin of a body.
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

/// Converts a skin to the table of a surface file.
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
