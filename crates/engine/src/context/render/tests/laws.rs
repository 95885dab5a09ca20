//! What holds of every conversation.

use super::super::super::form::{Form, cost, short};
use super::super::super::pairs::{Steps, Ties};
use super::generated::{conversation, pairs_of};
use super::rendered;
use super::valid::{assert_anthropic_valid, assert_openai_valid};
use oneiro_model::WindowFormat::{self, Anthropic, Openai, Text};
use oneiro_model::{Message, MessageId};
use oneiro_store::costs::Begins;
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;

/// What must not change when messages are added: the bytes of each message, or of each block.
fn pieces(messages: &[(Message, Form)], format: WindowFormat) -> Vec<String> {
    let rendered = rendered(messages, format).messages;
    let blocks = |message: &Value| match format {
        Anthropic => {
            let blocks = message["content"].as_array().unwrap();
            blocks.iter().map(|block| format!("{}{block}", message["role"])).collect()
        }
        _ => vec![message.to_string()],
    };
    rendered.iter().flat_map(blocks).collect()
}

/// The tokens of all words in a message as it is sent.
fn words(value: &Value) -> usize {
    let bytes_or_structure = ["type", "role", "data", "url", "signature"];
    match value {
        Value::String(text) => oneiro_count::tokens(text),
        Value::Array(items) => items.iter().map(words).sum(),
        Value::Object(fields) => {
            let said =
                fields.iter().filter(|(name, _)| !bytes_or_structure.contains(&name.as_str()));
            said.map(|(_, value)| words(value)).sum()
        }
        _ => 0,
    }
}

proptest! {
    #![proptest_config(oneiro_testkit::proptest_config(2_000))]

    #[test]
    fn every_window_is_a_valid_request(made in conversation(14)) {
        let messages = pairs_of(&made);
        let openai = rendered(&messages, Openai);
        prop_assert_eq!(&openai.messages[0]["content"], "be brief");
        assert_openai_valid(&openai.messages);
        let anthropic = rendered(&messages, Anthropic);
        prop_assert!(anthropic.system.as_ref().is_some_and(|text| text.starts_with("be brief")));
        assert_anthropic_valid(&anthropic.messages);
        let text = rendered(&messages, Text);
        prop_assert!(text.messages.iter().all(|line| line.as_str().is_some_and(|l| !l.is_empty())));
        for other in [&anthropic, &text] {
            prop_assert_eq!(&openai.pending, &other.pending);
            prop_assert_eq!(&openai.unpaired, &other.unpaired);
            prop_assert_eq!(openai.placeholders, other.placeholders);
        }
    }
}

proptest! {
    #![proptest_config(oneiro_testkit::proptest_config(1_000))]

    #[test]
    fn more_messages_only_add(made in conversation(10)) {
        let messages = pairs_of(&made);
        // A late result may change what was shown; what was said before it came is held to the law.
        let is_late = |upto: &usize| rendered(&messages[..*upto], Text).late;
        let upto = (0..=messages.len()).rev().find(|upto| is_late(upto) == 0).unwrap_or_default();
        for format in [Openai, Anthropic, Text] {
            let whole = pieces(&messages[..upto], format);
            for fewer in 0..upto {
                let first = pieces(&messages[..fewer], format);
                prop_assert!(
                    whole.starts_with(&first),
                    "{format:?}, {fewer} messages: {first:#?} does not begin {whole:#?}"
                );
            }
        }
    }

    #[test]
    fn a_window_costs_what_its_messages_cost(made in conversation(8)) {
        let messages = pairs_of(&made);
        let paid: usize = messages.iter().map(|(message, form)| cost(message, *form)).sum();
        for format in [Openai, Anthropic, Text] {
            let window = rendered(&messages, format);
            let system = window.system.as_deref().map_or(0, oneiro_count::tokens);
            let sent: usize = system + window.messages.iter().map(words).sum::<usize>();
            // The system text, the opening that a provider demands, and results nobody recorded.
            let mut unpaid = 20 + 12 * window.placeholders;
            // A transcript writes time and speaker out; for a provider they are a few tokens.
            if format == Text {
                unpaid += 14 * window.messages.len();
            }
            prop_assert!(sent <= paid + unpaid, "{format:?}: {sent} sent, {paid} paid");
        }
    }

    #[test]
    fn every_word_is_shown_once(made in conversation(12)) {
        for format in [Openai, Anthropic, Text] {
            let window = rendered(&pairs_of(&made), format);
            let shown = format!("{}\n{}", window.system.clone().unwrap_or_default(), window.text());
            for one in &made {
                let id = one.message.id;
                for word in &one.said {
                    let want = usize::from(!window.pending.contains(&id));
                    prop_assert_eq!(shown.matches(word.as_str()).count(), want, "{}", word);
                }
                for word in &one.answered {
                    let count = shown.matches(word.as_str()).count();
                    let is_excused = window.pending.contains(&id) || window.unpaired.contains(&id);
                    prop_assert!(count == 1 || (count == 0 && is_excused), "{} {}", word, count);
                }
            }
        }
    }

    #[test]
    fn a_window_may_begin_at_any_step(made in conversation(12)) {
        let messages = pairs_of(&made);
        let whole = rendered(&messages, Openai);
        prop_assume!(whole.late == 0);
        let known: BTreeSet<MessageId> = whole.unpaired.iter().copied().collect();
        let mut steps = Steps::default();
        for at in 0..messages.len() {
            if steps.next(&Ties::of(&messages[at].0)) == Begins::Nothing {
                continue;
            }
            let window = rendered(&messages[at..], Openai);
            prop_assert!(window.unpaired.iter().all(|id| known.contains(id)), "from {}", at);
            prop_assert!(window.placeholders <= whole.placeholders);
        }
    }

    #[test]
    fn short_is_no_dearer_and_short_once(made in conversation(3)) {
        for one in made {
            let full = cost(&one.message, Form::Full);
            prop_assert!(cost(&one.message, Form::Short) <= full);
            let cut = short(&one.message).into_owned();
            prop_assert_eq!(&short(&cut).body, &cut.body);
            let before = Ties::of(&one.message);
            let after = Ties::of(&cut);
            prop_assert_eq!((before.calls, before.results), (after.calls, after.results));
        }
    }
}
