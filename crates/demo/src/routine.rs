//! Recurring sessions: the morning brief, the nightly test run, the running log. Generated from the
//! seed.

use crate::calendar::Calendar;
use crate::scene::{Call, Gap, Line, Scene, Start};
use fastrand::Rng;
use oneiro::Role;
use serde_json::json;

/// Days before today that have routines.
const ROUTINE_DAYS: i64 = 28;

/// Days per session.
const DAYS_PER_SESSION: i64 = 14;

/// Days of a week.
const DAYS_PER_WEEK: i64 = 7;

/// The time of the morning brief, in minutes after midnight.
const BRIEF_AT: i64 = 6 * 60 + 45;

/// The time of the nightly run, in minutes after midnight.
const NIGHTLY_AT: i64 = 3 * 60 + 10;

/// Calendar entries by days after today, consistent with the conversations.
const CALENDAR_ENTRIES: [(i64, &str); 30] = [
    (-27, "18:30 Sr. Joaquim (tiler) comes to measure the bathroom"),
    (-25, "11:00 Azulejos Prata, second quote"),
    (-24, "15:00 Nordlicht: kickoff call with Katrin Vogel"),
    (-22, "Decide on the tiler"),
    (-21, "19:00 Dinner with Yusuf and Hana"),
    (-20, "10:00 Call mãe about the passport photo"),
    (-18, "09:00 Nordlicht stand-up (from now on daily at 09:00)"),
    (-17, "17:00 Tile showroom, Rua do Alecrim"),
    (-15, "20:00 sluice office hours"),
    (-14, "16:15 Physiotherapy, Inês Vale"),
    (-13, "Invoice Nordlicht, first half"),
    (-12, "12:30 Lunch with mãe in Setúbal"),
    (-10, "Release sluice 0.6.0"),
    (-9, "16:15 Physiotherapy, Inês Vale"),
    (-8, "08:30 Rui (plumber) opens the bathroom wall"),
    (-7, "19:30 Japanese class, lesson 6"),
    (-6, "09:40 Passport appointment for mãe, Laranjeiras"),
    (-5, "14:00 Nordlicht: review of the claim queue"),
    (-4, "Pay the deposit for the tiles"),
    (-3, "18:00 Carla (electrician), bathroom spots"),
    (-2, "20:30 Call Hana about Naoshima"),
    (-1, "16:15 Physiotherapy, Inês Vale"),
    (0, "10:30 Nordlicht: day rate with Katrin"),
    (1, "Mãe's passport can be collected"),
    (3, "Pay IMI, second instalment"),
    (5, "Last day for the IRS correction"),
    (9, "Long run, 16 km"),
    (16, "Tiler starts"),
    (38, "Half marathon"),
    (60, "Flight to Osaka"),
];

/// Mails by days before today: sender, subject and action.
const MAILS: [(i64, &str, &str, &str); 22] = [
    (27, "Joaquim Farinha", "Orçamento casa de banho", "the quote, 2,850 € + VAT"),
    (26, "Maratona de Lisboa", "Your start number", "4711; keep it, the bib needs it"),
    (25, "Azulejos Prata", "Proposta", "2,240 €, without VAT or rubble"),
    (24, "Katrin Vogel", "Vertrag Nordlicht", "to be signed: 40 days at 620 €"),
    (23, "ANA Airways", "Itinerary LIS-KIX / HND-LIS", "two tickets, 812 € each"),
    (21, "Yusuf El-Shazly", "دعوة", "the invitation to Layla's wedding"),
    (20, "Loja do Cidadão", "Confirmação de marcação", "passport of Amélia, Laranjeiras 09:40"),
    (19, "Jonas Brandt", "PR 64", "asks for a review, in German"),
    (17, "Azulejaria Alecrim", "Encomenda 3381", "sea green, deposit received"),
    (16, "加賀旅館", "お問い合わせありがとうございます", "the ryokan answers, two nights are free"),
    (15, "Xu Lin", "issue 67", "burst of zero hangs"),
    (13, "Nordlicht Buchhaltung", "Rechnung R-031", "received, no question"),
    (12, "Azulejaria Alecrim", "Alteração 3381", "white 10 x 10 in place of sea green"),
    (10, "GitHub", "v0.6.0 published", "nothing"),
    (9, "GitHub", "3 new issues in sluice", "all three: 0.6.0 hangs under load"),
    (8, "Fidelidade Seguros", "Participação SIN-2291-A", "the claim was taken in, keep the joint"),
    (7, "Benesse Naoshima", "Your tickets", "two timed tickets; check the date with Hana"),
    (6, "Loja do Cidadão", "Pedido concluído", "the passport can be fetched soon"),
    (5, "Emre", "Migration 0042", "merged, runs tonight"),
    (4, "Azulejaria Alecrim", "Sinal", "the deposit is covered, 60.84 € to your credit"),
    (3, "Fidelidade Seguros", "SIN-2291-A", "310 € go to Dona Fernanda, closed"),
    (2, "Hana", "transferência", "812 € for the flight have come"),
];

