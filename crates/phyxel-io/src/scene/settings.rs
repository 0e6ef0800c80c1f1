//! From validated sections to the methods' settings.

use super::build::{Built, choice, optional};
use super::description::{MethodSettings, ReferenceSettings, VolumeRule};
use super::section::{Section, Value};
use phyxel::material::FlowRule;
use phyxel::methods::embedded::{
    self, Embedding, Integrator, ListUpdate, MassRule, Resampling, ViscosityModel,
};
use phyxel::methods::incremental::{self, ForceForm, History, StressForm};

const FLOW_RULES: [(&str, FlowRule); 2] =
    [("per_second", FlowRule::PerSecond), ("per_step", FlowRule::PerStep)];

/// Settings of all methods.
pub(crate) fn methods(section: &Section) -> Built<MethodSettings> {
    Ok(MethodSettings {
        reference: reference(section.section("reference")?)?,
        embedded: embedded(section.section("embedded")?)?,
        incremental: incremental(section.section("incremental")?)?,
    })
}

fn reference(section: &Section) -> Built<ReferenceSettings> {
    let support_factor = match section.entries.get("support_factor").map(|entry| &entry.value) {
        Some(Value::Number(factor)) => Some(*factor),
        Some(Value::Text(_)) => None,
        _ => return Err(section.gap("support_factor")),
    };
    let volume_rules = [("exact", VolumeRule::Exact), ("sph", VolumeRule::Sph)];
    Ok(ReferenceSettings {
        support_factor,
        volume_rule: choice(section, "volume_rule", &volume_rules)?,
        stabilization: section.number("stabilization")?,
        volume_stiffness: section.number("volume_stiffness")?,
        inversion_guard: section.number("inversion_guard")?,
        safety: section.number("safety")?,
    })
}

fn embedded(section: &Section) -> Built<embedded::Params> {
    let volume_rules = [("exact", embedded::VolumeRule::Exact), ("moments", embedded::VolumeRule::Moments)];
    let integrators = [
        ("leapfrog", Integrator::Leapfrog),
        ("symplectic_euler", Integrator::SymplecticEuler),
        ("newmark", Integrator::Newmark),
    ];
    let viscosity_models = [("strain_rate", ViscosityModel::StrainRate), ("sph", ViscosityModel::Sph)];
    let embeddings =
        [("linear", Embedding::Linear), ("nonlinear", Embedding::Nonlinear), ("off", Embedding::Off)];
    Ok(embedded::Params {
        support_factor: section.number("support_factor")?,
        volume_rule: choice(section, "volume_rule", &volume_rules)?,
        mass_rule: choice(
            section,
            "mass_rule",
            &[("fixed", MassRule::Fixed), ("running", MassRule::Running)],
        )?,
        stabilization: section.number("stabilization")?,
        repulsion: section.number("repulsion")?,
        volume_correction: section.number("volume_correction")?,
        flow_rule: choice(section, "flow_rule", &FLOW_RULES)?,
        integrator: choice(section, "integrator", &integrators)?,
        viscosity_model: choice(section, "viscosity_model", &viscosity_models)?,
        embedding: choice(section, "embedding", &embeddings)?,
        embed_every: section.integer("embed_every")?,
        embed_flow: section.number("embed_flow")?,
        embed_tolerance: section.number("embed_tolerance")?,
        list_update: choice(
            section,
            "list_update",
            &[("continuous", ListUpdate::Continuous), ("plain", ListUpdate::Plain)],
        )?,
        common_neighbors: section.integer("common_neighbors")?,
        speed_limit: section.number("speed_limit")?,
        resampling: resampling(section)?,
        safety: section.number("safety")?,
    })
}

/// The thresholds mean something else for each rule, and so do their defaults.
fn resampling(section: &Section) -> Built<Resampling> {
    let rules = [
        ("off", Resampling::Off),
        ("gaps", Resampling::Gaps { split: 1.7, merge: 0.4 }),
        ("eigenvalues", Resampling::Eigenvalues { split: 0.6, merge: 1.5 }),
    ];
    let mut rule = choice(section, "resampling", &rules)?;
    if let Resampling::Gaps { split, merge } | Resampling::Eigenvalues { split, merge } = &mut rule {
        *split = optional(section, "split_at", Section::number)?.unwrap_or(*split);
        *merge = optional(section, "merge_at", Section::number)?.unwrap_or(*merge);
    }
    Ok(rule)
}

fn incremental(section: &Section) -> Built<incremental::Params> {
    let force_forms = [("corrected", ForceForm::Corrected), ("kernel", ForceForm::Kernel)];
    let stress_forms = [("first_piola", StressForm::FirstPiola), ("scaled", StressForm::Scaled)];
    let histories = [
        ("composed", History::Composed),
        ("additive", History::Additive),
        ("stored_rest", History::StoredRest),
    ];
    let integrators = [
        ("leapfrog", incremental::Integrator::Leapfrog),
        ("symplectic_euler", incremental::Integrator::SymplecticEuler),
    ];
    let viscosity_models =
        [("strain_rate", incremental::ViscosityModel::StrainRate), ("sph", incremental::ViscosityModel::Sph)];
    Ok(incremental::Params {
        support: section.number("support")?,
        neighbors: section.integer("neighbors")?,
        force_form: choice(section, "force_form", &force_forms)?,
        stress_form: choice(section, "stress_form", &stress_forms)?,
        history: choice(section, "history", &histories)?,
        stabilization: section.number("stabilization")?,
        repulsion: section.number("repulsion")?,
        pressure: section.number("pressure")?,
        volume_relaxation: section.number("volume_relaxation")?,
        integrator: choice(section, "integrator", &integrators)?,
        flow_rule: choice(section, "flow_rule", &FLOW_RULES)?,
        viscosity_model: choice(section, "viscosity_model", &viscosity_models)?,
        safety: section.number("safety")?,
    })
}
