//! Texts of libraries are shown on every surface, so none names a command or a flag of the command
//! line. The table of remedies has words for each surface and is the one exception.

use super::Problem;
use super::rust_source::RustSource;
use super::tree::{File, Tree};

/// Crates whose texts reach HTTP, MCP and Python as well as the command line.
const SHARED: [&str; 6] = ["model", "store", "engine", "index", "server", "mcp"];

/// The table that has words for each surface.
const REMEDIES: &str = "crates/model/src/remedy.rs";

/// The generated list of commands.
const COMMANDS: &str = "docs/reference/cli.md";

/// No text of a shared crate names a command or a flag, outside tests.
pub fn check(tree: &Tree) -> Vec<Problem> {
    let commands = commands(tree);
    if commands.is_empty() {
        return vec![Problem::new(COMMANDS, 1, "give every command a heading: `oneiro NAME`")];
    }
    let mut problems = Vec::new();
    for file in tree.rust_files().filter(|file| is_shared(file)) {
        let source = RustSource::parse(&file.text);
        let tests_begin = source.code.split('\n').position(|line| line.contains("#[cfg(test)]"));
        let last_line = tests_begin.unwrap_or(usize::MAX);
        for literal in source.literals.iter().filter(|literal| literal.line <= last_line) {
            let words: Vec<&str> = literal.content.split_whitespace().collect();
            if let Some(name) = named_command(&words, &commands).or_else(|| named_flag(&words)) {
                let remedy = format!("say it for every surface, or add a remedy: `{name}`");
                problems.push(Problem::new(&file.path, literal.line, remedy));
            }
        }
    }
    problems
}

fn is_shared(file: &File) -> bool {
    let in_source = SHARED.iter().any(|name| file.path.starts_with(&format!("crates/{name}/src/")));
    let is_test = file.name() == "tests.rs" || file.path.contains("/tests/");
    in_source && !is_test && file.path != REMEDIES
}

/// The names of the commands, from the headings of their reference.
fn commands(tree: &Tree) -> Vec<&str> {
    let reference = tree.files().filter(|file| file.path == COMMANDS);
    let headings = reference.flat_map(|file| file.lines()).filter_map(|(_, line)| {
        let (_, command) = line.strip_prefix('#')?.split_once("oneiro ")?;
        command.split(|c: char| !c.is_ascii_lowercase()).find(|word| !word.is_empty())
    });
    headings.collect()
}

fn named_command(words: &[&str], commands: &[&str]) -> Option<String> {
    // A literal that goes on in the next line has a backslash between its words.
    let words: Vec<&str> = words.iter().copied().filter(|word| *word != "\\").collect();
    let is_command = |word: &str| {
        let name = word.trim_end_matches(|c: char| !c.is_ascii_lowercase());
        commands.contains(&name)
    };
    words.windows(2).find_map(|pair| match pair {
        [program, command] if program.trim_start_matches(['`', '(', '"']) == "oneiro" => {
            (program.starts_with('`') || is_command(command)).then(|| format!("oneiro {command}"))
        }
        _ => None,
    })
}

fn named_flag(words: &[&str]) -> Option<String> {
    let flag =
        words.iter().map(|word| word.trim_start_matches(['`', '(', '"', '\\'])).find(|word| {
            word.strip_prefix("--")
                .is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
        });
    flag.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems_in(path: &str, text: &str) -> usize {
        let reference = (COMMANDS, "# CLI\n\n## `oneiro expand`\n\n## `oneiro session list`\n");
        check(&Tree::made_up(&[reference, (path, text)])).len()
    }

    #[test]
    fn commands_and_flags_in_shared_texts_are_found() {
        for text in [
            "let a = \"or run `oneiro expand ID`.\";",
            "let a = \"create it: oneiro session new\";",
            "let a = \"run `oneiro \\\n expand`\";",
            "let a = \"choose another port with --listen\";",
            "let a = \"(`--all` shows more)\";",
        ] {
            assert_eq!(problems_in("crates/engine/src/a.rs", text), 1, "{text}");
        }
    }

    #[test]
    fn other_texts_comments_tests_and_the_command_line_are_left_alone() {
        for text in [
            "/// Run `oneiro expand ID`.\n// --all\nlet a = \"upgrade oneiro and start it again\";",
            "let a = \"a -- b --- c, oneiro_token\";",
            "#[cfg(test)]\nmod tests { const A: &str = \"--flag\"; }",
        ] {
            assert_eq!(problems_in("crates/engine/src/a.rs", text), 0, "{text}");
        }
        let command = "let a = \"run `oneiro expand --all`\";";
        for path in [REMEDIES, "crates/cli/src/a.rs", "crates/engine/tests/it/a.rs"] {
            assert_eq!(problems_in(path, command), 0, "{path}");
        }
    }

    #[test]
    fn a_reference_without_commands_is_a_problem() {
        assert_eq!(check(&Tree::made_up(&[("crates/engine/src/a.rs", "")])).len(), 1);
    }
}
