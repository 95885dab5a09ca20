//! The query language: text in, expression tree and filters out.

mod clean;
mod filter;
mod lex;
mod parse;
mod print;
mod quote;
pub(crate) mod when;

pub use filter::Filters;

use crate::{Error, Result, Timestamp};

/// The maximum length of a query.
const MAX_QUERY_BYTES: usize = 64 * 1024;

/// The maximum number of terms in a query, and of filters.
const MAX_TERMS: usize = 512;

/// What is asked.
///
/// | written | means |
/// |---|---|
/// | `red apple` | both words |
/// | `"red apple"` | the phrase; “ ”, „ “, « », » «, 「 」 and 『 』 quote as well |
/// | `red AND apple`, `red OR apple`, `red \| apple`, `NOT red` | operators, upper-case only; `\|` on its own only |
/// | `-red`, `-"red apple"`, `-(red OR blue)`, `-role:tool` | exclusion; `well-known`, `--flag`, `-5` and `-` are not |
/// | `+red` | `red` |
/// | `(red OR blue) apple` | grouping; `main()` is a word |
/// | `app*` | words that begin so |
/// | `*ppl*`, `*ppl` | this very text, anywhere in a word |
/// | `/ap+le/`, `/ap+le/i` | a regular expression without spaces; `i` becomes `(?i)` |
/// | `regex:"red \w+/\w+"` | any regular expression |
/// | `role:user`, `source:cli`, `session:ID`, `name:"Mary Ann"`, `project:x` | filters; repeated, they are alternatives |
/// | `since:2026-01-31`, `until:2026-01`, `since:3d`, `since:yesterday` | time, in UTC |
///
/// NOT binds closest, then AND (which words side by side are joined by), then OR. A filter holds
/// for the whole query wherever it stands. `until:` a day, a month or a year includes it. Ages are
/// `30s`, `30m` or `30min`, `12h`, `3d`, `2w`, `6mo`, `1y`. Field names are lower-case; any other
/// `x:y` is a word, and so is a field without a value, `name::path` or `name:=1`. A role that no
/// provider defines must be quoted.
///
/// A slash begins a regular expression only if the next slash that is not `\/` ends the token (a
/// final `i` aside): `/usr/local/bin` is a word, `/usr/` is the pattern `usr`.
///
/// Nothing that people write by habit is an error. Operators without operands, quotation marks
/// and parentheses without partners, and punctuation without words count for nothing; only a
/// known field with a value it cannot have is refused, and what passes a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The words and how they are joined; `None` when there are none.
    pub expr: Option<Expr>,
    /// What is asked beside the words.
    pub filters: Filters,
    /// The words wanted, without operators, filters, patterns and what is excluded.
    pub text: String,
    /// Whether an operator, phrase, prefix, infix, pattern, parenthesis or exclusion of words took
    /// effect: the writer has said how to search.
    pub explicit: bool,
    /// Whether terms or filters past the first 512 of each were left out.
    pub truncated: bool,
}

/// Words and how they are joined. Parsed trees have no `And` right inside an `And`, no `Or` right
/// inside an `Or`, no `Not` right inside a `Not`, and no list of fewer than two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr {
    /// A word as written, with its punctuation; the analyzer may make several tokens of it, or
    /// none.
    Word(String),
    /// Words one after another.
    Phrase(String),
    /// What words begin with.
    Prefix(String),
    /// Text inside words, as it stands.
    Infix(String),
    /// A regular expression, not yet compiled.
    Regex(String),
    /// All of these.
    And(Vec<Expr>),
    /// Any of these.
    Or(Vec<Expr>),
    /// Not this. It may stand alone, or be all there is.
    Not(Box<Expr>),
}

impl Query {
    /// Reads a query; `now` is what ages count from.
    pub fn parse(text: &str, now: Timestamp) -> Result<Query> {
        if text.len() > MAX_QUERY_BYTES {
            let message =
                format!("a query of {} bytes is longer than {MAX_QUERY_BYTES} bytes", text.len());
            return Err(Error::too_large(message)
                .remedy("search for the words that matter, or for one sentence of the text"));
        }
        parse::parse(lex::lex(&clean::clean(text))?, now)
    }

