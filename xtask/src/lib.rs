//! Repository chores: tidy, which holds the rules of this repository that the compiler does not, and
//! the files of the Python package that are made of the contract.

pub mod python;
pub mod tidy;
