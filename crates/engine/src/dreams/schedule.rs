//! When dreams are due: cron expressions of five fields in a time zone.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{AmbiguousOffset, TimeZone};
use oneiro_model::{Error, Result, Timestamp};

/// Days that are searched for the next or the last time: a leap day comes after eight years at most.
const SEARCHED_DAYS: i64 = 366 * 9;

/// A schedule.
#[derive(Debug, Clone)]
pub(crate) struct Schedule {
    minutes: Field,
    hours: Field,
    days: Field,
    months: Field,
    weekdays: Field,
    zone: TimeZone,
}

/// The allowed values of a field, and whether it allows all.
#[derive(Debug, Clone)]
struct Field {
    allowed: u64,
    is_any: bool,
}

impl Field {
    fn parse(text: &str, (least, most): (u32, u32)) -> Option<Field> {
        let mut allowed = 0u64;
        for part in text.split(',') {
            let (range, step) = match part.split_once('/') {
                Some((range, step)) => (range, step.parse::<u32>().ok().filter(|step| *step > 0)?),
                None => (part, 1),
            };
            let (from, to) = match range.split_once('-') {
                _ if range == "*" => (least, most),
                Some((from, to)) => (from.parse().ok()?, to.parse().ok()?),
                None => {
                    let value: u32 = range.parse().ok()?;
                    (value, if part.contains('/') { most } else { value })
                }
            };
            if from < least || to > most || from > to {
                return None;
            }
            (from..=to).step_by(step as usize).for_each(|value| allowed |= 1 << value);
        }
        Some(Field { allowed, is_any: text.starts_with('*') })
    }

    fn allows(&self, value: i8) -> bool {
        u32::try_from(value).is_ok_and(|value| self.allowed & (1 << value) != 0)
    }
}

impl Schedule {
    /// Reads a cron expression and the name of a time zone.
    pub(crate) fn parse(cron: &str, zone: &str) -> Result<Schedule> {
        let wrong = || {
            Error::field("dream_cron", format!("{cron:?} is not a cron expression of five fields"))
                .remedy("write it as \"0 3 * * *\": minute, hour, day, month, weekday")
        };
        let fields: Vec<&str> = cron.split_whitespace().collect();
        let &[minutes, hours, days, months, weekdays] = fields.as_slice() else {
            return Err(wrong());
        };
        let field = |text, range| Field::parse(text, range).ok_or_else(wrong);
        let mut weekdays = field(weekdays, (0, 7))?;
        // Sunday is 0 and 7.
        if weekdays.allowed & (1 << 7) != 0 {
            weekdays.allowed |= 1;
        }
        let zone_name = if zone.trim().is_empty() { "UTC" } else { zone.trim() };
        let zone = TimeZone::get(zone_name).map_err(|_| {
            Error::field("dream_timezone", format!("{zone:?} is not a time zone"))
                .remedy("write a name such as Europe/Berlin")
        })?;
        Ok(Schedule {
            minutes: field(minutes, (0, 59))?,
            hours: field(hours, (0, 23))?,
            days: field(days, (1, 31))?,
            months: field(months, (1, 12))?,
            weekdays,
            zone,
        })
    }

    /// The first time after a moment.
    pub(crate) fn next_after(&self, moment: Timestamp) -> Option<Timestamp> {
        let today = self.day_of(moment)?;
        // A day before and after, because a time may move over midnight.
        let mut day = today.yesterday().ok()?;
        for _ in 0..SEARCHED_DAYS {
            let found = self.times_of(day).into_iter().find(|time| *time > moment);
            if found.is_some() {
                return found;
            }
            day = day.tomorrow().ok()?;
        }
        None
    }

    /// The last times up to a moment and after another, newest first, at most `limit`.
    pub(crate) fn times_between(
        &self,
        (after, until): (Timestamp, Timestamp),
        limit: usize,
    ) -> Vec<Timestamp> {
        let mut found = Vec::new();
        let Some(mut day) = self.day_of(until).and_then(|day| day.tomorrow().ok()) else {
            return found;
        };
        for _ in 0..SEARCHED_DAYS {
            let mut times = self.times_of(day);
            times.reverse();
            for time in times.into_iter().filter(|time| *time <= until) {
                if time <= after || found.len() >= limit {
                    return found;
                }
                found.push(time);
            }
            let Ok(before) = day.yesterday() else { return found };
            day = before;
        }
        found
    }

