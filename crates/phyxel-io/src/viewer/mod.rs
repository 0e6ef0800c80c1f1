//! The browser page of the viewer and its data: the page itself, frames as packets, and result folders as their source.
//!
//! This module has no network code: a server sends [`page`], [`Replay::info`] and [`Replay::packet`]; the html export
//! writes the same data into one file.

mod arrays;
mod error;
mod info;
mod ledger;
pub mod message;
mod packet;
mod page;
mod particle;
mod replay;
mod scenery;

pub use error::ViewerError;
pub use info::{PageBounds, PageColumnInfo, PageInfo, page_bounds, page_middle};
pub use ledger::{ledger_columns, ledger_row};
pub use packet::{PageColumn, PageFrame, PageSurface};
pub use page::page;
pub use particle::particle_of_frame;
pub use replay::Replay;
pub use scenery::Scenery;

pub(crate) use arrays::SharedArrays;
pub(crate) use page::page_around_data;
pub(crate) use replay::Selection;
