//! Session search as agents use it: discover conversations, scroll around a message, read a
//! session, browse what was active lately.
