//! Sequences of steps that the random test of contexts has failed on, each under the name of what
//! it shows.

use crate::context_mixes::Said::{Agent, Empty, Late, Picture, System, Thinking, Tools, User};
use crate::context_random::Step::{Compact, Erase, Restore, Rewind, Say, SetHistory, Split};
use crate::context_random::assert_loses_nothing;
use oneiro_testkit::on_both_backends;

on_both_backends! {
    /// ```text
    /// said:           user  thinking  call c0 c1  result c0  result c1
    /// history set:    user  thinking  call c0 c1  result c0  (hidden)   user
    /// compacted:      [----------- summary ----------------]            user
    /// restored:       the second result is back, and its call must not be under the summary
    /// ```
    fn a_restored_result_is_not_parted_from_its_call(space) {
        assert_loses_nothing(space, 18, &[
            Say(vec![User(1), Thinking(1), Tools(vec![Some(293), Some(1257)])]),
            SetHistory(4),
            Compact(Some(382)),
            Restore(true),
        ]);
    }

    fn a_result_restored_in_a_continuation_is_not_parted_from_its_call(space) {
        assert_loses_nothing(space, 8, &[
            Say(vec![
                Agent(86), Tools(vec![Some(677), Some(542)]), User(59), User(22), System,
            ]),
            Split,
            Say(vec![
                Tools(vec![Some(620), Some(184), Some(744)]), Empty, User(5), Agent(547), User(20),
                User(9), Picture, Empty, Thinking(53),
            ]),
            SetHistory(6),
            Compact(Some(737)),
            Restore(false),
        ]);
    }

    /// ```text
    /// said:           user  call c0 c1  result c0   user
    /// compacted:      [-------- summary --------]   user
    /// rewound:        the call waits for its second result again
    /// said:           result c1
    /// ```
    fn a_result_that_comes_after_a_rewind_is_not_parted_from_its_call(space) {
        assert_loses_nothing(space, 1, &[
            Say(vec![User(30), Tools(vec![Some(900), None]), User(10)]),
            Compact(Some(300)),
            Rewind(1),
            Say(vec![Late(1)]),
        ]);
    }

    /// ```text
    /// said:           user  call c0 c1  result c0   user  result c1
    /// compacted:      [-------- summary --------]   user  result c1
    /// erased:         the user message that stood between the call and its second result
    /// ```
    fn a_result_next_to_its_call_after_an_erasure_is_not_parted_from_it(space) {
        assert_loses_nothing(space, 1, &[
            Say(vec![User(30), Tools(vec![Some(900), None]), User(10), Late(1)]),
            Compact(Some(300)),
            Erase(3),
        ]);
    }

    /// Of a leaf over a few words and many, the many are erased: what is left costs less than any
    /// summary of it, and stands by itself again.
    fn what_an_erasure_leaves_is_no_larger_than_it_was(space) {
        assert_loses_nothing(space, 1, &[
            Say(vec![User(1), User(900), User(10), User(10), User(10)]),
            Compact(Some(300)),
            Erase(1),
        ]);
    }
}
