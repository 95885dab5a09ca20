//! Lines that were served are known again, for the session or the client that got them.

use crate::memories::{about, person, remember, statement};
use crate::packs::pack;
use crate::support::{begin, id, open, say};
use oneiro::{ExtractRequest, PackRequest, SearchRequest};
use oneiro_testkit::on_both_backends;

on_both_backends! {
    fn what_a_pack_served_is_known_again_in_its_session_only(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        let seats = remember(&ann, about("Ann", "I prefer window seats on long flights because I sleep better")).memory;
        let meals = remember(&ann, statement("Meals on long flights are ordered two days before the flight")).memory;
        let request = PackRequest {
            session: Some(id("s")), client: Some("claude-code".into()), ..PackRequest::new("which window seats and meals on long flights should be ordered?")
        };
        let made = pack(&oneiro, &request);
        assert_eq!(made.items.len(), 2, "{}", made.text);
        let strip = |session: &str, text: &str| oneiro.packs().without_echoes(Some(&id(session)), None, text).unwrap();
        let (rest, echoed) = strip("s", &format!("{}\nAnd book the hotel too.", made.text));
        assert!(rest.ends_with("And book the hotel too.") && !rest.contains("window"), "{rest}");
        assert_eq!(echoed, [seats.id.clone(), meals.id]);
        let quoted = "You wrote:\n> I prefer window seats on long\n> flights because I sleep better";
        assert_eq!(strip("s", quoted), ("You wrote:".to_owned(), vec![seats.id]));
        assert_eq!(strip("other", quoted), (quoted.to_owned(), vec![]));
        let own = "I prefer window seats on long flights because I like the view";
        assert_eq!(strip("s", own).0, own);
    }

    fn what_a_recall_answered_is_known_again_and_teaches_nothing(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        let flat = remember(&ann, about("Ann", "I live in a small flat beside the harbour of Porto")).memory;
        let found = oneiro.search().run(&SearchRequest::recall("where is the flat?")).unwrap();
        assert_eq!(found.memories.len(), 1);
        oneiro.packs().record_recalled(Some(&id("s")), Some("claude-code"), &found).unwrap();
        oneiro.packs().record_recalled(None, Some("claude-code"), &found).unwrap();
        let line = "I live in a small flat beside the harbour of Porto.";
        for (session, client) in [(Some(id("s")), None), (None, Some("claude-code"))] {
            let (rest, echoed) =
                oneiro.packs().without_echoes(session.as_ref(), client, line).unwrap();
            assert_eq!((rest.as_str(), echoed), ("", vec![flat.id.clone()]));
        }
        person(&oneiro).memories().forget(flat.id.as_str(), None).unwrap();
        begin(&oneiro, "s");
        say(&oneiro, "s", &[line]);
        let learnt = oneiro.learning().extract(&ExtractRequest::default()).unwrap();
        assert_eq!((learnt.active, learnt.candidates, learnt.known), (0, 0, 0), "{learnt:?}");
    }

    fn a_client_without_a_session_is_known_too(space) {
        let oneiro = open(space);
        remember(&person(&oneiro), statement("The gate code of the garden is 4711 since May"));
        let request = PackRequest { client: Some("mcp".into()), ..PackRequest::new("what is the gate code?") };
        assert_eq!(pack(&oneiro, &request).items.len(), 1);
        let strip = |client: &str| {
            oneiro.packs().without_echoes(None, Some(client), "- the gate code of the garden is 4711 since May").unwrap()
        };
        assert_eq!(strip("mcp").0, "");
        assert_eq!(strip("mcp").1.len(), 1);
        assert_eq!(strip("else").1, []);
    }
}
