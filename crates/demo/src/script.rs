//! Parses the script: conversations as plain text. A session is a header and lines:
//!
//! ```text
//! == demo-id
//! source telegram
//! when -12 18:40          or: ago 3h20m
//! parent demo-other continuation
//! --
//! U a user message; `U(Rui)` names the user, `S` is the system
//!   continued, indented by two spaces
//! ? reasoning before the next line
//! A an answer of the agent
//! > tool {"arguments": "as JSON"}
//! < the result of the tool
//! ~ 2h                    a pause, or `~ -11 08:30`: the next day
//! ( rewound               or compacted, up to the closing bracket
//! )
//! ```

use crate::scene::{Call, Gap, Line, Parent, Scene, Start};
use oneiro::{Error, Lineage, Result, Role, Visibility};

/// The files of the script.
const SCRIPT_FILES: [(&str, &str); 8] = [
    ("flat.talk", include_str!("../assets/flat.talk")),
    ("sluice.talk", include_str!("../assets/sluice.talk")),
    ("nordlicht.talk", include_str!("../assets/nordlicht.talk")),
    ("running.talk", include_str!("../assets/running.talk")),
    ("japan.talk", include_str!("../assets/japan.talk")),
    ("family.talk", include_str!("../assets/family.talk")),
    ("machine.talk", include_str!("../assets/machine.talk")),
    ("today.talk", include_str!("../assets/today.talk")),
];

/// All sessions of the script.
pub(crate) fn scenes() -> Result<Vec<Scene>> {
    let mut scenes = Vec::new();
    for (file, text) in SCRIPT_FILES {
        scenes.extend(read(text).map_err(|error| error.at(file))?);
    }
    Ok(scenes)
}

/// Reads one file.
pub(crate) fn read(text: &str) -> Result<Vec<Scene>> {
    let mut scenes: Vec<Reader> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let place = |error: Error| error.at(format!("line {number}"));
        match (line.strip_prefix("== "), scenes.last_mut()) {
            (Some(id), _) => scenes.push(Reader::new(id)),
            (None, Some(reader)) => reader.line(line).map_err(place)?,
            (None, None) if line.is_empty() || line.starts_with('#') => {}
            (None, None) => return Err(place(wrong("a file begins with `== ID` or a comment"))),
        }
    }
    scenes.into_iter().map(Reader::done).collect()
}

fn wrong(what: impl Into<String>) -> Error {
    Error::invalid(what).remedy("the format is explained at the top of crates/demo/src/script.rs")
}

/// A session that is being parsed.
struct Reader {
    scene: Scene,
    has_start: bool,
    in_lines: bool,
    reasoning: Option<String>,
    in_reasoning: bool,
    gap: Gap,
    visibility: Visibility,
}

impl Reader {
    fn new(id: &str) -> Reader {
        Reader {
            scene: Scene {
                id: id.trim().to_owned(),
                source: String::new(),
                project: None,
                title: None,
                model: "claude-sonnet-4-5".to_owned(),
                prompt: "companion".to_owned(),
                cwd: None,
                start: Start::Ago(0),
                parent: None,
                end: None,
                archived: false,
                lines: Vec::new(),
            },
            has_start: false,
            in_lines: false,
            reasoning: None,
            in_reasoning: false,
            gap: Gap::Soon,
            visibility: Visibility::Live,
        }
    }

    fn line(&mut self, line: &str) -> Result<()> {
        match (line, self.in_lines) {
            ("--", false) => {
                self.in_lines = true;
                Ok(())
            }
            (line, true) => self.message_line(line),
            ("", false) => Ok(()),
            (line, false) => self.header(line),
        }
    }

    fn header(&mut self, line: &str) -> Result<()> {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        let value = value.trim();
        let text = || Some(value.to_owned());
        match key {
            "source" => self.scene.source = value.to_owned(),
            "project" => self.scene.project = text(),
            "title" => self.scene.title = text(),
            "model" => self.scene.model = value.to_owned(),
            "prompt" => self.scene.prompt = value.to_owned(),
            "cwd" => self.scene.cwd = text(),
            "end" => self.scene.end = text(),
            "archived" => self.scene.archived = true,
            "parent" => self.scene.parent = Some(parent(value)?),
            "when" | "ago" => {
                let start = if key == "when" { day(value) } else { minutes(value).map(Start::Ago) };
                self.scene.start = start.ok_or_else(|| {
                    wrong(format!("{value:?} is no time")).remedy("`when -12 18:40`, `ago 3h20m`")
                })?;
                self.has_start = true;
            }
            _ => return Err(wrong(format!("{key:?} is no field of a session"))),
        }
        Ok(())
    }

