//! Particles that belong to nothing.

use phyxel::math::{Real, Vec3};
use phyxel::neighbors::{Components, Grid};

/// Whether a particle is in a component of fewer than `fewest`; what is nearer than `reach` is connected.
pub(crate) fn find(positions: &[Vec3], reach: Real, fewest: usize) -> Vec<bool> {
    let grid = Grid::new(positions, reach);
    let mut components = Components::new(positions.len());
    for (i, &x) in positions.iter().enumerate() {
        grid.visit_ball(x, reach, |j| {
            if (j as usize) < i && x.distance_squared(positions[j as usize]) < reach * reach {
                components.join(i as u32, j);
            }
        });
    }
    let roots: Vec<u32> = (0..positions.len() as u32).map(|i| components.root(i)).collect();
    let mut sizes = vec![0usize; positions.len()];
    for &root in &roots {
        sizes[root as usize] += 1;
    }
    roots.iter().map(|&root| sizes[root as usize] < fewest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use phyxel::math::vec3;

    #[test]
    fn a_chain_of_five_stays_and_four_are_strays() {
        let chain = |y: Real, n: usize| (0..n).map(move |i| vec3(0.9 * i as Real, y, 0.0));
        let positions: Vec<Vec3> = chain(0.0, 5).chain(chain(3.0, 4)).chain([vec3(50.0, 0.0, 0.0)]).collect();
        let strays = find(&positions, 1.0, 5);
        assert_eq!(strays, [[false; 5].as_slice(), &[true; 5]].concat());
        // too short a reach makes all of them strays, an endless one none
        assert!(find(&positions, 0.8, 5).iter().all(|&s| s));
        assert!(find(&positions, 100.0, 5).iter().all(|&s| !s));
    }
}
