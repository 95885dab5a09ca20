//! Slots: a host's values, set together, swapped only when as expected, gone with their session.

use crate::support::{begin, id, open, say};
use oneiro::host::SetSlots;
use oneiro::{ErrorKind, SessionPatch, SlotName, SlotSwap};
use oneiro_testkit::on_both_backends;
use serde_json::{Value, json};

fn set(scope: &str, values: &[(&str, Value)]) -> SetSlots {
    let put = |(name, value): &(&str, Value)| ((*name).to_owned(), Some(value.clone()));
    SetSlots {
        scope: scope.into(),
        values: values.iter().map(put).collect(),
        ..SetSlots::default()
    }
}

fn swap(name: &str, expected: Option<Value>, value: Option<Value>) -> SlotSwap {
    SlotSwap { slot: SlotName::new("locks", name).unwrap(), expected, value, session: None }
}

on_both_backends! {
    fn slots_are_set_together_and_replaced_together(space) {
        let oneiro = open(space);
        oneiro.host().set_slots(set("routes", &[("b", json!({"to": "\u{0}x"})), ("a", json!(1))])).unwrap();
        oneiro.host().set_slots(set("other", &[("a", json!("stays"))])).unwrap();
        let names = |scope: &str| -> Vec<String> {
            oneiro.host().slots(scope).unwrap().into_iter().map(|slot| slot.name).collect()
        };
        assert_eq!(names("routes"), ["a", "b"]);
        assert_eq!(oneiro.host().slot_scopes("ro").unwrap(), ["routes"]);
        let held = oneiro.host().slot(&SlotName::new("routes", "b").unwrap()).unwrap().unwrap();
        assert_eq!((held.value, held.updated_at), (json!({"to": "\u{0}x"}), oneiro.now()));
        oneiro.host().set_slots(SetSlots { replace: true, ..set("routes", &[("c", json!(null))]) }).unwrap();
        assert_eq!((names("routes"), names("other")), (vec!["c".to_owned()], vec!["a".to_owned()]));
        let none = SetSlots { values: vec![("c".into(), None)], ..set("routes", &[]) };
        oneiro.host().set_slots(none).unwrap();
        assert!(names("routes").is_empty());
        let nameless = oneiro.host().set_slots(set("", &[("a", json!(1))])).unwrap_err();
        assert_eq!(nameless.field_name(), Some("scope"));
    }

    fn a_swap_changes_a_slot_only_if_it_has_the_expected_value(space) {
        let oneiro = open(space);
        let mine = || Some(json!({"holder": "me"}));
        assert!(oneiro.host().swap_slot(swap("s", None, mine())).unwrap());
        assert!(!oneiro.host().swap_slot(swap("s", None, Some(json!({"holder": "you"})))).unwrap());
        assert!(!oneiro.host().swap_slot(swap("s", Some(json!({"holder": "you"})), None)).unwrap());
        assert!(oneiro.host().swap_slot(swap("s", mine(), None)).unwrap());
        assert!(oneiro.host().slots("locks").unwrap().is_empty());
    }

    fn slots_are_deleted_with_their_session_or_message(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let said = say(&oneiro, "s", &["one", "two"]);
        let of = |name: String| SetSlots { session: Some(id("s")), ..set("exact", &[(&name, json!("zanzibar"))]) };
        for message in &said {
            oneiro.host().set_slots(of(message.to_string())).unwrap();
        }
        oneiro.erase(&oneiro.erase_target(&said[0].to_string()).unwrap()).unwrap();
        assert_eq!(oneiro.host().slots("exact").unwrap().len(), 1);
        oneiro.sessions().delete(&id("s")).unwrap();
        assert!(oneiro.host().slots("exact").unwrap().is_empty());
        let nobody = oneiro.host().set_slots(of("1".into())).unwrap_err();
        assert_eq!(nobody.kind(), ErrorKind::NotFound);
    }

    fn a_session_is_changed_only_if_its_metadata_is_as_expected(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let to = |from: Value, to: &str| SessionPatch {
            metadata: json!({"handoff": to}).as_object().cloned().unwrap(),
            metadata_is: json!({"handoff": from}).as_object().cloned().unwrap(),
            ..SessionPatch::default()
        };
        oneiro.sessions().change(&id("s"), to(Value::Null, "pending")).unwrap();
        let late = oneiro.sessions().change(&id("s"), to(Value::Null, "pending")).unwrap_err();
        assert_eq!(late.kind(), ErrorKind::Conflict);
        let session = oneiro.sessions().change(&id("s"), to(json!("pending"), "running")).unwrap();
        assert_eq!(session.metadata["handoff"], json!("running"));
    }
}
