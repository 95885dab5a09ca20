//! What each view shows, and what it links to.

use crate::states::conversation::{huge, message, messages, rewound};
use crate::states::{self, made};
use oneiro::{Lineage, MessageId, Page};
use oneiro_page::jobs::JobsView;
use oneiro_page::lineage::{Relative, lineage_graph};
use oneiro_page::message as one;
use oneiro_page::search::Outcome;
use oneiro_page::session::{self, ConversationView};
use oneiro_page::{jobs, overview, search, sessions};
use serde_json::json;

fn talk(messages: Vec<oneiro::Message>) -> ConversationView {
    ConversationView { messages, ..states::rich_talk(false) }
}

/// The part of a page between two texts.
fn part<'a>(html: &'a str, from: &str, to: &str) -> &'a str {
    let at = html.find(from).unwrap_or_else(|| panic!("no {from}"));
    let rest = &html[at..];
    &rest[..rest[from.len()..].find(to).map_or(rest.len(), |end| end + from.len())]
}

#[test]
fn what_was_learnt_stands_beside_its_message_with_its_status() {
    let html = session::fragment(&states::rich_talk(false));
    let (_, after) = html.split_once("id=\"m101\"").unwrap();
    let (turn, _) = after.split_once("</article>").unwrap();
    for part in
        ["Learnt from this", "Mira runs in the evening.", "waiting for review", "#why\">why"]
    {
        assert!(turn.contains(part), "{part} is missing: {turn}");
    }
    assert_eq!(html.matches("<section class=\"learnt\"").count(), 1);
}

#[test]
fn a_pack_tells_what_was_left_out_and_why() {
    let html = oneiro_page::packs::fragment(&states::packs::pack("telegram"));
    for part in
        ["another memory replaced it", "muted: often shown", "set by a person", "message 104"]
    {
        assert!(html.contains(part), "{part} is missing: {html}");
    }
}

#[test]
fn a_fragment_is_the_content_of_the_page() {
    let search = states::found_search();
    let list = states::listing(made::sessions());
    for (page, fragment) in [
        (search::page(&search), search::fragment(&search)),
        (sessions::page(&list), sessions::fragment(&list)),
        (session::page(&talk(messages())), session::fragment(&talk(messages()))),
        (overview::page(&states::rich_overview()), overview::fragment(&states::rich_overview())),
    ] {
        assert!(!fragment.contains("<html") && !fragment.contains("<main"));
        assert!(page.contains(&format!("<main id=\"main\" tabindex=\"-1\">{fragment}</main>")));
    }
}

#[test]
fn a_tool_result_is_shown_once_below_its_call() {
    let html = session::fragment(&talk(messages()));
    let asked = part(&html, "id=\"m102\"", "</article>");
    let order: Vec<usize> = ["read_file", "next_lease", "cargo test", "case_001"]
        .map(|text| asked.find(text).unwrap())
        .to_vec();
    assert!(order.is_sorted(), "{order:?}");
    for told in ["m103", "m104", "m106", "m112"] {
        assert_eq!(html.matches(&format!("id=\"{told}\"")).count(), 1, "{told} can be linked to");
        assert!(!html.contains(&format!("<article class=\"turn tool\" id=\"{told}\"")), "{told}");
    }
}

#[test]
fn a_call_id_used_twice_pairs_each_result_with_its_own_call() {
    let call = |id, name: &str| {
        message(
            id,
            9,
            json!({"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": {"name": name, "arguments": "{}"}}]}),
        )
    };
    let result = |id, text: &str| {
        message(id, 9, json!({"role": "tool", "tool_call_id": "c", "content": text}))
    };
    let lost =
        message(5, 9, json!({"role": "tool", "tool_call_id": "other", "content": "nobody asked"}));
    let html = session::fragment(&talk(vec![
        call(1, "first"),
        result(2, "one"),
        call(3, "second"),
        result(4, "two"),
        lost,
    ]));
    assert!(part(&html, "id=\"m1\"", "</article>").contains("one"));
    assert!(part(&html, "id=\"m3\"", "</article>").contains("two"));
    assert!(part(&html, "<article class=\"turn tool", "</article>").contains("nobody asked"));
}

#[test]
fn long_results_are_cut_and_lead_to_the_whole() {
    let html = session::fragment(&talk(messages()));
    let result = part(&html, "id=\"m104\"", "</article>");
    assert!(result.contains("case_030") && !result.contains("case_031"));
    assert!(result.contains("href=\"/messages/104\"") && result.contains("Show all 124 lines"));
    let whole = one::fragment(&states::long_message());
    assert!(whole.contains("case_124") && whole.contains("data-part=\"result-0\""));
    let long = message(7, 1, json!({"role": "tool", "content": "y".repeat(90_000)}));
    let html = session::fragment(&talk(vec![long]));
    assert!(html.contains("Show all 90,000 characters") && html.len() < 20_000);
}

