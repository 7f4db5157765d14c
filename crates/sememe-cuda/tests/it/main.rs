//! Searches against exhaustive search, to the bit.

mod exhaustive;
mod gpu;
mod stand_in;
