//! The files of the Python package that are made of the contract: a dataclass for each answer, a
//! `TypedDict` for each request.

mod answers;
mod requests;

/// A file that is made, not written.
pub struct Generated {
    /// Its place in the repository.
    pub path: &'static str,
    /// What it holds.
    pub text: String,
}

/// Every file that is made of the contract.
pub fn files() -> [Generated; 2] {
    [
        Generated { path: "bindings/python/python/oneiro/types.py", text: answers::module() },
        Generated { path: "bindings/python/python/oneiro/requests.py", text: requests::module() },
    ]
}

/// The columns of a line.
const WIDTH: usize = 100;

/// Text in lines that begin with `indent`.
fn wrapped(text: &str, indent: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = indent.to_owned();
    for word in text.split_whitespace() {
        let is_first = line.len() == indent.len();
        if !is_first && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(std::mem::replace(&mut line, indent.to_owned()));
        } else if !is_first {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

/// A description as the docstrings of a class hold it.
fn docstring(description: &str) -> String {
    const INDENT: &str = "    ";
    const QUOTES: &str = "\"\"\"";
    let lines = wrapped(&format!("{QUOTES}{}{QUOTES}", in_python(description)), INDENT);
    lines.join("\n") + "\n"
}

/// A description as a comment on what follows.
fn comment(description: &str) -> String {
    let lines = wrapped(&in_python(description), "    #: ");
    lines.join("\n") + "\n"
}

/// A description in the marks of Python's documents, with a full stop.
fn in_python(description: &str) -> String {
    let text = description.replace('`', "``");
    if text.ends_with('.') || text.is_empty() { text } else { text + "." }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    fn place(path: &str) -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
    }

    fn read(path: &str) -> String {
        std::fs::read_to_string(place(path)).unwrap()
    }

    #[test]
    fn every_capability_that_names_a_method_of_python_has_it() {
        let handle = read("bindings/python/python/oneiro/handle.py");
        for capability in oneiro_model::CAPABILITIES {
            let Some(method) = capability.python else { continue };
            let is_there = handle.contains(&format!("    def {method}("));
            assert!(is_there, "{}: the handle has no method {method}", capability.name);
        }
    }

    #[test]
    fn what_is_made_of_the_contract_is_up_to_date() {
        for file in files() {
            let there = read(file.path);
            assert!(there == file.text, "{} is out of date: cargo run -p xtask", file.path);
        }
    }

    #[test]
    fn every_request_that_python_decodes_has_a_type_and_is_in_the_stub() {
        let mut decoded = BTreeSet::new();
        for entry in std::fs::read_dir(place("bindings/python/src")).unwrap() {
            let source = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            let names = source.split("decode::request::<").skip(1);
            decoded.extend(names.filter_map(|rest| Some(rest.split_once('>')?.0.to_owned())));
        }
        let known: BTreeSet<String> = requests::names().into_iter().collect();
        assert_eq!(decoded, known, "list them in xtask/src/python/requests.rs");
        let stub = read("bindings/python/python/oneiro/_oneiro.pyi");
        let in_stub = |name: &&String| stub.matches(&format!(": {name}")).count() > 0;
        let forgotten: Vec<&String> = known.iter().filter(|name| !in_stub(name)).collect();
        assert!(forgotten.is_empty(), "no method of the stub takes {forgotten:?}");
    }

    #[test]
    fn descriptions_are_wrapped_and_marked() {
        assert_eq!(docstring("The `next` page"), "    \"\"\"The ``next`` page.\"\"\"\n");
        let long = comment(&"word ".repeat(30));
        assert!(long.lines().count() == 2 && long.lines().all(|line| line.starts_with("    #: w")));
        assert!(long.lines().all(|line| line.len() <= WIDTH));
    }
}
