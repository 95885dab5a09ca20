//! Authentication: whether a request is accepted, for which space and with which role. Requests
//! from other sites and with foreign host names are refused before anything is looked up.

use crate::listen_address::Listen;
use crate::rate_limit::{Buckets, rate_limited};
use crate::recent_tokens::RecentTokens;
use crate::spaces::{Space, Spaces};
use axum::http::{HeaderMap, Uri, header, uri::Authority};
use oneiro::{
    Actor, ActorKind, ActorSurface, Cancel, Error, ErrorKind, Oneiro, Remedy, Result, SpaceName,
    SpaceUse, TokenId, TokenRole, TokenText, bad_token,
};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

/// A cookie of the page.
#[derive(Clone, Copy)]
pub(crate) enum Cookie {
    /// The token of a login.
    Token,
    /// The space that was chosen.
    Space,
}

impl Cookie {
    /// The name of the cookie for requests with these headers. Browsers send cookies to all ports of a
    /// host, so the port is part of the name: several servers on one host must not share them.
    pub(crate) fn name(self, headers: &HeaderMap) -> String {
        let name = match self {
            Cookie::Token => "oneiro_token",
            Cookie::Space => "oneiro_space",
        };
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let authority = host.and_then(|host| host.parse::<Authority>().ok());
        match authority.and_then(|authority| authority.port_u16()) {
            Some(port) => format!("{name}_{port}"),
            None => name.to_owned(),
        }
    }

    fn read(self, headers: &HeaderMap) -> Option<String> {
        let wanted = self.name(headers);
        let cookies = headers.get_all(header::COOKIE).iter();
        let cookies = cookies.filter_map(|value| value.to_str().ok());
        cookies.flat_map(|cookies| cookies.split(';')).find_map(|cookie| {
            let (name, value) = cookie.trim().split_once('=')?;
            (name == wanted && !value.is_empty()).then(|| value.to_owned())
        })
    }
}

/// The header that names the space of a request without a token.
pub(crate) const SPACE_HEADER: &str = "oneiro-space";

/// Failed attempts per address, and per repeated bad token, before the caller has to wait, and how
/// many more are allowed per second. A 256-bit secret cannot be guessed: this limits the load on
/// the store.
const BAD_TOKENS: (f64, f64) = (0.2, 10.0);

/// Configuration of the checks.
#[derive(Debug, Clone, Default)]
pub struct AuthRules {
    /// Additional host names and addresses that requests may use.
    pub allowed_hosts: Vec<String>,
    /// Require a token on loopback, too.
    pub require_token: bool,
    /// Requests per second and token; 0 is no limit.
    pub rate_limit: u32,
}

/// The checks of one server.
pub(crate) struct Auth {
    rules: AuthRules,
    is_loopback: bool,
    /// Names of this machine, beside localhost, in lower case.
    own_names: Vec<String>,
    /// Bad tokens per address. The same bad token counts once, so that a program with an old token
    /// does not block others behind the same proxy.
    strangers: Buckets<IpAddr>,
    /// Repetitions of the same bad token.
    bad_tokens: Buckets<u64>,
    /// Tokens that were recently valid, which are not delayed by failed attempts of others.
    known: RecentTokens,
    requests: Buckets<TokenId>,
}

/// An authenticated caller.
pub(crate) struct Authenticated {
    /// The handle that a request cancels. It is dropped before `space`, so it is never the last
    /// handle of its store, which must be dropped where blocking is allowed.
    handle: Option<Oneiro>,
    pub(crate) space: Arc<Space>,
    /// The space to create if the request succeeds on `space`, which is empty and temporary then: a
    /// request that is refused creates nothing.
    pub(crate) space_to_create: Option<SpaceName>,
    pub(crate) role: TokenRole,
    /// The presented token; long-lived requests check it again.
    pub(crate) token: Option<TokenText>,
    /// The actor to record.
    pub(crate) actor: Actor,
}

/// The credentials of a request.
pub(crate) struct Credentials {
    token: Option<String>,
    space: Option<String>,
    /// The space that was chosen on the page, where the request names none.
    chosen_space: Option<String>,
    peer: IpAddr,
    space_use: SpaceUse,
    /// The surface and the client program.
    surface: ActorSurface,
    client: String,
}

