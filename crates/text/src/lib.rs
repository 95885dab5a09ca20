//! The analyzer: text to tokens, the same for rows and for questions. It owns what a word is; it
//! must not know where text comes from or where tokens go.
