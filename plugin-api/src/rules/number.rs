//! Rounding of hours and totals (L 2.6): to the decimal nearest to the exact binary value, exact ties to the even digit.

/// Rounds to three decimals, as hours are stored.
#[must_use]
pub fn hours(number: f64) -> f64 {
    round(number, 3)
}

/// Rounds to `places` decimals and reads the decimal back.
///
/// By way of the decimal text, because `(x * 1000.0).round() / 1000.0` rounds twice and gets `0.0005` wrong.
#[must_use]
pub fn round(number: f64, places: usize) -> f64 {
    fixed(number, places).parse().unwrap_or(number)
}

/// All digits, no exponent, exactly `places` decimals.
#[must_use]
pub fn fixed(number: f64, places: usize) -> String {
    format!("{number:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_round_to_three_decimals_like_the_reference() {
        for (given, stored) in [
            (0.0625, 0.062),
            (0.1875, 0.188),
            (0.0005, 0.001),
            (0.0015, 0.002),
            (2.6755, 2.675),
            (1.0005, 1.0),
            (2.0005, 2.001),
            (123_456.789_5, 123_456.789),
            (0.0004, 0.0),
            (5e-324, 0.0),
            (999_999_999_999_999.9, 999_999_999_999_999.9),
        ] {
            assert_eq!(hours(given).to_bits(), f64::to_bits(stored), "{given}");
        }
        assert!(hours(-0.0).is_sign_negative());
    }

    #[test]
    fn two_decimals_print_all_digits() {
        for (given, printed) in [(1e16, "10000000000000000.00"), (0.125, "0.12"), (2.675, "2.67"), (0.0, "0.00")] {
            assert_eq!(fixed(given, 2), printed);
        }
    }
}
