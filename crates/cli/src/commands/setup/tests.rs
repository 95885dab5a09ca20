//! Tests of the changes to other programs' files: what is put in can be taken out again to the
//! byte, whatever the file looks like.

use super::edit::{Change, Original};
use super::prompt::Terminal;
use super::record::{AppliedChange, Record};
use super::{json_text, toml_text, yaml_text};
use proptest::prelude::*;
use serde_json::{Value, json};

fn entry() -> Value {
    json!({"type": "stdio", "command": "/opt/ann's tools/oneiro", "args": ["mcp", "--space", "x"]})
}

const PATH: [&str; 3] = ["tools", "mcp", "oneiro"];

/// The text after a change, which can be taken back from it.
fn applied(text: &str, change: &Change) -> String {
    let new = change.apply(text).unwrap();
    assert_eq!(change.revert(&new).as_deref(), Some(text));
    new
}

fn parsed(text: &str) -> Value {
    let body = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let parsed = jsonc_parser::parse_to_ast(body, &Default::default(), &Default::default());
    parsed.ok().and_then(|parsed| parsed.value).map_or(Value::Null, Value::from)
}

/// Puts the entry in, and holds what setup promises of it.
fn assert_json_edit(text: &str) {
    let before = parsed(text);
    let change = json_text::put(text, &PATH, &entry()).unwrap().unwrap();
    assert_eq!(change.old, "", "something was taken out of {text:?}");
    let new = applied(text, &change);
    let mut after = parsed(&new);
    assert_eq!(after["tools"]["mcp"]["oneiro"], entry(), "{new}");
    // Nothing else changed.
    let none = serde_json::Map::new();
    let was =
        |path: &[&str]| path.iter().try_fold(&before, |value, name| value.get(name)).is_some();
    after["tools"]["mcp"].as_object_mut().unwrap().remove("oneiro");
    if !was(&["tools", "mcp"]) {
        after["tools"].as_object_mut().unwrap().remove("mcp");
    }
    if !was(&["tools"]) {
        after.as_object_mut().unwrap().remove("tools");
    }
    assert_eq!(after.as_object().unwrap_or(&none), before.as_object().unwrap_or(&none), "{new}");
    // Again, it is there; by its meaning, it can be taken out as well.
    assert_eq!(json_text::put(&new, &PATH, &entry()).unwrap(), None);
    let taken = json_text::take(&new, &PATH).unwrap().unwrap().apply(&new).unwrap();
    assert!(parsed(&taken)["tools"]["mcp"].get("oneiro").is_none(), "{taken}");
}

#[test]
fn json_of_odd_forms() {
    for text in [
        "",
        "\n",
        "\u{FEFF}",
        "{}",
        "{ }",
        "{\n}",
        "\u{FEFF}{\r\n}\r\n",
        "{\"a\":1}",
        "{\"a\": 1, \"b\": [1,2,{\"c\":\"}\\\"{\"}]}",
        "{\n\t\"a\": 1\n}\n",
        "{\n    \"a\": 1,\n    \"tools\": {}\n}",
        "{\n  \"tools\": {\n    \"mcp\": {\n      \"x\": {}\n    }\n  },\n  \"z\": null\n}\n",
        "{\"tools\":{\"mcp\":{\"x\":1}}}",
        "  {\"tools\" : {\"mcp\" : { } } }  ",
        "{\"tools\":\n{\"mcp\":\n{\n\n}}}",
        "{\r\n  \"tools\": {\r\n    \"a\": true\r\n  }\r\n}\r\n",
        "{\"\\u0074ools\": {\"mcp\": {}}}",
    ] {
        assert_json_edit(text);
    }
}

