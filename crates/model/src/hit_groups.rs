//! Groups the hits of a search by session for people to read, so that no message is shown twice.

use crate::{Hit, MessageId, Neighbour, SessionId};
use std::collections::BTreeMap;

/// The hits of one session.
#[derive(Debug, Clone)]
pub struct HitGroup<'a> {
    /// The session.
    pub session_id: &'a SessionId,
    /// The hits with their neighbours; the passage with the best hit comes first. Never empty.
    pub passages: Vec<Passage<'a>>,
}

impl HitGroup<'_> {
    /// The number of hits in the session.
    pub fn hit_count(&self) -> usize {
        self.passages.iter().flat_map(|passage| passage.messages.values()).filter(is_hit).count()
    }
}

fn is_hit(message: &&PassageMessage<'_>) -> bool {
    matches!(message, PassageMessage::Hit(_))
}

/// Hits whose neighbours overlap, with these neighbours.
#[derive(Debug, Clone)]
pub struct Passage<'a> {
    /// The hit that ranked highest.
    pub best: &'a Hit,
    /// Hits and neighbours in the order of the conversation, each message once.
    pub messages: BTreeMap<MessageId, PassageMessage<'a>>,
}

/// A message of a passage.
#[derive(Debug, Clone, Copy)]
pub enum PassageMessage<'a> {
    /// A message that the search found.
    Hit(&'a Hit),
    /// A message before or after a hit that is not a hit itself.
    Neighbour(&'a Neighbour),
}

/// Groups ranked hits by session. Groups, and passages in a group, are in the order of their best
/// hits.
pub fn group_hits(ranked: &[Hit]) -> Vec<HitGroup<'_>> {
    let mut sessions: Vec<(&SessionId, Vec<(usize, &Hit)>)> = Vec::new();
    for (rank, hit) in ranked.iter().enumerate() {
        match sessions.iter_mut().find(|(id, _)| **id == hit.session_id) {
            Some((_, hits)) => hits.push((rank, hit)),
            None => sessions.push((&hit.session_id, vec![(rank, hit)])),
        }
    }
    let group = |(session_id, hits)| HitGroup { session_id, passages: passages(hits) };
    sessions.into_iter().map(group).collect()
}

/// Joins hits of one session whose neighbours overlap. Neighbours are an unbroken run of the
/// session, so two runs overlap where one begins before the other has ended.
fn passages(mut hits: Vec<(usize, &Hit)>) -> Vec<Passage<'_>> {
    hits.sort_unstable_by_key(|(_, hit)| hit.id);
    let mut passages: Vec<(usize, Passage<'_>)> = Vec::new();
    for (rank, hit) in hits {
        let run = messages(hit);
        let first = run.keys().next();
        match passages.last_mut() {
            Some((best_rank, passage)) if first <= passage.messages.keys().next_back() => {
                if rank < *best_rank {
                    (*best_rank, passage.best) = (rank, hit);
                }
                for (id, message) in run {
                    let known = passage.messages.entry(id).or_insert(message);
                    if is_hit(&&message) {
                        *known = message;
                    }
                }
            }
            _ => passages.push((rank, Passage { best: hit, messages: run })),
        }
    }
    passages.sort_unstable_by_key(|(rank, _)| *rank);
    passages.into_iter().map(|(_, passage)| passage).collect()
}

/// A hit and its neighbours by their ids.
fn messages(hit: &Hit) -> BTreeMap<MessageId, PassageMessage<'_>> {
    let neighbours = hit.neighbours.iter().map(|near| (near.id, PassageMessage::Neighbour(near)));
    neighbours.chain([(hit.id, PassageMessage::Hit(hit))]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HitKind, Role, Tier, Timestamp};

    /// Session, message, and neighbours of a hit.
    type HitRow = (&'static str, i64, &'static [i64]);

    /// A hit of `session` with the messages in `near` as its neighbours.
    fn new_hit(session: &str, id: i64, near: &[i64]) -> Hit {
        let neighbour = |id: &i64| Neighbour {
            id: MessageId(*id),
            role: Role::User,
            name: None,
            at: Timestamp::from_micros(*id),
            text: String::new(),
        };
        Hit {
            kind: HitKind::Message,
            id: MessageId(id),
            session_id: SessionId::new(session).unwrap(),
            project: None,
            external_id: None,
            score: 0.0,
            tier: Tier::Precise,
            snippet: String::new(),
            highlights: Vec::new(),
            at: Timestamp::from_micros(id),
            role: Role::User,
            name: None,
            neighbours: near.iter().map(neighbour).collect(),
            trace: None,
        }
    }

    /// Groups as text: passages apart by `|`, hits in brackets, the best hit with a star.
    fn render(groups: &[HitGroup<'_>]) -> Vec<String> {
        let message = |passage: &Passage<'_>, message: &PassageMessage<'_>| match message {
            PassageMessage::Hit(hit) if hit.id == passage.best.id => format!("[{}*]", hit.id),
            PassageMessage::Hit(hit) => format!("[{}]", hit.id),
            PassageMessage::Neighbour(near) => near.id.to_string(),
        };
        let passage = |passage: &Passage<'_>| {
            passage.messages.values().map(|one| message(passage, one)).collect::<Vec<_>>().join(" ")
        };
        let group = |group: &HitGroup<'_>| {
            let passages: Vec<String> = group.passages.iter().map(passage).collect();
            format!("{}: {}", group.session_id.as_str(), passages.join(" | "))
        };
        groups.iter().map(group).collect()
    }

    #[test]
    fn hits_are_grouped_by_session_and_each_message_is_shown_once() {
        let cases: [(&str, &[HitRow], &[&str]); 9] = [
            ("no hits", &[], &[]),
            ("a hit alone", &[("a", 5, &[])], &["a: [5*]"]),
            ("a hit at the start", &[("a", 1, &[2, 3])], &["a: [1*] 2 3"]),
            (
                "groups are in the order of their best hits",
                &[("b", 9, &[]), ("a", 5, &[]), ("b", 2, &[])],
                &["b: [9*] | [2*]", "a: [5*]"],
            ),
            (
                "hits side by side share one context",
                &[("a", 6, &[5, 7]), ("a", 5, &[4, 6])],
                &["a: 4 [5] [6*] 7"],
            ),
            (
                "hits with a message between them share it",
                &[("a", 4, &[3, 6]), ("a", 8, &[6, 9])],
                &["a: 3 [4*] 6 [8] 9"],
            ),
            (
                "contexts that only touch stay apart",
                &[("a", 8, &[7, 9]), ("a", 5, &[4, 6])],
                &["a: 7 [8*] 9 | 4 [5*] 6"],
            ),
            (
                "a chain of overlaps is one passage, ranked by its best hit",
                &[("a", 20, &[19, 21]), ("a", 7, &[6, 8]), ("a", 3, &[2, 5]), ("a", 5, &[3, 7])],
                &["a: 19 [20*] 21 | 2 [3] [5] 6 [7*] 8"],
            ),
            (
                "sessions whose ids interleave do not mix",
                &[("a", 1, &[3]), ("b", 2, &[4]), ("a", 3, &[1])],
                &["a: [1*] [3]", "b: [2*] 4"],
            ),
        ];
        for (name, hits, want) in cases {
            let hits: Vec<Hit> =
                hits.iter().map(|(session, id, near)| new_hit(session, *id, near)).collect();
            let groups = group_hits(&hits);
            assert_eq!(render(&groups), want, "{name}");
            let counted: usize = groups.iter().map(HitGroup::hit_count).sum();
            assert_eq!(counted, hits.len(), "{name}: no hit is lost");
        }
    }
}
