//! Summaries at three levels, whatever a model does: right, silent, wrong, endless or not at all.

use crate::context_support::{
    Asked, Scripted, agent, assert_context_rules, begin, by_hand, gist, live, open_llm,
    open_options, peek, prose, until, user,
};
use crate::support::open;
use oneiro::{
    BreakReason, CompactRequest, Error, NewMessage, Options, Prompts, Result, Summary,
    SummaryLevel, WindowRequest,
};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

/// Talk about ordinary things, in ordinary words.
fn talk(turns: usize) -> Vec<NewMessage> {
    (0..turns)
        .flat_map(|at| {
            [
                user(format!(
                    "Sorry to ask again, but can you help with request {at}? The kayak for Maria \
                     must be at pier {at} before noon on Friday, and it costs {} euros. {}",
                    at * 7 + 20,
                    prose(at as u64, 60)
                )),
                agent(format!(
                    "I am happy to assist. We decided that kayak {at} goes to pier {at} by truck; \
                     the plan is in plans/pier_{at}.md. {}",
                    prose(at as u64 + 900, 60)
                )),
            ]
        })
        .collect()
}

/// What a session compacted by a model comes to.
fn compacted(space: &TestSpace, llm: &Arc<Scripted>) -> Vec<Summary> {
    let oneiro = open_llm(space, Arc::clone(llm) as _);
    let id = begin(&oneiro, "s", talk(60));
    let done = until(&oneiro, &id, 4_000);
    assert_eq!(done.stopped, "under", "{done:?}");
    assert_context_rules(&oneiro, &id);
    let summaries = without_overviews(oneiro.context().summaries(&id).unwrap());
    assert!(!summaries.is_empty());
    summaries
}

/// Overviews are always extracts. They cover roots, and are none.
fn without_overviews(mut summaries: Vec<Summary>) -> Vec<Summary> {
    summaries.retain(|summary| summary.in_context || !summary.parents.is_empty());
    summaries
}

fn levels(summaries: &[Summary]) -> Vec<SummaryLevel> {
    summaries.iter().map(|summary| summary.level).collect()
}

fn assert_all_at_level(summaries: &[Summary], level: SummaryLevel) {
    assert!(levels(summaries).iter().all(|found| *found == level), "{:?}", levels(summaries));
    let model = (level != SummaryLevel::Extract).then(|| "scripted".to_owned());
    assert!(summaries.iter().all(|summary| summary.model == model));
}

