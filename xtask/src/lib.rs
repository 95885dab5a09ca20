//! Repository chores. The one there is: tidy, which holds the rules of this repository that the
//! compiler does not.

pub mod tidy;
