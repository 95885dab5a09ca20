//! The tools an agent calls by MCP: decode, call the engine, encode. It must not know how requests arrive.
