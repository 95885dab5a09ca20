//! Token and cost accounts.

use crate::support::{begin, id, open};
use oneiro::{ErrorKind, Usage, UsageKey};
use oneiro_testkit::on_both_backends;

fn key(model: &str, task: &str) -> UsageKey {
    UsageKey { model: model.into(), task: task.into(), ..UsageKey::default() }
}

const USED: Usage = Usage {
    api_calls: 1,
    input_tokens: 10,
    output_tokens: 20,
    cache_read_tokens: 30,
    cache_write_tokens: 40,
    reasoning_tokens: 50,
    estimated_cost_nanousd: 500_000_000,
    actual_cost_nanousd: 250_000_000,
};

on_both_backends! {
    fn usage_is_added_per_account_and_usage_of_tasks_is_not_in_the_totals(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        oneiro.sessions().add_usage(&id("a"), key("side", "title"), USED).unwrap();
        assert_eq!(oneiro.sessions().find(&id("a")).unwrap().unwrap().model, None);
        oneiro.clock.set(5);
        oneiro.sessions().add_usage(&id("a"), key("m", ""), USED).unwrap();
        oneiro.clock.set(9);
        let session = oneiro.sessions().add_usage(&id("a"), key("m", ""), USED).unwrap();
        assert_eq!((session.api_call_count, session.input_tokens, session.output_tokens), (2, 20, 40));
        assert_eq!((session.cache_read_tokens, session.cache_write_tokens, session.reasoning_tokens), (60, 80, 100));
        assert_eq!((session.estimated_cost_usd, session.actual_cost_usd), (1.0, 0.5));
        assert_eq!(session.model.as_deref(), Some("m"));
        let rows = oneiro.sessions().usage(&id("a")).unwrap();
        let seen: Vec<_> = rows.iter().map(|row| (row.key.model.as_str(), row.key.task.as_str(), row.input_tokens)).collect();
        assert_eq!(seen, [("m", "", 20), ("side", "title", 10)]);
        assert_eq!((rows[0].last_at, rows[0].first_at < rows[0].last_at), (oneiro.now(), true));
    }

    fn setting_totals_replaces_them_and_keeps_the_accounts(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        oneiro.sessions().add_usage(&id("a"), key("m", ""), USED).unwrap();
        let session = oneiro.sessions().set_usage(&id("a"), Usage { input_tokens: 3, ..Usage::default() }).unwrap();
        assert_eq!((session.input_tokens, session.output_tokens, session.api_call_count), (3, 0, 0));
        assert_eq!(oneiro.sessions().usage(&id("a")).unwrap()[0].input_tokens, 10);
    }

    fn amounts_and_keys_that_cannot_be_stored_are_refused(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        for (key, used) in [
            (key("m", ""), Usage { input_tokens: -1, ..USED }),
            (key("m", ""), Usage { input_tokens: i64::MAX, ..USED }),
            (key("m\0", ""), USED),
            (key(&"m".repeat(513), ""), USED),
        ] {
            assert_eq!(oneiro.sessions().add_usage(&id("a"), key, used).unwrap_err().kind(), ErrorKind::Invalid);
        }
        assert!(oneiro.sessions().usage(&id("a")).unwrap().is_empty());
        let long = |letter: &str| letter.repeat(512);
        let key = UsageKey { model: long("a"), provider: long("b"), base_url: long("c"), billing_mode: long("d"), task: long("e") };
        oneiro.sessions().add_usage(&id("a"), key, USED).unwrap();
    }
}
