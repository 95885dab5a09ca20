//! Packs: the lines of memory that a prompt needs, in the order of trust, within a budget of tokens, and
//! nothing if nothing is relevant.

mod asked_time;
mod current;
mod excerpt;
mod fit;
mod gather;
mod line;
mod prompt;
mod recalled;
mod relevance;
mod source;
mod why;

use crate::echo::{self, NewServedLine};
use crate::operations::identity_of;
use crate::ports::Clock;
use crate::settings::day_in;
use crate::views::Packs;
use crate::{Oneiro, projects};
use fit::Fitted;
use line::Line;
use oneiro_model::{
    Error, GivenPack, ListPacks, MemoryId, PACKS_MAX, Pack, PackId, PackKind, PackRequest, Result,
    SessionId, Signal, SignalKind, Span, Timestamp,
};
use oneiro_store::packs::AskedBy;
use oneiro_store::served_lines::{self, ServedTo};
use oneiro_store::{packs, signals};
use prompt::Prompt;
use std::sync::Arc;

/// How long a pack can be shown again, and a served line is known again.
const PACK_RETENTION: Span = Span::days(30);

/// Old packs that are removed when a new one is stored, and old served lines.
const REMOVE_BATCH_PACKS: usize = 50;
const REMOVE_BATCH_LINES: usize = 500;

/// A clock that shows the moment a pack is asked for.
struct FixedClock(Timestamp);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }
}

impl Packs<'_> {
    /// Makes a pack and stores it. Memories that it shows are recorded as exposed, and its lines as
    /// served to the session and the client.
    pub fn make(&self, request: &PackRequest) -> Result<Pack> {
        let at = request.at.unwrap_or_else(|| self.oneiro.now());
        let oneiro = self.oneiro.with_clock(Arc::new(FixedClock(at)), Arc::clone(&self.oneiro.ids));
        let request = PackRequest {
            project: oneiro.project_of(request.project.as_deref())?,
            ..request.clone()
        };
        let gathered = match request.prompt.as_deref().map(Prompt::read) {
            None => oneiro.gather_for_start(&request)?,
            Some(None) => Vec::new(),
            Some(Some(prompt)) => oneiro.gather_for_prompt(&request, &prompt)?,
        };
        let fitted = fit::fit(gathered, request.budget);
        oneiro.store_pack(&request, fitted, at)
    }

    /// A pack that was made in the last 30 days.
    pub fn show(&self, id: &str) -> Result<Pack> {
        let found = match PackId::parse(id) {
            Ok(id) => self.oneiro.store.read(|tx| packs::get(tx, &id))?,
            Err(_) => None,
        };
        found.ok_or_else(|| {
            Error::not_found(format!("there is no pack {id:?}"))
                .remedy("packs are kept for 30 days, and removed with the memories they show")
        })
    }

    /// Packs of the last 30 days, newest first, those without lines included.
    pub fn list(&self, request: &ListPacks) -> Result<Vec<GivenPack>> {
        let project = self.oneiro.project_of(request.project.as_deref())?;
        let filter = packs::Filter {
            session: request.session.as_ref(),
            project: project.as_deref(),
            ..packs::Filter::default()
        };
        self.oneiro.store.read(|tx| packs::list(tx, filter, request.limit.min(PACKS_MAX)))
    }

    /// A text without the lines that were served to a session or a client, and the memories of these.
    #[doc(hidden)]
    pub fn without_echoes(
        &self,
        session: Option<&SessionId>,
        client: Option<&str>,
        text: &str,
    ) -> Result<(String, Vec<MemoryId>)> {
        let served = self.oneiro.store.read(|tx| echo::served_to(tx, session, client))?;
        let stripped = served.strip(text);
        Ok((stripped.text, stripped.echoed))
    }

    /// Lets lines be shown to a session again, because its host dropped them.
    pub fn allow_again(&self, session: &SessionId) -> Result<()> {
        self.oneiro.store.write_derived(|tx| served_lines::allow_again(tx, session))
    }
}

impl Oneiro {
    /// The name of the project that a request means by a name, an alias or a folder.
    pub(crate) fn project_of(&self, given: Option<&str>) -> Result<Option<String>> {
        let Some(given) = given else { return Ok(None) };
        match self.projects().find(given)? {
            Some(project) => Ok(Some(project.name)),
            None => self.store.read(|tx| projects::canonical(tx, given)).map(Some),
        }
    }

    /// Stores a pack with the evidence that it leaves.
    fn store_pack(&self, request: &PackRequest, fitted: Fitted, at: Timestamp) -> Result<Pack> {
        let pack = Pack {
            id: PackId::from_random(self.ids.random()),
            tokens: oneiro_count::tokens(&fitted.text),
            text: fitted.text,
            items: fitted.lines.iter().map(Line::item).collect(),
            omitted: fitted.omitted,
        };
        let by = AskedBy {
            session: request.session.clone(),
            client: request.client.clone(),
            project: request.project.clone(),
        };
        // Nothing is lost if a power cut undoes this.
        self.store.write_derived(|tx| {
            let identity = identity_of(tx, &*self.ids)?;
            packs::add(tx, &pack, &by, at)?;
            let query = request.prompt.as_deref().map(oneiro_text::normalise).unwrap_or_default();
            let query_hash = identity.hash(&[&query]);
            let day = day_in(tx, at)?;
            for line in fitted.lines.iter().filter(|line| line.kind == PackKind::Memory) {
                let signal = Signal {
                    memory_id: MemoryId::parse(&line.id)?,
                    kind: SignalKind::Exposed,
                    query: None,
                    relevance: None,
                    date: day.clone(),
                    at,
                };
                signals::add(tx, &signal, &query_hash)?;
            }
            let lines: Vec<NewServedLine<'_>> = fitted.lines.iter().map(Line::served).collect();
            let to = ServedTo { session: by.session.as_ref(), client: by.client.as_deref() };
            echo::record_served(tx, to, &lines, at)?;
            packs::remove_older(tx, at.minus(PACK_RETENTION), REMOVE_BATCH_PACKS)?;
            served_lines::remove_older(tx, at.minus(PACK_RETENTION), REMOVE_BATCH_LINES)
        })?;
        Ok(pack)
    }
}
