//! Turns a panic of the author's code into a [`Failure`], on the plugin's side of the boundary.
//!
//! Each library has its own standard library, so only code compiled into the plugin can catch the plugin's panics; an
//! unwind that reaches the boundary ends the host.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::kind::Failure;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `call`; a panic becomes a failure with code `panic` that says where and with which text.
///
/// # Errors
/// The failure of `call`, or its panic.
pub fn guard<T>(call: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    // What an author's own `catch_unwind` left behind is not the place of the next panic.
    PLACE.take();
    DEPTH.set(DEPTH.get() + 1);
    let outcome = catch_unwind(AssertUnwindSafe(call));
    DEPTH.set(DEPTH.get() - 1);
    outcome.unwrap_or_else(|payload| Err(panicked(payload)))
}

/// Keeps the place of a panic for the guard around it. False when no guard will report it: it is a thread of the
/// plugin's own.
pub(crate) fn note_place(place: &str) -> bool {
    if DEPTH.get() == 0 {
        return false;
    }
    PLACE.with_borrow_mut(|kept| *kept = Some(place.to_owned()));
    true
}

fn panicked(payload: Box<dyn Any + Send>) -> Failure {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "with a value that is not text".to_owned());
    // Its drop is the author's code too and may panic again.
    std::mem::forget(payload);
    // The place is known where the hook of `log` is installed: in a loaded library, not in a linked-in one.
    match PLACE.take() {
        Some(place) => Failure::new("panic", format!("panicked at {place}: {text}")),
        None => Failure::new("panic", format!("panicked: {text}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct PanicsWhenDropped;

    impl Drop for PanicsWhenDropped {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }

    #[track_caller]
    fn check(call: impl FnOnce(), message: &str) {
        let failure = guard(|| {
            call();
            Ok(())
        });
        assert_eq!(failure, Err(Failure::new("panic", message)));
    }

    #[test]
    fn a_panic_with_a_literal_is_a_failure() {
        check(|| panic!("literal"), "panicked: literal");
    }

    #[test]
    fn a_panic_with_a_formatted_text_is_a_failure() {
        check(|| panic!("row {}", 7), "panicked: row 7");
    }

    #[test]
    fn a_payload_whose_drop_panics_is_a_failure() {
        check(|| std::panic::panic_any(PanicsWhenDropped), "panicked: with a value that is not text");
    }

    #[test]
    fn a_value_whose_drop_panics_is_a_failure() {
        check(|| drop(PanicsWhenDropped), "panicked: dropped");
    }

    #[test]
    fn a_place_is_kept_inside_of_a_guard_only() {
        assert!(!note_place("outside"));
        let failure = guard::<()>(|| {
            assert!(note_place("rules.rs:1:2"));
            panic!("text")
        });
        assert_eq!(failure, Err(Failure::new("panic", "panicked at rules.rs:1:2: text")));
        assert_eq!(guard::<()>(|| panic!("next")), Err(Failure::new("panic", "panicked: next")));
    }

    #[test]
    fn a_place_that_an_author_caught_is_not_that_of_the_next_panic() {
        let caught = guard(|| {
            note_place("rules.rs:1:2");
            Ok(())
        });
        assert_eq!(caught, Ok(()));
        assert_eq!(guard::<()>(|| panic!("next")), Err(Failure::new("panic", "panicked: next")));
    }
}
