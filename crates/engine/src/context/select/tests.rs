//! The rules of selection.
