//! What was shown last, and where each line came from.

use crate::memories::{person, remember, statement};
use crate::packs::pack;
use crate::support::{begin, id, open, say};
use oneiro::{
    ErrorKind, ListPacks, NewMemory, PackKind, PackRequest, ProjectRequest, StateRequest, WhyKind,
    WhyPackRequest,
};
use oneiro_testkit::on_both_backends;

const PROMPT: &str = "Which port does the staging server use?";

on_both_backends! {
    fn the_last_pack_of_a_session_is_explained_line_by_line(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        begin(&oneiro, "earlier");
        let said = say(&oneiro, "earlier", &["The staging server uses port 8443."]);
        let quoted = NewMemory {
            quote: Some("The staging server uses port 8443".into()),
            ..statement("The staging server uses port 8443")
        };
        let memory = remember(&ann, quoted).memory;
        let asking = |session: &str| PackRequest {
            session: Some(id(session)), ..PackRequest::new(PROMPT)
        };
        let first = pack(&oneiro, &asking("one"));
        pack(&oneiro, &asking("two"));
        let of_one = WhyPackRequest { session: Some(id("one")), ..WhyPackRequest::default() };
        let why = oneiro.packs().why(&of_one).unwrap();
        assert_eq!(why.pack.unwrap().id, first.id);
        let line = why.lines.iter().find(|line| line.item.kind == PackKind::Memory).unwrap();
        assert_eq!((line.why.kind, line.why.id.as_str()), (WhyKind::Memory, memory.id.as_str()));
        let quote = line.why.children.iter().find(|node| node.kind == WhyKind::Quote).unwrap();
        assert_eq!(quote.children[0].kind, WhyKind::Message, "{said:?}: {quote:?}");
        // A pack without lines is not what the last answer was shown.
        pack(&oneiro, &PackRequest { session: Some(id("one")), ..PackRequest::new("/compact") });
        assert_eq!(oneiro.packs().why(&of_one).unwrap().pack.unwrap().id, first.id);
        let of_nobody = WhyPackRequest { session: Some(id("three")), ..WhyPackRequest::default() };
        assert!(oneiro.packs().why(&of_nobody).unwrap().pack.is_none());
        let of_none = WhyPackRequest { pack: Some("pck_nosuch".into()), ..WhyPackRequest::default() };
        assert_eq!(oneiro.packs().why(&of_none).unwrap_err().kind(), ErrorKind::NotFound);
    }

    fn facts_of_a_project_are_explained_by_who_set_them(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        let project = ProjectRequest { name: "atlas".into(), aliases: vec!["map".into()], root: None };
        ann.projects().register(project).unwrap();
        let state: StateRequest =
            serde_json::from_value(serde_json::json!({"key": "status", "value": "in beta"})).unwrap();
        ann.projects().set_state("atlas", state).unwrap();
        pack(&oneiro, &PackRequest { project: Some("map".into()), ..PackRequest::starting() });
        let of_project = WhyPackRequest { project: Some("map".into()), ..WhyPackRequest::default() };
        let why = oneiro.packs().why(&of_project).unwrap();
        assert_eq!(why.lines[0].why.kind, WhyKind::State);
        assert_eq!(why.lines[0].why.children[0].kind, WhyKind::Operation);
        let other = WhyPackRequest { project: Some("beacon".into()), ..WhyPackRequest::default() };
        assert!(oneiro.packs().why(&other).unwrap().pack.is_none());
    }

    fn packs_are_listed_newest_first_with_those_that_stayed_empty(space) {
        let oneiro = open(space);
        remember(&person(&oneiro), statement("The staging server uses port 8443"));
        let asking = |session: &str, prompt: &str| {
            pack(&oneiro, &PackRequest { session: Some(id(session)), ..PackRequest::new(prompt) })
        };
        let (shown, empty) = (asking("one", PROMPT), asking("one", "/compact"));
        let other = asking("two", PROMPT);
        let list = |request: ListPacks| {
            let found = oneiro.packs().list(&request).unwrap();
            found.into_iter().map(|pack| (pack.id, pack.lines)).collect::<Vec<_>>()
        };
        assert_eq!(
            list(ListPacks::default()),
            [(other.id, 1), (empty.id.clone(), 0), (shown.id.clone(), 1)]
        );
        let of_one = ListPacks { session: Some(id("one")), ..ListPacks::default() };
        assert_eq!(list(of_one.clone()), [(empty.id.clone(), 0), (shown.id, 1)]);
        assert_eq!(list(ListPacks { limit: 1, ..of_one }), [(empty.id, 0)]);
    }
}