#[test]
fn json_with_comments_and_trailing_commas_keeps_them() {
    for text in [
        "// only a comment",
        "// mine\n{}",
        "{ // mine\n}",
        "{ /* mine */ }",
        "{\"a\":1,}",
        "{\n  \"a\": 1, // mine\n}\n",
        "{\n  // above\n  \"a\": 1 // beside\n  // below\n}\n",
        "{\n  \"tools\": {\n    \"mcp\": {\n      \"x\": {}, // mine\n    },\n  },\n}\n",
        "{\n  \"tools\": {\n    \"mcp\": {\n      \"x\": {} /* mine */\n    }\n  }\n}\n",
    ] {
        assert_json_edit(text);
    }
    // What is said beside an entry stays beside it, and is there when ours is taken out again.
    let text = "{\n  \"tools\": {\n    \"mcp\": {\n      \"x\": {} // mine\n    }\n  }\n}\n";
    let new = applied(text, &json_text::put(text, &PATH, &entry()).unwrap().unwrap());
    assert!(new.contains("      \"x\": {} // mine\n"), "{new}");
    let taken = json_text::take(&new, &PATH).unwrap().unwrap().apply(&new).unwrap();
    assert_eq!(taken, text);
    let below = text.replace("{} // mine\n", "{}, // mine\n      \"oneiro\": {} // ours\n");
    let taken = json_text::take(&below, &PATH).unwrap().unwrap().apply(&below).unwrap();
    assert!(taken.contains("// mine\n") && !taken.contains("oneiro"), "{taken}");
}

#[test]
fn json_that_cannot_be_changed_safely_is_left_alone() {
    for text in [
        "{",
        "[]",
        "5",
        "{a: 1}",
        "{'a': 1}",
        "{\"a\": 1 \"b\": 2}",
        "{\"tools\": null}",
        "{\"tools\": []}",
        "{\"tools\": {}, \"tools\": {}}",
        "{\"tools\": {\"mcp\": {\"oneiro\": {\"command\": \"another\"}}}}",
        "{} {}",
    ] {
        assert!(json_text::put(text, &PATH, &entry()).is_err(), "{text}");
    }
}

#[test]
fn a_hook_goes_beside_others_and_out_again() {
    let hook = json!({"hooks": [{"type": "command", "command": "oneiro hook claude-code"}]});
    let is_ours = |element: &Value| *element == hook;
    for text in [
        "",
        "{}",
        "{\"hooks\":{}}",
        "{\"hooks\":{\"Stop\":[]}}",
        "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": []}\n    ]\n  }\n}\n",
        "{\"hooks\":{\"Stop\":[{\"hooks\":[]}, {\"hooks\":[]}],\"x\":1}}",
    ] {
        let place = ["hooks", "Stop"];
        let change = json_text::push(text, &place, &hook, &is_ours).unwrap().unwrap();
        let new = applied(text, &change);
        let list = parsed(&new)["hooks"]["Stop"].as_array().unwrap().clone();
        assert_eq!(list.last(), Some(&hook), "{new}");
        assert_eq!(json_text::push(&new, &place, &hook, &is_ours).unwrap(), None);
        let pulled = json_text::pull(&new, &place, &is_ours).unwrap().unwrap();
        let rest = parsed(&pulled.apply(&new).unwrap())["hooks"]["Stop"].as_array().unwrap().len();
        assert_eq!(rest, list.len() - 1);
    }
    assert!(
        json_text::push("{\"hooks\":{\"Stop\":{}}}", &["hooks", "Stop"], &hook, &is_ours).is_err()
    );
}

#[test]
fn toml_gets_a_table_at_its_end() {
    let place = ("mcp_servers", "oneiro");
    for text in [
        "",
        "\n",
        "a = 1",
        "a = 1\n",
        "a = 1\r\n[b]\r\nc = 2\r\n",
        "# only a comment",
        "[mcp_servers.other]\ncommand = \"x\"\n\n\n",
        "[mcp_servers]\n[[list]]\nx = 1\n",
    ] {
        let change = toml_text::put(text, place, &entry()).unwrap().unwrap();
        let new = applied(text, &change);
        assert_eq!(toml_text::get(&new, place), Some(entry()), "{new}");
        assert_eq!(toml_text::put(&new, place, &entry()).unwrap(), None);
        let taken = toml_text::take(&new, place).unwrap().unwrap().apply(&new).unwrap();
        assert_eq!(toml_text::get(&taken, place), None);
        assert!(taken.starts_with(text), "{taken:?}");
        let later = format!("{new}\n# mine\n[later]\nx = 1\n");
        let taken = toml_text::take(&later, place).unwrap().unwrap().apply(&later).unwrap();
        assert!(taken.ends_with("# mine\n[later]\nx = 1\n"), "{taken}");
    }
    for text in [
        "a = ",
        "mcp_servers = {}",
        "mcp_servers = { other = { command = \"x\" } }",
        "[mcp_servers.oneiro]\ncommand = \"another\"\n",
    ] {
        assert!(toml_text::put(text, place, &entry()).is_err(), "{text}");
    }
}

