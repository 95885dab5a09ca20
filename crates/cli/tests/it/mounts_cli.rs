//! Mounted folders on the command line and over HTTP.

use crate::serve_support::{Server, eventually};
use crate::support::{json, person_token, run};
use ::oneiro::TokenRole;
use oneiro_testkit::on_both_backends;
use serde_json::{Value, json};

on_both_backends! {
    fn a_command_without_a_person_mounts_nothing(space) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        json(space, &["note", "add", "MEMORY.md", "likes tea"]);
        let refused = run(space, &["note", "mount", path]);
        assert_eq!(refused.code, 6, "{}", refused.err);
        assert!(refused.err.contains("only a person may mount a folder"), "{}", refused.err);
        assert!(std::fs::read_dir(path).unwrap().next().is_none());
        let wrong = run(space, &["note", "mount", path, "--layout", "flat"]);
        assert_eq!(wrong.code, 2, "{}", wrong.err);
        assert!(run(space, &["note", "mounts"]).out.contains("No folder is mounted."));
        assert_eq!(json(space, &["note", "sync"])["items"], json!([]));
        let refused = run(space, &["note", "unmount", path]);
        assert!(refused.err.contains("only a person may unmount a folder"), "{}", refused.err);
    }

    fn a_folder_is_mounted_over_http_watched_by_the_server_and_seen_by_commands(space) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        let file = folder.path().join("memories/MEMORY.md");
        let token = person_token(space, space.space.as_str(), TokenRole::Admin);
        let server = Server::start(space, &[]);
        let call = |method: &str, path: &str, body: Option<Value>| {
            server.client().token(&token).call(method, path, body.as_ref()).unwrap()
        };
        let request = json!({"path": path, "layout": "hermes"});
        let agent = server.client().call("POST", "/v1/mounts", Some(&request)).unwrap();
        assert_eq!(agent.status, 403, "{}", agent.text());
        let mounted = call("POST", "/v1/mounts", Some(request)).is(200);
        assert_eq!((&mounted["state"], &mounted["layout"]), (&"active".into(), &"hermes".into()));
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "likes tea").unwrap();
        eventually("the server takes the file in", || {
            call("GET", "/v1/revisions", None).is(200)["items"][0]["author_kind"] == "file"
        });
        // A command in another process sees the folder too.
        run(space, &["note", "add", "MEMORY.md", "likes rain"]);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "likes tea\n§\nlikes rain");
        std::fs::write(&file, "likes rain").unwrap();
        assert_eq!(run(space, &["note", "show", "MEMORY.md"]).out, "likes rain");
        let listed = call("GET", "/v1/mounts", None).is(200);
        assert_eq!((&listed["items"][0]["files"], &listed["items"][0]["problems"]), (&1.into(), &json!([])));
        assert!(run(space, &["note", "mounts"]).out.contains("active"));
        call("POST", "/v1/mounts/sync", None).is(200);
        let id = mounted["id"].as_str().unwrap();
        assert_eq!(call("DELETE", &format!("/v1/mounts?path={id}"), None).is(200)["id"], *id);
        assert!(file.exists() && !folder.path().join(".oneiro").exists());
    }
}
