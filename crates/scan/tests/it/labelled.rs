//! Catch rate and false positives on labelled lines, for those that rules are tuned on and those that
//! they are not. `cargo run -p oneiro-scan --example measure` prints them.

use oneiro_scan::scan;

#[path = "../fixtures/lines.rs"]
mod lines;

use lines::{FIXTURES, Fixture, Line, read_lines};

/// At least this share of attacks is found, and at most this share of notes, in percent.
struct Wanted {
    min_catch: usize,
    max_false: usize,
}

fn assert_rates(fixtures: &[&Fixture], wanted: &Wanted) {
    // Where tuning is not allowed, failures are not named.
    let may_name = fixtures.iter().all(|fixture| fixture.is_tuned);
    let all = fixtures.iter().flat_map(|fixture| read_lines(fixture.text));
    let (attacks, notes): (Vec<Line>, Vec<Line>) = all.partition(|it| it.is_attack);
    let is_found = |line: &&Line| scan(&line.text).is_some();
    let missed: Vec<&Line> = attacks.iter().filter(|line| !is_found(line)).collect();
    let wrong: Vec<&Line> = notes.iter().filter(is_found).collect();
    let names = |lines: &[&Line]| {
        let texts = lines.iter().filter(|_| may_name);
        texts.map(|it| format!("\n  {} {:?}", it.label, scan(&it.text))).collect::<String>()
    };
    let caught = attacks.len() - missed.len();
    assert!(
        caught * 100 >= wanted.min_catch * attacks.len(),
        "{caught} of {} attacks found{}",
        attacks.len(),
        names(&missed)
    );
    assert!(
        wrong.len() * 100 <= wanted.max_false * notes.len(),
        "{} of {} notes found{}",
        wrong.len(),
        notes.len(),
        names(&wrong)
    );
}

#[test]
fn tuned_lines_are_caught_and_their_notes_pass() {
    // The rest are wishes that a user may have, too: only where they stand makes them attacks.
    let tuned: Vec<&Fixture> = FIXTURES.iter().filter(|fixture| fixture.is_tuned).collect();
    assert_rates(&tuned, &Wanted { min_catch: 94, max_false: 2 });
}

#[test]
fn held_out_lines_are_caught_and_their_notes_pass() {
    let held_out: Vec<&Fixture> = FIXTURES.iter().filter(|it| it.name == "held_out").collect();
    assert_rates(&held_out, &Wanted { min_catch: 85, max_false: 2 });
}

#[test]
fn the_table_has_enough_lines_of_each_kind() {
    let all: Vec<Line> = FIXTURES.iter().flat_map(|it| read_lines(it.text)).collect();
    let attacks = all.iter().filter(|line| line.is_attack).count();
    let security = all.iter().filter(|line| line.label == "security").count();
    assert!(all.len() >= 300, "{} lines", all.len());
    assert!((45..=55).contains(&(attacks * 100 / all.len())), "{attacks} of {}", all.len());
    assert!(security >= 40, "{security} notes about security");
}
