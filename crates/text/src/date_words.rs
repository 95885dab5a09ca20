//! What single words mean in a date, in all languages at once. It owns the vocabulary of time; it
//! must not know how words make up a date.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::fold::normalise;

/// What a word contributes to a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Concept {
    /// A month, from 1.
    Month(i64),
    /// A day of the week, Monday being 0.
    Weekday(i64),
    /// A season, spring being 0.
    Season(i64),
    /// A length of time.
    Length(Length),
    /// A day counted from today.
    Offset(i64),
    /// A small number.
    Count(i64),
    /// The one before.
    Last,
    /// The current one.
    This,
    /// The one after.
    Next,
    /// Makes the length before it, or after it, lie in the past.
    Ago,
}

/// A length of time that a date is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// Also for its parts: this morning is today.
    Day,
    /// From Monday.
    Week,
    /// Saturday and Sunday.
    Weekend,
    /// A calendar month.
    Month,
    /// A calendar year.
    Year,
}

const MONTHS: [&str; 12] = [
    "january jan januar janvier enero gennaio janeiro januari tammikuu tammikuussa январь января \
     январе",
    "february feb februar février febrero febbraio fevereiro februari helmikuu helmikuussa февраль \
     февраля феврале",
    "march mar märz mars marzo março maart maaliskuu maaliskuussa март марта марте",
    "april apr avril abril aprile huhtikuu huhtikuussa апрель апреля апреле",
    "may mai mayo maggio maio mei maj toukokuu toukokuussa май мая мае",
    "june jun juni juin junio giugno junho kesäkuu kesäkuussa июнь июня июне",
    "july jul juli juillet julio luglio julho heinäkuu heinäkuussa июль июля июле",
    "august aug août agosto augustus augusti elokuu elokuussa август августа августе",
    "september sep sept septembre septiembre settembre setembro syyskuu syyskuussa сентябрь \
     сентября сентябре",
    "october oct oktober octobre octubre ottobre outubro lokakuu lokakuussa октябрь октября \
     октябре",
    "november nov novembre noviembre novembro marraskuu marraskuussa ноябрь ноября ноябре",
    "december dec dezember décembre diciembre dicembre dezembro joulukuu joulukuussa декабрь \
     декабря декабре",
];

const WEEKDAYS: [&str; 7] = [
    "monday mondays mon montag lundi lunes lunedì segunda-feira maandag måndag mandag maanantai \
     maanantaina понедельник",
    "tuesday tuesdays tue tues dienstag mardi martes martedì dinsdag tisdag tirsdag tiistai \
     tiistaina вторник",
    "wednesday wednesdays wed mittwoch mercredi miércoles mercoledì woensdag onsdag keskiviikko \
     keskiviikkona среда среду",
    "thursday thursdays thu thur thurs donnerstag jeudi jueves giovedì donderdag torsdag torstai \
     torstaina четверг",
    "friday fridays fri freitag vendredi viernes venerdì vrijdag fredag perjantai perjantaina \
     пятница пятницу",
    "saturday saturdays sat samstag sonnabend samedi sábado sabato zaterdag lördag lørdag lauantai \
     lauantaina суббота субботу",
    "sunday sundays sun sonntag dimanche domingo domenica zondag söndag søndag sunnuntai \
     sunnuntaina воскресенье",
];

const SEASONS: [&str; 4] = [
    "spring springtime frühling frühjahr printemps primavera lente vår forår kevät keväällä весна \
     весной",
    "summer summertime sommer été verano estate verão zomer sommar kesä kesällä лето летом",
    "autumn fall herbst automne otoño autunno outono herfst höst efterår høst syksy syksyllä осень \
     осенью",
    "winter wintertime hiver invierno inverno vinter talvi talvella зима зимой",
];

const LENGTHS: [(Length, &str); 5] = [
    (
        Length::Day,
        "day days night nights morning afternoon evening tag tage tagen nacht jour jours nuit día \
         días noche giorno giorni notte dia dias noite dag dagen dagar dage dager päivä päivää день \
         дня дней",
    ),
    (
        Length::Week,
        "week weeks woche wochen semaine semaines semana semanas settimana settimane weken vecka \
         veckor uge uger uke uker viikko viikolla viikkoa неделя недели недель неделю неделе",
    ),
    (Length::Weekend, "weekend weekends wochenende helg helgen viikonloppu выходные"),
    (
        Length::Month,
        "month months monat monate monaten mois mes meses mese mesi mês maand maanden månad månader \
         måned måneder kuukausi kuukautta месяц месяца месяцев месяце",
    ),
    (
        Length::Year,
        "year years jahr jahre jahren an ans année années año años anno anni ano anos jaar jaren år \
         vuosi vuotta vuonna год года лет году",
    ),
];

const OFFSETS: [(i64, &str); 4] = [
    (-2, "vorgestern anteayer anteontem eergisteren förrgår forgårs toissapäivänä позавчера"),
    (-1, "yesterday gestern hier ayer ieri ontem gisteren igår eilen вчера"),
    (0, "today tonight nowadays heute aujourdhui hoy oggi hoje vandaag idag tänään сегодня"),
    (1, "tomorrow morgen demain mañana domani amanhã imorgon huomenna завтра"),
];

