//! The one table of methods: lists, docs, schema and conformance tests loop over it.

use super::MethodFactory;
use crate::material::Law;

/// A method in the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Scene key.
    pub key: &'static str,
    /// Paper, as cited in comments.
    pub paper: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// The laws that it can run, its own first.
    pub laws: &'static [Law],
    /// Whether its matter can flow.
    pub plasticity: bool,
    /// The factory with default settings; `None` while the method is not built.
    pub default_factory: Option<fn() -> Box<dyn MethodFactory>>,
}

/// All methods, in the order in which they are listed.
pub const CATALOGUE: &[Entry] = &[
    Entry {
        key: "reference",
        paper: "Müller et al. 2004, Point Based Animation of Elastic, Plastic and Melting Objects",
        about: "elastic solids with a rest shape",
        laws: &[Law::StVenantKirchhoff],
        plasticity: false,
        default_factory: Some(|| Box::new(super::reference::Params::default())),
    },
    Entry {
        key: "incremental",
        paper: "Gerszewski et al. 2009, A Point-Based Method for Animating Elastoplastic Solids",
        about: "large plastic flow without a rest shape",
        laws: &[Law::Corotated, Law::StVenantKirchhoff, Law::NeoHookean, Law::SquaredStretch],
        plasticity: true,
        default_factory: Some(|| Box::new(super::incremental::Params::default())),
    },
    Entry {
        key: "embedded",
        paper: "Jones et al. 2014, Deformation Embedding for Point-Based Elastoplastic Simulation",
        about: "large elastic and plastic deformation together",
        laws: &[Law::Corotated, Law::StVenantKirchhoff, Law::NeoHookean, Law::SquaredStretch],
        plasticity: true,
        default_factory: Some(|| Box::new(super::embedded::Params::default())),
    },
    Entry {
        key: "elaston",
        paper: "Martin et al. 2010, Unified Simulation of Elastic Rods, Shells, and Solids",
        about: "rods, shells and solids in one; cutting",
        laws: &[],
        plasticity: false,
        default_factory: None,
    },
    Entry {
        key: "peridynamic",
        paper: "He, Wang and Wu 2018, Projective Peridynamics for Modeling Versatile Elastoplastic Materials",
        about: "large time steps; cloth, rods, sand, viscoelastic fluids",
        laws: &[],
        plasticity: false,
        default_factory: None,
    },
];
