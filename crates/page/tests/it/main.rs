//! What the views promise, on made-up answers of the engine.

mod safety;
mod size;
mod states;
mod views;
