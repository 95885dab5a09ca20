//! Tests of text surgery.
