//! Words that tell what a sentence does: decides, fails, asks for later, speaks of a person's life,
//! is polite. It owns the lists, in the languages most conversations are in; it must not know what
//! a cue is worth.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use rustc_hash::FxHashSet;

use oneiro_text::{Analyzer, normalise};

use crate::segment::is_wide;

/// What a sentence does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cue {
    /// Settles something, or sets a rule.
    Decision,
    /// Says what somebody will do, or why.
    Plan,
    /// Says that something went wrong, or how it ended.
    Error,
    /// Is what a stack of frames ended with.
    Raised,
    /// Leaves something for later.
    Open,
    /// Tells of somebody's life: family, home, work, health, likes.
    Fact,
    /// Greets, thanks, agrees, praises.
    Courtesy,
    /// Does nothing else.
    SmallTalk,
}

impl Cue {
    /// Its bit in a set of cues.
    pub fn bit(self) -> u8 {
        1 << self as u8
    }
}

// Phrases are between bars, all lower case. Where a script has no case or no spaces, a phrase may
// stand within other letters; else it stands between words.
const DECISIONS: &str = "we decided|i decided|decided to|decided on|decision|let's go with|let's use|\
let's do|go with|going with|agreed|agree to|must|must not|mustn't|from now on|settled on|approved|\
deadline|make sure|do not|don't ever|never|the rule is|rename|switch to|switched to|prefer|\
root cause|conclusion|promised|promise|booked|confirmed|we should|instead|\
entschieden|entscheidung|beschlossen|einigen|geeinigt|wir nehmen|wir machen|muss|müssen|\
niemals|ab jetzt|abgemacht|vereinbart|nicht mehr|gebucht|frist|\
décidé|décision|on prend|d'accord pour|il faut|doit|jamais|désormais|\
decidimos|decidido|decisión|debe|hay que|nunca|acordado|a partir de ahora|\
abbiamo deciso|deciso|dobbiamo|deve|mai|decisão|combinado|temos de|\
решили|решил|решила|решение|договорились|надо|нужно|должен|должна|должны|никогда|\
决定|同意|必须|不要|改用|选择|说好|约定|一定要|從現在|決定|必須|\
決めた|決め|ことにし|必ず|絶対|なければ|約束|\
قررنا|قرر|قررت|اتفقنا|يجب|لا بد|أبدا|موعد|तय किया|फैसला|जरूर|कभी नहीं|결정|하기로|반드시|절대";

const PLANS: &str = "we will|we'll|i'll|i will|i am going to|i'm going to|always|chose|choose|chosen|plan to|\
planning to|plan is|moved to|fixed|because|signed up|ich werde|immer|statt|je vais|toujours|vamos a|\
voy a|siempre|sempre|vou|всегда|буду|будем|以后|打算|しよう|予定|سوف|دائما|हमेशा";

const ERRORS: &str = "error|errors|failed|fails|failure|fail|exception|exit code|exit status|exited with|\
panicked|panic|traceback|segfault|timed out|timeout|denied|refused|not found|no such file|cannot|\
broken|crash|crashed|regression|bug|warning|fatal|aborted|conflict|does not work|doesn't work|\
passed|test result|succeeded|exit 0|undefined|deadlock|leak|out of memory|\
fehler|fehlgeschlagen|schlägt fehl|kaputt|abgebrochen|geht nicht|funktioniert nicht|\
erreur|échoué|échec|introuvable|falló|fallo|no funciona|errore|fallito|erro|falhou|\
ошибка|ошибки|ошибку|не работает|сбой|упал|отказано|错误|失败|异常|报错|超时|崩溃|錯誤|失敗|\
エラー|例外|落ち|動かない|壊れ|خطأ|فشل|تعطل|لا يعمل|त्रुटि|विफल|오류|실패";