    fn day_of(&self, moment: Timestamp) -> Option<Date> {
        let at = jiff::Timestamp::from_microsecond(moment.micros()).ok()?;
        Some(at.to_zoned(self.zone.clone()).date())
    }

    /// The times of a day, in order and each once.
    fn times_of(&self, day: Date) -> Vec<Timestamp> {
        let weekday = day.weekday().to_sunday_zero_offset();
        // As cron has it: if both are restricted, one of them is enough.
        let (by_day, by_weekday) = (self.days.allows(day.day()), self.weekdays.allows(weekday));
        let is_day = match (self.days.is_any, self.weekdays.is_any) {
            (false, false) => by_day || by_weekday,
            _ => by_day && by_weekday,
        };
        if !is_day || !self.months.allows(day.month()) {
            return Vec::new();
        }
        let mut times = Vec::new();
        for hour in (0..24).filter(|hour| self.hours.allows(*hour)) {
            for minute in (0..60).filter(|minute| self.minutes.allows(*minute)) {
                let Ok(time) = Time::new(hour, minute, 0, 0) else { continue };
                times.extend(self.instant(day.to_datetime(time)));
            }
        }
        times.sort();
        times.dedup();
        times
    }

    /// The instant of a local time: the first of a doubled one, and the end of the gap for one in a gap.
    fn instant(&self, local: DateTime) -> Option<Timestamp> {
        let ambiguous = self.zone.to_ambiguous_timestamp(local);
        let is_gap = matches!(ambiguous.offset(), AmbiguousOffset::Gap { .. });
        let earlier = ambiguous.earlier().ok()?;
        let instant = if is_gap {
            self.zone.following(earlier).next().map_or(earlier, |change| change.timestamp())
        } else {
            earlier
        };
        Some(Timestamp::from_micros(instant.as_microsecond()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn next(cron: &str, zone: &str, after: &str) -> String {
        let schedule = Schedule::parse(cron, zone).unwrap();
        schedule.next_after(at(after)).unwrap().to_string()
    }

    #[test]
    fn the_next_time_follows_the_expression() {
        for (cron, after, expected) in [
            ("0 3 * * *", "2026-05-07T02:59:00Z", "2026-05-07T03:00:00Z"),
            ("0 3 * * *", "2026-05-07T03:00:00Z", "2026-05-08T03:00:00Z"),
            ("0 */12 * * *", "2026-05-07T03:00:00Z", "2026-05-07T12:00:00Z"),
            ("0 */6 * * *", "2026-05-07T18:00:00Z", "2026-05-08T00:00:00Z"),
            ("15,45 9-10 * * 1", "2026-05-07T03:00:00Z", "2026-05-11T09:15:00Z"),
            ("0 0 29 2 *", "2026-05-07T03:00:00Z", "2028-02-29T00:00:00Z"),
            ("0 0 1 * 7", "2026-05-07T03:00:00Z", "2026-05-10T00:00:00Z"),
        ] {
            assert_eq!(next(cron, "UTC", after), expected, "{cron}");
        }
    }

    #[test]
    fn a_time_in_a_gap_runs_at_its_end_and_a_doubled_one_once() {
        assert_eq!(
            next("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z"),
            "2026-03-29T01:00:00Z"
        );
        assert_eq!(
            next("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z"),
            "2026-10-25T00:30:00Z"
        );
        assert_eq!(
            next("30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z"),
            "2026-10-26T01:30:00Z"
        );
    }

    #[test]
    fn missed_times_are_listed_newest_first() {
        let schedule = Schedule::parse("0 3 * * *", "UTC").unwrap();
        let span = (at("2026-05-04T03:00:00Z"), at("2026-05-07T12:00:00Z"));
        let found: Vec<String> =
            schedule.times_between(span, 10).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["2026-05-07T03:00:00Z", "2026-05-06T03:00:00Z", "2026-05-05T03:00:00Z"]);
        assert_eq!(schedule.times_between(span, 1).len(), 1);
    }

    #[test]
    fn wrong_expressions_and_zones_are_named() {
        for wrong in ["", "* * *", "61 * * * *", "a b c d e", "5-1 * * * *", "*/0 * * * *"] {
            assert!(Schedule::parse(wrong, "UTC").is_err(), "{wrong}");
        }
        assert!(Schedule::parse("0 3 * * *", "Mars/Olympus").is_err());
        assert!(Schedule::parse("0 3 * * *", "").is_ok());
    }
}