#[test]
fn yaml_gets_an_entry_where_that_is_safe() {
    let place = ("mcp_servers", "oneiro");
    for text in [
        "",
        "a: 1",
        "a: 1\n",
        "# only a comment\n",
        "mcp_servers:\n  weather:\n    command: x\nlater: 1\n",
        "mcp_servers: # all of them\n    weather:\n        command: x\n",
        "mcp_servers:\r\n  # slow\r\n  weather:\r\n    command: x\r\n",
        "mcp_servers:\nlater: 1\n",
        "text: |\n  mcp_servers:\n    no: 1\n",
    ] {
        let change = yaml_text::put(text, place, &entry()).unwrap().unwrap();
        let new = applied(text, &change);
        assert!(yaml_text::is(&new, place, &entry()), "{new}");
        assert_eq!(yaml_text::put(&new, place, &entry()).unwrap(), None);
        let taken = yaml_text::take(&new, place).unwrap().unwrap().apply(&new).unwrap();
        assert!(!yaml_text::is(&taken, place, &entry()), "{taken}");
    }
    for text in [
        "a: [",
        "mcp_servers: {}\n",
        "mcp_servers: {weather: {command: x}}\n",
        "mcp_servers: []\n",
        "a: 1\n---\nb: 2\n",
        "- a\n- b\n",
        "mcp_servers:\n  oneiro:\n    command: another\n",
    ] {
        assert!(yaml_text::put(text, place, &entry()).is_err(), "{text}");
    }
}

#[test]
fn what_is_neither_yes_nor_no_is_asked_again_once() {
    for (typed, agrees, asked) in [
        ("y\n", true, 1),
        ("Yes\n", true, 1),
        ("n\n", false, 1),
        ("\n", false, 1),
        ("", false, 1),
        ("what?\ny\n", true, 2),
        ("what?\nn\n", false, 2),
        ("what?\nwhy?\ny\n", false, 2),
        ("what?", false, 2),
    ] {
        let (mut input, mut shown) = (typed.as_bytes(), Vec::new());
        let mut terminal = Terminal { input: &mut input, output: &mut shown };
        assert_eq!(terminal.confirm("Change it?").unwrap(), agrees);
        let shown = String::from_utf8(shown).unwrap();
        assert_eq!(shown.matches("Change it? [y/N] ").count(), asked, "{typed:?}");
    }
}

#[test]
fn a_change_is_found_where_others_moved_it_and_never_guessed() {
    let change = Change { at: 1, old: String::new(), new: "XY".into() };
    assert_eq!(change.revert("aXYb").as_deref(), Some("ab"));
    assert_eq!(change.revert("longer aXYb").as_deref(), Some("longer ab"));
    assert_eq!(change.revert("XY and XY"), None);
    assert_eq!(change.revert("nothing"), None);
}

#[test]
fn a_file_that_changed_meanwhile_is_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    for (first, meanwhile) in [(Some("{}"), Some("{ }")), (None, Some("{}")), (Some("{}"), None)] {
        let put = |text: Option<&str>| match text {
            Some(text) => std::fs::write(&path, text).unwrap(),
            None => drop(std::fs::remove_file(&path)),
        };
        put(first);
        let original = Original::read(&path).unwrap();
        put(meanwhile);
        for new in [Some("new"), None] {
            assert_eq!(original.replace(new).unwrap_err().kind(), oneiro::ErrorKind::Conflict);
        }
        assert_eq!(std::fs::read_to_string(&path).ok().as_deref(), meanwhile);
        // Nothing is left beside it either.
        let left = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, usize::from(meanwhile.is_some()));
        put(None);
    }
}

