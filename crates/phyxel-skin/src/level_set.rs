//! From particles to triangles: the only room that knows splashsurf.
//!
//! splashsurf sums v_i W(|x − x_i|, h) over the particles, with v_i = 1 / Σ_j W_ij, on blocks of 64³ cells and joins the
//! triangles of the blocks. Its blocks come in an order that varies from run to run. Here lengths are counted in cells, so that
//! all corners of cells are whole numbers and a block computes the same bits at its border as its neighbour; and vertices
//! and triangles are put in the order of their places. Vector instructions stay off: they round differently near a
//! block's border, and from machine to machine.

use crate::mesh::Mesh;
use crate::{MOST_CELLS, SkinError};
use phyxel::math::{Real, Vec3};
use rayon::prelude::*;
use splashsurf_lib::nalgebra::Vector3;
use splashsurf_lib::{GridDecompositionParameters, Parameters, SpatialDecomposition, reconstruct_surface};

/// The density whose surface is looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    /// Half the spacing of particles. [m]
    pub(crate) radius: Real,
    /// Where a particle's kernel ends. [m]
    pub(crate) support: Real,
    /// Edge of a cell. [m]
    pub(crate) cell: Real,
    /// Density at the surface, in parts of the one inside.
    pub(crate) iso: Real,
}

/// The surface of the density; closed, in an order of its own.
pub(crate) fn reconstruct(positions: &[Vec3], field: Field) -> Result<Mesh, SkinError> {
    let Field { radius, support, cell, iso } = field;
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for &x in positions {
        (low, high) = (low.min(x), high.max(x));
    }
    // room for the kernel below, so that no coordinate is negative; the cells are at the same places in all frames
    let room = Vec3::splat((support / cell).ceil() + 4.0);
    let origin = (low / cell).floor() - room;
    let n_cells = (high / cell - origin + room).max_element();
    if !(n_cells < MOST_CELLS) {
        return Err(SkinError::TooFar { n_cells });
    }
    let in_cells: Vec<Vector3<f32>> = positions
        .par_iter()
        .map(|&x| Vector3::from((x / cell - origin).to_array().map(|q| q as f32)))
        .collect();

    let mut parameters = Parameters::new((radius / cell) as f32, (support / cell) as f32, 1.0);
    parameters.rest_density = 1.0;
    parameters.iso_surface_threshold = iso as f32;
    parameters.enable_simd = false;
    // always by blocks: the other way sums in the order in which threads happen to arrive
    parameters.spatial_decomposition = SpatialDecomposition::UniformGrid(GridDecompositionParameters {
        auto_disable: false,
        ..GridDecompositionParameters::default()
    });
    let surface = reconstruct_surface::<i64, f32>(&in_cells, &parameters)
        .map_err(|error| SkinError::Reconstruction(error.to_string()))?;

    let (vertices, triangles) = in_order(&surface.mesh.vertices, &surface.mesh.triangles);
    let vertices = vertices
        .into_iter()
        .map(|v| (Vec3::from_array(surface.mesh.vertices[v as usize].map(Real::from).into()) + origin) * cell)
        .collect();
    Ok(Mesh { vertices, triangles })
}

/// The vertices sorted by place, and the triangles in terms of these, sorted. Vertices that fall on the same place
/// (where the surface goes through a corner of a cell) are told apart by the places of their neighbours.
fn in_order(vertices: &[Vector3<f32>], triangles: &[[usize; 3]]) -> (Vec<u32>, Vec<[u32; 3]>) {
    let places: Vec<u128> = vertices
        .par_iter()
        // bits of positive numbers sort like the numbers
        .map(|v| v.iter().fold(0u128, |place, x| place << 32 | u128::from(x.to_bits())))
        .collect();
    let mut surroundings = vec![0u64; vertices.len()];
    for &[a, b, c] in triangles {
        for [at, next, last] in [[a, b, c], [b, c, a], [c, a, b]] {
            surroundings[at] = surroundings[at]
                .wrapping_add(scrambled(places[next]) ^ scrambled(places[last]).rotate_left(21));
        }
    }
    let mut order: Vec<u32> = (0..vertices.len() as u32).collect();
    order.par_sort_unstable_by_key(|&v| (places[v as usize], surroundings[v as usize]));
    let mut place_in_order = vec![0u32; vertices.len()];
    for (place, &v) in order.iter().enumerate() {
        place_in_order[v as usize] = place as u32;
    }
    let mut sorted: Vec<[u32; 3]> = triangles
        .par_iter()
        .map(|triangle| {
            let [a, b, c] = triangle.map(|v| place_in_order[v]);
            // the smallest first, the sense kept
            if a < b && a < c {
                [a, b, c]
            } else if b < c {
                [b, c, a]
            } else {
                [c, a, b]
            }
        })
        .collect();
    sorted.par_sort_unstable();
    (order, sorted)
}

/// A number that says little about the place it was made from. [Steele2014] SplitMix64, twice.
fn scrambled(place: u128) -> u64 {
    let mix = |x: u64| {
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    mix(mix((place >> 64) as u64).wrapping_add(place as u64).wrapping_add(0x9e37_79b9_7f4a_7c15))
}
