//! Tests of grid searches against brute force, and of lists against their definitions.

use super::*;
use crate::math::Random;
use proptest::prelude::*;

fn cloud(seed: u64, n: usize, flatness: Vec3) -> Vec<Vec3> {
    let mut random = Random::new(seed);
    (0..n).map(|_| random.in_cube() * flatness).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Checks clouds, sheets and lines, clustered or not, with one or several keys.
    #[test]
    fn searches_agree_with_brute_force(seed in 0u64..1000, n in 1usize..300, k in 1usize..40, shape in 0usize..4) {
        let flatness = [Vec3::ONE, Vec3::new(1.0, 1.0, 0.0), Vec3::new(5.0, 0.01, 0.01), Vec3::ZERO][shape];
        let mut positions = cloud(seed, n, flatness);
        if seed % 3 == 0 {
            // a far-away cluster makes the grid sparse
            positions.iter_mut().step_by(4).for_each(|p| *p = *p * 0.01 + Vec3::splat(50.0));
        }
        let keys: Vec<u32> = (0..n as u32).map(|i| i % 3).collect();
        for points in [Points::new(&positions), Points { positions: &positions, keys: &keys }] {
            prop_assert_eq!(nearest(points, k), brute_force::nearest(points, k));
            let radius = |i: usize| 0.1 + 0.4 * (i % 5) as Real / 5.0;
            prop_assert_eq!(within_radius(points, radius), brute_force::within_radius(points, radius));
        }
    }
}

#[test]
fn reverse_and_symmetric_lists() {
    let positions = cloud(3, 200, Vec3::ONE);
    let lists = within_radius(Points::new(&positions), |i| 0.2 + 0.2 * (i % 2) as Real);
    let reverse = lists.reverse();
    let mut n_incoming = 0;
    for j in 0..lists.n_rows() {
        let mut last = None;
        for (bond, i) in reverse.incoming(j) {
            assert!(lists.range(i).contains(&bond) && lists.indices()[bond] == j as u32);
            assert!(last < Some(i), "owners ascend");
            last = Some(i);
            n_incoming += 1;
        }
    }
    assert_eq!(n_incoming, lists.n_bonds());
    let symmetric = lists.symmetrized();
    assert!(symmetric.n_bonds() > lists.n_bonds());
    for i in 0..symmetric.n_rows() {
        for &j in symmetric.row(i) {
            let j = j as usize;
            assert!(symmetric.find(j, i).is_some());
            assert!(lists.find(i, j).is_some() || lists.find(j, i).is_some());
        }
        assert!(lists.row(i).iter().all(|&j| symmetric.find(i, j as usize).is_some()));
    }
}

#[test]
fn renewed_bonds_keep_the_vectors_of_survivors() {
    let positions = cloud(9, 100, Vec3::ONE);
    let near = within_radius(Points::new(&positions), |_| 0.5);
    let far = within_radius(Points::new(&positions), |_| 0.7);
    let mut bonds = Bonds::new(near.clone(), |i, j| Vec3::new(i as Real, j as Real, 0.0));
    bonds.vectors_mut().iter_mut().for_each(|v| v.z = 1.0);
    bonds.renew(far.clone(), |i, j| Vec3::new(i as Real, j as Real, 2.0));
    let mut n_new = 0;
    for i in 0..far.n_rows() {
        for (&j, v) in far.row(i).iter().zip(&bonds.vectors()[far.range(i)]) {
            let survived = near.find(i, j as usize).is_some();
            n_new += usize::from(!survived);
            assert_eq!(*v, Vec3::new(i as Real, Real::from(j), if survived { 1.0 } else { 2.0 }));
        }
    }
    assert!(n_new > 0);
}