const OPEN: &str = "todo|fixme|to do|later|follow up|remind me|reminder|next step|next steps|pending|\
not yet|still need|still needs|open question|tbd|remains|remaining|waiting for|blocked|unclear|\
not sure|don't know yet|tomorrow|next week|next month|offen|später|erinnere mich|noch nicht|morgen|\
nächste woche|à faire|plus tard|pas encore|demain|pendiente|mañana|más tarde|todavía no|\
da fare|domani|amanhã|ainda não|потом|позже|завтра|ещё не|напомни|待办|以后再|明天|还没|下周|下次|\
後で|明日|まだ|来週|次回|غدا|لاحقا|ليس بعد|कल|बाद में|내일|아직|나중에";

const FACTS: &str = "daughter|son|wife|husband|mother|mom|mum|father|dad|brother|sister|kids|children|\
baby|girlfriend|boyfriend|partner|fiancé|grandma|grandmother|grandpa|grandfather|aunt|uncle|cousin|\
nephew|niece|dog|cat|puppy|kitten|pet|birthday|anniversary|wedding|married|divorced|engaged|pregnant|\
born|grew up|moved|live in|lives in|living in|work as|works as|working at|job|hired|promotion|\
quit|retired|studying|degree|college|university|school|graduated|allergic|allergy|diagnosed|surgery|\
hospital|vegetarian|vegan|favorite|favourite|hobby|hobbies|my name is|called|named|i love|i hate|\
i like|i prefer|i'm from|used to|started|learned|learning|adopted|bought|won|visited|traveled|trip|\
tochter|sohn|frau|mann|mutter|vater|bruder|schwester|kinder|hund|katze|geburtstag|hochzeit|\
verheiratet|geboren|umgezogen|wohne|arbeite als|allergisch|lieblings|ich heiße|gekauft|\
fille|fils|femme|mari|mère|père|frère|sœur|enfants|chien|chat|anniversaire|j'habite|je m'appelle|\
hija|hijo|esposa|esposo|madre|padre|hermano|hermana|perro|gato|cumpleaños|vivo en|me llamo|alérgico|\
figlia|figlio|moglie|marito|filha|filho|mãe|pai|irmão|irmã|aniversário|\
дочь|дочка|сын|жена|муж|мама|мать|папа|отец|брат|сестра|дети|собака|кошка|день рождения|живу|\
переехал|переехала|работаю|аллергия|родился|родилась|купил|купила|зовут|люблю|\
女儿|儿子|妻子|老婆|丈夫|老公|妈妈|母亲|爸爸|父亲|哥哥|弟弟|姐姐|妹妹|孩子|生日|结婚|搬到|住在|工作|过敏|\
喜欢|名字|我叫|娘|息子|妻|夫|母|父|兄|姉|妹|弟|子供|誕生日|結婚|引っ越|住んで|仕事|アレルギー|好き|名前|\
ابنتي|ابني|زوجتي|زوجي|أمي|أبي|أخي|أختي|أولاد|عيد ميلاد|زواج|أعيش|أعمل|حساسية|انتقلت|اسمي|أحب|\
बेटी|बेटा|पत्नी|पति|माँ|पिता|भाई|बहन|जन्मदिन|शादी|रहता|रहती|नौकरी|딸|아들|아내|남편|엄마|아빠|생일|결혼|이사|직장|알레르기";

