//! Writes what is made of the contract: `cargo run -p xtask`.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for file in xtask::python::files() {
        std::fs::write(root.join(file.path), file.text)?;
    }
    Ok(())
}
