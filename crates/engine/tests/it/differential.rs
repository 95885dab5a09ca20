//! One seeded scenario, replayed on both engines, answers the same and leaves the same.

use crate::support::{Fixed, agent, assert_sound, dump, id, new, open, user};
use oneiro::{
    BranchRequest, Ending, ErrorKind, Lineage, ListOrder, ListSessions, MessageId, NewMessage,
    NewSession, PruneRequest, Result, SessionPatch, Timestamp, Usage, UsageKey,
};
use oneiro_testkit::{Backend, TestSpace, awkward_messages, words};
use serde_json::json;

/// Numbers that look random and are the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    fn session(&mut self) -> String {
        ["a", "b", "c", "d", "ä", "Z", "b b", "cron:x"][self.roll(8) as usize].to_owned()
    }
}

/// One step; the answer as text, or the kind of the error.
fn step(oneiro: &Fixed, dice: &mut Dice) -> Result<String, ErrorKind> {
    let name = id(&dice.session());
    let message = MessageId(dice.roll(150) as i64);
    let text = words(dice.roll(50), 1 + dice.roll(8) as usize);
    let answer = match dice.roll(18) {
        0..=2 => {
            let kinds = [Lineage::Continuation, Lineage::Branch, Lineage::Delegate, Lineage::Reset];
            let lineage = kinds[dice.roll(4) as usize];
            let parent = (dice.roll(2) == 0).then(|| id(&dice.session()));
            let title = (dice.roll(2) == 0).then(|| format!("t{}", dice.roll(4)));
            let session = NewSession {
                title,
                lineage: parent.as_ref().map(|_| lineage),
                parent_id: parent,
                system_prompt: (dice.roll(2) == 0).then(|| text.clone()),
                ..new(name.as_str())
            };
            oneiro.sessions().create(session).map(|session| json!(session).to_string())
        }
        3..=6 => {
            let awkward = awkward_messages();
            let count = 1 + dice.roll(5);
            let messages = (0..count).map(|_| match dice.roll(4) {
                0 => NewMessage::from_json(awkward[dice.roll(11) as usize].clone()).unwrap(),
                1 => agent(&text),
                2 => user(&text).external_id(format!("e{}", dice.roll(9))),
                _ => user(&text),
            });
            let messages = messages.collect();
            oneiro.messages().append(&name, messages).map(|appended| json!(appended).to_string())
        }
        7 => oneiro
            .sessions()
            .rewind(&name, message.into())
            .map(|rewound| json!(rewound).to_string()),
        8 => oneiro
            .sessions()
            .restore(&name, oneiro::RestoreRequest { all: dice.roll(2) == 0 })
            .map(|done| done.restored.to_string()),
        9 => oneiro.host().compact_messages(&name, message).map(|count| count.to_string()),
        10 => {
            let at = (dice.roll(2) == 0).then_some(message);
            let request = BranchRequest {
                at: at.map(Into::into),
                id: Some(id(&dice.session())),
                title: None,
            };
            oneiro.sessions().branch(&name, request).map(|session| json!(session).to_string())
        }
        11 => {
            let used = Usage { input_tokens: dice.roll(99) as i64, ..Usage::default() };
            let key = UsageKey { model: format!("m{}", dice.roll(3)), ..UsageKey::default() };
            oneiro
                .sessions()
                .add_usage(&name, key, used)
                .map(|session| session.input_tokens.to_string())
        }
        12 => {
            let ending = Ending::new(["done", "compression"][dice.roll(2) as usize]).unwrap();
            oneiro.sessions().end(&name, ending).map(|session| json!(session).to_string())
        }
        13 => {
            let patch = SessionPatch {
                title: Some(Some(format!("t{}", dice.roll(6)))),
                archived: (dice.roll(3) == 0).then_some(true),
                ..SessionPatch::default()
            };
            oneiro.sessions().change(&name, patch).map(|session| json!(session).to_string())
        }
        14 => oneiro.sessions().reopen(&name).map(|session| json!(session).to_string()),
        15 => oneiro.sessions().delete(&name).map(|deleted| json!(deleted).to_string()),
        16 => {
            let patterns = [json!([]), json!(["cron:*"]), json!(["b*"])];
            let value = patterns[dice.roll(3) as usize].clone();
            oneiro
                .settings()
                .set("stateless_session_patterns", Some(value))
                .map(|set| format!("{set:?}"))
        }
        _ => {
            let request = PruneRequest {
                ended_before: Timestamp::from_micros(i64::MAX),
                source: None,
                project: None,
                user_id: None,
                model: None,
                title: Some(format!("t{}", dice.roll(6))),
                end_reason: None,
                min_messages: None,
                max_messages: None,
                archived: None,
                dry_run: dice.roll(2) == 0,
            };
            oneiro.sessions().prune(request).map(|pruned| json!(pruned).to_string())
        }
    };
    answer.map_err(|error| error.kind())
}

/// What every list shows.
fn lists(oneiro: &Fixed) -> String {
    let mut lists = Vec::new();
    for (all, order) in
        [(true, ListOrder::Active), (false, ListOrder::Active), (false, ListOrder::Started)]
    {
        let request = ListSessions {
            all,
            order,
            archived: oneiro::ArchivedFilter::Any,
            ..ListSessions::default()
        };
        lists.push(json!(oneiro.sessions().list(&request).unwrap()));
    }
    json!(lists).to_string()
}

#[test]
fn a_seeded_scenario_has_the_same_results_and_state_on_both_engines() {
    for seed in [0x1234_5678_9ABC_DEF1, 42, 7_777_777] {
        let spaces = [TestSpace::new(Backend::Sqlite), TestSpace::new(Backend::Postgres)];
        let [here, there] = [open(&spaces[0]), open(&spaces[1])];
        let (mut one, mut two) = (Dice(seed), Dice(seed));
        let mut good = 0;
        for turn in 0..200 {
            here.clock.set(turn / 3);
            there.clock.set(turn / 3);
            let answers = (step(&here, &mut one), step(&there, &mut two));
            assert_eq!(answers.0, answers.1, "seed {seed}, step {turn}");
            good += usize::from(answers.0.is_ok());
        }
        assert!(good > 80, "only {good} steps did something");
        assert_eq!(dump(&here), dump(&there), "seed {seed}");
        assert_eq!(lists(&here), lists(&there), "seed {seed}");
        assert_sound(&here);
        assert_sound(&there);
    }
}
