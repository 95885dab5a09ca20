//! Tokens: shown once, hashed, bound to a space, ended by time or by hand.

use crate::support::{NOW, open};
use oneiro::{
    Actor, ActorKind, ActorSurface, ErrorKind, NewToken, Oneiro, Span, Token, TokenRole, TokenText,
};
use oneiro_testkit::on_both_backends;

fn make(oneiro: &Oneiro, role: TokenRole, seconds: Option<i64>) -> (Token, TokenText) {
    let expires_at = seconds.map(|seconds| NOW.plus(Span::seconds(seconds)));
    let name = Some("laptop".to_owned());
    let token =
        oneiro.tokens().create(NewToken { name, expires_at, ..NewToken::new(role) }).unwrap();
    let text = TokenText::parse(token.token.as_deref().unwrap()).unwrap();
    (token, text)
}

fn assert_refused(oneiro: &Oneiro, text: &TokenText) {
    assert_eq!(oneiro.tokens().authenticate(text).unwrap_err().kind(), ErrorKind::Unauthorized);
}

on_both_backends! {
    fn a_token_is_accepted_until_it_is_revoked(space) {
        let oneiro = open(space);
        assert!(!oneiro.tokens().any().unwrap());
        let (made, text) = make(&oneiro, TokenRole::Write, None);
        let known = oneiro.tokens().authenticate(&text).unwrap();
        assert_eq!((known.id.clone(), known.role, known.token), (made.id.clone(), TokenRole::Write, None));
        assert!(oneiro.tokens().any().unwrap());
        let taken = oneiro.tokens().revoke(&made.id.as_str()[..12]).unwrap();
        assert_eq!(taken.revoked_at, Some(NOW));
        assert_refused(&oneiro, &text);
        assert!(!oneiro.tokens().any().unwrap());
        // Taking it back again changes nothing, and it stays listed.
        oneiro.clock.set(50);
        assert_eq!(oneiro.tokens().revoke(made.id.as_str()).unwrap().revoked_at, Some(NOW));
        let listed = oneiro.tokens().list(None, 10).unwrap().items;
        assert_eq!(listed.len(), 1);
        assert!(listed[0].token.is_none());
    }

    fn a_token_is_refused_after_it_expires(space) {
        let oneiro = open(space);
        let (_, text) = make(&oneiro, TokenRole::Read, Some(60));
        oneiro.clock.set(59);
        assert!(oneiro.tokens().authenticate(&text).is_ok());
        oneiro.clock.set(60);
        assert_refused(&oneiro, &text);
        assert!(!oneiro.tokens().any().unwrap());
        let late = NewToken { expires_at: Some(NOW), ..NewToken::new(TokenRole::Read) };
        assert_eq!(oneiro.tokens().create(late).unwrap_err().field_name(), Some("expires_at"));
    }

    fn a_token_of_another_space_or_with_another_secret_is_refused(space) {
        let oneiro = open(space);
        let (_, text) = make(&oneiro, TokenRole::Admin, None);
        let elsewhere = format!("oneiro_elsewhere_{}", text.secret());
        assert_refused(&oneiro, &TokenText::parse(&elsewhere).unwrap());
        assert_refused(&oneiro, &TokenText::new(text.space().clone(), [9; 32]));
    }

    fn only_a_person_creates_a_token_that_acts_as_a_person(space) {
        let oneiro = open(space);
        let for_person = || NewToken { actor: ActorKind::Person, ..NewToken::new(TokenRole::Admin) };
        for kind in [ActorKind::Agent, ActorKind::Job, ActorKind::Import] {
            let other = oneiro.acting_as(Actor::new(kind, ActorSurface::Cli));
            assert_eq!(other.tokens().create(for_person()).unwrap_err().kind(), ErrorKind::Forbidden);
        }
        let person = oneiro.acting_as(Actor::new(ActorKind::Person, ActorSurface::Cli));
        assert_eq!(person.tokens().create(for_person()).unwrap().actor, ActorKind::Person);
        assert_eq!(oneiro.tokens().list(None, 10).unwrap().items.len(), 1);
    }

    fn only_an_unambiguous_prefix_names_a_token(space) {
        let oneiro = open(space);
        make(&oneiro, TokenRole::Read, None);
        make(&oneiro, TokenRole::Read, None);
        for (id, kind) in [
            ("", ErrorKind::NotFound),
            ("tok_", ErrorKind::NotFound),
            ("tok_zzz", ErrorKind::NotFound),
            ("nonsense", ErrorKind::NotFound),
            ("tok_\u{10ffff}", ErrorKind::NotFound),
        ] {
            assert_eq!(oneiro.tokens().revoke(id).unwrap_err().kind(), kind, "{id}");
        }
        let ids: Vec<String> =
            oneiro.tokens().list(None, 10).unwrap().items.iter().map(|token| token.id.to_string()).collect();
        let shared = ids[0].bytes().zip(ids[1].bytes()).take_while(|(a, b)| a == b).count();
        if shared > "tok_".len() {
            assert_eq!(oneiro.tokens().revoke(&ids[0][..shared]).unwrap_err().kind(), ErrorKind::Conflict);
        }
        let page = oneiro.tokens().list(None, 1).unwrap();
        let rest = oneiro.tokens().list(page.next, 1).unwrap();
        assert_eq!((page.items.len(), rest.items.len(), rest.next), (1, 1, None));
        assert_ne!(page.items[0].id, rest.items[0].id);
    }

    fn the_secret_of_a_token_is_not_stored(space) {
        let oneiro = open(space);
        let (_, text) = make(&oneiro, TokenRole::Admin, None);
        let path = space.folder().join("copy.db");
        oneiro.transfer().backup(&path, &mut |_| {}).unwrap();
        let bytes = std::fs::read(path).unwrap();
        let secret = text.secret().as_bytes();
        assert!(!bytes.windows(secret.len()).any(|window| window == secret));
    }
}
