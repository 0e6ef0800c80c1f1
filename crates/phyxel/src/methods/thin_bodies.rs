//! Detection of bodies that are too thin for methods that fit deformation gradients.

use super::{Matter, MethodError};
use crate::particles::Particles;

/// Refuses bodies in which most particles have no deformation gradient.
pub(super) fn refuse_thin_bodies(
    particles: &Particles,
    matter: &Matter,
    is_degenerate: impl Fn(usize) -> bool,
) -> Result<(), MethodError> {
    for body in &matter.bodies {
        let members = || (0..particles.len()).filter(|&i| particles.body[i] == body.index);
        let (n_degenerate, n_all) = (members().filter(|&i| is_degenerate(i)).count(), members().count());
        if 2 * n_degenerate > n_all {
            let message = format!(
                "body \"{}\": {n_degenerate} of {n_all} particles have too few neighbours or neighbours in one plane or \
                 line only, and this method is for solids: choose a smaller spacing",
                body.name
            );
            return Err(MethodError { body: Some(body.index), message });
        }
    }
    Ok(())
}

/// Returns the warning about particles without a deformation gradient, if there are any.
pub(super) fn warning_of_thin_parts(n_degenerate: usize) -> Option<String> {
    (n_degenerate > 0).then(|| {
        format!(
            "{n_degenerate} particles have too few neighbours, or neighbours in one plane or line only, and give no elastic \
             force: thin parts need more layers, a smaller spacing"
        )
    })
}
