//! The demonstration: a seeded month of conversations, written into a space through the engine.