on_both_backends! {
    fn a_good_model_is_taken_at_its_word_once(space) {
        let llm = Scripted::good();
        let summaries = compacted(space, &llm);
        assert_all_at_level(&summaries, SummaryLevel::Model);
        assert_eq!(llm.calls(), summaries.len());
        // The summary names the speaker.
        let asked = llm.asked.lock().unwrap();
        assert!(asked.iter().any(|a| a.input.contains("user: Sorry")), "{}", &asked[0].input[..300]);
        assert!(asked[0].input.contains("assistant: I am happy"));
    }

    fn a_model_that_says_nothing_is_asked_again_at_temperature_zero(space) {
        let llm = Scripted::new(|number, asked| Ok(if number % 2 == 1 { " \n".to_owned() } else { gist(asked) }));
        let summaries = compacted(space, &llm);
        assert_all_at_level(&summaries, SummaryLevel::Model);
        let asked = llm.asked.lock().unwrap();
        assert_eq!(asked.len(), summaries.len() * 2);
        assert!(asked.chunks(2).all(|pair| pair[0].temperature > 0.0 && pair[1].temperature == 0.0));
    }

    // An empty answer, an error and a repetition of the input all lead to an extract.
    fn a_model_that_fails_leaves_extracts(space) {
        let answers: [fn(&Asked) -> Result<String>; 3] = [
            |_| Ok(String::new()),
            |_| Err(Error::new(oneiro::ErrorKind::Unavailable, "no model today")),
            |asked| Ok(format!("{} ", asked.input).repeat(10)),
        ];
        for answer in answers {
            let space = &TestSpace::new(space.backend);
            let llm = Scripted::new(move |_, asked| answer(asked));
            let summaries = compacted(space, &llm);
            assert_all_at_level(&summaries, SummaryLevel::Extract);
            assert!(llm.calls() <= summaries.len() * 3);
            assert!(summaries.iter().all(|s| s.content.contains("kayak")), "{}", summaries[0].content);
        }
    }

    fn a_model_that_is_too_long_is_asked_more_strictly(space) {
        let llm = Scripted::new(|_, asked| if asked.instructions.contains("durable") || asked.temperature == 0.0 { Ok(gist(asked)) } else { Ok(format!("{} ", gist(asked)).repeat(400)) });
        let levels = levels(&compacted(space, &llm));
        // A model's text that is not smaller than what it covers is not taken.
        assert!(levels.iter().all(|level| *level != SummaryLevel::Model), "{levels:?}");
        assert!(levels.iter().filter(|level| **level == SummaryLevel::Strict).count() > 2, "{levels:?}");
    }

    // Words that any long talk has are no sign that a model has read it.
    fn a_refusal_is_no_summary(space) {
        for text in [
            "I'm sorry, but I can't help with that request.",
            "I am sorry, I can't assist with this request. Is there anything else I can help with?",
            "As an AI language model, I cannot summarise this conversation.",
        ] {
            let space = &TestSpace::new(space.backend);
            let llm = Scripted::new(move |_, _| Ok(text.to_owned()));
            let summaries = compacted(space, &llm);
            assert!(summaries.iter().all(|s| s.level == SummaryLevel::Extract), "{:?}: {}", levels(&summaries), summaries[0].content);
        }
    }

    fn garbage_is_no_summary(space) {
        for text in ["kayak ".repeat(60), "xq zzv wwq ".repeat(20), "�".repeat(50), "the the the the".to_owned(), "Maria".to_owned()] {
            let space = &TestSpace::new(space.backend);
            let said = text.clone();
            let llm = Scripted::new(move |_, _| Ok(said.clone()));
            let summaries = compacted(space, &llm);
            assert!(summaries.iter().all(|s| s.level == SummaryLevel::Extract), "{text:.20}: {:?}", levels(&summaries));
        }
    }

    // A model that never answers holds up nobody but its own compaction.
    fn while_a_model_is_silent_others_write_and_read(space) {
        let (asked_tx, asked) = channel();
        let (go, wait) = channel::<()>();
        let (asked_tx, wait) = (std::sync::Mutex::new(asked_tx), std::sync::Mutex::new(wait));
        let llm = Scripted::new(move |number, asked| {
            if number == 1 {
                asked_tx.lock().unwrap().send(()).unwrap();
                let _ = wait.lock().unwrap().recv_timeout(Duration::from_secs(30));
            }
            Ok(gist(asked))
        });
        let oneiro = open_llm(space, llm);
        let id = begin(&oneiro, "s", talk(60));
        let other = open(space);
        std::thread::scope(|scope| {
            let compacting = scope.spawn(|| until(&oneiro, &id, 4_000));
            asked.recv().unwrap();
            for at in 0..20 {
                other.messages().append(&id, vec![user(format!("meanwhile {at}"))]).unwrap();
                oneiro.messages().append(&id, vec![agent(format!("and {at}"))]).unwrap();
                assert!(peek(&other, &id, 2_000).tokens <= 2_000);
            }
            let to = live(&other, &id).last().unwrap().id;
            assert_eq!(to.0, live(&oneiro, &id).last().unwrap().id.0);
            go.send(()).unwrap();
            assert_eq!(compacting.join().unwrap().stopped, "under");
        });
        assert_eq!(live(&oneiro, &id).len(), 160);
        assert_context_rules(&oneiro, &id);
    }

    fn extracts_are_redone_by_a_model_and_never_cost_more(space) {
        let plain = open(space);
        let id = begin(&plain, "s", talk(60));
        until(&plain, &id, 4_000);
        let request = WindowRequest { budget: 5_000, ..WindowRequest::default() };
        plain.context().window(&id, &request).unwrap();
        let before = without_overviews(plain.context().summaries(&id).unwrap());
        assert_all_at_level(&before, SummaryLevel::Extract);
        let llm = Scripted::good();
        let oneiro = open_llm(space, Arc::clone(&llm) as _);
        let done = oneiro.context().compact(&id, &CompactRequest { until: Some(4_000), redo: true }).unwrap();
        assert_eq!(done.redone.len(), before.len());
        assert!(done.tokens_after <= done.tokens_before);
        let after = without_overviews(oneiro.context().summaries(&id).unwrap());
        assert_all_at_level(&after, SummaryLevel::Model);
        for (old, new) in before.iter().zip(&after) {
            assert_eq!((&old.id, old.first_message, old.last_message), (&new.id, new.first_message, new.last_message));
            assert!(new.tokens <= old.tokens);
        }
        let window = oneiro.context().window(&id, &request).unwrap();
        let broke = window.broke.expect("a redone summary changes the beginning");
        assert!(broke.reason == BreakReason::Compaction && broke.tokens > 0);
        assert_context_rules(&oneiro, &id);
        // Nothing is left to redo: nobody is asked.
        let calls = llm.calls();
        assert!(oneiro.context().compact(&id, &CompactRequest { until: Some(4_000), redo: true }).unwrap().redone.is_empty());
        assert_eq!(llm.calls(), calls);
    }

    fn prompts_can_be_replaced(space) {
        let llm = Scripted::good();
        let mine = BTreeMap::from([("leaf".to_owned(), "MINE, in {target} tokens".to_owned())]);
        let prompts = Prompts::replacing(mine).unwrap();
        let options = Options { llm: Some(Arc::clone(&llm) as _), prompts, ..Options::default() };
        let oneiro = open_options(space, options);
        let id = begin(&oneiro, "s", talk(60));
        until(&oneiro, &id, 4_000);
        let asked = llm.asked.lock().unwrap();
        let leaves: Vec<&Asked> = asked.iter().filter(|a| a.purpose == "leaf").collect();
        assert!(!leaves.is_empty() && leaves.iter().all(|a| a.instructions.starts_with("MINE, in ")));
        assert!(!leaves[0].instructions.contains("{target}"));
    }

    // What is derived or leaves carries no secrets.
    fn secrets_are_kept_from_models_and_from_summaries(space) {
        let key: Vec<String> = (0..12).map(|at| format!("MIIEpAIBAAKCAQEA7Xb{at:02}Qw9zPqRsTuVwXyZ0123456789abcdefghijk")).collect();
        let pem = format!("-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----", key.join("\n"));
        let mut said = Vec::new();
        for at in 0..40 {
            said.push(user(format!(
                "We decided on 2024-05-{:02} to use it. The password: hunter{at}secret99 works. {}\n{pem}\n{}",
                at % 28 + 1, prose(at, 40), prose(at + 70, 40)
            )));
            said.push(agent(format!("Stored sk-abcdefghijklmnop{at:04} in config/keys_{at}.toml. {}", prose(at + 200, 40))));
        }
        let llm = Scripted::good();
        for with_model in [false, true] {
            let space = &TestSpace::new(space.backend);
            let options = Options { llm: with_model.then(|| Arc::clone(&llm) as _), ..Options::default() };
            let oneiro = open_options(space, options);
            let id = begin(&oneiro, "s", said.clone());
            until(&oneiro, &id, 5_000);
            let digest = oneiro.context().digest(&id, "what is the password and the private key").unwrap();
            let mut derived: Vec<String> = oneiro.context().summaries(&id).unwrap().into_iter().map(|s| s.content).collect();
            derived.push(digest.content);
            derived.extend(llm.asked.lock().unwrap().iter().map(|asked| asked.input.clone()));
            for text in derived {
                for secret in ["secret99", "sk-abcdefghijklmnop", "MIIEpAIBAAKCAQEA"] {
                    let at = text.find(secret).map(|at| text[at.saturating_sub(60)..].chars().take(120).collect::<String>());
                    assert_eq!(at, None, "{secret} with a model: {with_model}");
                }
            }
        }
    }

    fn characters_that_no_engine_holds_do_not_stop_it(space) {
        let odd = "nul \u{0} bell \u{7} bom \u{feff} rtl \u{202e} zero \u{200b} \u{fffe} lone \u{d7ff} 👩‍👩‍👧‍👦 e\u{301}";
        let said = (0..60).flat_map(|at| [user(format!("{at} {odd} {}", prose(at, 100))), agent(odd.repeat(5))]);
        let echo = Scripted::new(|_, asked| Ok(format!("{} \u{0} \u{1b}[31m", gist(asked))));
        let oneiro = open_llm(space, echo);
        let id = begin(&oneiro, "s", said.collect());
        assert_eq!(until(&oneiro, &id, 3_000).stopped, "under");
        oneiro.context().digest(&id, "nul \u{0}").unwrap();
        assert_context_rules(&oneiro, &id);
        if space.backend == Backend::Sqlite {
            assert_eq!(by_hand(&oneiro, "SELECT COUNT(*) FROM summaries WHERE instr(content, char(0)) > 0"), [0]);
        }
    }
}