impl Auth {
    pub(crate) fn new(rules: AuthRules, listen: &Listen) -> Auth {
        let rate_limit = f64::from(rules.rate_limit);
        Auth {
            is_loopback: listen.is_loopback(),
            own_names: listen.own_names(),
            strangers: Buckets::new(BAD_TOKENS.0, BAD_TOKENS.1),
            bad_tokens: Buckets::new(BAD_TOKENS.0, BAD_TOKENS.1),
            known: RecentTokens::default(),
            requests: Buckets::new(rate_limit, rate_limit * 2.0),
            rules,
        }
    }

    /// Whether requests without a token are accepted.
    pub(crate) fn is_open(&self) -> bool {
        self.is_loopback && !self.rules.require_token
    }

    /// Refuses requests whose host is not one of ours (DNS rebinding) or that were sent by a page
    /// of another site.
    pub(crate) fn check_site(&self, headers: &HeaderMap, uri: &Uri) -> Result<()> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = match (hosts.next().map(|host| host.to_str()), hosts.next()) {
            (Some(Ok(host)), None) => host,
            _ => return Err(Error::invalid("the request names no host, or several")),
        };
        let authority: Authority =
            host.parse().map_err(|_| Error::invalid("the header Host is not a host"))?;
        // An absolute request line names a host, which is checked as well.
        for host in [Some(authority.host()), uri.host()].into_iter().flatten() {
            if !self.is_own_host(host) {
                return Err(Error::new(
                    ErrorKind::Forbidden,
                    format!("{host:?} is not a name of this server"),
                )
                .remedy("use 127.0.0.1 or localhost, or add the name to allowed_hosts"));
            }
        }
        let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
        let site = origin.to_str().ok().and_then(|origin| {
            origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))
        });
        if site.is_some_and(|site| site.eq_ignore_ascii_case(host)) {
            Ok(())
        } else {
            Err(Error::new(ErrorKind::Forbidden, "another site's page sent this request")
                .remedy("call Oneiro from the program itself; pages of other sites may not"))
        }
    }

    fn is_own_host(&self, host: &str) -> bool {
        let plain = host.trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
        let address: Option<IpAddr> = plain.parse().ok();
        plain == "localhost"
            || plain.ends_with(".localhost")
            || address.is_some_and(|address| address.is_loopback() || !self.is_loopback)
            || self.own_names.contains(&plain)
            || self.rules.allowed_hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(&plain))
    }

    /// Authenticates a caller. Reads the store, so it runs where blocking is allowed.
    pub(crate) fn authenticate(
        &self,
        spaces: &Spaces,
        credentials: &Credentials,
    ) -> Result<Authenticated> {
        let asked = credentials.space.as_deref().or(credentials.chosen_space.as_deref());
        let asked = asked.map(SpaceName::new).transpose()?;
        match &credentials.token {
            Some(token) => self.by_token(spaces, token, (credentials, asked)),
            None if self.is_open() => {
                let name = asked.unwrap_or_else(|| spaces.first().clone());
                let (space, space_to_create) = match spaces.space(&name, SpaceUse::MustExist) {
                    Err(error)
                        if error.kind() == ErrorKind::NotFound
                            && credentials.space_use == SpaceUse::CreateMissing =>
                    {
                        (Arc::new(Space::scratch()?), Some(name))
                    }
                    opened => (opened?, None),
                };
                let (role, actor) = (TokenRole::Admin, credentials.actor(ActorKind::Agent, None));
                let (handle, token) = (None, None);
                Ok(Authenticated { handle, space, space_to_create, role, token, actor })
            }
            None => Err(Error::new(ErrorKind::Unauthorized, "a token is needed here")
                .remedy(Remedy::SendToken)),
        }
    }

    fn by_token(
        &self,
        spaces: &Spaces,
        token: &str,
        (credentials, asked): (&Credentials, Option<SpaceName>),
    ) -> Result<Authenticated> {
        let (now, peer) = (Instant::now(), credentials.peer);
        let mark = self.known.mark(token);
        self.check_failed_attempts((mark, peer), now)?;
        let known = TokenText::parse(token).and_then(|text| {
            // A name in a token makes no space, and whether there is one stays unsaid.
            let space =
                spaces.space(text.space(), SpaceUse::MustExist).map_err(|error| {
                    match error.kind() {
                        ErrorKind::NotFound | ErrorKind::Invalid => bad_token(),
                        _ => error,
                    }
                })?;
            let token = space.oneiro()?.tokens().authenticate(&text)?;
            Ok((space, token, text))
        });
        let (space, token, text) = known.inspect_err(|error| {
            if error.kind() == ErrorKind::Unauthorized {
                // Refused already: this only counts.
                if !self.bad_tokens.knows(&mark) {
                    let _ = self.strangers.take(peer, now);
                }
                let _ = self.bad_tokens.take(mark, now);
                self.known.forget(mark);
            }
        })?;
        self.known.remember(mark, now);
        if asked.is_some_and(|asked| asked != *text.space()) {
            return Err(Error::new(
                ErrorKind::Forbidden,
                "the token opens another space than the header Oneiro-Space names",
            )
            .remedy("leave the header out: the token names its space"));
        }
        if self.rules.rate_limit > 0 {
            self.requests.take(token.id.clone(), now)?;
        }
        let actor = credentials.actor(token.actor, Some(token.id));
        let (handle, space_to_create) = (None, None);
        let (role, token) = (token.role, Some(text));
        Ok(Authenticated { handle, space, space_to_create, role, token, actor })
    }
}

