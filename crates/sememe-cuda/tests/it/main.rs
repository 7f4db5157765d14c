//! Searches against exhaustive search, to the bit.

mod coupling;
mod doubles;
mod exhaustive;
mod finishing;
mod gpu;
mod stand_in;
