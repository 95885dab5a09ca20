//! Compares two statements: whether the newer one tells a change of the older one, ends it, or corrects
//! its value.

use super::lists::{CHANGE_WORDS, SAME_MARK};
use super::statement::{Change, Statement, Topic};
use rustc_hash::FxHashSet;

/// The part of the words of what has ended that an older statement has, if they are no names.
const ENDED_SHARE: f64 = 0.6;

/// Words that two statements share to be about the same, unless it is half of the newer one.
const SHARED_WORDS_MIN: usize = 2;

/// Letters that two forms of a German noun have in common at least: "Direktor" and "Direktorin",
/// "Notar" and "Notartermin".
const COMMON_LETTERS_MIN: usize = 5;

/// Letters of a stem that a word without one may begin with.
const STEM_LETTERS_MIN: usize = 4;

impl Statement {
    /// What statements about the same have at least one of: the words that it is about, with and
    /// without stems, and the beginnings of German ones.
    pub(crate) fn keys(&self) -> FxHashSet<String> {
        let mut keys = FxHashSet::default();
        for Topic { term, norm, .. } in &self.topics {
            let begins: String = norm.chars().take(COMMON_LETTERS_MIN).collect();
            keys.extend([term.clone(), norm.clone(), begins]);
        }
        keys
    }

    /// The words that it is about, as they are searched for.
    pub(crate) fn searched(&self) -> Vec<&String> {
        let mut searched = Vec::new();
        for Topic { norm, .. } in &self.topics {
            match CHANGE_WORDS.same_words.get(norm) {
                Some(words) => searched.extend(words),
                None => searched.push(norm),
            }
        }
        searched
    }

    /// Whether it may be about what a text in lower case without accents says: true if in doubt.
    pub(crate) fn may_be_about(&self, text: &str) -> bool {
        self.topics.iter().any(|topic| {
            let begins = topic.norm.char_indices().nth(COMMON_LETTERS_MIN).map(|(end, _)| end);
            topic.term.starts_with(SAME_MARK)
                || text.contains(&topic.term)
                || text.contains(topic.norm.get(..begins.unwrap_or(topic.norm.len())).unwrap_or(""))
        })
    }

    /// Whether it may take back something.
    pub(crate) fn tells_change(&self) -> bool {
        let tells = self.change != Change::None || !self.ended.is_empty();
        !self.is_open && (tells || !self.cancelled.is_empty())
    }

    /// Where the statement begins behind "no," or "scratch that,".
    pub(crate) fn lead_end(&self) -> usize {
        self.lead_end
    }

    /// Whether it is about one of some words of another.
    fn has_topic(&self, terms: &[String]) -> bool {
        self.topics.iter().any(|topic| terms.contains(&topic.term) || terms.contains(&topic.norm))
    }

    /// How many of the words that it is about another has.
    fn shared(&self, other: &Statement) -> usize {
        let is_shared = |own: &Topic| other.topics.iter().any(|topic| is_same(own, topic));
        self.topics.iter().filter(|own| is_shared(own)).count()
    }

    /// The first and the last word that it is about.
    fn first_and_last(&self) -> impl Iterator<Item = &Topic> {
        self.topics.first().into_iter().chain(self.topics.last())
    }

    /// Whether it tells a change of what an older statement says.
    pub(crate) fn tells_change_of(&self, older: &Statement) -> bool {
        if self.is_open {
            return false;
        }
        if older.has_topic(&self.ended) {
            return true;
        }
        if !self.cancelled.is_empty() {
            return older.is_ahead && older.has_topic(&self.cancelled);
        }
        if !self.replaced.is_empty() {
            return older.has_topic(&self.replaced);
        }
        let shared = self.shared(older);
        let (own, theirs) = (self.topics.len(), older.topics.len());
        let is_half = shared > 0 && shared * 2 >= own;
        // The name is the new value: "We have changed our supplier to Molina."
        let is_half_but_names = shared > 0 && shared * 2 >= own - self.names;
        let is_several = shared >= SHARED_WORDS_MIN && shared * 2 >= own.min(theirs);
        // "My manager is Karl" and "Karl is my manager".
        let is_same_end = self
            .first_and_last()
            .any(|own| older.first_and_last().any(|other| is_same(own, other)));
        let is_about = match self.change {
            Change::None => false,
            Change::Certain => is_half_but_names || is_several,
            Change::Maybe => {
                // "No worries, Jon!" names Jon and is about nothing. In German every noun has a capital.
                let has_common_word = self.is_german
                    || self.has_number
                    || self.topics.iter().any(|own| {
                        !own.is_value && older.topics.iter().any(|other| is_same(own, other))
                    });
                has_common_word && (is_several || (is_half || is_half_but_names) && is_same_end)
            }
        };
        let is_of_object = self.changed.is_empty() || older.has_topic(&self.changed);
        // "It's not the nurse's fault" tells no value.
        if self.denies && self.change == Change::Maybe && shared < SHARED_WORDS_MIN {
            return self.values.iter().any(|value| !older.values.contains(value))
                && is_about
                && self.has_value_like(older);
        }
        let is_denied = self.denies && shared >= theirs.max(SHARED_WORDS_MIN);
        is_denied || is_about && is_of_object && self.has_value_like(older)
    }