#[test]
fn a_full_page_cuts_long_texts_and_keeps_every_message() {
    let html = session::fragment(&talk(huge(session::MESSAGES)));
    assert!(html.contains("And step 0?") && html.contains("And step 96?"));
    let cut = html.matches("data-expand").count();
    assert!(cut > 20, "{cut}");
}

#[test]
fn the_message_of_the_address_is_open() {
    let view = |at| ConversationView { at: Some(MessageId(at)), ..talk(messages()) };
    let html = session::fragment(&view(104));
    assert!(part(&html, "id=\"m104\"", "summary").contains("<details class=\"result\" open"));
    assert!(
        session::fragment(&view(107))
            .contains("<article class=\"turn assistant again found\" id=\"m107\"")
    );
}

#[test]
fn rewound_messages_are_one_line_until_they_are_shown() {
    let said = |text: &str| json!({"role": "user", "content": text});
    let all = vec![
        message(1, 9, said("keep")),
        rewound(2, said("never mind")),
        rewound(3, said("nor this")),
        message(4, 3, said("instead")),
    ];
    let html = session::fragment(&talk(all.clone()));
    assert!(html.contains("2 turns were rewound here") && !html.contains("never mind"));
    assert!(html.contains("href=\"/sessions/lease-flake?hidden=1#r2\""));
    let html = session::fragment(&ConversationView { hidden: true, ..talk(all) });
    let fold = part(&html, "id=\"r2\"", "id=\"m4\"");
    assert!(fold.contains("never mind") && fold.contains("nor this"));
    assert!(fold.contains("replaced by <q><bdi>instead"), "{fold}");
}

#[test]
fn each_day_has_one_heading() {
    let html = session::fragment(&talk(messages()));
    for day in [">Yesterday</h2>", ">Today</h2>"] {
        assert_eq!(html.matches(day).count(), 1, "{day}");
    }
}

#[test]
fn a_search_keeps_its_filters_from_page_to_page() {
    let mut view = states::found_search();
    (view.form.q, view.form.since, view.form.sort) =
        ("a & b".to_owned(), "3d".to_owned(), oneiro::Sort::Newest);
    let html = search::fragment(&view);
    assert!(html.contains(
        "/search?q=a%20%26%20b&amp;since=3d&amp;sort=newest&amp;explain=1&amp;cursor=4.2"
    ));
    assert!(html.contains("<mark>lease</mark> <mark>test</mark>"));
    assert!(
        html.contains("all words")
            && html.contains("similar meaning")
            && html.contains("flake</bdi> 60 %")
    );
    assert!(html.contains("href=\"/sessions/lease-flake?at=101#m101\""));
}

#[test]
fn empty_states_say_what_to_do() {
    for html in [
        overview::fragment(&states::empty_overview()),
        sessions::fragment(&states::listing(vec![])),
    ] {
        for command in ["oneiro setup", "oneiro serve --demo", "oneiro append monday --create"] {
            assert!(html.contains(&format!("<code>{command}")), "{command}");
        }
    }
    let mut filtered = states::listing(vec![]);
    filtered.form.source = "cron".to_owned();
    let html = sessions::fragment(&filtered);
    assert!(html.contains("No sessions match these filters") && !html.contains("oneiro setup"));
    assert!(search::fragment(&states::nothing_found()).contains("Search without filters"));
    assert!(search::fragment(&states::refused_search()).contains("close the group"));
}

#[test]
fn the_overview_shows_what_the_space_holds() {
    let html = overview::fragment(&states::rich_overview());
    for (label, value) in [("Sessions", "1,284"), ("Messages", "96,412"), ("Projects", "2")] {
        assert!(html.contains(&format!("<dt>{label}</dt><dd>{value}<small>")), "{label}: {html}");
    }
    assert!(html.contains("<dt>Time span</dt><dd>401 days<small>11 Oct 2025 to 15 Nov 2026"));
    assert!(html.contains(
        "href=\"/sessions?project=garden\"><bdi>garden</bdi></a> <span class=\"note\">1 session<"
    ));
    assert!(html.contains("href=\"/sessions?source=telegram\""));
    assert!(html.contains("The lease test that fails on Mondays"), "titles of recent sessions");
    assert!(html.find("Recent conversations").unwrap() < html.find("Location").unwrap());
    assert!(part(&html, "<dt>Jobs", "</div>").contains("1 failed"));
}

