//! Dreams: the calendar, what a dream decided and why, and which forms it offers.

use crate::states::dreams::{list, no_dreams, one};
use crate::states::{empty_overview, rich_overview};
use oneiro_page::{dream, dreams};

#[test]
fn the_calendar_links_each_night_to_its_dream_and_counts_its_lines() {
    let html = dreams::page(&list("asleep"));
    let cells = html.matches("<td data-outcome=").count();
    assert_eq!(cells, 4, "the night of fifty days ago is not in the last six weeks");
    assert!(html.contains("<span class=\"added\">+2</span>"), "{html}");
    assert!(html.contains("data-outcome=\"missed\""));
    assert!(dreams::page(&no_dreams()).contains("does not dream by itself"));
}

#[test]
fn what_a_dry_run_would_change_is_on_the_overview_and_the_list_with_a_button() {
    let pages = [dreams::page(&list("asleep")), oneiro_page::overview::page(&rich_overview())];
    for html in pages {
        assert!(html.contains("The last dream would change"), "{html}");
        assert_eq!(html.matches("Apply: dream now").count(), 1, "{html}");
    }
    let without = [dreams::page(&no_dreams()), oneiro_page::overview::page(&empty_overview())];
    assert!(without.iter().all(|html| !html.contains("Apply: dream now")));
}

#[test]
fn a_missed_dream_says_which_night_was_missed() {
    let html = dreams::page(&list("asleep"));
    assert_eq!(html.matches("the dream of ").count(), 1, "{html}");
}

#[test]
fn an_applied_dream_offers_undo_and_a_dry_run_offers_to_apply() {
    let offers = |html: &str| (html.contains("Undo this dream"), html.contains("Apply: dream now"));
    assert_eq!(offers(&dream::page(&one(1, "x", 1))), (true, false));
    assert_eq!(offers(&dream::page(&one(2, "x", 1))), (false, true));
    assert_eq!(offers(&dream::page(&one(3, "x", 1))), (false, false), "it is undone");
}

#[test]
fn each_candidate_has_its_decision_reason_and_bars_within_bounds() {
    let html = dream::page(&one(1, "Mira runs", 1));
    assert_eq!(html.matches("<meter").count(), 7);
    assert!(html.contains("value=\"100\"") && !html.contains("value=\"700\""), "{html}");
    assert!(html.contains("3 recalls") && html.contains("2 prompts") && html.contains("1 day"));
    let huge = dream::page(&one(1, "Mira runs", 5_000));
    assert_eq!(huge.matches("<li data-decision=").count(), 50);
    assert!(huge.contains("4,950 more candidates"));
}