impl Auth {
    /// Delays callers with too many failed attempts before anything is looked up. Callers with a
    /// recently valid token are never delayed, whatever their address.
    fn check_failed_attempts(&self, (mark, peer): (u64, IpAddr), now: Instant) -> Result<()> {
        let waits = if self.bad_tokens.knows(&mark) {
            self.bad_tokens.is_empty(&mark, now)
        } else {
            self.strangers.is_empty(&peer, now) && !self.known.knows(mark, now)
        };
        if waits { Err(rate_limited()) } else { Ok(()) }
    }
}

impl Authenticated {
    /// The same caller in another space.
    pub(crate) fn in_space(self, space: Arc<Space>) -> Authenticated {
        Authenticated { handle: None, space, space_to_create: None, ..self }
    }

    /// The same caller, whose long work ends once `cancel` is set.
    pub(crate) fn cancelled_by(self, cancel: &Cancel) -> Result<Authenticated> {
        let oneiro = self.space.oneiro()?.with_cancel(cancel.clone());
        let handle = Some(oneiro.acting_as(self.actor.clone()));
        Ok(Authenticated { handle, ..self })
    }

    /// The space. It must be used where blocking is allowed.
    pub(crate) fn oneiro(&self) -> Result<&Oneiro> {
        match &self.handle {
            Some(handle) => Ok(handle),
            None => self.space.oneiro(),
        }
    }
}

impl Credentials {
    /// Reads the credentials from the headers; `peer` is the address of the client.
    pub(crate) fn read(headers: &HeaderMap, peer: IpAddr) -> Result<Credentials> {
        let text = |name: &str| -> Result<Option<String>> {
            let Some(value) = headers.get(name) else { return Ok(None) };
            let text = value.to_str().map_err(|_| Error::invalid(format!("{name} is not text")))?;
            Ok(Some(text.to_owned()))
        };
        let token = match text("authorization")? {
            // Any other scheme is refused like a bad token.
            Some(held) => match held.split_once(' ') {
                Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => {
                    Some(token.trim().to_owned())
                }
                _ => Some(String::new()),
            },
            None => Cookie::Token.read(headers),
        };
        let client = text("user-agent").ok().flatten().unwrap_or_default();
        let space = text(SPACE_HEADER)?;
        // A token names its space, whatever was chosen on the page before.
        let may_choose = token.is_none() && space.is_none();
        let chosen_space = may_choose.then(|| Cookie::Space.read(headers)).flatten();
        let (surface, space_use) = (ActorSurface::Http, SpaceUse::MustExist);
        Ok(Credentials { token, space, chosen_space, peer, space_use, surface, client })
    }

    /// The same without the space that was chosen on the page; `None` if none was.
    pub(crate) fn without_chosen_space(self) -> Option<Credentials> {
        self.chosen_space.is_some().then_some(Credentials { chosen_space: None, ..self })
    }

    /// The same for a request that uses the space like this.
    pub(crate) fn using(self, space_use: SpaceUse) -> Credentials {
        Credentials { space_use, ..self }
    }

    /// The same for another surface than the API.
    pub(crate) fn at(self, surface: ActorSurface) -> Credentials {
        Credentials { surface, ..self }
    }

