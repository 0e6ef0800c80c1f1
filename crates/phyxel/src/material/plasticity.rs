//! Multiplicative plastic flow that keeps volume: F = F_e F_p. Bargteil 2007, Jones 2014 Eqs. 6–7, Gerszewski 2009.
//!
//! Flow turns a fraction γ of the deviatoric logarithmic strain into plastic strain:
//!   f_p = (s / det^⅓)^γ,   s_e = s / f_p,   γ = ν (|P| − Y)/|P|,   Y = max(P_Y + K α, 0).
//!   s principal stretches of the fit (1)   P principal stress of s (Pa)   ν flow rate   P_Y yield stress (Pa)
//!   α accumulated plastic stress (Pa)   K hardening (1)
//! Departs from the papers: their ν is per step, which makes the material depend on the time step
//! ([`FlowRule::PerStep`]). Per second, the stress over Y decays at the rate ν while the motion of the step adds to it
//! evenly, d(|P| − Y)/dt = p − ν (|P| − Y), and γ is what the exact solution takes away. The rule of the papers, for small
//! steps, removes ν Δt of the stress over Y before the flow, which is more than forces ever see: matter flows as if it were
//! thinner by ν Δt.

use super::{Lame, Law};
use crate::math::{Mat3, Real, Svd, Vec3, double_dot, exp, ln, polar, svd, trace};
use crate::particles::{Parameter, Properties, Property};

/// Measure of stress that is compared with the yield stress; for a bar under tension both measures equal its stress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum YieldMeasure {
    /// Magnitude |P|: pressure counts, so confined matter creeps and flow concentrates in bands: a pulled bar flows at
    /// 0.87 of the yield stress. Jones 2014 Eq. 7.
    Total,
    /// Von Mises stress √(3/2) |dev P|: pressure does not count.
    #[default]
    Deviatoric,
}

impl YieldMeasure {
    /// Returns the measure of a principal stress (Pa).
    #[inline(always)]
    pub fn of(self, stress: Vec3) -> Real {
        match self {
            Self::Total => stress.length(),
            Self::Deviatoric => {
                let deviator = stress - Vec3::splat(stress.element_sum() / 3.0);
                (1.5 * deviator.length_squared()).sqrt()
            }
        }
    }
}

/// Meaning of the flow rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlowRule {
    /// The rate is per second: the material does not depend on the time step.
    #[default]
    PerSecond,
    /// The rate is per step, γ = ν (|P| − Y)/|P| up to 1, as printed.
    PerStep,
}

/// Flow parameters of one particle.
#[derive(Clone, Copy, Debug)]
pub struct Yielding {
    /// Yield stress P_Y (Pa).
    pub yield_stress: Real,
    /// Flow rate ν (1/s).
    pub flow_rate: Real,
    /// Hardening K (1).
    pub hardening: Real,
    /// Stress above which the flow rate falls; 0 switches this off (Pa).
    pub thickening_stress: Real,
    /// Measure of stress that is compared with the yield stress.
    pub measure: YieldMeasure,
    /// Meaning of the flow rate.
    pub rule: FlowRule,
}

impl Yielding {
    /// Returns the flow parameters of particle i.
    #[inline(always)]
    pub fn at(material: &Properties<Parameter>, i: usize, measure: YieldMeasure, rule: FlowRule) -> Self {
        Self {
            yield_stress: material[Property::YieldStress].at(i),
            flow_rate: material[Property::FlowRate].at(i),
            hardening: material[Property::Hardening].at(i),
            thickening_stress: material[Property::ThickeningStress].at(i),
            measure,
            rule,
        }
    }
}

impl Yielding {
    /// Returns the parameters of a particle that touches an obstacle. All neighbours are on one side, so that its stress
    /// acts in full on the next layer, to which inside matter two layers give half of theirs: it stands for a layer that
    /// bears twice the stress. So it yields at half of the stress and flows twice as fast. A film of 3 to 24 layers that
    /// creeps over a floor has 1.00 to 1.03 of the parabola's flux by this rule, and 0.64 to 0.94 without
    /// (`films_of_few_layers_have_the_flux_of_thick_ones`).
    #[inline]
    pub fn at_obstacle(self) -> Self {
        Self {
            yield_stress: 0.5 * self.yield_stress,
            hardening: 0.5 * self.hardening,
            thickening_stress: 0.5 * self.thickening_stress,
            flow_rate: 2.0 * self.flow_rate,
            ..self
        }
    }
}

/// Returns true if any particle of this material can flow.
pub fn can_flow(material: &Properties<Parameter>) -> bool {
    !material[Property::FlowRate].is_zero()
}

