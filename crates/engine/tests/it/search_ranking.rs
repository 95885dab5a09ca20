//! The order of hits follows the question: whose message, exchanges, corrections, tools, identifiers,
//! dates, several messages together; and how sure the answer is.

use crate::search_support::{find, fold, open, request, search};
use crate::support::{begin, id};
use oneiro::{Confidence, NewMessage, Oneiro, SearchRequest};
use oneiro_testkit::on_both_backends;
use serde_json::{Value, json};

/// Appends messages to a new session, a role and a text each, and returns nothing: ids count from 1
/// over all sessions.
fn chat(oneiro: &Oneiro, session: &str, said: &[(&str, &str)]) {
    begin(oneiro, session);
    let message = |(role, text): &(&str, &str)| match *role {
        "tool" => json!({"role": "tool", "tool_call_id": "c", "content": text}),
        role => json!({"role": role, "content": text}),
    };
    append(oneiro, session, said.iter().map(message));
}

fn append(oneiro: &Oneiro, session: &str, messages: impl Iterator<Item = Value>) {
    let messages = messages.map(|message| NewMessage::from_json(message).unwrap()).collect();
    oneiro.messages().append(&id(session), messages).unwrap();
}

/// The first hit, in the tail and in a segment.
#[track_caller]
fn assert_first(oneiro: &Oneiro, query: &str, first: i64) {
    assert_eq!(find(oneiro, query).first(), Some(&first), "{query}");
    fold(oneiro);
    assert_eq!(find(oneiro, query).first(), Some(&first), "{query}, in a segment");
}

