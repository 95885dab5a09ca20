//! Words that a question uses without asking for them, and those that speak of time or of the
//! speaker. It owns these lists; it must not know what a caller makes of them.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use crate::date_words;
use crate::fold::normalise;

// Callers pass a word without its language, so a word that means something in another language
// (vet, art, Asia, MIT) is left out of the lists of all.
const FILLER: &str = "tell tells told telling know knows knew known describe describes described \
describing description mention mentions mentioned mentioning kind kinds kinda sort sorts type types \
thing things something anything everything nothing stuff go goes going went gone get gets got getting \
gotten give gives gave given giving say says said saying talk talks talked talking discuss discusses \
discussed discussing happen happens happened happening does doing done remember remembers remembered \
recall recalls recalled remind explain explains explained ask asks asked asking please according \
based detail details information info specific specifically particular particularly exactly actually \
really currently many much often ever yet still even someone anyone everyone regarding concerning \
related various several certain \
sagen sagte gesagt erzähl erzähle erzählen erzählt erzählte weißt wissen beschreibe beschreiben \
erwähnt erwähnen dinge sache sachen gibt bitte zeig gesprochen \
raconte raconter savoir décris décrire mentionné parlé parler chose choses quelque \
dime decir dijo dicho cuéntame sabes describir mencionó mencionado cosa cosas hablado habló \
dimmi detto raccontami sapere descrivi descrivere menzionato parlato parlare \
diga dizer disse contou descreva descrever mencionou coisa coisas falou falar \
vertel vertellen verteld weten beschrijf beschrijven dingen soort zeggen gezegd \
berätta berättade beskriv saker fortæl fortalte sagde slags fortell kerro kertoi tiedätkö kuvaile \
sanoi \
скажи сказал сказала расскажи рассказал рассказала знаешь знать опиши упомянул упомянула вещь вещи \
говорил говорила";

const FIRST_PERSON: &str = "i im ive me my mine myself we us our ours ourselves \
ich mich mir mein meine meinem meinen meiner meines wir unser unsere \
je j moi mon nous notre \
yo nosotros nosotras nuestro nuestra \
mio miei noi nostro nostra \
eu meu minha meus minhas nosso nossa \
ik mij mijn wij onze \
jag mig mina mitt \
jeg meg vores \
minä minun minut minua minulla minulle meidän meitä \
я меня мне мной мой моя моё мои мы нас нам наш наша";

static FILLER_SET: LazyLock<FxHashSet<String>> = LazyLock::new(|| set_of(FILLER));
static FIRST_PERSON_SET: LazyLock<FxHashSet<String>> = LazyLock::new(|| set_of(FIRST_PERSON));

fn set_of(words: &str) -> FxHashSet<String> {
    words.split_whitespace().map(normalise).collect()
}

/// Whether a normalised word only carries a question: tell, know, describe, kind, thing.
pub fn is_filler(norm: &str) -> bool {
    FILLER_SET.contains(norm)
}

/// Whether a normalised word speaks of time: yesterday, week, May, Monday, ago.
pub fn is_time_word(norm: &str) -> bool {
    date_words::is_time_word(norm)
}

/// Whether a normalised word is the speaker's own: I, my, we, ich, je.
pub fn is_first_person(norm: &str) -> bool {
    FIRST_PERSON_SET.contains(norm)
}