/// JSON documents, laid out in odd ways.
fn documents() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ -~é\\n\"\\\\{}\\[\\],:]{0,8}".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(4, 24, 4, |inner| {
        let name = prop_oneof!["[a-c]{1,2}", Just("mcp".to_owned()), "[\"\\\\{}é]{1,2}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    let object = prop::collection::vec(("[a-d]{1,2}", value.clone()), 0..4);
    let tools = prop_oneof![
        Just(None),
        Just(Some(json!({}))),
        Just(Some(json!({"mcp": {}}))),
        value.prop_map(|other| Some(json!({"mcp": {"other": other}, "b": 1}))),
    ];
    let space = prop::sample::select(vec!["", " ", "\n", "\n  ", "\t", "\r\n\t\t", "\n\n"]);
    (object, tools, prop::collection::vec(space, 7), any::<bool>()).prop_map(
        |(fields, tools, spaces, has_mark)| {
            let mut object: serde_json::Map<String, Value> = fields.into_iter().collect();
            object.extend(tools.map(|tools| ("tools".to_owned(), tools)));
            let mut turn = 0;
            let mut text = if has_mark { "\u{FEFF}".to_owned() } else { String::new() };
            lay_out(&Value::Object(object), &mut text, &mut || {
                turn += 1;
                spaces[turn % spaces.len()]
            });
            text
        },
    )
}

/// Writes JSON with white space from `space` wherever some may stand.
fn lay_out(value: &Value, text: &mut String, space: &mut dyn FnMut() -> &'static str) {
    text.push_str(space());
    match value {
        Value::Object(fields) => {
            text.push('{');
            for (index, (name, value)) in fields.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                text.push_str(space());
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push_str(space());
                text.push(':');
                lay_out(value, text, space);
            }
            text.push_str(space());
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                lay_out(item, text, space);
            }
            text.push_str(space());
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
    text.push_str(space());
}

proptest! {
    #![proptest_config(oneiro_testkit::proptest_config(256))]

    #[test]
    fn json_of_any_form_gets_the_entry_and_loses_it_to_the_byte(text in documents()) {
        assert_json_edit(&text);
    }

    #[test]
    fn no_text_makes_a_change_panic(text in "[\\[\\]{}:,\"\\\\a0 \\n#\\-|=.]{0,24}") {
        let place = ("mcp_servers", "oneiro");
        for change in [
            json_text::put(&text, &PATH, &entry()),
            toml_text::put(&text, place, &entry()),
            yaml_text::put(&text, place, &entry()),
        ].into_iter().flatten().flatten() {
            prop_assert_eq!(change.revert(&change.apply(&text).unwrap()), Some(text.clone()));
        }
    }
}

#[test]
fn an_empty_record_leaves_no_file_and_no_folder_of_ours() {
    let home = tempfile::tempdir().unwrap();
    for (folder, config, is_removed) in
        [("oneiro", None, true), ("oneiro", Some("log = \"info\""), false), ("other", None, false)]
    {
        let folder = home.path().join(config.map_or("plain", |_| "kept")).join(folder);
        let file = folder.join("config.toml");
        let mut record = Record::read(Some(&file)).unwrap();
        record.done.push(AppliedChange {
            agent: "cursor".to_owned(),
            what: "mcp".to_owned(),
            path: "mcp.json".into(),
            created: false,
            changes: Vec::new(),
            value: Value::Null,
        });
        record.write().unwrap();
        assert!(folder.join("setup.json").exists());
        if let Some(config) = config {
            std::fs::write(&file, config).unwrap();
        }
        record.done.clear();
        record.write().unwrap();
        assert_eq!(folder.exists(), !is_removed);
        assert!(!folder.join("setup.json").exists());
    }
}

#[test]
fn line_ends_of_windows_are_kept_and_not_printed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    let text = "{\r\n\t\"mcpServers\": {\r\n\t}\r\n}\r\n";
    std::fs::write(&file, text).unwrap();
    let original = Original::read(&file).unwrap();
    let new = text.replace("{\r\n\t}", "{\r\n\t\t\"oneiro\": 1\r\n\t}");
    let shown = original.diff(Some(&new));
    assert!(shown.contains("+\t\t\"oneiro\": 1\n") && !shown.contains('\r'), "{shown:?}");
    original.replace(Some(&new)).unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), new);
}
