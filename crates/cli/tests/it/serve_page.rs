//! The page's views of a context: summaries, one of them, windows, and what is asked in vain.

use crate::serve_support::{Reply, Server};
use oneiro::{
    CompactRequest, NewMessage, NewSession, Oneiro, Options, Role, SessionId, Summary, Target,
};
use oneiro_testkit::{TestSpace, on_both_backends};

/// Fills a space with a long talk, condensed.
fn talk(space: &TestSpace) -> (SessionId, Vec<Summary>) {
    let target = Target::parse(&space.store, Some(&space.space)).unwrap();
    let oneiro = Oneiro::open(&target, Options::default()).unwrap();
    let id = SessionId::new("a/talk").unwrap();
    oneiro.sessions().create(NewSession::with_id(id.clone())).unwrap();
    let said = |n: usize| {
        let role = if n.is_multiple_of(2) { Role::User } else { Role::Assistant };
        NewMessage::text(role, format!("Step {n}: part{n}.rs moved to crate {}. ", n % 7).repeat(4))
    };
    oneiro.messages().append(&id, (0..400).map(said).collect()).unwrap();
    oneiro.context().compact(&id, &CompactRequest { until: Some(6_000), redo: false }).unwrap();
    let summaries = oneiro.context().summaries(&id).unwrap();
    assert!(summaries.len() > 1);
    (id, summaries)
}

fn get(server: &Server, path: &str) -> Reply {
    let reply = server.client().with("Accept", "text/html").call("GET", path, None).unwrap();
    let policy = reply.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert!(reply.header("content-type").unwrap().starts_with("text/html"), "{}", reply.head);
    reply
}

on_both_backends! {
    fn a_context_can_be_looked_at(space) {
        let (_, summaries) = talk(space);
        let server = Server::start(space, &[]);
        let tree = get(&server, "/sessions/a%2Ftalk/summaries");
        assert_eq!(tree.status, 200);
        for node in &summaries {
            assert!(tree.text().contains(&format!("/sessions/a%2Ftalk/summaries/{}", node.id)));
        }
        let covered = summaries.iter().filter(|node| node.in_context).map(|node| node.message_count);
        let loose = format!("<dt>Other messages</dt><dd>{}<", 400 - covered.sum::<i64>());
        assert!(tree.text().contains(&loose), "{loose}");
        let (first, last) = (&summaries[0], &summaries[summaries.len() - 1]);
        let one = get(&server, &format!("/sessions/a%2Ftalk/summaries/{}", first.id));
        assert_eq!(one.status, 200);
        assert!(one.text().contains(&format!("id=\"m{}\"", first.first_message.unwrap())));
        assert!(!one.text().contains(&format!("id=\"m{}\"", last.last_message.unwrap())));
        // The way on leads to messages that were not there yet, and ends.
        let text = one.text();
        let cursor = text.split("?cursor=").nth(1).unwrap().split('#').next().unwrap();
        let path = format!("/sessions/a%2Ftalk/summaries/{}?cursor={cursor}", first.id);
        let next = get(&server, &path).text();
        assert!(!next.contains(&format!("id=\"m{}\"", first.first_message.unwrap())));
        let (reached, _) = cursor.split_once('.').unwrap();
        let reached: i64 = reached.parse().unwrap();
        assert!(text.contains(&format!("id=\"m{reached}\"")));
        assert!(next.contains(&format!("id=\"m{}\"", reached + 1)));
        server.stop();
    }

    fn a_budget_is_looked_at_and_changes_nothing(space) {
        let (id, summaries) = talk(space);
        let server = Server::start(space, &[]);
        for (query, words) in [
            ("", "of 100,000 tokens"),
            ("?budget=2000", "of 2,000 tokens"),
            ("?budget=2%2C000", "of 2,000 tokens"),
            ("?was=1&step=1&budget=3000", "of 3,000 tokens"),
            ("?was=1&step=3&budget=3000", "of 8,000 tokens"),
            ("?was=1&step=77&budget=3000", "of 3,000 tokens"),
            ("?budget=0", "is not between 1 and"),
            ("?budget=-5", "is not a number of tokens"),
            ("?budget=%3Cb%3E", "&lt;b&gt;"),
        ] {
            let reply = get(&server, &format!("/sessions/a%2Ftalk/window{query}"));
            assert_eq!(reply.status, 200, "{query}");
            let text = reply.text();
            assert!(text.contains(words) && text.contains("type=\"range\""), "{query}: {text}");
        }
        server.stop();
        let target = Target::parse(&space.store, Some(&space.space)).unwrap();
        let oneiro = Oneiro::open(&target, Options::default()).unwrap();
        let after = oneiro.context().summaries(&id).unwrap();
        let ids = |nodes: &[Summary]| nodes.iter().map(|one| one.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&after), ids(&summaries));
    }

    fn what_is_not_there_is_a_page_that_says_so(space) {
        let (_, summaries) = talk(space);
        let server = Server::start(space, &[]);
        let name = &summaries[0].id;
        for path in [
            "/sessions/nobody/summaries".to_owned(),
            "/sessions/nobody/window?budget=2000".to_owned(),
            format!("/sessions/nobody/summaries/{name}"),
            "/sessions/a%2Ftalk/summaries/sum_aaaaaaaaaaaaaaaa".to_owned(),
            "/sessions/a%2Ftalk/summaries/none".to_owned(),
        ] {
            let reply = get(&server, &path);
            assert_eq!(reply.status, 404, "{path}");
            assert!(reply.text().contains("<h1>Not found</h1>"), "{path}: {}", reply.text());
        }
        server.stop();
    }
}
