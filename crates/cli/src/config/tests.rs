//! What the configuration makes of a file, where no command shows it.

use super::*;

fn load(text: &str) -> Result<Config> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    std::fs::write(&path, text).unwrap();
    Config::load(&Global {
        store: Some("memory.db".to_owned()),
        space: None,
        config: Some(path),
        json: false,
    })
}

#[test]
fn a_model_that_writes_is_off_until_a_server_is_named() {
    for text in ["", "llm_model = \"m\"", "llm_url = \"none\"", "llm_url = \"\""] {
        assert!(load(text).unwrap().llm.is_none(), "{text}");
    }
}

#[test]
fn a_model_that_writes_is_asked_as_the_keys_say() {
    let llm = load("llm_url = \"http://localhost:1/v1\"\nllm_model = \"m\"").unwrap().llm.unwrap();
    assert_eq!(
        (llm.server.base_url.as_str(), llm.server.model.as_str()),
        ("http://localhost:1/v1", "m")
    );
    assert_eq!((llm.server.key, llm.server.timeout), (None, Duration::from_secs(60)));
    assert_eq!(llm.limits, Limits::default(), "the defaults of the keys are those of the guard");
    let llm = load(
        "llm_url = \"http://localhost:1/v1\"\nllm_key = \"sk-secret\"\nllm_timeout_s = 5\n\
         llm_calls_per_hour = 0\nllm_tokens_per_hour = \"7\"",
    );
    let llm = llm.unwrap().llm.unwrap();
    assert_eq!((llm.server.model.as_str(), llm.server.key.as_deref()), ("", Some("sk-secret")));
    assert_eq!(
        (llm.server.timeout, llm.server.total_timeout),
        (Duration::from_secs(5), Duration::from_secs(15))
    );
    assert_eq!((llm.limits.calls_per_hour, llm.limits.tokens_per_hour), (0, 7));
}

#[test]
fn prompts_come_from_the_folder_that_the_key_names() {
    assert!(load("").unwrap().prompts(&["leaf"]).unwrap().is_empty());
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("leaf.md"), "Be brief.").unwrap();
    let config = load(&format!("prompts = {:?}", folder.path())).unwrap();
    assert_eq!(config.prompts(&["leaf"]).unwrap()["leaf"], "Be brief.");
    let missing = load("prompts = \"/nonexistent/prompts\"").unwrap().prompts(&["leaf"]);
    assert!(missing.unwrap_err().to_string().contains("/nonexistent/prompts"));
}