const COURTESIES: &str = "how are you doing|nice to see you|what's new|sounds like fun|thank you|thanks|you're welcome|welcome|sounds great|sounds good|sounds fun|\
that's great|that's awesome|that's amazing|that's so cool|so cool|how are you|how have you been|\
how's it going|what's up|long time no see|good to see you|great to hear|good to hear|nice to hear|\
great question|happy to help|let me know|take care|talk soon|see you|talk to you|catch up|bye|hello|\
hey|hi|good morning|good night|congrats|congratulations|glad|no problem|no worries|of course|sure|\
absolutely|definitely|wow|awesome|amazing|i appreciate|keep it up|good luck|can't wait|you got this|\
danke|vielen dank|bitte|gern geschehen|hallo|guten morgen|klingt gut|super|alles klar|tschüss|wie geht es|wie geht es dir|wie geht's|freut mich|\
merci|de rien|bonjour|salut|ça va|comment vas-tu|super idée|gracias|de nada|hola|cómo estás|qué tal|genial|grazie|prego|ciao|obrigado|\
obrigada|olá|спасибо|пожалуйста|привет|здравствуйте|отлично|пока|хорошо|давно не виделись|как дела|рад за вас|рада за вас|рад за тебя|здорово|\
谢谢|不客气|好久不见|最近怎么样|听起来不错|你好|好的|太好了|再见|没问题|謝謝|ありがとう|こんにちは|どういたしまして|了解|すごい|お久しぶり|お元気ですか|よかった|\
شكرا|مرحبا|عفوا|أهلا|السلام عليكم|ممتاز|كيف حالك|أنا بخير|هذا رائع|رائع جدا|رائع|धन्यवाद|नमस्ते|शुक्रिया|감사합니다|안녕|고마워|좋아요";

/// Words that say little about what is spoken of, by their stems.
const PLAIN: &str = "great good nice awesome amazing wow cool glad happy thanks thank sound sounds \
absolutely definitely totally sure yeah yes yep ok okay hey hi hello bye lol haha think feel feeling \
felt want wanted need needs look looks looking looked see seen saw come came coming let make makes \
made making take takes took taking keep kept keeping try tried trying put seem seems start started \
use used way ways time times lot lots bit day days today now back well too like really still always \
never maybe probably pretty super wonderful fantastic incredible beautiful lovely best better nice \
important special hard big little new old right long next last first one two another every people \
person life world thing enjoy enjoying enjoyed excited exciting fun hope hoping wish love loved \
appreciate guess mean means help helps helped helping work works working worked find found finding \
show shows showed call called share shared sharing hear heard hearing believe agree agreed agreeing \
wait sorry please welcome around away without since though although whatever everything able \
completely truly honestly especially literally basically simply quite also together inspire \
inspiring inspired inspiration support supportive supporting motivate motivated reminds reminder \
experience experiences moment moments proud congrats care perfect plan idea ideas check bring brings \
brought turn turned learn learned learning leave left set stay run change changed changing while ago \
recently lately soon later definitely end ready add added follow following thought thoughts chat chatting";

/// The same beyond English, as written.
const PLAIN_ELSEWHERE: &str = "gut gute guten super toll schön genau danke klar okay machen gemacht \
gehen geht ging kommen kommt heute immer wirklich vielleicht eigentlich einfach bitte gerne ganz mal \
schon denke glaube finde weiß bien bon bonne merci super vraiment faire fait aller peux oui non \
aujourd bueno buena gracias muy hacer hago vale claro bien creo quiero puedo grazie fare bene molto \
bom boa obrigado fazer pode хорошо спасибо очень просто можно сегодня думаю знаю сделать делать";

static PHRASES: LazyLock<Vec<(String, Cue)>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for (cue, phrases) in [
        (Cue::Decision, DECISIONS),
        (Cue::Plan, PLANS),
        (Cue::Error, ERRORS),
        (Cue::Open, OPEN),
        (Cue::Fact, FACTS),
        (Cue::Courtesy, COURTESIES),
    ] {
        for phrase in phrases.split('|') {
            all.push((phrase.to_owned(), cue));
            if phrase.contains('\'') {
                all.push((phrase.replace('\'', "’"), cue));
            }
            // The automaton knows the case of ASCII alone.
            let mut letters = phrase.chars();
            if let Some(first) = letters.next().filter(|first| !first.is_ascii()) {
                let upper: String = first.to_uppercase().chain(letters).collect();
                if upper != phrase {
                    all.push((upper, cue));
                }
            }
        }
    }
    all
});

// Never absent: the phrases are fixed, and a test builds it.
static AUTOMATON: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(PHRASES.iter().map(|(phrase, _)| phrase))
        .ok()
});

