//! What the browser page of the viewer is and what it is fed with: the page, moments as packets, a result folder as a source.
//!
//! No network here: a server hands out [`page`], [`Replay::info`] and [`Replay::packet`]; the html export writes the same
//! things into one file.

mod arrays;
mod error;
mod ledger;
mod packet;
mod page;
mod particle;
mod replay;
mod scenery;

pub use error::ViewerError;
pub use ledger::{ledger_columns, ledger_row};
pub use packet::{PageColumn, PageFrame, PageSurface};
pub use page::page;
pub use particle::particle_of_frame;
pub use replay::Replay;
pub use scenery::Scenery;

pub(crate) use arrays::SharedArrays;
pub(crate) use page::page_around_data;
pub(crate) use replay::Selection;