/// Smallest stretch whose logarithm is taken; smaller stretches are replaced by it.
const LEAST_STRETCH: Real = 0.05;
/// Smallest stress that is used in the rate of a thickening material (Pa).
const LEAST_STRESS: Real = 1.0;

impl Yielding {
    /// Returns γ, the fraction of the deviatoric logarithmic strain that turns plastic within a step; 0 where nothing
    /// flows. `magnitude` is |P| by the measure before the flow, `start` at the beginning of the step, `accumulated` is α.
    #[inline]
    pub fn fraction(&self, magnitude: Real, start: Real, accumulated: Real, time_step: Real) -> Real {
        let limit = (self.yield_stress + self.hardening * accumulated).max(0.0);
        let over = magnitude - limit;
        if !(over > 0.0) || self.flow_rate <= 0.0 {
            return 0.0;
        }
        let mut rate = self.flow_rate;
        if self.thickening_stress > 0.0 {
            rate *= self.thickening_stress / magnitude.max(LEAST_STRESS);
        }
        match self.rule {
            FlowRule::PerSecond => {
                let decay = rate * time_step;
                let start = (start - limit).max(0.0);
                let kept = start * exp(-decay) + (over - start) * mean_decay(decay);
                (over - kept.max(0.0)) / magnitude
            }
            FlowRule::PerStep => (rate * over / magnitude).min(1.0),
        }
    }
}

/// Returns (1 − e⁻ˣ)/x, the mean of a decay from 1.
#[inline]
fn mean_decay(x: Real) -> Real {
    if x < 1e-4 { 1.0 - 0.5 * x } else { (1.0 - exp(-x)) / x }
}

impl Yielding {
    /// Returns the fraction of the deformation not explained by F that is removed within a step. It is the flow
    /// fraction `flowed` of F, or the fraction that would flow under a deviatoric stress σ with the same energy
    /// density, σ²/(6µ), whichever is larger. The rate of removal is limited by the time that sound takes across a few
    /// particles (`FORGETTING`): deformation that is removed at once could not hold matter together.
    #[inline]
    pub fn forgotten(
        &self,
        unseen: Unseen<impl Fn() -> Real>,
        lame: Lame,
        flowed: Real,
        accumulated: Real,
        time_step: Real,
    ) -> Real {
        let stress = (6.0 * lame.mu * unseen.energy_density).sqrt();
        let fraction = flowed.max(self.fraction(stress, stress, accumulated, time_step));
        if fraction == 0.0 {
            return 0.0;
        }
        fraction.min(1.0 - exp(-FORGETTING * (unseen.sound_rate)() * time_step))
    }
}

/// Deformation of a particle's neighbourhood that its F does not explain.
#[derive(Clone, Copy, Debug)]
pub struct Unseen<F> {
    /// Energy density of that deformation (J/m³).
    pub energy_density: Real,
    /// Returns the speed of sound divided by the particle's size (1/s).
    pub sound_rate: F,
}

/// Largest rate at which residuals are removed (speeds of sound per particle size).
const FORGETTING: Real = 0.3;

/// Quantities of a particle at the end of the last step that its flow depends on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Past {
    /// Accumulated plastic stress α (Pa).
    pub accumulated: Real,
    /// Von Mises stress (Pa).
    pub shear_stress: Real,
}

/// Response of matter to a deformation gradient within a step.
#[derive(Clone, Copy, Debug)]
pub struct Answered {
    /// Decomposition F = U diag(s) Vᵀ before any flow.
    pub svd: Svd,
    /// Principal stress of the elastic stretches (Pa).
    pub stress: Vec3,
    /// Von Mises stress of the elastic stretches (Pa).
    pub shear_stress: Real,
    /// Flow within the step, if there is any.
    pub flow: Option<Flowed>,
}

/// Response of matter that does not flow.
#[derive(Clone, Copy, Debug)]
pub struct Unyielded {
    /// Rotation R of F = R S.
    pub rotation: Mat3,
    /// Stretch S.
    pub stretch: Mat3,
    /// First Piola–Kirchhoff stress (Pa).
    pub stress: Mat3,
    /// Von Mises stress (Pa).
    pub shear_stress: Real,
}

