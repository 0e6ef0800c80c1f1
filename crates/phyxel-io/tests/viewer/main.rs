//! Tests of the data that the browser page receives, by an independent reader.

mod packet;
mod page;
mod replay;
