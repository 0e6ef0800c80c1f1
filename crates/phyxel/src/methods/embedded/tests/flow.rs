//! Tests of residuals, rest frames, volumes and contact radii of matter that flows.

use super::*;

fn build_plastic(params: Params, particles: &mut Particles, yield_stress: Real) -> Embedded {
    let given = matter(particles, Law::Corotated, Some((yield_stress, 400.0)));
    Embedded::build(params, particles, &given).unwrap()
}

/// Checks that flow removes residuals down to the energy that the yield stress allows, while F stays the same.
#[test]
fn residuals_flow_and_leave_the_deformation_alone() {
    let mut particles = lattice([5, 5, 5], 0.1, 0.2);
    let yield_stress = 100.0;
    let mut method =
        build_plastic(Params { repulsion: 0.0, ..Params::default() }, &mut particles, yield_stress);
    let mut random = Random::new(5);
    particles.position.iter_mut().for_each(|x| *x += random.in_cube() * 0.02);
    let mut last = Real::INFINITY;
    for _ in 0..200 {
        let before: Vec<Real> = with_context(1e-3, |ctx| {
            method.compute_forces(&particles, ctx);
            (0..particles.len()).map(|i| method.gradients[i].determinant()).collect()
        });
        with_context(1e-3, |ctx| method.flow(&mut particles, ctx));
        method.refit(&particles.position);
        let residual = method.elastic_energy(&particles.position, &particles.body).residual;
        assert!(residual <= last * (1.0 + 1e-6), "{residual} {last}");
        last = residual;
        // flow keeps volume, and removing residuals does not change F
        let changes = before.iter().zip(&method.gradients).map(|(b, f)| (f.determinant() / b - 1.0).abs());
        assert!(changes.fold(0.0, Real::max) < 2e-3);
    }
    let volume: Real = particles.volume.iter().sum();
    let allowed = volume * yield_stress * yield_stress / (6.0 * method.lame.at(0).mu);
    assert!(last < 1.05 * allowed, "{last} J, allowed {allowed} J");
}

/// Checks that flow transfers the rotation in F to the rest bonds without a change of stress or energy.
#[test]
fn rest_frames_turn_with_what_flows() {
    let mut particles = lattice([6, 6, 6], 0.1, 0.2);
    let mut method = build_plastic(Params { repulsion: 0.0, ..Params::default() }, &mut particles, 100.0);
    let turn = Mat3::from_axis_angle(vec3(1.0, 2.0, -1.0).normalize(), 1.0);
    let map = turn * Mat3::from_diagonal(vec3(1.1, 1.0 / 1.1, 1.0));
    particles.position.iter_mut().for_each(|x| *x = map * *x);
    let angle = |f: Mat3| {
        let rotation = polar(f).0;
        (0.5 * (trace(rotation) - 1.0)).clamp(-1.0, 1.0).acos()
    };
    let squeeze = Mat3::from_diagonal(vec3(0.99, 1.0 / 0.99, 1.0));
    for k in 0..150 {
        let strain = if k % 2 == 0 { squeeze } else { squeeze.inverse() };
        particles.position.iter_mut().for_each(|x| *x = strain * *x);
        with_context(1e-3, |ctx| method.compute_forces(&particles, ctx));
        assert!(method.flows.iter().all(|flow| flow.fraction > 0.0));
        with_context(1e-3, |ctx| method.flow(&mut particles, ctx));
        method.refit(&particles.position);
        let left = method.gradients.iter().zip(&method.flows);
        let errors = left.map(|(f, flow)| (svd(*f).sigma.z - flow.least_stretch).abs());
        assert!(errors.fold(0.0, Real::max) < 1e-6, "only the stretch that flowed is gone");
    }
    let largest = method.gradients.iter().map(|f| angle(*f)).fold(0.0, Real::max);
    assert!(largest < 0.05, "{largest} {}", method.flows[50].forgotten);
}

/// Checks that volume differences between neighbours even out where matter flows, and that a uniform gradient stays.
#[test]
fn noise_of_volumes_evens_out_and_slopes_stay() {
    let mut particles = lattice([6, 6, 6], 0.1, 0.2);
    let method = build(Params::default(), &mut particles);
    let mut bonds = method.bonds.clone();
    let slope = vec3(0.01, -0.03, 0.02);
    let even: Vec<Real> = particles.position.iter().map(|x| slope.dot(*x)).collect();
    let mut noisy = even.clone();
    noisy[100] += 0.3;
    for i in 0..particles.len() {
        let row = bonds.row_mut(i);
        let grown = |volumes: &[Real]| growth_to_even(&row, &method.basis[i], volumes, i, 1.0);
        assert!((grown(&even) - 1.0).abs() < 1e-9, "{i}");
        if i == 100 {
            // det F falls as rest bonds grow
            let left = 0.3 - 3.0 * grown(&noisy).ln();
            assert!((0.0..0.05).contains(&left), "{left}");
        }
    }
}

/// Checks that densities at faces, at edges and inside a block differ little, and that F is corrected where matter is
/// denser than F says.
#[test]
fn density_tells_the_volume_where_matter_has_flowed() {
    let mut particles = lattice([8, 8, 8], 0.1, 0.2);
    let mut method = build(Params::default(), &mut particles);
    assert!(method.growths(&particles).iter().all(|g| *g == 1.0), "nothing has flowed");
    method.plastic_strain.fill(1.0);
    assert!(method.growths(&particles).iter().all(|g| *g < 1.005), "as dense as at the start");
    particles.position.iter_mut().for_each(|x| *x *= 0.9);
    // ln det F is 0, and the density gives 3 ln 0.9
    let expected = (method.params.volume_correction / 3.0 * (-3.0 * 0.9f64.ln() - 0.08)).exp();
    let growths = method.growths(&particles);
    assert!(growths.iter().all(|g| ((g - 1.0) / (expected - 1.0) - 1.0).abs() < 0.6), "{expected}");
    let mean = growths.iter().sum::<Real>() / growths.len() as Real;
    assert!(((mean - 1.0) / (expected - 1.0) - 1.0).abs() < 0.2, "{mean} {expected}");
    method.params.volume_correction = 0.0;
    assert!(method.growths(&particles).is_empty(), "the paper has none");
}

/// Checks that contact radii shrink where matter has become a sheet, and only there.
#[test]
fn contact_radii_shrink_in_thin_sheets() {
    let mut particles = lattice([8, 8, 8], 0.1, 0.2);
    let mut method = build_plastic(Params::default(), &mut particles, 100.0);
    let radius = particles.contact_radius.clone();
    method.plastic_strain.fill(1.0);
    method.follow_thickness(&mut particles);
    let shares = |particles: &Particles| -> Vec<Real> {
        particles.contact_radius.iter().zip(&radius).map(|(now, start)| now / start).collect()
    };
    let thick = shares(&particles);
    assert!(thick.iter().filter(|s| **s < 1.0).count() < 30, "corners and edges at the most");
    for i in 0..particles.len() {
        method.bonds.row_mut(i).map_vectors(|u| vec3(1.6 * u.x, 0.3 * u.y, 1.6 * u.z));
    }
    method.compute_bases(&particles);
    method.follow_thickness(&mut particles);
    assert!(shares(&particles).iter().all(|s| *s < 0.2));
}
