//! Days of the Gregorian calendar by number. It owns the arithmetic; it must not know words.

/// A day, as year, month and day of the month.
pub(crate) type Day = (i64, i64, i64);

/// The number of a day since 1970-01-01. Months outside 1 to 12 run into other years.
pub(crate) fn number((year, month, day): Day) -> i64 {
    // Years from March, so that the leap day is the last, in eras of 400 years.
    let months = year * 12 + month - 3;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12));
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The day of the week, Monday being 0.
pub(crate) fn weekday(number: i64) -> i64 {
    (number + 3).rem_euclid(7)
}

/// A day by its parts, if there is such a day.
pub(crate) fn checked((year, month, day): Day) -> Option<i64> {
    let first = number((year, month, 1));
    let length = number((year, month + 1, 1)) - first;
    ((1..=12).contains(&month) && (1..=length).contains(&day)).then(|| first + day - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_numbers() {
        for (day, want) in [
            ((1970, 1, 1), 0),
            ((1969, 12, 31), -1),
            ((2000, 2, 29), 11_016),
            ((2000, 3, 1), 11_017),
            ((2023, 5, 7), 19_484),
            ((2022, 17, 7), 19_484),
        ] {
            assert_eq!(number(day), want, "{day:?}");
        }
        assert_eq!(weekday(0), 3);
        assert_eq!(weekday(19_484), 6);
        assert_eq!(checked((2023, 2, 29)), None);
        assert_eq!(checked((2024, 2, 29)), Some(19_782));
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut want = number((1600, 1, 1));
        for year in 1600..2400 {
            for month in 1..=12 {
                for day in 1..=31 {
                    if let Some(number) = checked((year, month, day)) {
                        assert_eq!(number, want);
                        want += 1;
                    }
                }
            }
        }
        assert_eq!(want, number((2400, 1, 1)));
    }
}
