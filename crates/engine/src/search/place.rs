//! Where a page of hits begins: how many come before it, and, where texts are read for a pattern,
//! the message that reading went on from.

use oneiro_model::Cursor;

/// Hits that one stretch of reading may yield; a stretch ends before it yields more.
const STRETCH: i64 = 1 << 12;

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
        match usize::try_from(cursor.order) {
            Ok(offset) => Place { offset: offset.min(DEEPEST), before: None, last },
            Err(_) => {
                let packed = cursor.order.checked_neg().unwrap_or(i64::MAX);
                let offset = usize::try_from(packed % STRETCH).unwrap_or(0);
                Place { offset, before: Some(packed / STRETCH), last }
            }
        }
    }

    /// The cursor of this place.
    pub(super) fn cursor(self, last: i64) -> Cursor {
        let offset = self.offset as i64;
        let order = match self.before {
            None => offset,
            Some(before) => -(before * STRETCH + offset.min(STRETCH - 1)),
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
        Place::of(Some(Cursor { order: i64::MIN, key: -1 }));
    }
}
