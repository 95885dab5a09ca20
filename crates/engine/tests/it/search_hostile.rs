//! Queries that nobody should send: an answer or a clear error, soon, and never a panic.

use crate::search_support::{fold, open, open_with_words, request};
use crate::support::{begin, id, say, user};
use oneiro::{
    Cursor, ErrorKind, NEIGHBOURS_MAX, Oneiro, SearchRequest, SessionSearchRequest, Sort,
};
use oneiro_testkit::{awkward_messages, on_both_backends, words};
use std::time::{Duration, Instant};

/// The longest that any query may take, in times of an ordinary one. The longest queries have
/// thousands of words, an ordinary one has two.
const MOST: u32 = 2_000;

/// The slowest of a few, so that a pause of the machine is in it.
fn time_of_an_ordinary_query(oneiro: &Oneiro) -> Duration {
    let times = (0..20).map(|_| {
        let started = Instant::now();
        oneiro.search().run(&request("plain message")).unwrap();
        started.elapsed()
    });
    times.max().unwrap()
}

fn queries() -> Vec<String> {
    let mut queries: Vec<String> = [
        "",
        " ",
        "\n\t",
        "?",
        "!!!",
        "...",
        "\"",
        "\"\"",
        "\"\"\"",
        "“",
        "“”",
        "'",
        "()",
        "((((((",
        "))))",
        ")(",
        "(\"",
        "\"(",
        "AND",
        "OR",
        "NOT",
        "NOT NOT NOT",
        "AND OR NOT",
        "OR OR",
        "- - -",
        "-",
        "--",
        "-\"",
        "-(",
        "-()",
        "NOT ()",
        "*",
        "**",
        "***",
        "a*b*c",
        "*a",
        "*a*",
        "* *",
        "|",
        "||",
        "a | | b",
        "+",
        "+-+-",
        "/",
        "//",
        "///",
        "/(/",
        "/[/",
        "/a{/",
        "/\\/",
        "/(?P<x>/",
        "/(a*)*b/",
        "/(?:(?:a{1,100}){1,100}){1,100}/",
        "/a{1000000000}/",
        "/(x+x+)+y/",
        "/.*.*.*.*=/",
        "/^$/",
        "/.{0,5000}/",
        "/(?i)((((((((((a))))))))))/",
        "/\\p{L}+/",
        "/\\b/",
        "/a||b/",
        "/(?-u)\\xFF/",
        "regex:",
        "regex:\"\"",
        "regex:\"(\"",
        "regex:\"[[:alpha:]]+\"",
        "role:",
        "role:\"\"",
        "role:nobody",
        "since:",
        "since:yesterday",
        "since:never",
        "until:99999-99-99",
        "since:-1d",
        "since:99999999999999y",
        "session:",
        "session:\"",
        "session:nowhere",
        "-session:nowhere",
        "name:",
        "name:*",
        "project:\u{0}",
        "source:'; DROP TABLE messages;--",
        "'; DROP TABLE segments;--",
        "%",
        "_",
        "\\",
        "\\\"",
        "\u{0}",
        "a\u{0}b",
        "\u{0}\u{0}\u{0}",
        "\u{202e}gnp.exe",
        "\u{200b}\u{200c}\u{200d}\u{feff}",
        "a\u{200b}b",
        "\u{2066}\u{2067}\u{2069}",
        "\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{202b}x\u{202c}",
        "🦀",
        "👩‍👩‍👧‍👦",
        "e\u{301}",
        "\u{301}\u{301}",
        "\u{fffd}",
        "\u{10ffff}",
        "\u{1}quiet",
        "{}",
        "[]",
        "{{{{",
        "<script>",
        "$1",
        "?1",
        "NEAR(a b)",
        "a^2",
        "col:val",
        "a:b:c:d",
        ":::",
        "http://example.com/?q=a&b=c#d",
        "C:\\Users\\x",
        "~/.config/*.toml",
        "fn main() { println!(\"{}\"); }",
        "a AND (b OR (c AND (d OR (e",
        "\"a b\" \"c",
        "NOT a",
        "-a -b -c",
        "ﬁ ﬂ Ⅷ ½",
        "İstanbul",
        "ß SS ẞ",
        "ǅ",
        "ｆｕｌｌｗｉｄｔｈ",
        "한글",
        "ไทยไทยไทย",
        "ᚠᛇᚻ",
        "\u{1F1E9}\u{1F1EA}",
    ]
    .map(str::to_owned)
    .into();
    let many = |part: &str, times: usize| part.repeat(times);
    queries.extend([
        words(1, 500),
        (0..500).map(|n| format!("term{n}")).collect::<Vec<_>>().join(" OR "),
        (0..500).map(|n| format!("term{n}")).collect::<Vec<_>>().join(" AND "),
        (0..500).map(|n| format!("-term{n}")).collect::<Vec<_>>().join(" "),
        (0..500).map(|n| format!("t{n}*")).collect::<Vec<_>>().join(" OR "),
        (0..300).map(|n| format!("*t{n}*")).collect::<Vec<_>>().join(" OR "),
        (0..300).map(|n| format!("\"term {n}\"")).collect::<Vec<_>>().join(" OR "),
        (0..600).map(|n| format!("role:user name:n{n}")).collect::<Vec<_>>().join(" "),
        many("(", 20_000),
        many("NOT ", 10_000),
        many("-(", 10_000),
        format!("{}a{}", many("(", 5_000), many(")", 5_000)),
        format!("{}a", many("NOT (", 5_000)),
        many("a ", 20_000),
        many("\"", 30_000),
        many("*", 30_000),
        many("a*", 10_000),
        many("\u{200b}", 20_000),
        many("\u{0}", 60_000),
        many("漢", 20_000),
        many("ก", 20_000),
        many("🦀", 15_000),
        many("e\u{301}", 20_000),
        many("a-", 20_000),
        many("a_", 20_000),
        many("a/", 20_000),
        many("Aa", 30_000),
        many("x", 65_536),
        many("x", 65_537),
        many("word ", 200_000),
        format!("/{}/", many("a?", 1_000)),
        format!("/{}/", many("(a|b|", 2_000)),
        format!("/({})/", many("a|", 20_000)),
        format!("/{}{}/", many("a?", 300), many("a", 300)),
    ]);
    queries
}