/// Flow within a step.
#[derive(Clone, Copy, Debug)]
pub struct Flowed {
    /// Plastic part f_p of the stretches (1).
    pub plastic: Vec3,
    /// Remaining elastic part s/f_p of the stretches (1).
    pub elastic: Vec3,
    /// Flow fraction γ (1).
    pub fraction: Real,
    /// Increase of the accumulated plastic stress α (Pa).
    pub hardening: Real,
    /// Increase of the equivalent plastic strain (1).
    pub strain: Real,
    /// Dissipated energy per volume (J/m³).
    pub work: Real,
    /// Dissipated energy divided by the elastic energy that the flow removes (1).
    pub share: Real,
}

impl Yielding {
    /// Does the same as [`Yielding::answer`] for corotated matter that neither flows nor is nearly flat or inverted,
    /// without principal stretches; `None` for other matter.
    #[inline]
    pub fn answer_unyielded(
        &self,
        (law, lame): (Law, Lame),
        f: Mat3,
        accumulated: Real,
    ) -> Option<Unyielded> {
        let det = f.determinant();
        if law != Law::Corotated || !(det > LEAST_STRETCH) {
            return None;
        }
        let limit = (self.yield_stress + self.hardening * accumulated).max(0.0);
        // Green's strain E bounds the deviator of the strain from below by its own over the largest stretch, √(1 + 2|E|)
        let green = (f.transpose() * f - Mat3::IDENTITY) * 0.5;
        let (squares, sum) = (double_dot(green, green), trace(green));
        let least = 4.0 * lame.mu * lame.mu * (squares - sum * sum / 3.0);
        if least > limit * limit * (1.0 + 2.0 * squares.sqrt()) {
            return None;
        }
        let (rotation, stretch) = polar(f);
        let strain = stretch - Mat3::IDENTITY;
        let (squares, sum) = (double_dot(strain, strain), trace(strain));
        let Lame { lambda, mu } = lame;
        let shear_stress = 2.0 * mu * (1.5 * (squares - sum * sum / 3.0).max(0.0)).sqrt();
        let magnitude = match self.measure {
            YieldMeasure::Deviatoric => shear_stress,
            YieldMeasure::Total => {
                (4.0 * mu * mu * squares + lambda * (4.0 * mu + 3.0 * lambda) * sum * sum).sqrt()
            }
        };
        let is_elastic = magnitude <= limit;
        let stress = || f * (2.0 * mu) + rotation * (lambda * sum - 2.0 * mu);
        is_elastic.then(|| Unyielded { rotation, stretch, stress: stress(), shear_stress })
    }

    /// Computes stress and flow of matter with deformation gradient F within a step. Jones 2014 Eqs. 4, 6, 7.
    ///
    /// Forces never see the stress before the flow: over the step they do the work of the mean of the stresses at its
    /// start and end. So the energy dissipated is that mean times the plastic strain. The difference between the
    /// elastic energies before and after the flow has the stress before the flow in place of that at the start, which
    /// is larger by what the motion of the step adds.
    #[inline]
    pub fn answer(&self, (law, lame): (Law, Lame), f: Mat3, past: Past, time_step: Real) -> Answered {
        let svd = svd(f);
        let sigma = svd.sigma;
        let stress = law.principal_stress(lame, sigma);
        let magnitude = self.measure.of(stress);
        let before_flow = YieldMeasure::Deviatoric.of(stress);
        // any measure is taken to have grown as von Mises' has
        let start = magnitude * if before_flow > 0.0 { past.shear_stress / before_flow } else { 1.0 };
        let fraction = self.fraction(magnitude, start, past.accumulated, time_step);
        // inverted matter never flows
        if fraction == 0.0 || sigma.z <= 0.0 {
            return Answered { svd, stress, shear_stress: before_flow, flow: None };
        }
        let log_plastic = log_plastic_stretch(sigma, fraction);
        let plastic = log_plastic.map(exp);
        let elastic = sigma / plastic;
        let after = law.principal_stress(lame, elastic);
        let shear_stress = YieldMeasure::Deviatoric.of(after);
        let path = before_flow + shear_stress;
        let share = if path > 0.0 { (past.shear_stress + shear_stress) / path } else { 1.0 };
        let flow = Flowed {
            plastic,
            elastic,
            fraction,
            hardening: (magnitude - self.measure.of(after)).max(0.0),
            strain: (2.0 / 3.0 * log_plastic.length_squared()).sqrt(),
            work: (law.principal_energy(lame, sigma) - law.principal_energy(lame, elastic)) * share,
            share,
        };
        Answered { svd, stress: after, shear_stress, flow: Some(flow) }
    }
}