/// All recurring sessions.
pub(crate) fn scenes(calendar: &Calendar, seed: u64) -> Vec<Scene> {
    let mut rng = Rng::with_seed(seed);
    let mut scenes = Vec::new();
    for part in 1..=ROUTINE_DAYS / DAYS_PER_SESSION {
        let first = ROUTINE_DAYS - (part - 1) * DAYS_PER_SESSION;
        let is_last = part == ROUTINE_DAYS / DAYS_PER_SESSION;
        // Early routines have run today as well, unless the day has just begun.
        let last = if is_last { 0 } else { first - DAYS_PER_SESSION + 1 };
        let mut lines: [Vec<Line>; 4] = Default::default();
        let [briefs, nights, runs, mails] = &mut lines;
        for before in (last..=first).rev() {
            if calendar.is_over(before, BRIEF_AT + 15) {
                briefs.extend(brief(calendar, before, &mut rng));
            }
            if calendar.is_over(before, NIGHTLY_AT + 15) {
                nights.extend(nightly(calendar, before, &mut rng));
            }
            if before == 0 {
                continue;
            }
            runs.extend(run(before, &mut rng));
            mails.extend(mail(before, &mut rng));
        }
        let each = ROUTINES.iter().zip(lines);
        scenes.extend(each.map(|(routine, lines)| session(routine, part, lines)));
    }
    scenes
}

/// What the sessions of a routine have in common.
struct Routine {
    id: &'static str,
    source: &'static str,
    project: &'static str,
    title: &'static str,
    model: &'static str,
    prompt: &'static str,
}

const ROUTINES: [Routine; 4] = [
    Routine {
        id: "demo-brief",
        source: "cron",
        project: "home",
        title: "Morning brief",
        model: "claude-haiku-4-5",
        prompt: "routine",
    },
    Routine {
        id: "demo-nightly",
        source: "cron",
        project: "sluice",
        title: "sluice nightly",
        model: "gpt-5-mini",
        prompt: "routine",
    },
    Routine {
        id: "demo-runs",
        source: "telegram",
        project: "running",
        title: "Running log",
        model: "claude-haiku-4-5",
        prompt: "companion",
    },
    Routine {
        id: "demo-mail",
        source: "cron",
        project: "home",
        title: "Mail at six",
        model: "qwen3:14b",
        prompt: "routine",
    },
];

fn session(routine: &Routine, part: i64, lines: Vec<Line>) -> Scene {
    let start = lines.first().map(|line| line.gap);
    Scene {
        id: format!("{}-{part}", routine.id),
        source: routine.source.to_owned(),
        project: Some(routine.project.to_owned()),
        title: Some(format!("{}, part {part}", routine.title)),
        model: routine.model.to_owned(),
        prompt: routine.prompt.to_owned(),
        cwd: None,
        start: match start {
            Some(Gap::At(start)) => start,
            _ => Start::Ago(1),
        },
        parent: None,
        end: (part < ROUTINE_DAYS / DAYS_PER_SESSION).then(|| "rotated".to_owned()),
        archived: false,
        lines,
    }
}

/// The first line of a day.
fn at(before: i64, minute: i64, line: Line) -> Line {
    Line { gap: Gap::At(Start::Day { before, minute }), ..line }
}

fn pick<'a>(rng: &mut Rng, words: &[&'a str]) -> &'a str {
    rng.choice(words).copied().unwrap_or_default()
}

fn brief(calendar: &Calendar, before: i64, rng: &mut Rng) -> Vec<Line> {
    let day = calendar.day(-before);
    let sky =
        pick(rng, &["clear", "clear", "high cloud", "showers after noon", "fog on the river"]);
    let (low, wind) = (rng.u8(9..14), rng.u8(4..31));
    let high = low + rng.u8(4..9);
    let today = |wanted: i64| {
        let found = CALENDAR_ENTRIES.iter().filter(move |(at, _)| *at == wanted);
        found.map(|(_, what)| *what).collect::<Vec<_>>()
    };
    let entries = today(-before);
    let listed = if entries.is_empty() { "nothing".to_owned() } else { entries.join("; ") };
    let next = (1..8).find_map(|days| today(days - before).first().map(|what| (days, *what)));
    let ahead = next.map_or("Nothing in the next week.".to_owned(), |(days, what)| {
        let when = if days == 1 { "tomorrow".to_owned() } else { format!("in {days} days") };
        format!("Next: {what}, {when}.")
    });
    let advice = match (wind, sky) {
        (20.., _) => "Windy by the river: run in Monsanto.",
        (_, "showers after noon") => "If you run, run before noon.",
        _ => "Good running weather.",
    };
    let calls = vec![
        Call { tool: "weather".to_owned(), arguments: json!({"place": "Lisbon"}).to_string() },
        Call {
            tool: "calendar".to_owned(),
            arguments: json!({"day": day.to_string()}).to_string(),
        },
    ];
    vec![
        at(before, BRIEF_AT, Line::new(Role::User, format!("Morning brief for {day}."))),
        Line { calls, ..Line::new(Role::Assistant, "") },
        Line::new(
            Role::Tool,
            json!({"sky": sky, "low": low, "high": high, "wind_kmh": wind}).to_string(),
        ),
        Line::new(Role::Tool, json!({"entries": entries}).to_string()),
        Line::new(
            Role::Assistant,
            format!(
                "Lisbon: {sky}, {low} to {high} degrees, wind {wind} km/h. {advice}\nToday: {listed}.\n{ahead}"
            ),
        ),
    ]
}

