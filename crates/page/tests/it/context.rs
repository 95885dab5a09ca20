//! Summaries and windows: what their views show, and what they link to.

use crate::states::context::{assembled, leaf, node, refused, sum, tree, tree_of, window_of};
use crate::states::made::main_session;
use crate::states::rich_talk;
use oneiro::{MessageId, Summary};
use oneiro_page::session;
use oneiro_page::summaries::{self, Along, SummariesView};
use oneiro_page::summary::{self, SummaryView};
use oneiro_page::window::{self, Outcome, STEPS, WindowView};

fn drawn(summaries: Vec<Summary>) -> String {
    summaries::fragment(&tree_of(main_session(), summaries))
}

/// The picture alone.
fn picture(html: &str) -> &str {
    let from = html.find("<figure").unwrap();
    &html[from..html.find("</figure>").unwrap()]
}

#[test]
fn a_fragment_is_the_content_of_its_page() {
    let list = tree_of(main_session(), tree(16, 4));
    let window = window_of(main_session(), "8000", assembled(3));
    for (page, fragment) in [
        (summaries::page(&list), summaries::fragment(&list)),
        (summary::page(&leaf()), summary::fragment(&leaf())),
        (window::page(&window), window::fragment(&window)),
    ] {
        assert!(page.contains(&format!("<main id=\"main\" tabindex=\"-1\">{fragment}</main>")));
    }
}

#[test]
fn every_summary_is_a_bar_and_a_row_that_lead_to_it() {
    let html = drawn(tree(16, 4));
    let picture = picture(&html);
    let nodes = tree(16, 4);
    for node in &nodes {
        let link = format!("href=\"/sessions/lease-flake/summaries/{}\"", node.id);
        assert_eq!(picture.matches(&link).count(), 1, "{link}");
        assert_eq!(html.matches(&link).count(), 2, "{link}");
    }
    assert_eq!(picture.matches("<title>").count(), nodes.len(), "each says what it is");
    let now = nodes.iter().filter(|node| node.in_context).count();
    assert!(now > 1);
    assert_eq!(picture.matches("class=\"now\"").count(), now);
    assert_eq!(picture.matches(", top level</title>").count(), now);
    assert!(picture.contains(">depth 2</li>") && picture.contains(">depth 0</li>"));
    assert!(picture.contains("class=\"ticks\" d=\"M"), "messages under none are ticks");
}

#[test]
fn the_picture_runs_along_time_or_order() {
    let along = |along| {
        let view = SummariesView { along, ..tree_of(main_session(), tree(400, 4)) };
        summaries::fragment(&view)
    };
    let time = along(Some(Along::Time));
    assert!(time.contains("Summary depth by time") && time.contains("?along=order\""));
    let order = along(Some(Along::Order));
    assert!(order.contains("Summary depth by message order") && order.contains("?along=time\""));
}

#[test]
fn thousands_of_summaries_are_binned_and_listed_by_pages() {
    let html = drawn(tree(1_200, 4));
    let picture = picture(&html);
    assert!(picture.contains("for 1,601 summaries."), "it says so");
    assert!(picture.matches("<a ").count() < 150);
    assert!(picture.contains("?from=sum_") && picture.contains("#nodes\""), "bins lead on");
    let rows = html.matches("class=\"name\"").count();
    assert!((20..200).contains(&rows), "{rows}");
    let nodes = tree(1_200, 4);
    let from = Some(nodes[rows].id.clone());
    let more = format!("?from={}#nodes\">Later summaries", nodes[rows].id);
    assert!(html.contains(&more), "{more}");
    let view = SummariesView { from, ..tree_of(main_session(), nodes) };
    let html = summaries::fragment(&view);
    assert!(html.contains(&format!("Summaries {} to", rows + 1)));
    assert!(html.contains("<details class=\"nodes\" id=\"nodes\" open"));
}

#[test]
fn a_session_without_summaries_says_what_makes_them() {
    let html = drawn(vec![]);
    assert!(!html.contains("<svg") && html.contains("oneiro compact lease-flake"));
}

#[test]
fn a_summary_links_to_its_parents_children_and_messages() {
    let view = SummaryView { children: vec![node(8, 0, (1, 1))], ..leaf() };
    let html = summary::fragment(&view);
    for (section, id) in [("above", sum(4)), ("below", sum(8))] {
        let from = html.find(&format!("aria-labelledby=\"{section}\"")).unwrap();
        let rest = &html[from..];
        let link = format!("/sessions/lease-flake/summaries/{id}\"");
        assert!(rest[..rest.find("</section>").unwrap()].contains(&link), "{section}");
    }
    assert!(html.contains("href=\"/sessions/lease-flake?at=101#m101\""), "to its place");
    let more = format!("/sessions/lease-flake/summaries/{}?cursor=112.112#exact\"", sum(3));
    assert!(html.contains(&more), "{more}");
    assert!(html.contains("<code>lease.rs</code>"), "its words");
    let last = summary::fragment(&SummaryView { next: None, goes_on: true, ..leaf() });
    assert!(!last.contains("More messages") && last.contains("First page"));
}

#[test]
fn a_window_says_what_is_in_summarised_and_out() {
    let html = window::fragment(&window_of(main_session(), "8000", assembled(12)));
    assert!(
        html.contains("1,120 of 8,000 tokens: 12 messages included, 33 summarised, 7 left out.")
    );
    for kind in ["s-in", "s-summarised", "s-out"] {
        assert_eq!(html.matches(&format!("<rect class=\"{kind}\"")).count(), 1, "{kind}");
    }
    assert!(html.contains("messages 200 to 211</a>"), "repeated messages are reported once");
    assert!(html.contains("You are careful.\n&lt;summary id="));
    assert!(!html.contains("over it."));
    let over = window::fragment(&window_of(main_session(), "8000", assembled(4_000)));
    assert!(over.contains("192,520 tokens over it.") && over.contains("characters not shown"));
    assert!(over.contains("message &lt;0&gt;") && over.contains("message &lt;3999&gt;"));
}

#[test]
fn an_invalid_budget_keeps_the_form() {
    let html = window::fragment(&window_of(main_session(), "many", refused()));
    assert!(html.contains("type=\"range\"") && html.contains("give a whole number"));
    assert!(!html.contains("<figure"));
}

#[test]
fn the_slider_stands_at_the_nearest_stop() {
    let at = |budget: usize| {
        let Outcome::Assembled { mut window, summarised } = assembled(1) else { unreachable!() };
        window.budget = budget;
        let outcome = Outcome::Assembled { window, summarised };
        let view: WindowView = window_of(main_session(), &budget.to_string(), outcome);
        window::fragment(&view)
    };
    for (step, budget) in STEPS.into_iter().enumerate() {
        assert!(at(budget).contains(&format!("name=\"was\" value=\"{step}\"")), "{budget}");
    }
    assert!(at(100_000).contains("name=\"was\" value=\"7\""));
}

#[test]
fn pinned_messages_are_marked_and_no_others() {
    let html = session::fragment(&rich_talk(false));
    assert_eq!(html.matches("badge pinned").count(), 1);
    let mut view = rich_talk(false);
    // The result of a call is shown with the call.
    view.pinned = vec![MessageId(104)];
    let html = session::fragment(&view);
    let result = html.find("id=\"m104\"").unwrap();
    assert!(html[result..].contains("badge pinned") && !html[..result].contains("badge pinned"));
    for way in ["/sessions/lease-flake/summaries", "/sessions/lease-flake/window"] {
        assert!(html.contains(&format!("href=\"{way}\"")), "{way}");
    }
}
