//! Search for strays: particles that are not connected to the matter.

use crate::cloud::Cloud;
use phyxel::math::Real;
use phyxel::neighbors::Components;
use rayon::prelude::*;

/// Distance up to which particles are connected, in means of their radii: slightly less than the distance at which the
/// density between two of them breaks. It is less than a support, so that the smaller of two particles lies in the
/// support of the larger one.
const REACH: Real = 3.5;

/// Returns true for each particle in a component of fewer than `fewest` particles.
pub(crate) fn find(cloud: &Cloud, fewest: usize) -> Vec<bool> {
    let Cloud { positions, radii, .. } = cloud;
    let connected = |i: usize| {
        let mut found = Vec::new();
        cloud.visit(positions[i], |j, _| {
            let reach = REACH * 0.5 * (radii[i] + radii[j]);
            // if only one particle of a pair finds the other, it is the smaller one
            let is_first = j < i || radii[j] > radii[i];
            if is_first && positions[i].distance_squared(positions[j]) < reach * reach {
                found.push([i as u32, j as u32]);
            }
        });
        found
    };
    let pairs: Vec<[u32; 2]> = (0..positions.len()).into_par_iter().flat_map_iter(connected).collect();
    let mut components = Components::new(positions.len());
    pairs.into_iter().for_each(|[i, j]| components.join(i, j));
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
    use phyxel::math::{Vec3, vec3};

    #[test]
    fn a_chain_of_five_stays_and_four_are_strays() {
        let chain = |y: Real, n: usize| (0..n).map(move |i| vec3(0.9 * i as Real, y, 0.0));
        let positions: Vec<Vec3> = chain(0.0, 5).chain(chain(3.0, 4)).chain([vec3(50.0, 0.0, 0.0)]).collect();
        let with = |reach: Real| find(&Cloud::new(positions.clone(), vec![reach / REACH; 10]), 5);
        assert_eq!(with(1.0), [[false; 5].as_slice(), &[true; 5]].concat());
        // a reach that is too short makes all of them strays, an endless one none
        assert!(with(0.8).iter().all(|&s| s));
        assert!(with(100.0).iter().all(|&s| !s));
    }

    #[test]
    fn two_particles_are_connected_by_the_mean_of_their_radii() {
        // a large particle and a chain of four small ones at a distance; radii 1 and 0.2, so that 2.1 connects them
        let at = |gap: Real| {
            let chain = (0..4).map(|i| vec3(gap + 0.3 * Real::from(i), 0.0, 0.0));
            let positions = [Vec3::ZERO].into_iter().chain(chain).collect();
            find(&Cloud::new(positions, vec![1.0, 0.2, 0.2, 0.2, 0.2]), 5)
        };
        assert!(at(2.05).iter().all(|&s| !s) && at(2.15).iter().all(|&s| s));
    }
}