fn nightly(calendar: &Calendar, before: i64, rng: &mut Rng) -> Vec<Line> {
    let version = match before {
        11.. => "0.5.4",
        10 => "0.6.0",
        _ => "0.6.1",
    };
    let tests = match before {
        19.. => 208,
        16.. => 213,
        11.. => 216,
        10 => 217,
        _ => 219,
    };
    let seconds = rng.u32(31..58);
    let flaky = rng.u8(0..9) == 0;
    let lines = rng.u8(40..72);
    let result = if !flaky {
        format!(
            "{{{{tests {lines}}}}}\n...\ntest result: ok. {tests} passed; 0 failed; finished in {seconds}.{:02}s",
            rng.u8(0..100)
        )
    } else {
        format!(
            "{{{{tests {lines}}}}}\ntest wheel::fires_within_a_tick ... FAILED\nassertion `left <= right` failed: fired after {} ms\n...\ntest result: FAILED. {} passed; 1 failed",
            rng.u8(12..40),
            tests - 1
        )
    };
    let said = if !flaky {
        format!("Green: {tests} tests, {seconds} s, sluice {version}.")
    } else {
        format!(
            "Red, once: wheel::fires_within_a_tick was late on a busy runner; {} others passed. It passed when run again, so it is timing, not logic.",
            tests - 1
        )
    };
    vec![
        at(
            before,
            NIGHTLY_AT,
            Line::new(Role::User, format!("Nightly run of sluice, {}.", calendar.day(-before))),
        ),
        Line::call(
            "shell",
            json!({"command": "cargo test --all-features", "cwd": "~/code/sluice"}),
        ),
        Line::new(Role::Tool, result),
        Line::new(Role::Assistant, said),
    ]
}

fn run(before: i64, rng: &mut Rng) -> Vec<Line> {
    // Five days of seven; four since the knee injury, after three days off.
    let rests = match before {
        12..=14 => true,
        15.. => matches!(before % DAYS_PER_WEEK, 0 | 3),
        _ => matches!(before % DAYS_PER_WEEK, 0 | 3 | 5),
    };
    if rests {
        return Vec::new();
    }
    let metres = rng.u32(52..110) * 100 + (28 - u32::try_from(before).unwrap_or(28)) * 60;
    let pace = rng.u32(325..352);
    let seconds = metres * pace / 1_000;
    let km = format!("{}.{}", metres / 1_000, metres % 1_000 / 100);
    let felt = pick(
        rng,
        &[
            "legs heavy, head clear",
            "easy, could have gone on",
            "knee quiet",
            "hot, too little water",
            "sluggish until the Cais, fine after",
            "new shoes, no blisters",
        ],
    );
    let felt = if before == 15 { "the right knee hurts on the outside, since km 7" } else { felt };
    let where_to =
        pick(rng, &["along the river", "Monsanto loop", "Alameda hills", "to Belém and back"]);
    // In the morning until the stand-ups began, in the evening since.
    let minute = if before > 19 { 7 * 60 + 40 } else { 19 * 60 + 20 };
    vec![
        at(
            before,
            minute,
            Line::new(
                Role::User,
                format!("{km} km in {}:{:02}, {where_to}. {felt}.", seconds / 60, seconds % 60),
            ),
        ),
        Line::call("log_run", json!({"km": km, "seconds": seconds, "note": felt})),
        Line::new(
            Role::Tool,
            json!({"ok": true, "pace": format!("{}:{:02}", pace / 60, pace % 60)}).to_string(),
        ),
        Line::new(
            Role::Assistant,
            format!("Logged: {km} km at {}:{:02} per km.", pace / 60, pace % 60),
        ),
    ]
}

fn mail(before: i64, rng: &mut Rng) -> Vec<Line> {
    let found: Vec<_> = MAILS.iter().filter(|(day, ..)| *day == before).collect();
    let noise = rng.u8(3..19);
    let list: Vec<_> = found
        .iter()
        .map(|(_, from, subject, _)| json!({"from": from, "subject": subject}))
        .collect();
    let said: Vec<_> = found
        .iter()
        .map(|(_, from, subject, what)| format!("- {from}, \"{subject}\": {what}"))
        .collect();
    let said = if said.is_empty() {
        format!("Nothing that needs you; {noise} newsletters archived.")
    } else {
        format!("{}\n{noise} newsletters archived.", said.join("\n"))
    };
    vec![
        at(before, 18 * 60, Line::new(Role::User, "Go through the mail.")),
        Line::call("mail_list", json!({"unread": true, "newsletters": false})),
        Line::new(Role::Tool, json!({"messages": list, "newsletters": noise}).to_string()),
        Line::new(Role::Assistant, said),
    ]
}