    fn message_line(&mut self, line: &str) -> Result<()> {
        if line.is_empty() || line.starts_with("  ") {
            return self.continuation(line.get(2..).unwrap_or_default());
        }
        self.in_reasoning = false;
        let (mark, text) = line.split_once(' ').unwrap_or((line, ""));
        let (mark, name) = match mark.split_once('(') {
            Some((mark, name)) if !mark.is_empty() => (mark, name.strip_suffix(')')),
            _ => (mark, None),
        };
        match mark {
            "U" => self.push(Role::User, text),
            "A" => self.push(Role::Assistant, text),
            "S" => self.push(Role::System, text),
            "<" => self.push(Role::Tool, text),
            ">" => self.call(text)?,
            "?" => {
                self.reasoning = Some(text.to_owned());
                self.in_reasoning = true;
            }
            "~" => {
                let gap = minutes(text).map(Gap::Pause).or_else(|| day(text).map(Gap::At));
                self.gap = gap.ok_or_else(|| wrong(format!("{text:?} is no pause")))?;
            }
            "(" => self.visibility = Visibility::parse(text)?,
            ")" => self.visibility = Visibility::Live,
            _ => return Err(wrong(format!("{mark:?} is no mark"))),
        }
        if let (Some(name), Some(last)) = (name, self.scene.lines.last_mut()) {
            last.name = Some(name.to_owned());
        }
        Ok(())
    }

    /// A continuation of the previous line.
    fn continuation(&mut self, line: &str) -> Result<()> {
        let text = match (&mut self.reasoning, self.in_reasoning, self.scene.lines.last_mut()) {
            (Some(reasoning), true, _) => reasoning,
            (_, _, Some(last)) if last.calls.is_empty() => &mut last.text,
            // Blank lines after a call are ignored.
            _ if line.is_empty() => return Ok(()),
            _ => return Err(wrong("nothing is being said that could go on")),
        };
        text.push('\n');
        text.push_str(line);
        Ok(())
    }

    fn push(&mut self, role: Role, text: &str) {
        self.scene.lines.push(Line {
            reasoning: self.reasoning.take(),
            gap: std::mem::take(&mut self.gap),
            visibility: self.visibility,
            ..Line::new(role, text)
        });
    }

    /// A call belongs to the preceding answer, or to an answer without text.
    fn call(&mut self, text: &str) -> Result<()> {
        let (tool, arguments) = text.split_once(' ').unwrap_or((text, "{}"));
        serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(arguments)
            .map_err(|error| wrong(format!("the arguments of {tool}: {error}")))?;
        let joins = self.reasoning.is_none()
            && self.gap == Gap::Soon
            && self.scene.lines.last().is_some_and(|last| last.role == Role::Assistant);
        if !joins {
            self.push(Role::Assistant, "");
        }
        let call = Call { tool: tool.to_owned(), arguments: arguments.to_owned() };
        self.scene.lines.last_mut().map(|last| last.calls.push(call)).unwrap_or_default();
        Ok(())
    }

    fn done(mut self) -> Result<Scene> {
        for line in &mut self.scene.lines {
            line.text.truncate(line.text.trim_end().len());
        }
        check(&self).map_err(|error| error.at(self.scene.id.clone()))?;
        Ok(self.scene)
    }
}

