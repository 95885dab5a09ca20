//! The scan from outside: labelled lines with measured rates, and laws by random texts.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod labelled;
mod properties;
