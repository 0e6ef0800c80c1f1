//! Deformation embedding. (stub)
mod params;
pub use params::*;
use super::*;
pub struct Embedded;
impl Embedded { fn build(_: Params, _: &mut Particles, _: &Matter) -> Result<Self, MethodError> { Err(MethodError { body: None, message: "stub".into() }) } }
impl Method for Embedded {
    fn max_time_step(&self, _: &Particles) -> TimeStepLimit { todo!() }
    fn step(&mut self, _: &mut Particles, _: &mut StepContext<'_>) -> Result<StepReport, StepError> { todo!() }
    fn changed(&mut self, _: &Particles, _: Change) { todo!() }
    fn visit_state(&mut self, _: &mut dyn StateVisitor) { todo!() }
    fn energies(&self, _: &Particles) -> Energies { todo!() }
    fn current_volume(&self, _: &Particles) -> Real { todo!() }
}
