//! Conversations of every kind, in every dialect, with every fault that hosts make. Each word in
//! them is unique, so that a test can look for it.

use super::super::super::form::Form;
use super::super::super::samples::message;
use oneiro_model::Message;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A message, and the words in it that a window must show.
#[derive(Debug, Clone)]
pub(super) struct Made {
    pub message: Message,
    pub form: Form,
    /// In texts.
    pub said: Vec<String>,
    /// In results of tools.
    pub answered: Vec<String>,
}

pub(super) fn pairs_of(made: &[Made]) -> Vec<(Message, Form)> {
    made.iter().map(|made| (made.message.clone(), made.form)).collect()
}

/// What a message is made of: its kind, the ids in it, a choice among variants, and its form.
type Seed = (u8, Vec<u8>, u8, bool);

/// Conversations of up to this many messages.
pub(super) fn conversation(most: usize) -> impl Strategy<Value = Vec<Made>> {
    let seed = (0..19_u8, prop::collection::vec(0..6_u8, 1..4), any::<u8>(), any::<bool>());
    prop::collection::vec(seed, 0..most).prop_map(|seeds| {
        seeds.iter().enumerate().map(|(at, seed)| made(at as i64 + 1, seed)).collect()
    })
}

fn call_id(number: u8) -> Value {
    match number {
        0 => json!("call_0"),
        1 => json!("call_1"),
        2 => json!("a.b/c|d"),
        3 => json!("a_b_c_d"),
        4 => Value::Null,
        _ => json!(7),
    }
}

fn made(at: i64, (kind, ids, variant, is_short): &Seed) -> Made {
    let word = |place: usize| format!("w{at}x{place}.");
    let each = |one: &dyn Fn(usize, Value) -> Value| -> Vec<Value> {
        ids.iter().enumerate().map(|(place, id)| one(place, call_id(*id))).collect()
    };
    let results = each(&|place, id| {
        let text = json!({"type": "text", "text": word(place)});
        let picture = json!({"type": "image", "source":
            {"type": "base64", "media_type": "image/png", "data": "iVBORw0K"}});
        let content = match variant % 4 {
            0 => json!(word(place)),
            1 => json!([text]),
            2 => json!([text, picture]),
            _ => json!([picture, text, {"type": "text", "text": " "}]),
        };
        json!({"type": "tool_result", "tool_use_id": id, "content": content,
            "is_error": variant % 3 == 0})
    });
    let openai_calls = each(&|place, id| {
        let arguments = match variant % 5 {
            0 => json!("{\"path\":\"a\"}"),
            1 => json!("not json"),
            2 => json!(""),
            3 => json!({"path": "a"}),
            _ => json!("[1]"),
        };
        let name = ["ls", "a.b c", ""][place % 3];
        json!({"id": id, "type": "function",
            "function": {"name": name, "arguments": arguments}})
    });
    let blocks =
        each(&|_, id| json!({"type": "tool_use", "id": id, "name": "ls", "input": {"a": 1}}));
    let thinking = match variant % 3 {
        0 => json!({"type": "thinking", "thinking": "hm", "signature": "sig", "at": 1}),
        1 => json!({"type": "thinking", "thinking": "hm"}),
        _ => json!({"type": "redacted_thinking", "data": "secret"}),
    };
    let (first, second) = (word(0), word(1));
    let two = vec![first.clone(), second.clone()];
    let one = vec![first.clone()];
    let text = json!({"type": "text", "text": first});
    let all: Vec<String> = (0..ids.len()).map(word).collect();
    let extra = format!("w{at}x9.");
    let (role, body, said, answered) = match kind {
        0 => ("user", json!({"content": first, "at": 1, "trust": "owner"}), one, vec![]),
        1 => (
            "user",
            json!({"content": [text, {"type": "image_url", "image_url":
                {"url": "data:image/png;base64,iVBORw0K"}}, {"type": "text", "text": second}]}),
            two,
            vec![],
        ),
        2 => (
            "user",
            json!({"content": [{"type": "image", "source": {"type": "url", "url": "http://a.b/c"}},
                text, {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}]}),
            one,
            vec![],
        ),
        3 => ("user", json!({"content": results}), vec![], all),
        4 => {
            let mut blocks = results;
            blocks.push(json!({"type": "text", "text": extra}));
            ("user", json!({"content": blocks}), vec![extra], all)
        }
        5 => ("system", json!({"content": first}), one, vec![]),
        6 => ("developer", json!({"content": [text]}), one, vec![]),
        7 => ("assistant", json!({"content": first, "reasoning": "hm"}), one, vec![]),
        8 => ("assistant", json!({"content": null, "tool_calls": openai_calls}), vec![], vec![]),
        9 => ("assistant", json!({"content": first, "tool_calls": openai_calls}), one, vec![]),
        10 => {
            let mut content = vec![thinking, text];
            content.extend(blocks);
            content.push(json!({"type": "text", "text": second}));
            ("assistant", json!({"content": content}), two, vec![])
        }
        11 => ("assistant", json!({"content": blocks}), vec![], vec![]),
        12 => {
            let id = call_id(ids[0]);
            ("tool", json!({"tool_call_id": id, "content": results[0]["content"]}), vec![], one)
        }
        13 => ("tool", json!({"tool_call_id": call_id(ids[0])}), vec![], vec![]),
        14 => ("observer", json!({"content": first, "name": "Ann Lee"}), one, vec![]),
        15 => ("assistant", json!({"content": [thinking]}), vec![], vec![]),
        16 => ("user", json!({"content": " "}), vec![], vec![]),
        17 => {
            let answer = json!({"type": "web_search_tool_result", "tool_use_id": "s",
                "content": first});
            let call = json!({"type": "server_tool_use", "id": "s", "name": "web", "input": {}});
            let content = json!([call, answer, {"type": "text", "text": second}]);
            ("assistant", json!({"content": content}), vec![second], one)
        }
        _ => match variant % 6 {
            0 => ("user", json!({"content": 5}), vec![], vec![]),
            1 => ("user", json!({"content": {"odd": first}}), one, vec![]),
            2 => ("assistant", json!({"content": first, "tool_calls": "ls"}), one, vec![]),
            3 => ("assistant", json!({"tool_calls": [7, {}, {"name": 5}]}), vec![], vec![]),
            4 => ("ユーザー", json!({"content": [first]}), one, vec![]),
            _ => ("assistant", json!({"content": [{}, {"type": "image"}, null]}), vec![], vec![]),
        },
    };
    let form = if *is_short { Form::Short } else { Form::Full };
    Made { message: message(at, role, body), form, said, answered }
}