    /// The actor: a person on the page, otherwise the actor of the token.
    fn actor(&self, kind: ActorKind, token_id: Option<TokenId>) -> Actor {
        let kind = if self.surface == ActorSurface::Page { ActorKind::Person } else { kind };
        Actor { token_id, ..Actor::new(kind, self.surface).with_client(&self.client) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    fn auth(address: &str, allowed: &[&str]) -> Auth {
        let allowed_hosts = allowed.iter().map(|name| (*name).to_owned()).collect();
        let rules = AuthRules { allowed_hosts, ..AuthRules::default() };
        Auth::new(rules, &Listen::parse(address).unwrap())
    }

    #[test]
    fn only_our_own_names_are_answered() {
        let local = auth("127.0.0.1:4747", &["memory.example"]);
        let far = auth("0.0.0.0:4747", &[]);
        let cases = [
            ("127.0.0.1:4747", true, true),
            ("localhost:4747", true, true),
            ("LOCALHOST", true, true),
            ("[::1]:4747", true, true),
            ("oneiro.localhost:4747", true, true),
            ("Memory.Example:80", true, false),
            ("evil.example:4747", false, false),
            ("127.0.0.1.evil.example", false, false),
            ("10.0.0.7:4747", false, true),
            ("", false, false),
            ("a b", false, false),
        ];
        for (host, on_loopback, beyond) in cases {
            let headers = headers(&[("host", host)]);
            assert_eq!(local.check_site(&headers, &Uri::default()).is_ok(), on_loopback, "{host}");
            assert_eq!(far.check_site(&headers, &Uri::default()).is_ok(), beyond, "{host}");
        }
        assert!(local.check_site(&HeaderMap::new(), &Uri::default()).is_err());
        let two = headers(&[("host", "localhost"), ("host", "localhost")]);
        assert!(local.check_site(&two, &Uri::default()).is_err());
    }

    #[test]
    fn beyond_loopback_the_machines_own_names_are_answered_and_foreign_ones_are_not() {
        let name = crate::listen_address::hostname().unwrap();
        let far = auth("0.0.0.0:4747", &[]);
        let local = auth("127.0.0.1:4747", &[]);
        let answers = |auth: &Auth, host: &str| {
            auth.check_site(&headers(&[("host", host)]), &Uri::default()).is_ok()
        };
        for own in
            [name.clone(), format!("{name}:4747"), name.to_uppercase(), format!("{name}.local")]
        {
            assert!(answers(&far, &own), "{own}");
            // A page that was made to point at loopback may have any name, this one too.
            assert!(!answers(&local, &own) || name == "localhost", "{own}");
        }
        for foreign in [format!("{name}.evil.example"), format!("evil-{name}")] {
            assert!(!answers(&far, &foreign), "{foreign}");
        }
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let auth = auth("127.0.0.1:4747", &[]);
        let cases = [
            ("http://localhost:4747", true),
            ("https://localhost:4747", true),
            ("http://localhost:9999", false),
            ("http://evil.example", false),
            ("null", false),
            ("file://", false),
            ("", false),
        ];
        for (origin, good) in cases {
            let headers = headers(&[("host", "localhost:4747"), ("origin", origin)]);
            assert_eq!(auth.check_site(&headers, &Uri::default()).is_ok(), good, "{origin}");
        }
    }

    #[test]
    fn a_token_is_read_from_the_header_or_the_cookie() {
        let peer = "127.0.0.1".parse().unwrap();
        let read = |pairs: &[(&'static str, &str)]| {
            Credentials::read(&headers(pairs), peer).unwrap().token
        };
        assert_eq!(read(&[("authorization", "Bearer x")]), Some("x".to_owned()));
        assert_eq!(read(&[("authorization", "bearer  x ")]), Some("x".to_owned()));
        assert_eq!(read(&[("authorization", "Basic x")]), Some(String::new()));
        assert_eq!(read(&[("authorization", "")]), Some(String::new()));
        assert_eq!(read(&[("cookie", "a=b; oneiro_token=y; c=d")]), Some("y".to_owned()));
        assert_eq!(read(&[("cookie", "oneiro_token=")]), None);
        assert_eq!(
            read(&[("authorization", "Bearer x"), ("cookie", "oneiro_token=y")]),
            Some("x".to_owned())
        );
        assert_eq!(read(&[]), None);
    }
}
