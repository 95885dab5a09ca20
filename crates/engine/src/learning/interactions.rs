//! Interactions: stored as reported, whatever else fails; then memories are reinforced and candidates
//! extracted, if asked for.

use super::turns::Turns;
use crate::Oneiro;
use crate::memories::{
    NewClaim, NewSignal, USER_SUBJECT, clean, new_memory, refuse_undone, resolve,
};
use crate::operations::Grouping;
use crate::projects;
use crate::views::Learning;
use oneiro_claims::{Speaker, Utterance, claims};
use oneiro_model::{
    CapturedInteraction, Citation, Error, INTERACTIONS_MAX, Interaction, InteractionId,
    ListInteractions, MemoryId, MemoryStatus, NewInteraction, ReinforcedMemory, Result, SignalKind,
    Trust,
};
use oneiro_store::{Tx, claim_hash, interactions, memories};
use std::cmp::Reverse;

impl Learning<'_> {
    /// Stores an interaction. What follows from it may fail; the interaction is stored all the same.
    pub fn capture(&self, new: NewInteraction) -> Result<CapturedInteraction> {
        let (reinforce, extract) = (new.reinforce, new.extract);
        let id = InteractionId::from_random(self.oneiro.ids.random());
        let now = self.oneiro.now();
        let interaction = self.oneiro.store.write(move |tx| {
            let project = new.project.as_deref().map(|name| projects::canonical(tx, name));
            let interaction = Interaction {
                id: id.clone(),
                prompt: new.prompt.clone(),
                response: new.response.clone(),
                response_summary: new.response_summary.clone(),
                pack_id: new.pack_id.clone(),
                memories_used: new.memories_used.clone(),
                chunks_used: new.chunks_used.clone(),
                client: new.client.clone(),
                session_id: new.session_id.clone(),
                project: project.transpose()?,
                message_id: None,
                created_at: now,
            };
            interactions::insert(tx, &interaction)?;
            Ok(interaction)
        })?;
        let mut captured = CapturedInteraction {
            reinforced: Vec::new(),
            extracted: Vec::new(),
            problems: Vec::new(),
            interaction,
        };
        if reinforce {
            match reinforce_by(self.oneiro, &captured.interaction) {
                Ok(reinforced) => captured.reinforced = reinforced,
                Err(error) => {
                    captured.problems.push(format!("not reinforced: {}", error.message()))
                }
            }
        }
        if extract {
            match extract_from(self.oneiro, &captured.interaction) {
                Ok(extracted) => captured.extracted = extracted,
                Err(error) => captured.problems.push(format!("not extracted: {}", error.message())),
            }
        }
        Ok(captured)
    }

    /// Interactions without their responses, newest first: those that clients reported, and the turns
    /// of sessions.
    pub fn interactions(&self, request: &ListInteractions) -> Result<Vec<Interaction>> {
        let limit = request.limit.min(INTERACTIONS_MAX);
        self.oneiro.store.read(|tx| {
            let project = request.project.as_deref().map(|name| projects::canonical(tx, name));
            let project = project.transpose()?;
            let filter = interactions::Filter {
                project: project.as_deref(),
                session: request.session.as_ref().map(oneiro_model::SessionId::as_str),
                client: request.client.as_deref(),
                since: request.since,
            };
            let mut found = interactions::list(tx, &filter, limit)?;
            found.iter_mut().for_each(|one| one.response = None);
            let settings = self.oneiro.settings_in(tx)?;
            found.extend(Turns::new(tx, &settings).list(&filter, limit)?);
            found.sort_by_key(|one| (Reverse(one.created_at), Reverse(one.message_id)));
            found.truncate(limit);
            Ok(found)
        })
    }

    /// The interaction with this id or unambiguous id prefix.
    pub fn interaction(&self, id: &str) -> Result<Interaction> {
        self.oneiro.store.read(|tx| {
            let Some(message) = InteractionId::turn(id) else { return find(tx, id) };
            let settings = self.oneiro.settings_in(tx)?;
            match Turns::new(tx, &settings).show(message)? {
                Some(turn) => Ok(turn),
                None => find(tx, id),
            }
        })
    }

    /// Reinforces the memories that the response of an interaction rests on.
    pub fn reinforce(&self, id: &str) -> Result<Vec<ReinforcedMemory>> {
        reinforce_by(self.oneiro, &self.interaction(id)?)
    }

    /// Extracts candidates from an interaction.
    pub fn extract_interaction(&self, id: &str) -> Result<Vec<MemoryId>> {
        extract_from(self.oneiro, &self.interaction(id)?)
    }
}

