//! tuning only
#![allow(missing_docs, non_snake_case)]
use std::sync::atomic::{AtomicU32, Ordering};
pub const DEFAULTS: [f32; 40] = [
 0.4,1.35,1.75,1.0,0.7,1.0, // 0 plain,1 time,2 name,3 number,4 tf exp,5 idf exp
 1.35,1.6,1.2,1.25,0.6, // 6 decision,7 error,8 open,9 fact,10 courtesy
 1.3,0.7, // 11 open question, 12 answered question
 1.2,1.05, // 13 first/last utterance, 14 first sentence
 0.1, // 15 covered
 1.0, // 16 cost exponent
 2.0, // 17 overhead gap
 3.0, // 18 overhead new line
 0.15, // 19 share of terms
 1.0, //20 first person
 0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0];
static V: [AtomicU32; 40] = [const { AtomicU32::new(u32::MAX) }; 40];
pub fn P(i: usize) -> f32 {
    let bits = V[i].load(Ordering::Relaxed);
    if bits == u32::MAX { DEFAULTS[i] } else { f32::from_bits(bits) }
}
pub fn set(i: usize, v: f32) { V[i].store(v.to_bits(), Ordering::Relaxed) }
