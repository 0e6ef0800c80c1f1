//! What the browser page is fed with, by a reader of its own.

mod packet;
mod page;
mod replay;