#[test]
fn jobs_are_listed_with_state_attempts_next_run_and_last_error() {
    let html = jobs::page(&states::job_list());
    assert!(html.contains("<a href=\"/jobs\" aria-current=\"page\">Jobs</a>"), "in the navigation");
    let failed = part(&html, "Rebuild the text index", "</tr>");
    for cell in [">failed<", ">5<", ">none<", "the embedder at"] {
        assert!(failed.contains(cell), "{cell}: {failed}");
    }
    assert!(part(&html, "Summarise older messages", "</tr>").contains("lease until <time"));
    let unknown = part(&html, "some_new_kind", "</tr>");
    assert!(unknown.contains(">queued<") && unknown.contains(">in 5 minutes</time>"), "{unknown}");
    assert!(html.contains("href=\"/jobs?cursor=3.3\">Older jobs"));
    let empty = JobsView { jobs: Page { items: vec![], next: None }, ..states::job_list() };
    assert!(jobs::fragment(&empty).contains("No jobs"));
}

#[test]
fn results_are_grouped_with_the_context_of_the_best_hit_open() {
    let mut view = states::found_search();
    let Outcome::Found { found, .. } = &mut view.outcome else { panic!("found") };
    found.hits.truncate(1);
    let mut second = found.hits[0].clone();
    second.id = MessageId(102);
    second.snippet = "right after it".to_owned();
    second.neighbours.iter_mut().for_each(|near| near.id.0 += 1);
    let mut third = second.clone();
    third.id = MessageId(300);
    third.neighbours.iter_mut().for_each(|near| near.id.0 += 198);
    found.hits.extend([second, third]);
    let html = search::fragment(&view);
    assert_eq!(html.matches("class=\"group\"").count(), 1);
    assert_eq!(html.matches("<li class=\"hit").count(), 3);
    // 100 [101] [102] 103, and apart from them 299 [300] 301.
    assert_eq!(html.matches("class=\"neighbour\"").count(), 4, "hits are not neighbours as well");
    let opened = html.matches("<details class=\"context\" open>").count();
    let closed = html.matches("<details class=\"context\">").count();
    assert_eq!((opened, closed), (1, 1));
    assert!(
        html.find("<details class=\"context\" open>").unwrap() < html.find("id=\"p300\"").unwrap()
    );
    assert_eq!(html.matches("class=\"hit best\"").count(), 2, "one in each passage");
    assert!(html.contains("3 hits</span>"));
}

fn relatives(
    count: usize,
    parent: impl Fn(usize) -> Option<usize>,
    lineage: Lineage,
) -> Vec<Relative> {
    let name = |at: usize| made::id(&format!("s{at}"));
    let one = |at: usize| Relative {
        id: name(at),
        title: None,
        parent: parent(at).map(name),
        lineage: Some(lineage),
        message_count: 1,
    };
    (0..count).map(one).collect()
}

#[test]
fn large_lineages_are_drawn_in_few_bytes_with_the_current_session() {
    let before = |at: usize| at.checked_sub(1);
    let deep = relatives(5_000, before, Lineage::Branch);
    let chain = relatives(5_000, before, Lineage::Continuation);
    let wide = relatives(5_000, |at| (at > 0).then_some(0), Lineage::Delegate);
    let ring = relatives(50, |at| Some((at + 1) % 50), Lineage::Branch);
    for family in [deep, chain, wide, ring] {
        let current = family[family.len() / 2].id.clone();
        let drawn = lineage_graph(&family, &current).unwrap().into_string();
        assert!(drawn.len() < 20_000, "{}", drawn.len());
        assert_eq!(drawn.matches("aria-current").count(), 1, "the session itself is drawn");
        assert!(drawn.contains(" earlier</li>") && drawn.contains(" more</li>"));
    }
    assert!(lineage_graph(&relatives(1, |_| None, Lineage::Branch), &made::id("s0")).is_none());
}

#[test]
fn a_lineage_shows_sessions_after_their_parents() {
    let drawn = lineage_graph(&states::family(), &made::id("lease-flake")).unwrap().into_string();
    let at = |title: &str| drawn.find(title).unwrap();
    let order = [
        "first design",
        "Read the scheduler",
        ">Job leases<",
        "Redis<",
        "with streams",
        "Mondays",
        "Bisect",
    ]
    .map(at);
    assert!(order.is_sorted(), "{order:?}");
}
