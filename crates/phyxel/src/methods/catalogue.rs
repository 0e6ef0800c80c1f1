//! The single table of all methods: lists, documentation, schema and conformance tests iterate over it.

use super::MethodFactory;
use crate::material::{Flow, Law, YieldMeasure};

/// A method in the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Key of the method in scenes.
    pub key: &'static str,
    /// Paper that the method implements.
    pub paper: &'static str,
    /// Purpose of the method, for users.
    pub about: &'static str,
    /// Name of the method in sentences.
    pub name: &'static str,
    /// Elastic laws, kinds of flow and births that the method supports.
    pub abilities: Abilities,
    /// Creates the factory with default settings; `None` if the method is not implemented yet.
    pub default_factory: Option<fn() -> Box<dyn MethodFactory>>,
}

/// Abilities of a method.
#[derive(Clone, Copy, Debug)]
pub struct Abilities {
    /// Supported elastic laws (strain to stress), the method's own law first.
    pub laws: &'static [Law],
    /// Supported kinds of flow.
    pub flows: &'static [Flow],
    /// True if particles can be added while the method runs.
    pub births: bool,
}

/// Refusal of a material by a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Key of the refused property: "law" or "plasticity".
    pub property: &'static str,
    /// Explains the refusal and names the methods that support the property.
    pub message: String,
}

impl Entry {
    /// Returns the refusal of a material with this law (`None` selects the method's own) and kind of flow; `None` if
    /// the method supports both.
    pub fn refusal(&self, law: Option<Law>, flow: Flow) -> Option<Refusal> {
        let refuse = |property, what: String, is_able: &dyn Fn(&Abilities) -> bool| {
            let able = built_methods().filter(|e| is_able(&e.abilities));
            let keys: Vec<String> = able.map(|e| format!("\"{}\"", e.key)).collect();
            let able = match keys.as_slice() {
                [] => "no method can".into(),
                keys => format!("these can: {}", keys.join(", ")),
            };
            let message = format!("the method \"{}\" cannot run {what}; {able}", self.key);
            Some(Refusal { property, message })
        };
        if let Some(law) = law.filter(|law| !self.abilities.laws.contains(law)) {
            let what = format!("the law \"{}\"", law.key());
            return refuse("law", what, &|abilities| abilities.laws.contains(&law));
        }
        let can_flow = |abilities: &Abilities| flow == Flow::None || abilities.flows.contains(&flow);
        if !can_flow(&self.abilities) {
            return refuse("plasticity", "plastic materials".into(), &can_flow);
        }
        None
    }
}

/// Returns the implemented methods, in the order in which they are listed.
pub fn built_methods() -> impl Iterator<Item = &'static Entry> + Clone {
    CATALOGUE.iter().filter(|entry| entry.default_factory.is_some())
}

/// Returns the method with a scene key.
pub fn find_method(key: &str) -> Option<&'static Entry> {
    CATALOGUE.iter().find(|entry| entry.key == key)
}

/// Kinds of flow above a yield stress, for both measures of stress.
const CREEP: &[Flow] = &[Flow::Creep(YieldMeasure::Deviatoric), Flow::Creep(YieldMeasure::Total)];

/// All methods, in the order in which they are listed.
pub const CATALOGUE: &[Entry] = &[
    Entry {
        key: "reference",
        paper: "Müller et al. 2004, Point Based Animation of Elastic, Plastic and Melting Objects",
        about: "elastic solids with a rest shape",
        name: "the reference-shape method of Müller et al. 2004",
        abilities: Abilities { laws: &[Law::StVenantKirchhoff], flows: &[], births: false },
        default_factory: Some(|| Box::new(super::reference::Params::default())),
    },
    Entry {
        key: "incremental",
        paper: "Gerszewski et al. 2009, A Point-Based Method for Animating Elastoplastic Solids",
        about: "large plastic flow without a rest shape",
        name: "the incremental method, Gerszewski et al. 2009",
        abilities: Abilities {
            laws: &[Law::Corotated, Law::StVenantKirchhoff, Law::NeoHookean, Law::SquaredStretch],
            flows: CREEP,
            births: true,
        },
        default_factory: Some(|| Box::new(super::incremental::Params::default())),
    },
    Entry {
        key: "embedded",
        paper: "Jones et al. 2014, Deformation Embedding for Point-Based Elastoplastic Simulation",
        about: "large elastic and plastic deformation together",
        name: "deformation embedding, Jones et al. 2014",
        abilities: Abilities {
            laws: &[Law::Corotated, Law::StVenantKirchhoff, Law::NeoHookean, Law::SquaredStretch],
            flows: CREEP,
            births: false,
        },
        default_factory: Some(|| Box::new(super::embedded::Params::default())),
    },
    Entry {
        key: "elaston",
        paper: "Martin et al. 2010, Unified Simulation of Elastic Rods, Shells, and Solids",
        about: "rods, shells and solids in one; cutting",
        name: "elastons, Martin et al. 2010",
        abilities: Abilities { laws: &[], flows: &[], births: false },
        default_factory: None,
    },
    Entry {
        key: "peridynamic",
        paper: "He, Wang and Wu 2018, Projective Peridynamics for Modeling Versatile Elastoplastic Materials",
        about: "large time steps; cloth, rods, sand, viscoelastic fluids",
        name: "projective peridynamics, He, Wang and Wu 2018",
        abilities: Abilities { laws: &[], flows: &[], births: false },
        default_factory: None,
    },
];