on_both_backends! {
    fn the_person_is_preferred_for_what_they_own_and_the_assistant_for_a_cause(space) {
        let oneiro = open(space);
        chat(&oneiro, "bikes", &[
            ("user", "My road bike is a red Colnago with new tyres"),
            ("assistant", "A road bike wants its tyres at seven bar, a red light and a bell"),
        ]);
        assert_first(&oneiro, "What road bike do I own?", 1);
        chat(&oneiro, "deploy", &[
            ("user", "The deploy to staging failed again this morning, have a look at the deploy"),
            ("assistant", "The deploy to staging failed because the disk of the registry was full, \
                           so the image was never pushed; I removed old layers and it went through"),
        ]);
        assert_first(&oneiro, "Why did the deploy to staging fail?", 4);
    }

    fn what_the_assistant_recommended_is_its_message(space) {
        let oneiro = open(space);
        chat(&oneiro, "rome", &[
            ("user", "We want a restaurant in Rome near the station for my birthday"),
            ("assistant", "A restaurant in Rome near the station: Trattoria Vecchia"),
        ]);
        assert_first(&oneiro, "Which restaurant in Rome did you recommend?", 2);
    }

    fn the_answer_of_an_exchange_ranks_above_its_question(space) {
        let oneiro = open(space);
        chat(&oneiro, "ports", &[
            ("user", "Which port does the staging database listen on?"),
            ("assistant", "5433, behind the bouncer."),
            ("user", "thanks"),
        ]);
        assert_first(&oneiro, "Which port does the staging database listen on?", 2);
    }

    fn a_message_that_repeats_the_query_is_below_a_statement(space) {
        let oneiro = open(space);
        chat(&oneiro, "one", &[("user", "what is the wifi password of the cabin?")]);
        chat(&oneiro, "two", &[("user", "the wifi password of the cabin is tannenzapfen")]);
        chat(&oneiro, "three", &[("user", "cabin wifi password")]);
        assert_first(&oneiro, "What is the wifi password of the cabin?", 2);
    }

    fn the_newest_correction_is_above_what_it_corrects(space) {
        let oneiro = open(space);
        chat(&oneiro, "rate", &[
            ("user", "the day rate for Calder is 640 euros, as in the last offer for Calder"),
            ("assistant", "Noted: the day rate for Calder is 640 euros, to be used in all offers."),
            ("user", "and the travel is included"),
            ("assistant", "Noted."),
            ("user", "no, the day rate for Calder is 680 now"),
        ]);
        assert_first(&oneiro, "What is the day rate for Calder?", 5);
    }

    fn a_new_value_is_above_the_old_one_though_it_does_not_name_what_it_is_of(space) {
        let oneiro = open(space);
        chat(&oneiro, "pods", &[
            ("user", "which memory limit do the pods of the importer have?"),
            ("assistant", "The memory limit of the importer pods is 512Mi."),
            ("user", "raise it to 1Gi"),
            ("assistant", "The pods of the importer now have a memory limit of 1Gi."),
            ("user", "no, make it 2Gi, a bit of air does not hurt"),
            ("assistant", "Done."),
        ]);
        let hits = find(&oneiro, "what memory limit do the importer pods have?");
        let place = |id: i64| hits.iter().position(|hit| *hit == id);
        assert!(place(5) < place(3) && place(5) < Some(3), "{hits:?}");
    }

    fn a_log_of_repeated_lines_does_not_crowd_out_other_messages(space) {
        let oneiro = open(space);
        let line = "WARN connection pool exhausted, waiting for a free connection in the pool\n";
        chat(&oneiro, "log", &[
            ("user", "the service hangs"),
            ("tool", &line.repeat(6_000)),
            ("assistant", "The connection pool was exhausted because the export never gave its \
                           connection back; I moved the export out of the transaction."),
        ]);
        chat(&oneiro, "other", &[("user", "a pool of hedgehogs")]);
        for folded in [false, true] {
            if folded {
                fold(&oneiro);
            }
            let hits = find(&oneiro, "why was the connection pool exhausted");
            let place = |id: i64| hits.iter().position(|hit| *hit == id);
            assert_eq!(place(3), Some(0), "the conclusion is first, {folded}: {hits:?}");
            assert!(place(2).is_some() && place(4).is_some(), "{folded}: {hits:?}");
        }
    }

    fn tool_output_is_found_where_it_alone_has_the_words(space) {
        let oneiro = open(space);
        chat(&oneiro, "run", &[
            ("user", "run the tests"),
            ("tool", "test parse_header ... FAILED: expected 41 bytes"),
            ("assistant", "One of them is red."),
        ]);
        assert_first(&oneiro, "how many bytes did parse_header expect?", 2);
    }

    fn an_announcement_of_a_tool_call_is_below_its_conclusion(space) {
        let oneiro = open(space);
        begin(&oneiro, "disk");
        let call = json!({"id": "c", "type": "function",
            "function": {"name": "bash", "arguments": "{\"command\": \"df -h\"}"}});
        append(&oneiro, "disk", [
            json!({"role": "user", "content": "the disk of loghost is full"}),
            json!({"role": "assistant", "content": "Let me look why the disk of loghost is full.",
                   "tool_calls": [call]}),
            json!({"role": "tool", "tool_call_id": "c", "content": "/dev/vdb1 400G 400G 0 100% /var"}),
            json!({"role": "assistant", "content": "The disk of loghost is full because debug logging \
                   was left on; the journal alone has 248 GB."}),
        ].into_iter());
        assert_first(&oneiro, "Why is the disk of loghost full?", 4);
    }

    fn may_is_not_a_month_where_it_is_a_verb(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        append(&oneiro, "s", [
            json!({"role": "user", "content": "guests arrive at the hotel until ten in the evening",
                   "at": "2023-01-10T10:00:00Z"}),
            json!({"role": "user", "content": "the cat sleeps", "at": "2023-05-10T10:00:00Z"}),
        ].into_iter());
        let found = search(&oneiro, SearchRequest { explain: true, ..request("how late may guests arrive") });
        assert_eq!(found.hits[0].id.0, 1);
        let parts = found.hits.iter().flat_map(|hit| &hit.trace.as_ref().unwrap().parts);
        assert!(parts.clone().all(|part| part.name != "date"));
    }

    fn identifiers_carry_a_question_across_languages(space) {
        let oneiro = open(space);
        chat(&oneiro, "en", &[("assistant", "PROD-5561 was a stale cache entry, fixed in v3.12.2")]);
        chat(&oneiro, "de", &[("user", "das Problem mit dem Drucker ist gelöst, es lag am Kabel")]);
        chat(&oneiro, "ja", &[("user", "会議は来週の火曜日に変更になりました。問題ありません。")]);
        assert_first(&oneiro, "Woran lag das Problem PROD-5561?", 1);
        assert_first(&oneiro, "PROD-5561 の問題は何でしたか", 1);
        assert_first(&oneiro, "PROD-5561 的问题是什么原因", 1);
    }

    fn questions_without_spaces_find_what_has_some_of_their_words(space) {
        let oneiro = open(space);
        chat(&oneiro, "zh", &[
            ("user", "详情页的缓存已经改成三分钟了"),
            ("user", "明天下午去看电影吧"),
        ]);
        chat(&oneiro, "ja", &[
            ("user", "予約サイトの締め切りは金曜日です"),
            ("user", "猫が窓辺で寝ています"),
        ]);
        assert_first(&oneiro, "详情页缓存多久失效？", 1);
        assert_first(&oneiro, "予約サイトはいつ締め切られますか", 3);
    }

    fn two_messages_that_answer_together_come_first(space) {
        let oneiro = open(space);
        chat(&oneiro, "trip", &[
            ("user", "the hotel is booked: Adler, three nights"),
            ("assistant", "Good."),
            ("user", "the airline is booked, too: Swiss, on Friday"),
            ("assistant", "Fine."),
        ]);
        chat(&oneiro, "other", &[
            ("user", "a hotel needs a night porter"),
            ("user", "the hotel on the hill was booked out last year"),
        ]);
        let mut first = find(&oneiro, "which hotel and which airline are booked for the trip");
        first.truncate(2);
        first.sort_unstable();
        assert_eq!(first, [1, 3]);
    }

    fn an_answer_says_how_sure_it_is(space) {
        let oneiro = open(space);
        chat(&oneiro, "a", &[
            ("user", "the wifi password of the cabin is tannenzapfen"),
            ("assistant", "Noted."),
            ("user", "the plumber comes on Thursday at nine"),
            ("user", "the cat sleeps by the stove"),
            ("user", "dinner is at eight"),
            ("user", "we painted the fence green"),
        ]);
        let found = |query: &str| search(&oneiro, request(query)).found;
        assert_eq!(found("What is the wifi password of the cabin?"), Confidence::Strong);
        assert_eq!(found("tannenzapfen"), Confidence::Strong);
        assert_ne!(found("Which passport number does the cabin owner have?"), Confidence::Strong);
        assert_ne!(found("Who won the chess tournament in Oslo?"), Confidence::Strong);
        assert_eq!(found("xyzzy"), Confidence::None);
        let explained = SearchRequest { explain: true, ..request("What is the wifi password?") };
        assert!(search(&oneiro, explained).evidence.iter().any(|part| part.name == "own"));
    }
}