/// Fails if a required field is missing.
fn check(reader: &Reader) -> Result<()> {
    let scene = &reader.scene;
    if !scene.id.starts_with("demo-") {
        return Err(wrong("the id of a session begins with `demo-`"));
    }
    if !reader.has_start || scene.source.is_empty() || scene.lines.is_empty() {
        return Err(wrong("a session has a `when` or `ago`, a `source` and at least one line"));
    }
    if reader.reasoning.is_some() || reader.visibility != Visibility::Live {
        return Err(wrong("something is left open at the end"));
    }
    let mut waiting = 0;
    for line in &scene.lines {
        waiting = match (&line.role, waiting) {
            (Role::Tool, 0) => return Err(wrong(format!("no call for: {}", line.text))),
            (Role::Tool, waiting) => waiting - 1,
            (_, 0) => line.calls.len(),
            _ => return Err(wrong(format!("a call is not answered before: {}", line.text))),
        };
    }
    // A session that was interrupted may end with a call.
    if waiting == 0 || scene.end.as_deref() == Some("error") {
        Ok(())
    } else {
        Err(wrong("the last call is not answered"))
    }
}

fn parent(text: &str) -> Result<Parent> {
    let mut words = text.split_whitespace();
    let id = words.next().unwrap_or_default().to_owned();
    let lineage = Lineage::parse(words.next().unwrap_or_default())?;
    let shared = words.next().map_or(Ok(0), str::parse);
    let shared = shared.map_err(|_| wrong("a branch says how many messages it shares"))?;
    Ok(Parent { id, lineage, shared })
}

/// `-12 18:40`: the twelfth day before today, at twenty to seven.
fn day(text: &str) -> Option<Start> {
    let (day, time) = text.split_once(' ')?;
    let before = day.strip_prefix('-')?.parse().ok().filter(|before| *before > 0)?;
    let (hour, minute) = time.split_once(':')?;
    let minute = hour.parse::<i64>().ok()? * 60 + minute.parse::<i64>().ok()?;
    Some(Start::Day { before, minute })
}

/// `2d`, `3h20m`, `45m`.
fn minutes(text: &str) -> Option<i64> {
    let mut total = 0;
    let mut digits = String::new();
    for letter in text.chars() {
        let unit = match letter {
            'd' => 1_440,
            'h' => 60,
            'm' => 1,
            digit if digit.is_ascii_digit() => {
                digits.push(digit);
                continue;
            }
            _ => return None,
        };
        total += digits.parse::<i64>().ok()? * unit;
        digits.clear();
    }
    (digits.is_empty() && total > 0).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "== demo-a\nsource cli\nago 3h20m\n";

    #[test]
    fn lines_calls_and_reasoning_are_parsed() {
        let text = format!(
            "{HEADER}--\nU(Rui) hello\n  > there\n\n  end\n? hm\n  hmm\nA look\n> ls {{\"p\":1}}\n\
             > pwd\n< a\n  b\n< c\n~ 1h\nA done\n"
        );
        let scenes = read(&text).unwrap();
        let [scene] = scenes.as_slice() else { panic!("{scenes:?}") };
        assert_eq!(scene.start, Start::Ago(200));
        let said: Vec<_> = scene.lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(said, ["hello\n> there\n\nend", "look", "a\nb", "c", "done"]);
        assert_eq!(scene.lines[0].name.as_deref(), Some("Rui"));
        assert_eq!(scene.lines[1].reasoning.as_deref(), Some("hm\nhmm"));
        assert_eq!(scene.lines[1].calls.len(), 2);
        assert_eq!(scene.lines[4].gap, Gap::Pause(60));
    }

    #[test]
    fn invalid_scripts_are_refused() {
        for bad in [
            "--\nU a\n< no call\n".to_owned(),
            "--\nA a\n> ls {}\nU not answered\n".to_owned(),
            "--\nA a\n> ls {}\n".to_owned(),
            "--\nA a\n> ls nonsense\n< x\n".to_owned(),
            "--\nnonsense\n".to_owned(),
            "--\n( rewound\nU a\n".to_owned(),
            "--\nU a\n? thought\n".to_owned(),
            "colour red\n--\nU a\n".to_owned(),
            "when 12 3\n--\nU a\n".to_owned(),
            "--\n".to_owned(),
        ] {
            assert!(read(&format!("{HEADER}{bad}")).is_err(), "{bad}");
        }
        assert!(read("== other\nsource cli\nago 1h\n--\nU a\n").is_err());
        assert!(read("U a\n").is_err());
    }
}
