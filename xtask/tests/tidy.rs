//! Runs the checks of `xtask::tidy` on this repository. Every test shows all that its check found.

use std::path::Path;
use xtask::tidy::tree::Tree;
use xtask::tidy::{
    Problem, decisions, documents, drivers, invariants, layering, leftovers, migrations,
    module_docs, naming, origin, random_tests, size, sql_subset, surfaces, test_binaries,
    test_script, whitespace,
};

fn assert_tidy(check: fn(&Tree) -> Vec<Problem>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let found = match Tree::read(&root) {
        Ok(tree) => check(&tree).iter().map(Problem::to_string).collect(),
        Err(error) => vec![format!("cannot read {}: {error}", root.display())],
    };
    assert!(found.is_empty(), "{} to repair:\n{}\n", found.len(), found.join("\n"));
}

#[test]
fn no_check_is_forgotten() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tree = Tree::read(root).unwrap();
    let forgotten: Vec<_> = tree
        .files()
        .filter(|file| file.text.contains("\npub fn check("))
        .map(|file| file.name().trim_end_matches(".rs").to_owned())
        .filter(|name| !include_str!("tidy.rs").contains(&format!("assert_tidy({name}::check);")))
        .collect();
    assert_eq!(forgotten, Vec::<String>::new(), "call these in a test here");
}

#[test]
fn arrows_between_crates_point_one_way() {
    assert_tidy(layering::check);
}

#[test]
fn drivers_stay_in_the_back_ends() {
    assert_tidy(drivers::check);
}

#[test]
fn modules_open_with_their_purpose() {
    assert_tidy(module_docs::check);
}

#[test]
fn names_say_something() {
    assert_tidy(naming::check);
}

#[test]
fn migrations_are_numbered_twins() {
    assert_tidy(migrations::check);
}

#[test]
fn files_hold_one_use_case() {
    assert_tidy(size::check);
}

#[test]
fn sql_keeps_to_the_subset_of_both_engines() {
    assert_tidy(sql_subset::check);
}

#[test]
fn shared_texts_name_no_command_and_no_flag() {
    assert_tidy(surfaces::check);
}

#[test]
fn nothing_unfinished_is_left() {
    assert_tidy(leftovers::check);
}

#[test]
fn whitespace_is_clean() {
    assert_tidy(whitespace::check);
}

#[test]
fn nothing_tells_of_this_machine() {
    assert_tidy(origin::check);
}

#[test]
fn documents_name_only_what_exists() {
    assert_tidy(documents::check);
}

#[test]
fn decisions_have_one_form() {
    assert_tidy(decisions::check);
}

#[test]
fn every_invariant_has_a_test() {
    assert_tidy(invariants::check);
}

#[test]
fn no_integration_test_is_forgotten() {
    assert_tidy(test_binaries::check);
}

#[test]
fn random_tests_draw_from_the_seed_of_the_testkit() {
    assert_tidy(random_tests::check);
}

#[test]
fn ci_goes_through_the_gate() {
    assert_tidy(test_script::check);
}