    fn has_stem(&self, stem: &str) -> bool {
        // The language of a short statement may not be seen, and then its words have no stems.
        self.topics.iter().any(|topic| {
            topic.term == stem || stem.len() >= STEM_LETTERS_MIN && topic.norm.starts_with(stem)
        })
    }

    fn has_word(&self, word: &str) -> bool {
        self.topics.iter().any(|topic| topic.norm == word)
    }

    /// Whether it says that something has ended.
    pub(crate) fn ends_something(&self) -> bool {
        !self.is_open && !self.ended.is_empty()
    }

    /// Whether it has a name or a number that another has not.
    pub(crate) fn has_values_beside(&self, other: &Statement) -> bool {
        self.values_beside(other).next().is_some()
    }

    fn values_beside<'s>(&'s self, other: &'s Statement) -> impl Iterator<Item = &'s String> {
        self.values.iter().filter(|value| !other.has_word(value) && !other.values.contains(value))
    }

    /// Whether another says the same in other words, as far as a newer statement replaces both: it has the
    /// names and numbers that the newer one has not, and is about the same.
    pub(crate) fn is_restated_by(&self, other: &Statement, newer: &Statement) -> bool {
        let mut values = self.values_beside(newer).peekable();
        let is_replaced = values.peek().is_some();
        let values: Vec<&String> = values.collect();
        let has_values = values.iter().all(|value| other.values.contains(value));
        let mut about = self.topics.iter().filter(|topic| !values.contains(&&topic.norm));
        is_replaced && has_values && about.any(|topic| other.has_stem(&topic.term))
    }

    /// How many of its words an older statement has, if it says that what that one says has ended.
    pub(crate) fn ends(&self, older: &Statement) -> Option<usize> {
        if self.is_open || older.is_open || self.ended.is_empty() {
            return None;
        }
        // What the older one says has ended itself was not there to end.
        let has = |topic: &&String| older.has_stem(topic) && !older.ended.contains(topic);
        let is_ended = if self.ended_names.is_empty() {
            let met = self.ended.iter().filter(has).count();
            met as f64 >= self.ended.len() as f64 * ENDED_SHARE
        } else if self.is_german {
            // Any noun begins with a capital letter.
            self.ended_names.iter().any(|name| has(&name))
        } else {
            self.ended_names.iter().all(|name| has(&name))
        };
        is_ended.then(|| self.shared(older))
    }

    /// Whether it corrects the message before it without saying what it is about: "no, 8181".
    pub(crate) fn corrects_value_of(&self, before: &Statement) -> bool {
        let names_old = self.values.iter().any(|value| before.values.contains(value));
        self.is_bare
            && !self.is_open
            && (self.has_number && before.has_number
                || self.has_name && before.has_name && !self.has_number
                || names_old)
    }

    /// Whether it has a value that may stand in place of the one of an older statement.
    fn has_value_like(&self, older: &Statement) -> bool {
        if older.has_number && (self.is_value_changed || self.has_number) {
            return true;
        }
        let has_capitals = self.has_capitals && older.has_capitals;
        if self.is_german || older.is_german || !has_capitals {
            // What begins with a capital letter is no name, or names do not.
            return self.has_number == older.has_number
                || self.has_name
                || !older.has_name && older.has_number;
        }
        if !older.has_name && !older.has_number {
            return !self.has_number || self.has_name;
        }
        self.has_name && older.has_name
    }
}

