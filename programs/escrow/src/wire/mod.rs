//! How bytes become values and values bytes: arguments, accounts, events, and the runtime's own
//! data.

pub mod arguments;
pub mod byte;
pub mod discriminator;
pub mod event_writer;
pub mod layout;
pub mod little_endian;
pub mod sysvars;
pub mod text;

pub(crate) use self::{
    arguments::arguments,
    layout::{load, load_mut},
    sysvars::Clock,
};