/// Returns ln f_p, the plastic part of principal stretches: det f_p = 1, and s/f_p has (1 − γ) of the log deviator of
/// s.
#[inline]
pub fn log_plastic_stretch(stretch: Vec3, fraction: Real) -> Vec3 {
    let log = stretch.max(Vec3::splat(LEAST_STRETCH)).map(ln);
    (log - Vec3::splat(log.element_sum() / 3.0)) * fraction
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Random, frobenius_norm, vec3};

    fn yielding(yield_stress: Real, flow_rate: Real) -> Yielding {
        Yielding {
            yield_stress,
            flow_rate,
            hardening: 0.0,
            thickening_stress: 0.0,
            measure: YieldMeasure::Total,
            rule: FlowRule::PerSecond,
        }
    }

    /// Embedded note 14.5: flow keeps volume and removes the fraction γ of the deviatoric log strain.
    #[test]
    fn flow_keeps_volume_and_takes_its_share_of_the_log_strain() {
        let mut random = Random::new(6);
        for _ in 0..100 {
            let s = vec3(1.0, 1.0, 1.0) + random.in_cube() * 0.7;
            let gamma = random.unit();
            let fp = log_plastic_stretch(s, gamma).map(Real::exp);
            assert!((fp.element_product() - 1.0).abs() < 1e-13);
            let deviator = |s: Vec3| {
                let log = s.map(Real::ln);
                log - Vec3::splat(log.element_sum() / 3.0)
            };
            assert!((deviator(s / fp) - deviator(s) * (1.0 - gamma)).length() < 1e-12);
        }
    }

    /// Relaxes a held stretch and returns the principal stretches after `duration`, and α.
    fn relaxed(flow: Yielding, dt: Real, duration: Real) -> (Vec3, Real) {
        let lame = Lame::from_moduli(1e5, 0.3);
        let (mut s, mut alpha) = (vec3(1.2, 1.0, 1.0 / 1.2), 0.0);
        for _ in 0..(duration / dt).round() as usize {
            let p = flow.measure.of(Law::Corotated.principal_stress(lame, s));
            let fp = log_plastic_stretch(s, flow.fraction(p, p, alpha, dt)).map(Real::exp);
            s /= fp;
            alpha += (p - flow.measure.of(Law::Corotated.principal_stress(lame, s))).max(0.0);
        }
        (s, alpha)
    }

    /// Embedded note 14.6: the material does not depend on the time step, unless the paper's rule is selected.
    #[test]
    fn relaxation_is_the_same_for_every_time_step() {
        for dt in [4e-3, 2e-3, 1e-3, 0.5e-3] {
            let (s, _) = relaxed(yielding(2000.0, 20.0), dt, 0.1);
            assert!((s.x - 1.041).abs() < 1e-3, "{dt}: {}", s.x);
        }
        let per_step = Yielding { rule: FlowRule::PerStep, ..yielding(2000.0, 0.04) };
        let (coarse, fine) = (relaxed(per_step, 4e-3, 0.1).0.x, relaxed(per_step, 0.5e-3, 0.1).0.x);
        assert!(coarse - fine > 0.05, "{coarse} {fine}");
    }

    /// Strains matter at an even rate: the stress that forces see is Y + 2µ ε'/ν in von Mises' measure, whatever the step.
    #[test]
    fn steady_flow_needs_the_same_stress_for_every_time_step() {
        let (lame, law, rate) = (Lame::from_moduli(1e5, 0.3), Law::Corotated, 2.0);
        for dt in [1e-5, 2e-4, 1e-3] {
            let flow = Yielding { measure: YieldMeasure::Deviatoric, ..yielding(200.0, 1500.0) };
            let drive = vec3(exp(rate * dt), 1.0, exp(-rate * dt));
            let (mut elastic, mut past) = (Vec3::ONE, Past::default());
            for _ in 0..(0.02 / dt) as usize {
                let answer = flow.answer((law, lame), Mat3::from_diagonal(elastic * drive), past, dt);
                elastic = answer.flow.map_or(answer.svd.sigma, |flow| flow.elastic);
                past.shear_stress = answer.shear_stress;
            }
            let expected = 200.0 + 12f64.sqrt() * lame.mu * rate / 1500.0;
            assert!((past.shear_stress / expected - 1.0).abs() < 0.01, "{dt}: {}", past.shear_stress);
        }
    }

    /// Checks the dissipated energy where steps strain matter by several times its yield strain: the work of the stresses
    /// at the ends of the steps is dissipated or stored.
    #[test]
    fn dissipation_is_the_work_of_the_stress_that_forces_see() {
        let (lame, law) = (Lame::from_moduli(1e5, 0.3), Law::Corotated);
        for step in [5e-4, 2e-3, 1e-2] {
            let flow = Yielding { measure: YieldMeasure::Deviatoric, ..yielding(200.0, 2e4) };
            let drive = vec3(exp(step), 1.0, exp(-step));
            let (mut elastic, mut past, mut last) = (Vec3::ONE, Past::default(), Vec3::ZERO);
            let (mut dissipated, mut work) = (0.0, 0.0);
            for _ in 0..(0.3 / step) as usize {
                let f = Mat3::from_diagonal(elastic * drive);
                let answer = flow.answer((law, lame), f, past, 1e-4);
                elastic = answer.flow.map_or(answer.svd.sigma, |flow| flow.elastic);
                let kirchhoff = answer.stress * elastic;
                work += 0.5 * (last + kirchhoff).dot(vec3(step, 0.0, -step));
                dissipated += answer.flow.map_or(0.0, |flow| flow.work);
                (last, past.shear_stress) = (kirchhoff, answer.shear_stress);
            }
            let booked = dissipated + law.principal_energy(lame, elastic);
            assert!((booked / work - 1.0).abs() < 0.01, "{step}: {booked} of {work} J/m³");
        }
    }

    /// Compares the answers with and without principal stretches, below and above the yield stress.
    #[test]
    fn matter_below_its_yield_stress_needs_no_principal_stretches() {
        let (lame, law) = (Lame::from_moduli(1e5, 0.3), Law::Corotated);
        let mut random = Random::new(8);
        let mut n_elastic = 0;
        for k in 0..200 {
            let flow = Yielding {
                measure: if k % 2 == 0 { YieldMeasure::Total } else { YieldMeasure::Deviatoric },
                ..yielding(3e4, 50.0)
            };
            let turn = polar(Mat3::from_cols(random.in_cube(), random.in_cube(), random.in_cube())).0;
            let noise = Mat3::from_cols(random.in_cube(), random.in_cube(), random.in_cube());
            let f = turn * (Mat3::IDENTITY + noise * 0.3);
            let full = flow.answer((law, lame), f, Past::default(), 1e-3);
            let quick = flow.answer_unyielded((law, lame), f, 0.0);
            assert_eq!(quick.is_some(), full.flow.is_none(), "{f}");
            let Some(quick) = quick else { continue };
            n_elastic += 1;
            let Svd { u, v, .. } = full.svd;
            let stress = u * Mat3::from_diagonal(full.stress) * v.transpose();
            assert!(frobenius_norm(stress - quick.stress) < 1e-9 * 1e5);
            assert!(frobenius_norm(u * v.transpose() - quick.rotation) < 1e-12);
            assert!((full.shear_stress - quick.shear_stress).abs() < 1e-9 * 1e5);
        }
        assert!((50..150).contains(&n_elastic), "{n_elastic}");
    }

    #[test]
    fn hardening_raises_and_softening_lowers_what_is_left() {
        let left = |hardening: Real| {
            let (s, _) = relaxed(Yielding { hardening, ..yielding(2000.0, 400.0) }, 1e-3, 0.3);
            YieldMeasure::Total.of(Law::Corotated.principal_stress(Lame::from_moduli(1e5, 0.3), s))
        };
        let (soft, plain, hard) = (left(-0.05), left(0.0), left(0.5));
        assert!((plain / 2000.0 - 1.0).abs() < 0.01, "{plain}");
        assert!(soft < 0.8 * plain && hard > 2.0 * plain, "{soft} {plain} {hard}");
    }

    #[test]
    fn a_thickening_material_flows_less_the_more_it_is_pressed() {
        let flow = Yielding { thickening_stress: 1e3, ..yielding(0.0, 50.0) };
        let plain = yielding(0.0, 50.0);
        assert_eq!(flow.fraction(1e3, 1e3, 0.0, 1e-3), plain.fraction(1e3, 1e3, 0.0, 1e-3));
        let rate = |p: Real| -(1.0 - flow.fraction(p, p, 0.0, 1e-3)).ln() / 1e-3;
        assert!((rate(2e4) / (50.0 / 20.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn pressure_counts_in_one_measure_only_and_both_read_a_pulled_bar() {
        let pulled = vec3(700.0, 0.0, 0.0);
        assert!((YieldMeasure::Total.of(pulled) - 700.0).abs() < 1e-9);
        assert!((YieldMeasure::Deviatoric.of(pulled) - 700.0).abs() < 1e-9);
        assert!(YieldMeasure::Deviatoric.of(Vec3::splat(-5e3)) < 1e-9);
        assert!(YieldMeasure::Total.of(Vec3::splat(-5e3)) > 8e3);
    }
}
