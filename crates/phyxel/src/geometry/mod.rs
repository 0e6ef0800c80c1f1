//! Shapes with signed distance, triangle meshes, inside tests, and filling a shape with particles.