/// Hands out the cues of a text with their places, in order.
pub(crate) fn cues(text: &str, mut each: impl FnMut(Range<usize>, Cue)) {
    let Some(automaton) = AUTOMATON.as_ref() else { return };
    for found in automaton.find_iter(text) {
        let Some((_, cue)) = PHRASES.get(found.pattern().as_usize()) else { continue };
        let before = text.get(..found.start()).and_then(|before| before.chars().next_back());
        let after = text.get(found.end()..).and_then(|after| after.chars().next());
        // Within an identifier it is a name: errors.py, fail_fast, no-cache.
        let inside = |near: char| near.is_alphanumeric() || matches!(near, '_' | '/' | '-' | '\\');
        let stops = text.get(found.end()..).is_some_and(|rest| {
            !rest.starts_with('.')
                || !rest.trim_start_matches('.').starts_with(char::is_alphanumeric)
        });
        let alone = before.is_none_or(|before| !inside(before) && before != '.')
            && after.is_none_or(|after| !inside(after))
            && stops;
        let dense = text.get(found.range()).is_some_and(|found| found.starts_with(is_dense));
        if dense || alone {
            each(found.range(), *cue);
        }
    }
}

/// Whether letters of this kind take endings and particles without a space.
fn is_dense(letter: char) -> bool {
    is_wide(letter) || matches!(letter, '\u{0600}'..='\u{06ff}' | '\u{0900}'..='\u{097f}')
}

static PLAIN_TERMS: LazyLock<FxHashSet<String>> = LazyLock::new(|| {
    let mut terms: FxHashSet<String> = PLAIN_ELSEWHERE.split_whitespace().map(normalise).collect();
    Analyzer::default().tokens(PLAIN, |token| {
        terms.insert(token.norm.to_owned());
        terms.insert(token.term.to_owned());
    });
    terms
});

/// Whether a word says little about what is spoken of: great, think, time.
pub(crate) fn is_plain(term: &str, norm: &str) -> bool {
    PLAIN_TERMS.contains(term) || PLAIN_TERMS.contains(norm)
}

/// Whether a word at the start of a sentence only leads into it.
pub(crate) fn only_leads(norm: &str) -> bool {
    matches!(
        norm,
        "oh" | "wow"
            | "well"
            | "so"
            | "and"
            | "but"
            | "yeah"
            | "yes"
            | "yep"
            | "also"
            | "anyway"
            | "actually"
            | "hey"
            | "hi"
            | "haha"
            | "lol"
            | "ok"
            | "okay"
            | "um"
            | "hmm"
            | "plus"
            | "und"
            | "aber"
            | "ach"
            | "naja"
            | "ja"
            | "et"
            | "mais"
            | "y"
            | "pero"
            | "ну"
            | "да"
            | "а"
            | "и"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<Cue> {
        let mut all = Vec::new();
        cues(text, |_, cue| all.push(cue));
        all
    }

    #[test]
    fn cues_are_found_in_many_languages() {
        for (text, cue) in [
            ("We decided on SQLite.", Cue::Decision),
            ("Wir haben uns geeinigt", Cue::Decision),
            ("Решили взять поезд", Cue::Decision),
            ("我们决定用这个", Cue::Decision),
            ("来月にすることにした。", Cue::Decision),
            ("قررنا السفر", Cue::Decision),
            ("The build FAILED", Cue::Error),
            ("Ошибка сети", Cue::Error),
            ("Meine Tochter heißt Ida", Cue::Fact),
            ("I’ll do it", Cue::Plan),
            ("Thanks a lot", Cue::Courtesy),
        ] {
            assert!(found(text).contains(&cue), "{text}: {:?}", found(text));
        }
    }

    #[test]
    fn cues_stand_between_words() {
        assert_eq!(
            found("catalogue sonnet bugle mustard sync.errors no-bug fail_fast never.rs"),
            []
        );
    }
}