/// Whether two words are one, forms of one, or one is a German compound of the other.
fn is_same(one: &Topic, other: &Topic) -> bool {
    one.term == other.term
        || one.norm == other.norm
        || (one.is_german || other.is_german) && is_compound(&one.norm, &other.norm)
}

/// Whether one word begins or ends with another: "Notartermin" and "Notar".
fn is_compound(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    short.chars().count() >= COMMON_LETTERS_MIN
        && !short.starts_with(SAME_MARK)
        && (long.starts_with(short) || long.ends_with(short))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change_words::{begins_on_date, is_planned};

    fn replaces(newer: &str, older: &str) -> bool {
        Statement::read(newer).tells_change_of(&Statement::read(older))
    }

    #[test]
    fn a_change_replaces_what_it_is_about() {
        for (older, newer) in [
            ("I work at Siemens.", "I quit Siemens, I'm at Bosch now."),
            ("I work as a nurse.", "I'm not a nurse any more, I became a teacher."),
            ("The deadline is 4 March.", "deadline slipped a week, 11 March"),
            ("The deadline is 4 March.", "The deadline was pushed back."),
            ("We use MySQL for the shop.", "Forget MySQL, the shop runs on Postgres now."),
            ("We use MySQL for the shop.", "We migrated the shop to Postgres."),
            ("The staging server runs on port 8080.", "staging is on 8181 now"),
            ("I drive a Fiat.", "I sold the Fiat and bought a Mazda."),
            ("We source our flour from Holli.", "We have changed our flour supplier to Molina."),
            ("Orders come in by 18:00.", "I said orders by 18:00, but it's 16:00 from now on."),
            ("I prefer tea.", "I've gone off tea, coffee it is."),
            ("The budget is 5000 euros.", "budget got cut to 3000"),
            ("My manager is Hilde.", "Hilde left, Karl is my manager."),
            ("I play the flute.", "I stopped playing the flute, I play the drums now."),
            ("I use a MacBook.", "I replaced the MacBook with a ThinkPad."),
            ("Wir nutzen Jira.", "Wir nutzen kein Jira mehr, sondern Linear."),
            ("Die Abgabe ist am 3. Juni 2026.", "Die Abgabe wurde auf den 10. Juni verschoben."),
            ("La reunión es el martes a las 10.", "La reunión se cambió al jueves a las 10."),
            ("I live in Leeds with my brother.", "I've moved to Sheffield."),
            ("The staging database uses port 5433.", "scratch that, staging db is on 6432"),
            ("Kafka retention is 72h.", "bumped kafka retention to 168h"),
            ("The pool size is 40.", "pool size -> 80"),
            ("We settled on Argo for deploys.", "argo is out, flux is in for deploys"),
            ("Rosa's party is at our place.", "Rosa's party isn't at our place, it's at Giulio's."),
            ("Der Termin beim Notar ist am 4. März.", "nee, der Notartermin ist am 11. März"),
            ("Unser Trainer ist Herr Weber.", "Ab sofort ist Herr Jansen unser Trainer."),
            ("Vivo en Murcia.", "Me he mudado a Alicante."),
            ("I'm visiting Ana in Bristol in May.", "Bristol is off."),
        ] {
            assert!(replaces(newer, older), "{newer}: {older}: {:?}", Statement::read(newer));
        }
    }

    #[test]
    fn an_ending_is_about_what_has_its_words() {
        let ends = |newer: &str, older: &str| {
            Statement::read(newer).ends(&Statement::read(older)).is_some()
        };
        for (older, newer) in [
            ("I go fencing on Tuesdays.", "I quit fencing."),
            ("I have choir practice every Monday.", "I no longer go to choir practice."),
            ("My favourite drink is cocoa.", "I stopped drinking cocoa."),
            ("I play the cello.", "I gave up the cello."),
            ("My car is a Dacia.", "I sold the Dacia."),
            ("I have a gym membership.", "I cancelled my gym membership."),
            ("Our team uses Slack for chat.", "We no longer use Slack."),
            ("Our team uses Slack for chat.", "Our team doesn't use Slack any more."),
            ("I work at Siemens.", "I left Siemens."),
            ("The shop runs on Heroku.", "The shop runs on Fly now, no longer on Heroku."),
            ("The database of the shop is MySQL.", "We switched the shop from MySQL to Postgres."),
            ("I live in Turin.", "We moved from Turin to Lyon."),
            ("Ich spiele Geige.", "Ich spiele keine Geige mehr."),
            ("Ich gehe jeden Montag zum Fechten.", "Ich habe mit dem Fechten aufgehört."),
            ("Ich fahre einen Skoda.", "Ich habe den Skoda verkauft."),
            ("Ich arbeite bei Siemens.", "Ich habe meinen Job bei Siemens gekündigt."),
            ("Wir nutzen Slack.", "Wir nutzen Slack nicht mehr."),
            ("Tengo un piano.", "Vendí el piano."),
            ("Trabajo en Iberia.", "Ya no trabajo en Iberia."),
            ("Juego al tenis los lunes.", "Dejé de jugar al tenis."),
        ] {
            assert!(ends(newer, older), "{newer}: {older}: {:?}", Statement::read(newer));
        }
        for (older, newer) in [
            ("I play chess.", "I no longer play the flute."),
            ("I drink cocoa.", "I stopped drinking coffee."),
            ("My dream job is pilot.", "I quit my job at Siemens."),
            ("I was born in Turin.", "I sold the house in Lyon."),
            ("I play the cello.", "If I gave up the cello, I would sing."),
            ("We use Slack.", "I use Slack from home."),
            ("Ich trinke Tee.", "Ich trinke mehr Tee."),
        ] {
            assert!(!ends(newer, older), "{newer}: {older}: {:?}", Statement::read(newer));
        }
    }

    #[test]
    fn other_statements_with_words_of_change_replace_nothing() {
        for (older, newer) in [
            ("The office opens at 9.", "I left my umbrella at the office."),
            ("My sister Ana lives in Leeds.", "My sister now has a dog."),
            ("The deadline is 4 March.", "Has the deadline moved?"),
            ("The deadline is 4 March.", "If the deadline moves, tell me."),
            ("The team meeting is at 10.", "The team moved the chairs of the meeting room."),
            ("I live in Turin.", "I no longer live with Bob."),
            ("We use Slack for chat.", "We do not chat in the evening."),
            ("I work as a nurse.", "It's not the nurse's fault."),
            ("The shop runs on Shopware.", "We moved the shop from Hetzner to Netcup."),
            ("Lotte and Finn are my kids.", "Finn quit handball."),
            ("I run a bakery in Flensburg.", "Rent went up, 1,990 for the bakery now."),
            ("My sister lives in Leeds.", "I moved to Bath."),
            ("Jon teaches dance in Porto.", "No worries, Jon!"),
            ("I love dance.", "Don't forget your passion for dance."),
            ("My dream is a studio.", "I won't quit on my dream of a studio."),
        ] {
            assert!(!replaces(newer, older), "{newer}: {older}: {:?}", Statement::read(newer));
        }
    }

    #[test]
    fn a_plan_is_ahead_and_comes_once() {
        for sentence in ["The oven gets serviced on 25 June.", "Dinner with Ana is on Friday."] {
            assert!(is_planned(sentence), "{sentence}");
        }
        for sentence in [
            "We visited the museum on Friday.",
            "My birthday is on 3 May.",
            "Every Friday we swim.",
        ] {
            assert!(!is_planned(sentence), "{sentence}");
        }
        assert!(begins_on_date("From 1 November I work at Acme."));
        assert!(!begins_on_date("I'm off from 3 May until 5 May."));
    }

    #[test]
    fn a_bare_value_corrects_what_was_said_just_before() {
        let corrects = |newer: &str, older: &str| {
            Statement::read(newer).corrects_value_of(&Statement::read(older))
        };
        assert!(corrects("no, 8181", "The staging server runs on port 8080."));
        assert!(corrects("That's wrong, it's 8181.", "The staging server runs on port 8080."));
        assert!(corrects("I meant Zara, not Sara.", "My wife's name is Sara."));
        assert!(!corrects("no thanks", "The staging server runs on port 8080."));
        assert!(!corrects("No, that is all for today", "My wife's name is Sara."));
    }
}