/// Something of every kind to be found.
fn add_fixture(oneiro: &Oneiro) {
    begin(oneiro, "s");
    let messages =
        awkward_messages().into_iter().map(|one| oneiro::NewMessage::from_json(one).unwrap());
    oneiro.messages().append(&id("s"), messages.collect()).unwrap();
    say(
        oneiro,
        "s",
        &[
            "a plain message",
            &"a".repeat(5_000),
            &"a ".repeat(5_000),
            "ab\u{200b}cd",
            &words(1, 300),
        ],
    );
    fold(oneiro);
    oneiro
        .messages()
        .append(&id("s"), vec![user("the newest"), user(&"x".repeat(70_000))])
        .unwrap();
}

on_both_backends! {
    fn any_query_is_answered_or_refused_with_a_clear_error(space) {
        let (oneiro, _) = open_with_words(space);
        add_fixture(&oneiro);
        let ordinary = time_of_an_ordinary_query(&oneiro);
        for query in queries() {
            let shown: String = query.chars().take(40).collect();
            for sort in [Sort::Relevance, Sort::Newest] {
                let started = Instant::now();
                let request = SearchRequest { sort, explain: true, neighbours: 1, ..request(&query) };
                match oneiro.search().run(&request) {
                    Ok(found) => {
                        for hit in &found.hits {
                            let letters = hit.snippet.chars().count();
                            let fits = |(from, until): &(usize, usize)| from < until && *until <= letters;
                            assert!(hit.highlights.iter().all(fits), "{shown:?}: {hit:?}");
                            assert!(hit.score.is_finite(), "{shown:?}: {hit:?}");
                        }
                    }
                    Err(error) => {
                        let kinds = [ErrorKind::Invalid, ErrorKind::TooLarge, ErrorKind::NotFound];
                        assert!(kinds.contains(&error.kind()), "{shown:?}: {error:?}");
                        assert!(!error.message().is_empty() && error.message().len() < 2_000, "{shown:?}: {} bytes of error", error.message().len());
                    }
                }
                assert!(started.elapsed() < ordinary * MOST, "{shown:?} took {:?}, an ordinary query {ordinary:?}", started.elapsed());
            }
            let discover = SessionSearchRequest::new(query.as_str());
            if let Err(error) = oneiro.search().sessions(&discover) {
                assert!(matches!(error.kind(), ErrorKind::Invalid | ErrorKind::TooLarge | ErrorKind::NotFound), "{shown:?}: {error:?}");
            }
        }
    }

    fn the_error_for_a_too_long_query_has_its_size(space) {
        let oneiro = open(space);
        let error = oneiro.search().run(&request(&"a ".repeat(40_000))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert!(error.message().contains("80000") && error.remedy_text().is_some(), "{error}");
    }

    fn too_many_terms_are_dropped_and_reported(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let said = say(&oneiro, "s", &["term3 and term7"])[0];
        let query = (0..700).map(|n| format!("term{n}")).collect::<Vec<_>>().join(" OR ");
        let found = oneiro.search().run(&request(&query)).unwrap();
        assert_eq!(found.hits[0].id.0, said);
        assert!(found.note.is_some_and(|note| note.contains("512")));
    }

    fn a_made_up_cursor_is_accepted(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        say(&oneiro, "s", &["a cowslip", "another cowslip"]);
        for order in [0, 1, 2, 3, 1 << 40, i64::MAX, -1, -5, -4_097, i64::MIN, i64::MIN + 1] {
            for key in [0, 1, 2, i64::MAX, -1, i64::MIN] {
                for query in ["cowslip", "\"cowslip\"", "/cow/", "role:user"] {
                    for sort in [Sort::Relevance, Sort::Newest] {
                        let request = SearchRequest { sort, cursor: Some(Cursor { order, key }), ..request(query) };
                        if let Err(error) = oneiro.search().run(&request) {
                            assert_eq!(error.kind(), ErrorKind::Invalid, "{order} {key} {query}: {error}");
                        }
                    }
                }
            }
        }
    }

    fn extreme_numbers_in_a_request_are_refused_or_clamped(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        say(&oneiro, "s", &["a cowslip", "another cowslip"]);
        for micros in [i64::MIN, i64::MIN + 1, -1, 0, i64::MAX] {
            let at = Some(oneiro::Timestamp::from_micros(micros));
            for request in [
                SearchRequest { since: at, ..request("cowslip") },
                SearchRequest { until: at, ..request("cowslip") },
                SearchRequest { since: at, until: at, sort: Sort::Oldest, ..request("role:user") },
            ] {
                oneiro.search().run(&request).unwrap();
            }
        }
        let near = SearchRequest { neighbours: 1_000_000, ..request("cowslip") };
        assert_eq!(oneiro.search().run(&near).unwrap_err().field_name(), Some("neighbours"));
        let near = SearchRequest { neighbours: NEIGHBOURS_MAX, ..request("cowslip") };
        assert_eq!(oneiro.search().run(&near).unwrap().hits.len(), 2);
    }

    fn messages_at_the_ends_of_time_are_found(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        for text in ["0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "9999-12-30T00:00:00Z"] {
            let message = oneiro::NewMessage::from_json(serde_json::json!({"role": "user", "content": "an oxlip", "at": text}));
            if let Ok(message) = message {
                oneiro.messages().append(&id("s"), vec![message]).unwrap();
            }
        }
        let all = crate::search_support::oldest(&oneiro, "oxlip");
        assert!(all.len() >= 2 && all.is_sorted(), "{all:?}");
        fold(&oneiro);
        assert_eq!(crate::search_support::oldest(&oneiro, "oxlip"), all);
        crate::support::assert_sound(&oneiro);
    }
}
