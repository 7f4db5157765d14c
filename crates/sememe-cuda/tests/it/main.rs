//! Searches against exhaustive search, to the bit.

mod coupling;
mod exhaustive;
mod gpu;
mod stand_in;
