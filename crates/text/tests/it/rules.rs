//! The rules of the analyzer in tables: a text and its terms.

use oneiro_text::{Analyzer, Kind, is_filler, is_first_person, is_time_word, normalise};

fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    Analyzer::default().tokens(text, |token| terms.push(token.term.to_owned()));
    terms
}

fn assert_rule(table: &[(&str, &str)]) {
    for (text, want) in table {
        assert_eq!(terms(text).join(" "), *want, "{text}");
    }
}

#[test]
fn english_words() {
    assert_rule(&[
        ("The kids went camping.", "the kid go camp"),
        ("She bought children's shoes", "she buy child shoe"),
        ("don't won’t I'm we'll they've", "dont wont i we they"),
        ("Caroline's Caroline’s CAROLINE", "carolin carolin carolin"),
        ("O'Brien's boys' 'quoted'", "obrien boy quot"),
        ("(parens) \"quotes\" - dash, end.", "paren quot dash end"),
        ("one—two…three", "one two three"),
    ]);
}

#[test]
fn stems_fit_the_language() {
    assert_rule(&[
        ("Die Häuser in der Straße sind alt", "die haus in der strass sind alt"),
        ("les informations de la ville sont utiles", "le inform de la vill sont util"),
        ("la información y las informaciones que tengo", "la inform y las inform que teng"),
        ("a informação e as informações não são", "a inform e as inform nao sao"),
        ("дети были в горах, ещё дома", "дет был в гор ещ дом"),
        ("barnen är hemma och leker", "barn ar hemm och lek"),
    ]);
}

#[test]
fn the_language_is_that_of_the_words_and_not_of_identifiers() {
    for (text, word) in [
        ("see https://example.com/a and x@y.com for running", "run"),
        ("die Kinder und ich sind mit dem Auto nach Hause gefahren running", "running"),
    ] {
        assert!(terms(text).contains(&word.to_owned()), "{text}: {:?}", terms(text));
    }
}

#[test]
fn optional_marks_are_dropped() {
    for (one, other) in [
        ("café", "cafe"),
        ("cafe\u{301}", "cafe"),
        ("naïve", "naive"),
        ("Straße", "STRASSE"),
        ("Łódź", "lodz"),
        ("smørrebrød", "smorrebrod"),
        ("œuvre", "oeuvre"),
        ("ёлка", "елка"),
        ("שָׁלוֹם", "שלום"),
        ("مُحَمَّد", "محمد"),
        ("أحمد", "احمد"),
        ("Ωραία", "ωραια"),
        ("Οδυσσεύς", "ΟΔΥΣΣΕΎΣ"),
        ("ﬁle", "file"),
        ("ＡＢＣ", "abc"),
        ("١٢٣", "123"),
        ("so\u{ad}ft", "soft"),
        ("zero\u{200b}width", "zerowidth"),
        ("İstanbul", "istanbul"),
        ("Foo™", "foo"),
    ] {
        assert_eq!(terms(one), terms(other), "{one} {other}");
        assert_eq!(normalise(one), normalise(other), "{one} {other}");
    }
    for (one, other) in [("й", "и"), ("हिन्दी", "हन्द"), ("が", "か"), ("ก่", "ก")]
    {
        assert_ne!(normalise(one), normalise(other), "{one} {other}");
    }
}

#[test]
fn identifiers_whole_and_in_parts() {
    assert_rule(&[
        ("getUserName", "getusernam get user name"),
        ("HTMLParser", "htmlparser html parser"),
        ("URLs APIs", "url api"),
        ("snake_case", "snake_case snake case"),
        ("kebab-case", "kebab-case kebab case"),
        ("/a/b.rs", "a/b.rs a b.rs b rs"),
        ("C:\\x\\y", "c:/x/y c x y"),
        ("std::vec::Vec", "std::vec::vec std vec vec"),
        ("v1.2.3-rc.1", "1.2.3-rc.1 v1 v 1 2 3 rc 1"),
        (
            "(https://www.example.com/a/?b=1).",
            "example.com/a/?b=1 https example.com www exampl com a b 1",
        ),
        ("john.doe@ex.com,", "john.doe@ex.com john.doe john doe ex.com ex com"),
        ("error[E0277]:", "error[e0277] error e0277 e 0277"),
        ("#1234 @user", "#1234 1234 @user user"),
        ("C++, C# and F#", "c++ c c# c and f# f"),
        ("3f2a9c1b7d04", "3f2a9c1b7d04"),
        ("src/main.rs:12", "src/main.rs:12 src main.rs main rs 12"),
        ("wait...what", "wait what"),
        ("yes--no", "yes no"),
        ("e.g. this", "e.g e g this"),
        ("10am", "10am 10 am"),
    ]);
}

