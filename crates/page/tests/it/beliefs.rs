//! What the views of memories show, and what their forms send.

use crate::states::beliefs::{detail, listed, memory_id, reviewed, reviewing};
use crate::states::made::frame;
use crate::states::rich_overview;
use oneiro_page::{Frame, memories, memory, overview, review};

fn readers() -> Frame {
    Frame { form_token: None, ..frame() }
}

#[test]
fn every_form_that_changes_something_carries_the_token_and_the_way_back() {
    for html in [memory::page(&detail()), review::page(&reviewing())] {
        let forms: Vec<&str> = html.split("<form").skip(1).collect();
        let posts: Vec<_> =
            forms.iter().filter(|form| form.contains("action=\"/memories/mem_")).collect();
        assert!(posts.len() >= 3);
        for form in posts {
            let form = form.split("</form>").next().unwrap();
            assert!(form.contains("name=\"form_token\" value=\"secret-of-the-page\""), "{form}");
            assert!(form.contains("name=\"seen\" value=\"2026-"), "{form}");
            assert!(form.contains("name=\"next\" value=\"/"), "{form}");
        }
    }
}

#[test]
fn a_reader_sees_everything_and_can_change_nothing() {
    let detail = oneiro_page::memory::MemoryDetailView { frame: readers(), ..detail() };
    let review = oneiro_page::review::ReviewView { frame: readers(), ..reviewing() };
    for html in [memory::fragment(&detail), review::fragment(&review)] {
        assert!(!html.contains("method=\"post\"") && !html.contains("data-key=\"p\""), "{html}");
        assert!(html.contains("from now on evenings"));
    }
    assert!(review::fragment(&review).contains("may only read"));
}

#[test]
fn the_chain_leads_from_the_statement_over_the_quote_to_the_message() {
    let html = memory::fragment(&detail());
    let chain = &html[html.find("class=\"chain\"").unwrap()..];
    let order: Vec<usize> = [
        "Mira runs in the morning.",
        "<blockquote class=\"quote\"><p>from now on evenings</p>",
        "Lunch or evening?",
        "So: <mark>from now on evenings</mark>, forget the mornings.",
        "Changed.",
        "/sessions/lease-flake?at=104#m104\">Open the conversation",
        "Created by an agent over MCP (<bdi>telegram</bdi>)",
    ]
    .map(|text| chain.find(text).unwrap_or_else(|| panic!("no {text} in {chain}")))
    .to_vec();
    assert!(order.is_sorted(), "{order:?}");
}

#[test]
fn a_memory_explains_its_confidence_and_a_contradiction_can_be_settled() {
    let html = memory::fragment(&detail());
    assert!(html.contains("initial 0.70 + uses 0.04 = confidence 0.74"), "{html}");
    assert!(html.contains("Signals: used 2"));
    let (this, other) = (memory_id(1), memory_id(2));
    assert!(html.contains(&format!("action=\"/memories/{this}/supersede\"")), "keep the other");
    assert!(html.contains(&format!("action=\"/memories/{other}/supersede\"")), "keep this");
}

#[test]
fn every_change_in_the_history_can_be_undone_alone_or_with_its_group() {
    let html = memory::fragment(&detail());
    let history = &html[html.find("class=\"history\"").unwrap()..];
    assert_eq!(history.matches(">Undo</button>").count(), 2);
    assert_eq!(history.matches(">Undo with 2 related changes</button>").count(), 1);
    assert!(history.contains("<del><bdi>candidate</bdi></del>"), "{history}");
}

#[test]
fn the_review_has_a_key_for_each_decision() {
    let html = review::fragment(&reviewing());
    for (key, label) in [
        ("p", "Promote"),
        ("r", "Reject"),
        ("e", "Edit"),
        ("m", "Merge"),
        ("w", "Why"),
        ("s", "Skip"),
    ] {
        assert!(html.contains(&format!("data-key=\"{key}\">{label} <kbd")), "{key}: {html}");
    }
    assert!(html.contains("/review?cursor=6.6"), "skip goes on");
    assert_eq!(html.matches("Merge into this").count(), 1, "not into what contradicts it");
    assert!(html.contains("Somebody else decided first"));
    assert!(review::fragment(&reviewed(0)).contains("Nothing waits for review."));
    assert!(review::fragment(&reviewed(2)).contains("Start again with the newest"));
}

#[test]
fn the_list_keeps_its_filters_and_leads_to_the_review() {
    let mut view = listed(vec![detail().memory]);
    (view.form.text, view.form.status) = ("a & b".to_owned(), "candidate".to_owned());
    let html = memories::fragment(&view);
    assert!(
        html.contains("/memories?text=a%20%26%20b&amp;status=candidate&amp;cursor=5.5"),
        "{html}"
    );
    assert!(html.contains("href=\"/review?text=a%20%26%20b\">Review these"), "{html}");
    assert!(html.contains("contradicted</span>"));
}

#[test]
fn the_overview_leads_with_what_is_believed() {
    let html = overview::fragment(&rich_overview());
    let order: Vec<usize> = [
        "Believed</dt><dd><a href=\"/memories?status=active\">12<",
        "Waiting for review</dt><dd><a href=\"/review\">3<",
        "Contradicted</dt><dd><a href=\"/memories?status=contradicted\">1<",
        "Mira runs in the evening.",
        "<dt>Sessions</dt>",
    ]
    .map(|text| html.find(text).unwrap_or_else(|| panic!("no {text} in {html}")))
    .to_vec();
    assert!(order.is_sorted(), "{order:?}");
}
