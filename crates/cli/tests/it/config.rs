//! `config`: precedence, origins, unknown keys, settings of the space.

use crate::support::{config, json, oneiro, run, run_with};
use oneiro_testkit::{Backend, TestSpace};
use serde_json::json as value;

fn space() -> TestSpace {
    TestSpace::new(Backend::Sqlite)
}

#[test]
fn a_flag_wins_over_the_environment_over_the_file_over_the_default() {
    let space = space();
    let origin = |environment: Option<&str>| {
        let mut command = oneiro(&space);
        if let Some(value) = environment {
            command.env("ONEIRO_DURABILITY", value);
        }
        let shown = run_with(command, &["config", "show", "--origin", "--json"], b"").json();
        assert_eq!(shown["store"]["origin"], "flag");
        (shown["durability"]["value"].clone(), shown["durability"]["origin"].clone())
    };
    assert_eq!(origin(None), (value!("full"), value!("default")));
    std::fs::write(config(&space), "# mine\ndurability = \"normal\"\n").unwrap();
    assert_eq!(origin(None), (value!("normal"), value!("file")));
    assert_eq!(origin(Some("full")), (value!("full"), value!("environment")));
}

#[test]
fn set_keeps_comments_and_refuses_nonsense() {
    let space = space();
    std::fs::write(config(&space), "# mine\ndurability = \"full\" # strict\n").unwrap();
    run(&space, &["config", "set", "busy_timeout_ms", "500"]).assert_json_free();
    let text = std::fs::read_to_string(config(&space)).unwrap();
    assert_eq!(text, "# mine\ndurability = \"full\" # strict\nbusy_timeout_ms = 500\n");
    assert_eq!(run(&space, &["config", "get", "busy_timeout_ms"]).out, "500\n");
    run(&space, &["config", "unset", "busy_timeout_ms"]).assert_json_free();
    assert_eq!(run(&space, &["config", "get", "busy_timeout_ms"]).out, "20000\n");
    for args in [
        ["durability", "sometimes"],
        ["busy_timeout_ms", "soon"],
        ["busy_timeout_ms", "99999999999999"],
        ["store", ""],
        ["listen", "here"],
        ["log", "a=b=c"],
        ["space", "No Such"],
        ["llm_timeout_s", "0"],
        ["llm_timeout_s", "3601"],
        ["llm_calls_per_hour", "-1"],
        ["llm_tokens_per_hour", "many"],
    ] {
        assert_eq!(run(&space, &["config", "set", args[0], args[1]]).code, 2);
    }
}

#[test]
fn an_unknown_key_names_the_nearest() {
    let space = space();
    std::fs::write(config(&space), "durabilty = \"full\"\n").unwrap();
    let answer = run(&space, &["stats"]);
    assert_eq!(answer.code, 2);
    assert!(
        answer.err.contains("config.toml: durabilty")
            && answer.err.contains("did you mean durability?"),
        "{}",
        answer.err
    );
    std::fs::write(config(&space), "ignore_session_patterns = []\n").unwrap();
    assert!(run(&space, &["stats"]).err.contains("is a setting of the space"));
    std::fs::write(config(&space), "= broken").unwrap();
    assert_eq!(run(&space, &["stats"]).code, 2);
}

#[test]
fn settings_live_in_the_space() {
    let space = space();
    run(&space, &["config", "set", "ignore_session_patterns", "[\"a:*\"]"]).assert_json_free();
    let shown = json(&space, &["config", "show", "--origin"]);
    assert_eq!(shown["ignore_session_patterns"], value!({"value": ["a:*"], "origin": "space"}));
    for bad in ["a:*", "[1]", "[\"\"]", "{}"] {
        assert_eq!(
            run(&space, &["config", "set", "ignore_session_patterns", bad]).code,
            2,
            "{bad}"
        );
    }
    run(&space, &["config", "unset", "ignore_session_patterns"]).assert_json_free();
    assert_eq!(json(&space, &["config", "get", "ignore_session_patterns"]), value!(["heartbeat"]));
}

#[test]
fn keys_of_servers_are_never_shown() {
    let space = space();
    for name in ["embedder_key", "llm_key"] {
        assert_eq!(run(&space, &["config", "get", name]).out, "none\n");
        let plain = run(&space, &["config", "set", name, "sk-secret"]);
        let set = json(&space, &["config", "set", name, "sk-secret"]);
        assert_eq!(set, value!({name: "***"}));
        let written = std::fs::read_to_string(config(&space)).unwrap();
        assert!(written.contains(&format!("{name} = \"sk-secret\"")), "{written}");
        let variable = format!("ONEIRO_{}", name.to_uppercase());
        let mut command = oneiro(&space);
        command.env(variable, "sk-secret");
        let shown = run_with(command, &["config", "show", "--origin"], b"");
        let got = run(&space, &["config", "get", name]);
        assert_eq!(got.out, "***\n");
        for answer in [plain, shown, got] {
            answer.assert_json_free();
            assert!(!answer.out.contains("sk-secret") && !answer.err.contains("sk-secret"));
        }
        assert_eq!(json(&space, &["config", "unset", name]), value!({name: null}));
    }
}

#[test]
fn numbers_are_written_as_numbers() {
    let space = space();
    for (name, default) in
        [("llm_timeout_s", "60"), ("llm_calls_per_hour", "120"), ("llm_tokens_per_hour", "2000000")]
    {
        assert_eq!(run(&space, &["config", "get", name]).out, format!("{default}\n"));
        run(&space, &["config", "set", name, "7"]).assert_json_free();
        let written = std::fs::read_to_string(config(&space)).unwrap();
        assert!(written.contains(&format!("{name} = 7\n")), "{written}");
        assert_eq!(run(&space, &["config", "get", name]).out, "7\n");
    }
}

#[test]
fn a_model_that_cannot_be_asked_is_told_of_and_done_without() {
    let space = space();
    run(&space, &["session", "new"]);
    for (keys, problem) in [
        ("llm_url = \"localhost:1\"\nllm_model = \"m\"\n", "base_url: is not an http://"),
        ("llm_url = \"http://localhost:1/v1\"\n", "model: is empty"),
    ] {
        std::fs::write(config(&space), format!("{keys}llm_key = \"sk-secret\"\n")).unwrap();
        let answer = run(&space, &["stats"]);
        answer.assert_json_free();
        assert!(answer.err.contains("llm_url is ignored"), "{}", answer.err);
        assert!(answer.err.contains(problem), "{}", answer.err);
        assert!(!answer.err.contains("sk-secret"), "{}", answer.err);
    }
    let keys = "llm_url = \"http://localhost:1/v1\"\nllm_model = \"m\"\n";
    std::fs::write(config(&space), keys).unwrap();
    let answer = run(&space, &["stats"]);
    answer.assert_json_free();
    assert_eq!(answer.err, "", "a server is not asked before there is something to write");
}

impl crate::support::Answer {
    /// The command must have succeeded; what it printed does not matter.
    fn assert_json_free(&self) {
        assert_eq!(self.code, 0, "{}", self.err);
    }
}