    /// The words and phrases wanted, in order.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let mut words = Vec::new();
        if let Some(expr) = &self.expr {
            expr.walk(&mut |term| {
                if let Expr::Word(text) | Expr::Phrase(text) = term {
                    words.push(text.as_str());
                }
            });
        }
        words.into_iter()
    }
}

impl Expr {
    /// Visits every term that is wanted, in order: those outside any `Not`.
    fn walk<'e>(&'e self, visit: &mut impl FnMut(&'e Expr)) {
        match self {
            Expr::And(exprs) | Expr::Or(exprs) => exprs.iter().for_each(|expr| expr.walk(visit)),
            Expr::Not(_) => {}
            term => visit(term),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, Role};
    use proptest::prelude::*;

    fn now() -> Timestamp {
        Timestamp::parse("2026-03-31T12:00:00Z").unwrap()
    }

    fn parse(text: &str) -> Query {
        Query::parse(text, now()).unwrap_or_else(|error| panic!("{text:?}: {error:?}"))
    }

    /// The tree as a Lisp would print it, so that a test shows the structure and nothing else.
    fn shape(expr: &Expr) -> String {
        let list = |name: &str, exprs: &[Expr]| {
            format!("({name} {})", exprs.iter().map(shape).collect::<Vec<_>>().join(" "))
        };
        match expr {
            Expr::Word(text) => text.clone(),
            Expr::Phrase(text) => format!("{text:?}"),
            Expr::Prefix(text) => format!("<prefix {text}>"),
            Expr::Infix(text) => format!("<infix {text}>"),
            Expr::Regex(text) => format!("<regex {text}>"),
            Expr::And(exprs) => list("and", exprs),
            Expr::Or(exprs) => list("or", exprs),
            Expr::Not(expr) => list("not", std::slice::from_ref(expr)),
        }
    }

    fn assert_shapes(cases: &[(&str, &str)]) {
        for (text, want) in cases {
            let query = parse(text);
            let got = query.expr.as_ref().map(shape).unwrap_or_default();
            assert_eq!(got, *want, "{text:?}");
            assert!(query.filters.is_empty(), "{text:?}");
            let again = parse(&query.to_string());
            assert_eq!(again.expr, query.expr, "{text:?} printed {query}");
        }
    }

    #[test]
    fn words_side_by_side_are_all_wanted() {
        assert_shapes(&[
            ("", ""),
            (" \t\n\u{3000}", ""),
            ("foo", "foo"),
            ("foo bar  baz", "(and foo bar baz)"),
            ("what's up?", "(and what's up?)"),
            ("this and that or not", "(and this and that or not)"),
            ("And Or Not", "(and And Or Not)"),
            ("日本 語", "(and 日本 語)"),
            ("🎉", "🎉"),
        ]);
    }

    #[test]
    fn phrases_in_every_kind_of_quotation_mark() {
        assert_shapes(&[
            ("\"foo bar\"", "\"foo bar\""),
            ("\" foo   bar \"", "\"foo bar\""),
            ("“foo bar”", "\"foo bar\""),
            ("„foo bar“", "\"foo bar\""),
            ("« foo bar »", "\"foo bar\""),
            ("»foo bar«", "\"foo bar\""),
            ("彼は「猫」と", "(and 彼は \"猫\" と)"),
            ("\"foo\"bar\"baz\"", "(and \"foo\" bar baz)"),
            ("\"foo\"\"bar\"", "(and \"foo\" \"bar\")"),
            ("“say \"hi\" now”", "\"say \\\"hi\\\" now\""),
            ("\"a AND (b\"", "\"a AND (b\""),
            ("title:\"my trip\"", "(and title: \"my trip\")"),
            ("\"\" x", "x"),
            ("\"...\" x", "x"),
        ]);
    }

    #[test]
    fn quotation_marks_without_a_partner_count_for_nothing() {
        assert_shapes(&[
            ("\"foo bar", "(and foo bar)"),
            ("foo\" bar", "(and foo bar)"),
            ("foo bar\"", "(and foo bar)"),
            ("\"foo bar\" \"baz", "(and \"foo bar\" baz)"),
            ("5\" pipe and 6\" pipe", "(and 5 pipe and 6 pipe)"),
            ("„foo „bar", "(and foo bar)"),
            ("a“b", "(and a b)"),
            ("-\"foo", "(not foo)"),
            ("-\"-foo", "(not foo)"),
        ]);
    }

    #[test]
    fn operators_and_their_precedence() {
        assert_shapes(&[
            ("a AND b", "(and a b)"),
            ("a OR b", "(or a b)"),
            ("a | b", "(or a b)"),
            ("a|b", "a|b"),
            ("a || b", "(and a b)"),
            ("a b OR c", "(or (and a b) c)"),
            ("a OR b c OR d", "(or a (and b c) d)"),
            ("a AND NOT b", "(and a (not b))"),
            ("NOT a b", "(and (not a) b)"),
            ("NOT a OR b", "(or (not a) b)"),
            ("NOT foo", "(not foo)"),
            ("(a OR b) c", "(and (or a b) c)"),
            ("NOT (a b)", "(not (and a b))"),
            ("NOT (NOT a)", "a"),
            ("((a)) ((b))", "(and a b)"),
            ("a (b c)", "(and a b c)"),
            ("a OR (b OR c)", "(or a b c)"),
            ("a,AND b", "(and a,AND b)"),
            ("+AND -OR", "(and AND (not OR))"),
        ]);
    }

    #[test]
    fn operators_without_operands_count_for_nothing() {
        assert_shapes(&[
            ("AND", ""),
            ("OR OR", ""),
            ("NOT", ""),
            ("NOT AND OR |", ""),
            ("AND foo", "foo"),
            ("foo AND", "foo"),
            ("foo OR", "foo"),
            ("foo NOT", "foo"),
            ("| foo |", "foo"),
            ("a AND AND b", "(and a b)"),
            ("a OR OR b", "(or a b)"),
            ("a AND OR b", "(or a b)"),
            ("a NOT OR b", "(or a b)"),
            ("NOT NOT a", "(not a)"),
            ("NOT -a", "(not a)"),
            ("(OR) a", "a"),
            ("NOT () a", "a"),
            ("NOT \"--\" a", "a"),
        ]);
        assert!(!parse("Portland, OR").explicit);
    }

    #[test]
    fn parentheses_without_a_partner_count_for_nothing() {
        assert_shapes(&[
            ("(", ""),
            ("()", ""),
            (")(", ""),
            ("(foo", "foo"),
            ("foo)", "foo"),
            ("x (a OR b", "(or (and x a) b)"),
            ("a OR b) c", "(or a (and b c))"),
            ("great :) or sad :(", "(and great or sad)"),
        ]);
    }

    #[test]
    fn parentheses_of_a_word_stay_with_it() {
        assert_shapes(&[
            ("main()", "main()"),
            ("-f(x)", "(not f(x))"),
            ("wiki/Foo_(bar)", "wiki/Foo_(bar)"),
            ("(f(x) OR g(y)) z", "(and (or f(x) g(y)) z)"),
            ("f(a b)", "(and f a b)"),
            ("a(b OR c)", "(and a (or b c))"),
            ("f(\"a b\")", "(and f \"a b\")"),
        ]);
        assert!(!parse("call main() now").explicit);
        assert!(!parse("f(a, b)").explicit);
        assert!(parse("(a b)").explicit);
    }

    #[test]
    fn a_minus_excludes_only_at_the_start_of_something() {
        assert_shapes(&[
            ("-foo", "(not foo)"),
            ("a -b -\"c d\"", "(and a (not b) (not \"c d\"))"),
            ("a -“c d”", "(and a (not \"c d\"))"),
            ("-foo*", "(not <prefix foo>)"),
            ("-*foo*", "(not <infix foo>)"),
            ("-/fo+/", "(not <regex fo+>)"),
            ("-(a b)", "(not (and a b))"),
            ("-2fa", "(not 2fa)"),
            ("-日本", "(not 日本)"),
            ("-AND", "(not AND)"),
            ("NOT 5", "(not 5)"),
            ("well-known", "well-known"),
            ("a - b", "(and a b)"),
            ("--flag", "--flag"),
            ("--flag*", "<prefix --flag>"),
            ("->x", "->x"),
            ("-/usr/lib", "-/usr/lib"),
            ("-5", "-5"),
            ("-3.14 -20% -1,000", "(and -3.14 -20% -1,000)"),
            ("a -__ b", "(and a b)"),
            ("−foo", "−foo"),
        ]);
    }

    #[test]
    fn a_plus_is_harmless() {
        assert_shapes(&[
            ("+foo", "foo"),
            ("+\"a b\"", "\"a b\""),
            ("+(a OR b)", "(or a b)"),
            ("+49", "+49"),
            ("c++", "c++"),
            ("a + b", "(and a b)"),
            ("++i", "++i"),
        ]);
        assert!(!parse("+foo").explicit);
    }

    #[test]
    fn stars() {
        assert_shapes(&[
            ("foo*", "<prefix foo>"),
            ("foo***", "<prefix foo>"),
            ("*foo*", "<infix foo>"),
            ("*foo", "<infix foo>"),
            ("**foo**", "<infix foo>"),
            ("*f(x)*", "<infix f(x)>"),
            ("*foo*bar*", "<infix foo*bar>"),
            ("*", ""),
            ("* ** foo", "foo"),
            ("SELECT * FROM t", "(and SELECT FROM t)"),
            ("2*3", "2*3"),
            ("\"foo bar\"*", "\"foo bar\""),
            ("(foo*)", "<prefix foo>"),
            ("/tmp/*", "<prefix /tmp/>"),
        ]);
    }

    #[test]
    fn regular_expressions_and_paths() {
        assert_shapes(&[
            ("/fo+/", "<regex fo+>"),
            ("/fo+/i", "<regex (?i)fo+>"),
            ("a (/x|y/) b", "(and a <regex x|y> b)"),
            (r"/a\/b/", "<regex a/b>"),
            (r"/a\\/", r"<regex a\\>"),
            ("/a\"b/", "<regex a\"b>"),
            ("/(a/", "<regex (a>"),
            ("(/a(/ OR b)", "(or <regex a(> b)"),
            ("/usr/", "<regex usr>"),
            ("/usr/\"x\"", "(and <regex usr> \"x\")"),
            ("/usr/local/bin", "/usr/local/bin"),
            ("/usr/local/", "/usr/local/"),
            ("/usr", "/usr"),
            ("/a b/", "(and /a b/)"),
            ("/x/ig", "/x/ig"),
            ("and/or", "and/or"),
            ("a/b/", "a/b/"),
            ("/", ""),
            ("//", ""),
            ("///", ""),
            ("/+/", ""),
            ("/*x*/", "/*x*/"),
            ("/* x */", "x"),
            ("// x", "x"),
            ("regex:\"a b/c\"", "<regex a b/c>"),
            ("regex:a+", "<regex a+>"),
            ("regex:(a|b)c", "<regex (a|b)c>"),
            ("regex:\"->\"", "<regex ->>"),
            ("regex:“\"x\"”", "<regex \"x\">"),
            (r#"regex:"a\/b""#, r"<regex a\/b>"),
            (r#"regex:"a\""#, r"<regex a\>"),
            ("-regex:\" x\"", "(not <regex  x>)"),
            ("regex: how", "(and regex: how)"),
            ("regex:\"\" how", "(and regex: how)"),
            ("regex::Regex", "regex::Regex"),
        ]);
    }

    #[test]
    fn what_looks_like_a_field_and_is_none_is_a_word() {
        assert_shapes(&[
            ("http://example.org/a?b=c&d#e", "http://example.org/a?b=c&d#e"),
            ("12:30", "12:30"),
            (r"C:\x", r"C:\x"),
            ("std::vec", "std::vec"),
            ("role::Role", "role::Role"),
            ("name:=1", "name:=1"),
            ("todo: x", "(and todo: x)"),
            ("name: Alice", "(and name: Alice)"),
            ("role:, since:", "(and role:, since:)"),
            ("since:\"\"", "since:"),
            ("name:\"", "name:"),
            ("Role:bogus Since:x", "(and Role:bogus Since:x)"),
            ("foo:bar", "foo:bar"),
            ("*role:user*", "<infix role:user>"),
            ("\"role:bogus\"", "\"role:bogus\""),
            ("xrole:user", "xrole:user"),
        ]);
    }

    /// What made the sanitiser of the lineage, or the engine behind it, fail or find nothing.
    #[test]
    fn pitfalls_of_the_lineage() {
        assert_shapes(&[
            ("foo AND", "foo"),
            ("\"foo", "foo"),
            ("chat-send", "chat-send"),
            ("P2.2 my_var a.b-c_d", "(and P2.2 my_var a.b-c_d)"),
            ("c++ {x} f(a): \"q\" ^b", "(and c++ {x} f(a): \"q\" ^b)"),
            ("@me a/b #1 R&D a|b ~x [y] <z>", "(and @me a/b #1 R&D a|b ~x [y] <z>)"),
            ("a, b; c! d? $5 x=1 a\\b it's", "(and a, b; c! d? $5 x=1 a\\b it's)"),
            ("***foo**", "<infix foo>"),
            ("*", ""),
            ("AND OR NOT", ""),
            ("NOT foo AND", "(not foo)"),
            ("\"exact phrase\" tail\"", "(and \"exact phrase\" tail)"),
            ("NEAR(a b, 5)", "(and NEAR a b, 5)"),
            ("col : x", "(and col x)"),
            ("猫 二字", "(and 猫 二字)"),
            ("Café", "Café"),
            ("' OR 1=1 --", "1=1"),
        ]);
        // The lineage cut at 2,048 characters without a word.
        let long = "word ".repeat(500);
        assert_eq!(parse(&long).words().count(), 500);
    }

    #[test]
    fn filters_and_their_exclusion() {
        let query = parse(
            "ship role:user role:tool -role:Assistant source:cli -source:cron NOT source:slack \
             session:agent:x:1 -session:y name:\"Mary Ann\" name:Bob, -name:„Eve“ project:x \
             -(project:z) role:\"narrator\" +role:user",
        );
        let strings = |texts: &[&str]| texts.iter().map(|it| it.to_string()).collect::<Vec<_>>();
        let wanted = Filters {
            roles: vec![Role::User, Role::Tool, Role::Other("narrator".into())],
            exclude_roles: vec![Role::Assistant],
            sources: strings(&["cli"]),
            exclude_sources: strings(&["cron", "slack"]),
            sessions: strings(&["agent:x:1"]),
            exclude_sessions: strings(&["y"]),
            names: strings(&["Mary Ann", "Bob"]),
            exclude_names: strings(&["Eve"]),
            projects: strings(&["x"]),
            exclude_projects: strings(&["z"]),
            since: None,
            until: None,
        };
        assert_eq!(query.filters, wanted);
        assert_eq!(query.text, "ship");
        assert_eq!(query.expr, Some(Expr::Word("ship".into())));
        assert!(!query.explicit);
        assert_eq!(parse(&query.to_string()), query);
        assert_eq!(parse("a OR role:user b").expr, parse("a OR b").expr);
        assert_eq!(parse("role:user OR role:tool").filters.roles, [Role::User, Role::Tool]);
        assert_eq!(parse("name:\"Mary").filters.names, ["Mary"]);
    }

    #[test]
    fn times_narrow_and_until_includes_its_day() {
        for (text, since, until) in [
            ("since:2026-01-01", Some("2026-01-01T00:00:00Z"), None),
            ("until:2026-01-31", None, Some("2026-02-01T00:00:00Z")),
            ("since:2025 until:2025", Some("2025-01-01T00:00:00Z"), Some("2026-01-01T00:00:00Z")),
            ("since:3d", Some("2026-03-28T12:00:00Z"), None),
            ("since:30min", Some("2026-03-31T11:30:00Z"), None),
            ("until:yesterday", None, Some("2026-03-31T00:00:00Z")),
            ("since:2025 since:2026-02", Some("2026-02-01T00:00:00Z"), None),
            ("until:2026 until:2025-06-01T00:00:00Z", None, Some("2025-06-01T00:00:00Z")),
            ("-since:2026", None, Some("2026-01-01T00:00:00Z")),
            ("-until:2025", Some("2026-01-01T00:00:00Z"), None),
            ("since:\"2026-01-31 09:30\"", Some("2026-01-31T09:30:00Z"), None),
        ] {
            let query = parse(text);
            let Filters { since: from, until: to, .. } = query.filters;
            let text_of = |time: Option<Timestamp>| time.map(|time| time.to_string());
            assert_eq!(text_of(from).as_deref(), since, "{text}");
            assert_eq!(text_of(to).as_deref(), until, "{text}");
            assert_eq!(query.expr, None);
            assert_eq!(parse(&query.to_string()), query, "{text}");
        }
        let all_time = parse("since:999999999y");
        assert_eq!(parse(&all_time.to_string()), all_time);
    }

    #[test]
    fn a_field_with_a_value_it_cannot_have_is_refused_with_a_remedy() {
        for (text, field) in [
            ("role:bogus", "role"),
            ("-role:bogus", "role"),
            ("x since:yesterdayish y", "since"),
            ("until:2026-02-30", "until"),
            ("since:-3d", "since"),
        ] {
            let error = Query::parse(text, now()).unwrap_err();
            assert_eq!(error.field_name(), Some(field), "{text}");
            assert!(error.remedy_text().is_some(), "{text}");
        }
    }

    #[test]
    fn text_and_words_are_what_is_wanted() {
        let query =
            parse("find \"red apple\" OR pea* -rotten *core* /x+/ NOT (old NOT new) role:user");
        assert_eq!(query.text, "find red apple pea core");
        assert_eq!(query.words().collect::<Vec<_>>(), ["find", "red apple"]);
        assert!(query.explicit);
        let question = parse("When did Anna - my sister - move to Oslo, and why?");
        assert_eq!(question.text, "When did Anna my sister move to Oslo, and why?");
        assert!(!question.explicit);
        for explicit in ["a AND b", "a OR b", "a | b", "\"a\"", "a*", "*a", "/a/", "(a)", "-a"] {
            assert!(parse(explicit).explicit, "{explicit}");
        }
    }

    #[test]
    fn invisible_characters_change_nothing() {
        let plain = parse("foo \"bar baz\" role:user");
        for text in [
            "\u{FEFF}foo \"bar\0baz\" role:user",
            "f\u{200B}oo \u{202E}\"bar baz\"\u{202C} ro\u{200D}le:user\u{200F}",
            "\0foo\u{7}\"bar\u{85}baz\"\nrole:user",
        ] {
            assert_eq!(parse(text), plain, "{text:?}");
        }
    }

    #[test]
    fn limits_are_named_or_told() {
        let error = Query::parse(&"x".repeat(MAX_QUERY_BYTES + 1), now()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert!(error.message().contains("65536") && error.remedy_text().is_some());
        assert!(!parse(&"x".repeat(MAX_QUERY_BYTES)).truncated);

        let pattern = |length: usize| format!("/{}/", "x".repeat(length));
        assert!(Query::parse(&pattern(1_000), now()).is_ok());
        let error = Query::parse(&pattern(1_001), now()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert!(error.message().contains("1000") && error.remedy_text().is_some());

        let many = parse(&"x ".repeat(600));
        assert!(many.truncated);
        assert_eq!(many.words().count(), MAX_TERMS);
        assert!(!parse(&"x ".repeat(MAX_TERMS)).truncated);
        // Filters have a count of their own: those after a long text still hold.
        let filtered = parse(&format!("{} role:user", "x ".repeat(600)));
        assert_eq!(filtered.filters.roles, [Role::User]);
        let names: String = (0..600).map(|name| format!("name:n{name} ")).collect();
        assert_eq!(parse(&names).filters.names.len(), MAX_TERMS);
        assert!(parse(&names).truncated);
    }

    #[test]
    fn nesting_has_a_floor() {
        let nested =
            |depth: usize| format!("{}a OR b{}", "NOT (x ".repeat(depth), ")".repeat(depth));
        for depth in [1, 63, 64, 65, 1_000, 5_000] {
            let query = parse(&nested(depth));
            assert_eq!(parse(&query.to_string()).expr, query.expr, "{depth}");
        }
        parse(&"(".repeat(MAX_QUERY_BYTES));
        parse(&format!("{}{}", "(".repeat(MAX_QUERY_BYTES / 2), ")".repeat(MAX_QUERY_BYTES / 2)));
        assert_eq!(parse(&format!("{}a{}", "(".repeat(999), ")".repeat(999))).text, "a");
        parse(&"-(".repeat(MAX_QUERY_BYTES / 2));
        parse(&"NOT ".repeat(MAX_QUERY_BYTES / 4));
    }

    /// Everything that means something to the lexer, so that random texts hit its rules.
    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "a",
            "bc",
            "é",
            "猫",
            "5",
            "AND",
            "OR",
            "NOT",
            "|",
            " ",
            " ",
            " ",
            "\"",
            "“",
            "”",
            "„",
            "«",
            "»",
            "「",
            "」",
            "『",
            "』",
            "\u{FF02}",
            "(",
            ")",
            "-",
            "+",
            "*",
            "/",
            "\\",
            "i",
            "_",
            ":",
            "=",
            ",",
            ";",
            ".",
            "'",
            "role:user",
            "role:\"x\"",
            "-role:tool",
            "name:",
            "source:",
            "regex:",
            "since:3d",
            "until:2026-01-01",
            "\0",
            "\u{200B}",
            "\u{200C}",
            "\u{200D}",
            "\u{202E}",
            "\u{1F389}",
            "\n",
            "\u{3000}",
            "?",
            "i ",
        ]);
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    fn same_again(text: &str) -> Result<(), TestCaseError> {
        let Ok(query) = Query::parse(text, now()) else { return Ok(()) };
        let printed = query.to_string();
        let again = Query::parse(&printed, now());
        let again =
            again.map_err(|error| TestCaseError::fail(format!("{printed:?}: {error:?}")))?;
        prop_assert_eq!(&again.expr, &query.expr, "{:?}", printed);
        prop_assert_eq!(&again.filters, &query.filters, "{:?}", printed);
        prop_assert_eq!(&again.text, &query.text, "{:?}", printed);
        prop_assert_eq!(again.to_string(), printed);
        Ok(())
    }

    proptest! {
        #![proptest_config(oneiro_testkit::proptest_config(2_000))]

        #[test]
        fn no_text_panics_and_the_canonical_form_reads_back(text in any::<String>()) {
            same_again(&text)?;
        }

        #[test]
        fn what_means_something_reads_back(text in pieces()) {
            same_again(&text)?;
        }

        #[test]
        fn punctuation_alone_finds_nothing_and_is_no_error(
            text in "[ -/:-@\\[-`{-~\u{2010}-\u{2027}\u{3000}-\u{3003}「」『』«»\0\u{200B}]{0,40}",
        ) {
            prop_assert_eq!(parse(&text).expr, None);
        }
    }
}