#[test]
fn numbers_and_dates() {
    assert_rule(&[
        ("1,000 and 1,234,567", "1000 and 1234567"),
        ("1,234.5", "1234.5 1234 5"),
        ("1,2,3", "1 2 3"),
        ("$3.50", "3.50 3 50"),
        ("2023-05-07", "2023-05-07 2023 05 07"),
        ("100% 5kg", "100 5kg 5 kg"),
        ("1½ ①", "1 1 2 1"),
    ]);
}

#[test]
fn scripts_without_spaces() {
    assert_rule(&[
        ("東京都", "東 東京 京 京都 都"),
        ("ｶﾞｽ", "ガ ガス ス"),
        ("학교 에", "학 학교 교 에"),
        ("2023年の", "2023 年 年の の"),
        ("เก่ง", "เก่ เก่ง ง"),
        ("iPhone手机", "iphon i phone 手 手机 机"),
    ]);
}

#[test]
fn emoji() {
    assert_rule(&[
        ("ok👍", "ok 👍"),
        ("👍🏽", "👍🏽 👍"),
        ("👩‍💻👩‍💻", "👩‍💻 👩‍💻"),
        ("🇩🇪🇫🇷", "🇩🇪 🇫🇷"),
        ("❤️ ❤", "❤ ❤"),
        ("1️⃣", "1"),
    ]);
}

#[test]
fn runs_that_are_too_long_are_cut_or_dropped() {
    let long = "x".repeat(300);
    assert_eq!(terms(&long), ["x".repeat(64)]);
    let path = format!("{}/end", vec!["abcdefgh"; 20].join("/"));
    let recognised = terms(&path);
    assert!(!recognised.contains(&path) && recognised.contains(&"end".to_owned()));
    assert_eq!(terms(&"aGVsbG8gd29ybGQhIQ".repeat(40)).len(), 1);
}

#[test]
fn positions_kinds_and_stop_words() {
    let mut seen = Vec::new();
    Analyzer::default().tokens("The fooBar of 東京", |token| {
        seen.push((token.norm.to_owned(), token.position, token.kind, token.stop));
    });
    let want = [
        ("the", 0, Kind::Word, true),
        ("foobar", 1, Kind::Whole, false),
        ("foo", 1, Kind::Part, false),
        ("bar", 1, Kind::Part, false),
        ("of", 2, Kind::Word, true),
        ("東", 3, Kind::Cjk, false),
        ("東京", 3, Kind::CjkPair, false),
        ("京", 4, Kind::Cjk, false),
    ];
    assert_eq!(seen, want.map(|(norm, at, kind, stop)| (norm.to_owned(), at, kind, stop)));
}

#[test]
fn queries_are_split_into_words() {
    for (question, want) in [
        ("When did Caroline go to the LGBTQ support group?", "caroline lgbtq support group"),
        ("Wann ist Anna mit den Kindern in die Berge gefahren?", "anna kindern berge gefahren"),
        ("Tell me what kind of things Melanie's kids like", "melanie kids like"),
        ("東京に行く", "東京 行"),
    ] {
        let words = Analyzer::default().query_words(question);
        let content = words.iter().filter(|word| !word.stop && !is_filler(&word.norm));
        let content: Vec<&str> = content.map(|word| word.norm.as_str()).collect();
        assert_eq!(content.join(" "), want, "{question}");
    }
}

#[test]
fn a_query_word_has_its_stems_in_every_language() {
    let mut analyzer = Analyzer::default();
    for (row, question) in [
        ("Wir sind gestern mit den Kindern in die Berge gefahren", "Kinder"),
        ("nous avons parlé des informations", "information"),
        ("a special iPhone", "iphone"),
        ("send an email", "e-mail"),
        ("using foo_bar now", "fooBar"),
        ("the gpt-4 model", "GPT4"),
        ("release 1.2.3", "v1.2.3"),
        ("open src\\lib.rs", "src/lib.rs"),
        ("see http://example.com/x", "https://www.example.com/x/"),
    ] {
        let mut terms = Vec::new();
        analyzer.tokens(row, |token| terms.push(token.term.to_owned()));
        for word in analyzer.query_words(question) {
            let any =
                |word: &oneiro_text::QueryWord| word.terms.iter().any(|term| terms.contains(term));
            let parts = !word.parts.is_empty() && word.parts.iter().all(any);
            assert!(any(&word) || parts, "{row}: {word:?}");
        }
    }
}

#[test]
fn lists_of_words() {
    for word in ["tell", "know", "describe", "mentioned", "kind", "thing", "erzahl"] {
        assert!(is_filler(word), "{word}");
    }
    for word in ["yesterday", "week", "may", "monday", "ago", "gestern", "marz", "summer"] {
        assert!(is_time_word(word), "{word}");
    }
    for word in ["i", "my", "we", "ich", "я"] {
        assert!(is_first_person(word), "{word}");
    }
    for word in ["vet", "art", "dog", "paint", "an", "to", "one", "mit"] {
        assert!(!is_filler(word) && !is_time_word(word) && !is_first_person(word), "{word}");
    }
}