const COUNTS: [&str; 12] = [
    "one a un una ein eine einem einer eines einen une uno um uma een ett et yksi один одну",
    "two couple zwei deux dos due dois duas twee två to kaksi два две",
    "three few drei trois tres tre três drie kolme три",
    "four vier quatre cuatro quattro quatro fyra fire neljä четыре",
    "five fünf cinq cinco cinque vijf fem viisi пять",
    "six sechs seis sei zes sex seks kuusi шесть",
    "seven sieben sept siete sette sete zeven sju syv seitsemän семь",
    "eight acht huit ocho otto oito åtta otte kahdeksan восемь",
    "nine neun neuf nueve nove negen nio ni yhdeksän девять",
    "ten zehn dix diez dieci dez tien tio ti kymmenen десять",
    "eleven elf onze once undici elva elleve одиннадцать",
    "twelve zwölf douze doce dodici doze twaalf tolv двенадцать",
];

const RELATIVES: [(Concept, &str); 4] = [
    (
        Concept::Last,
        "last past previous letzte letzten letzter letztes letztem vergangene vergangenen vorige \
         vorigen dernier dernière derniers dernières passé passée pasado pasada pasados último \
         última últimos últimas scorso scorsa ultimo ultima ultimi passado passada vorig laatste \
         afgelopen förra senaste sidste siste forrige viime прошлый прошлой прошлую прошлом прошлое \
         прошлого",
    ),
    (
        Concept::This,
        "this current diese diesen dieser dieses diesem cette ce este esta questo questa deze dit \
         denna detta denne dette tämä tällä этот эту этой этом это",
    ),
    (
        Concept::Next,
        "next upcoming coming nächste nächsten nächster nächstes prochain prochaine próximo próxima \
         prossimo prossima volgende nästa næste neste ensi следующий следующей следующую следующем",
    ),
    (Concept::Ago, "ago vor hace fa atrás há geleden sedan siden sitten назад"),
];

/// Words that are mostly something else, and name a date only where the rest shows it.
const AMBIGUOUS: &str = "may mar march mars mai jun jan sun sat mon wed fri thu fall spring \
hier morgen an ans mes to ni ti sei a um et sex once elf una un été ete lente estate sept dec helg";

/// Other words that speak of time.
const MORE_TIME: &str = "recently recent lately ago later earlier soon before after since until \
during when while hour hours minute minutes clock date dates dated birthday anniversary holiday \
holidays christmas easter thanksgiving halloween noon midnight am pm daily weekly monthly yearly \
annual annually decade century season seasons already now then currently previously ago schedule \
scheduled kürzlich neulich später früher bald stunde stunden minute minuten jetzt damals seitdem \
récemment bientôt heure heures maintenant matin soir reciente recientemente pronto hora horas ahora \
mañana tarde recentemente presto ora ore adesso mattina sera logo agora manhã onlangs uur later nu \
nyligen timme timmar nylig time timer äskettäin pian tunti nyt недавно скоро час часа часов сейчас \
утром вечером ночью";

static CONCEPTS: LazyLock<FxHashMap<String, Vec<Concept>>> = LazyLock::new(|| {
    let mut concepts: FxHashMap<String, Vec<Concept>> = FxHashMap::default();
    let mut add = |words: &str, concept: Concept| {
        for word in words.split_whitespace() {
            concepts.entry(normalise(word)).or_default().push(concept);
        }
    };
    for (month, words) in (1..).zip(MONTHS) {
        add(words, Concept::Month(month));
    }
    for (day, words) in (0..).zip(WEEKDAYS) {
        add(words, Concept::Weekday(day));
    }
    for (season, words) in (0..).zip(SEASONS) {
        add(words, Concept::Season(season));
    }
    for (length, words) in LENGTHS {
        add(words, Concept::Length(length));
    }
    for (days, words) in OFFSETS {
        add(words, Concept::Offset(days));
    }
    for (count, words) in (1..).zip(COUNTS) {
        add(words, Concept::Count(count));
    }
    for (concept, words) in RELATIVES {
        add(words, concept);
    }
    concepts
});

static AMBIGUOUS_SET: LazyLock<FxHashSet<String>> =
    LazyLock::new(|| AMBIGUOUS.split_whitespace().map(normalise).collect());
static MORE_TIME_SET: LazyLock<FxHashSet<String>> =
    LazyLock::new(|| MORE_TIME.split_whitespace().map(normalise).collect());

/// What a normalised word may mean. Across languages it may be more than one thing.
pub(crate) fn concepts(norm: &str) -> &'static [Concept] {
    CONCEPTS.get(norm).map_or(&[], Vec::as_slice)
}

/// Whether a word needs others around it to be a date.
pub(crate) fn is_ambiguous(norm: &str) -> bool {
    AMBIGUOUS_SET.contains(norm)
}

/// Whether a normalised word speaks of time.
pub(crate) fn is_time_word(norm: &str) -> bool {
    let names_time = |concept: &Concept| match concept {
        Concept::Count(_) | Concept::This | Concept::Ago => false,
        // Words of other languages that are spelled like common ones.
        Concept::Offset(_) | Concept::Length(_) | Concept::Season(_) => {
            !is_ambiguous(norm) || matches!(norm, "spring" | "fall" | "ete")
        }
        _ => true,
    };
    concepts(norm).iter().any(names_time) || MORE_TIME_SET.contains(norm)
}