fn find(tx: &Tx<'_>, id: &str) -> Result<Interaction> {
    let is_prefix = id.len() > InteractionId::PREFIX.len() && id.starts_with(InteractionId::PREFIX);
    let found = if is_prefix { interactions::by_id_prefix(tx, id)? } else { Vec::new() };
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (Some(one), other) if other.is_none() || one.id.as_str() == id => Ok(one),
        (Some(_), _) => Err(Error::conflict(format!("several interaction ids begin with {id:?}"))
            .remedy("give more of the id")),
        (None, _) => Err(Error::not_found(format!("there is no interaction {id:?}"))),
    }
}

/// The response with its summary.
fn answer_of(interaction: &Interaction) -> String {
    let parts = [&interaction.response, &interaction.response_summary];
    parts.into_iter().flatten().cloned().collect::<Vec<_>>().join("\n")
}

fn reinforce_by(oneiro: &Oneiro, interaction: &Interaction) -> Result<Vec<ReinforcedMemory>> {
    let answer = answer_of(interaction);
    let pool = oneiro.store.read(|tx| oneiro.usage_matcher(tx))?;
    let mut used = pool.used_by(&answer, USER_SUBJECT, interaction.project.as_deref());
    used.extend(interaction.memories_used.iter().cloned());
    used.sort();
    used.dedup();
    if used.is_empty() {
        return Ok(Vec::new());
    }
    let prompt = interaction.prompt.clone();
    oneiro.edit(None, Grouping::Single, move |edit| {
        let mut reinforced = Vec::new();
        for id in &used {
            let Ok(before) = resolve(edit.tx, id.as_str()) else { continue };
            if before.status != MemoryStatus::Active {
                continue;
            }
            let used = NewSignal::new(id, SignalKind::Used);
            if (NewSignal { query: Some(&prompt), ..used }).add(edit)? {
                let after = resolve(edit.tx, id.as_str())?;
                reinforced.push(ReinforcedMemory {
                    id: id.clone(),
                    old_confidence: before.confidence,
                    new_confidence: after.confidence,
                });
            }
        }
        Ok(reinforced)
    })
}

/// Statements of an interaction, as candidates: nobody knows who typed its prompt.
fn extract_from(oneiro: &Oneiro, interaction: &Interaction) -> Result<Vec<MemoryId>> {
    let (interaction, answer) = (interaction.clone(), answer_of(interaction));
    oneiro.edit(None, Grouping::Group, move |edit| {
        let texts = [(Speaker::Person, &interaction.prompt), (Speaker::Assistant, &answer)];
        let mut extracted = Vec::new();
        for (speaker, text) in texts {
            let said_before =
                (speaker == Speaker::Assistant).then_some(interaction.prompt.as_str());
            let utterance = Utterance {
                text,
                speaker,
                at: interaction.created_at,
                utc_offset_seconds: 0,
                previous: said_before,
            };
            for claim in claims(&utterance) {
                let quote = text.get(claim.quote.clone()).unwrap_or_default();
                let mut memory = new_memory(
                    edit,
                    NewClaim {
                        kind: claim.kind,
                        subject: claim.kind.is_personal().then(|| USER_SUBJECT.to_owned()),
                        content: &claim.content,
                        project: interaction.project.clone().filter(|_| !claim.kind.is_personal()),
                        trust: Trust::Agent,
                        status: MemoryStatus::Candidate,
                    },
                );
                memory.valid_until = claim.valid_until;
                memory.citations.push(Citation {
                    message_id: interaction.message_id.filter(|_| speaker == Speaker::Person),
                    session_id: interaction.session_id.clone(),
                    quote: clean(quote),
                    trust: Trust::Agent,
                });
                let hash = claim_hash::of_memory(edit.identity, &memory);
                let mut is_known = false;
                for status in [MemoryStatus::Active, MemoryStatus::Candidate] {
                    is_known |= memories::by_claim(edit.tx, &hash, status)?.is_some();
                }
                if is_known || refuse_undone(edit, &memory, None).is_err() {
                    continue;
                }
                let reason = format!("extracted from {} (rule {})", interaction.id, claim.rule);
                edit.create_because(&memory, &reason)?;
                extracted.push(memory.id);
            }
        }
        Ok(extracted)
    })
}
