//! Where a page of hits begins: how many come before it, and, where texts are read for a pattern,
//! the message that reading went on from.

use oneiro_model::Cursor;

/// Hits that one stretch of reading may yield; a stretch ends before it yields more.
const STRETCH: i64 = 1 << 12;

/// Orders from here on are places in a stretch. Never below zero: a cursor is typed after a flag.
const STRETCHES: i64 = 1 << 40;

/// Hits before a page at the most: a place that nobody was given is after the end.
const DEEPEST: usize = 1 << 20;

/// Where a page begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// Hits before it.
    pub(super) offset: usize,
    /// Only messages before this one are read for a pattern.
    pub(super) before: Option<i64>,
    /// The newest message there was when the first page was asked for.
    pub(super) last: Option<i64>,
}

impl Place {
    pub(super) fn of(cursor: Option<Cursor>) -> Place {
        let Some(cursor) = cursor else { return Place::default() };
        let last = Some(cursor.key);
        let packed = cursor.order.saturating_sub(STRETCHES);
        let offset = |order: i64| usize::try_from(order).unwrap_or(0).min(DEEPEST);
        match packed >= 0 {
            true => {
                Place { offset: offset(packed % STRETCH), before: Some(packed / STRETCH), last }
            }
            false => Place { offset: offset(cursor.order), before: None, last },
        }
    }

    /// The cursor of this place.
    pub(super) fn cursor(self, last: i64) -> Cursor {
        let offset = self.offset as i64;
        let order = match self.before {
            None => offset,
            Some(before) => STRETCHES + before * STRETCH + offset.min(STRETCH - 1),
        };
        Cursor { order, key: last }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_survives_its_cursor() {
        for (offset, before) in [(0, None), (70, None), (0, Some(1)), (499, Some(1_000_000))] {
            let place = Place { offset, before, last: Some(9) };
            assert_eq!(Place::of(Some(place.cursor(9))), place);
        }
        assert_eq!(Place::of(None), Place::default());
        // Any cursor a caller may make up is some place.
        for order in [i64::MIN, -1, i64::MAX] {
            Place::of(Some(Cursor { order, key: -1 }));
        }
    }
}
