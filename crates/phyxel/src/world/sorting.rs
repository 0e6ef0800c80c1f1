//! Sorting of particles by body, then along a Morton curve, so that particles that interact are near in memory.

use crate::math::{Real, Vec3};

/// Returns the new order of particles: entry k of the result is the old index of the new particle k.
pub(super) fn morton_order(positions: &[Vec3], bodies: &[u32], cell: Real) -> Vec<u32> {
    let low = positions.iter().fold(Vec3::INFINITY, |m, &p| m.min(p));
    let code = |p: Vec3| {
        let q = ((p - low) / cell).clamp(Vec3::ZERO, Vec3::splat(((1u64 << 21) - 1) as Real));
        spread(q.x as u64) | spread(q.y as u64) << 1 | spread(q.z as u64) << 2
    };
    let mut keyed: Vec<(u32, u64, u32)> =
        positions.iter().zip(bodies).enumerate().map(|(i, (&p, &body))| (body, code(p), i as u32)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|k| k.2).collect()
}

/// Inserts two zero bits before each of the lower 21 bits.
fn spread(v: u64) -> u64 {
    let mut v = v & 0x1F_FFFF;
    v = (v | v << 32) & 0x001F_0000_0000_FFFF;
    v = (v | v << 16) & 0x001F_0000_FF00_00FF;
    v = (v | v << 8) & 0x100F_00F0_0F00_F00F;
    v = (v | v << 4) & 0x10C3_0C30_C30C_30C3;
    (v | v << 2) & 0x1249_2492_4924_9249
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_spread_and_neighbours_stay_near() {
        for v in [0u64, 1, 5, 0x15_5555, 0x1F_FFFF] {
            let bits = (0..21).fold(0, |sum, k| sum | (v >> k & 1) << (3 * k));
            assert_eq!(spread(v), bits);
        }
        let grid: Vec<Vec3> =
            (0..512).map(|k| Vec3::new((k % 8) as Real, (k / 8 % 8) as Real, (k / 64) as Real)).collect();
        let order = morton_order(&grid, &[0; 512], 1.0);
        let mut seen = order.clone();
        seen.sort_unstable();
        assert!(seen.iter().copied().eq(0..512));
        // the first eight particles form the cube at the corner
        assert!(order[..8].iter().all(|&i| grid[i as usize].max_element() <= 1.0));
    }
}
