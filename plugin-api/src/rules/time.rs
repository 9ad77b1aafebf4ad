//! Timestamps (L 2.5): one grammar, one rendering, ordered by instant.

use std::fmt;

use chrono::{Datelike, NaiveDate};

use super::text::strip;

/// An instant in UTC, in microseconds since 1970, between the years 1 and 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// Why a text is no timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimestampError {
    /// Not the grammar, or a date or time that does not exist.
    Invalid,
    /// The grammar without an offset.
    Naive,
    /// An offset other than UTC.
    NonUtc,
}

impl TimestampError {
    /// The reason code.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Invalid => "invalid_timestamp",
            Self::Naive => "naive_timestamp",
            Self::NonUtc => "non_utc_timestamp",
        }
    }
}

impl fmt::Display for TimestampError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Invalid => "is not a time of the form YYYY-MM-DDTHH:MM:SSZ",
            Self::Naive => "has no UTC offset; add Z",
            Self::NonUtc => "has an offset other than UTC; convert it and write Z",
        })
    }
}

impl std::error::Error for TimestampError {}

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;
/// Days from 0001-01-01 to 1970-01-01, plus one: chrono counts 0001-01-01 as day 1.
const EPOCH_DAY: i64 = 719_163;

impl Timestamp {
    /// First instant of year 1.
    pub const MIN: Self = Self(-(EPOCH_DAY - 1) * DAY);
    /// Last microsecond of year 9999.
    pub const MAX: Self = Self(2_932_897 * DAY - 1);

    /// Microseconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub fn micros(self) -> i64 {
        self.0
    }

    /// The instant so many microseconds after 1970, clamped to the years 1 to 9999.
    #[must_use]
    pub fn from_micros(micros: i64) -> Self {
        Self(micros.clamp(Self::MIN.0, Self::MAX.0))
    }

    /// This instant moved by `micros`, clamped to the years 1 to 9999.
    #[must_use]
    pub fn plus_micros(self, micros: i64) -> Self {
        Self::from_micros(self.0.saturating_add(micros))
    }

    /// Reads a timestamp; blanks around it are allowed.
    ///
    /// # Errors
    /// [`TimestampError`], in the order of L 2.5: shape, offset, then whether the date exists.
    pub fn parse(text: &str) -> Result<Self, TimestampError> {
        let shape = Shape::read(strip(text).as_bytes()).ok_or(TimestampError::Invalid)?;
        match shape.offset {
            Offset::Absent => Err(TimestampError::Naive),
            Offset::Other => Err(TimestampError::NonUtc),
            Offset::Utc => shape.instant().ok_or(TimestampError::Invalid),
        }
    }

    /// Appends the rendering: whole seconds without a fraction, else six digits of it.
    pub fn write_to(self, out: &mut String) {
        out.push_str(self.rendered().as_str());
    }

    /// The rendering, without an allocation: a large fold prints a hundred thousand times.
    #[must_use]
    pub fn rendered(self) -> Rendered {
        let days = self.0.div_euclid(DAY);
        let micros = self.0.rem_euclid(DAY);
        // Within the clamp of `from_micros` every day exists.
        let date =
            i32::try_from(days + EPOCH_DAY).ok().and_then(NaiveDate::from_num_days_from_ce_opt).unwrap_or_default();
        let (seconds, fraction) = (micros / SECOND, micros % SECOND);
        let mut buffer = *b"0000-00-00T00:00:00.000000Z";
        put_digits(&mut buffer[0..4], i64::from(date.year()));
        put_digits(&mut buffer[5..7], i64::from(date.month()));
        put_digits(&mut buffer[8..10], i64::from(date.day()));
        put_digits(&mut buffer[11..13], seconds / 3600);
        put_digits(&mut buffer[14..16], seconds / 60 % 60);
        put_digits(&mut buffer[17..19], seconds % 60);
        if fraction == 0 {
            buffer[19] = b'Z';
            return Rendered { buffer, length: 20 };
        }
        put_digits(&mut buffer[20..26], fraction);
        Rendered { buffer, length: 27 }
    }
}

/// A rendered timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rendered {
    buffer: [u8; 27],
    length: u8,
}

impl Rendered {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Digits and marks, all ASCII.
        std::str::from_utf8(&self.buffer[..usize::from(self.length)]).unwrap_or_default()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.rendered().as_str())
    }
}

/// Fills `places` with the last digits of a number that is not negative.
fn put_digits(places: &mut [u8], mut number: i64) {
    for place in places.iter_mut().rev() {
        *place = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
    }
}

enum Offset {
    Absent,
    Utc,
    Other,
}

struct Shape {
    year: i32,
    month: u32,
    day: u32,
    hour: i64,
    minute: i64,
    second: i64,
    micros: i64,
    offset: Offset,
}

impl Shape {
    /// `None` when the shape of L 2.5 does not match.
    fn read(text: &[u8]) -> Option<Self> {
        let (head, mut rest) = text.split_at_checked(19)?;
        let marks = [(4, b"-".as_slice()), (7, b"-"), (10, b"Tt "), (13, b":"), (16, b":")];
        if !marks.iter().all(|(at, allowed)| allowed.contains(&head[*at])) {
            return None;
        }
        let mut micros = 0;
        if let Some(fraction) = rest.strip_prefix(b".") {
            let length = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if length == 0 {
                return None;
            }
            for place in 0..6 {
                micros = micros * 10 + fraction[..length].get(place).map_or(0, |byte| i64::from(byte - b'0'));
            }
            rest = &fraction[length..];
        }
        Some(Self {
            year: i32::try_from(digits(&head[..4])?).ok()?,
            month: u32::try_from(digits(&head[5..7])?).ok()?,
            day: u32::try_from(digits(&head[8..10])?).ok()?,
            hour: digits(&head[11..13])?,
            minute: digits(&head[14..16])?,
            second: digits(&head[17..19])?,
            micros,
            offset: offset(rest)?,
        })
    }

    /// `None` when the date or the time of day does not exist.
    fn instant(&self) -> Option<Timestamp> {
        if self.year < 1 || self.hour > 23 || self.minute > 59 || self.second > 59 {
            return None;
        }
        let date = NaiveDate::from_ymd_opt(self.year, self.month, self.day)?;
        let seconds = self.hour * 3600 + self.minute * 60 + self.second;
        Some(Timestamp((i64::from(date.num_days_from_ce()) - EPOCH_DAY) * DAY + seconds * SECOND + self.micros))
    }
}

fn digits(text: &[u8]) -> Option<i64> {
    text.iter().try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0')))
}

fn offset(text: &[u8]) -> Option<Offset> {
    match text {
        b"" => Some(Offset::Absent),
        b"Z" | b"z" => Some(Offset::Utc),
        [b'+' | b'-', rest @ ..] => {
            let (hours, minutes) = match rest {
                [a, b, b':', c, d] | [a, b, c, d] => (digits(&[*a, *b])?, digits(&[*c, *d])?),
                _ => return None,
            };
            Some(if hours == 0 && minutes == 0 { Offset::Utc } else { Offset::Other })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, &str>) {
        let got = Timestamp::parse(text).map(|time| time.to_string()).map_err(TimestampError::code);
        assert_eq!(got.as_deref().map_err(|code| *code), expected, "{text}");
    }

    // time-rs/time#404, chronotope/humantime#75 and their kind (public case 23).
    #[test]
    fn accepted_spellings_render_in_one_form() {
        check("2026-09-17T19:48:00Z", Ok("2026-09-17T19:48:00Z"));
        check(" 2026-09-17 19:48:00+0000 ", Ok("2026-09-17T19:48:00Z"));
        check("2026-09-17t19:48:00-00:00", Ok("2026-09-17T19:48:00Z"));
        check("2026-09-17T19:48:00.000000z", Ok("2026-09-17T19:48:00Z"));
        check("2026-09-17T19:48:00.5Z", Ok("2026-09-17T19:48:00.500000Z"));
        check("2026-09-17T19:48:00.9999999Z", Ok("2026-09-17T19:48:00.999999Z"));
        check("2026-09-17T19:48:00.0000001Z", Ok("2026-09-17T19:48:00Z"));
        check("2024-02-29T00:00:00Z", Ok("2024-02-29T00:00:00Z"));
        check("0001-01-01T00:00:00Z", Ok("0001-01-01T00:00:00Z"));
        check("9999-12-31T23:59:59.999999Z", Ok("9999-12-31T23:59:59.999999Z"));
        check("1969-12-31T23:59:59.999999Z", Ok("1969-12-31T23:59:59.999999Z"));
    }

    #[test]
    fn refusals_follow_shape_then_offset_then_calendar() {
        for text in ["2026-09-17T19:00:00", "2026-13-01T00:00:00", "2026-09-17 19:00:00.25"] {
            check(text, Err("naive_timestamp"));
        }
        for text in [
            "2026-09-17T19:00:00+02:00",
            "2026-02-30T00:00:00+02:00",
            "2026-09-17T19:00:00-0001",
            "2026-09-17T19:00:00+99:99",
        ] {
            check(text, Err("non_utc_timestamp"));
        }
        for text in [
            "",
            "  ",
            "2026-09-17",
            "2026-09-17T19:00Z",
            "2026-09-17T19:00:00+00",
            "2026-09-17T19:00:00.Z",
            "2026-09-17T19:00:00,5Z",
            "2026-09-17  19:00:00Z",
            "20260917T190000Z",
            "2026-09-17T19:00:00ZZ",
            "2026-09-17T19:00:00 UTC",
            "2026-13-01T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "2026-02-30T00:00:00Z",
            "2026-09-17T24:00:00Z",
            "2016-12-31T23:59:60Z",
            "2026-09-17T23:60:00Z",
            "0000-01-01T00:00:00Z",
            "10000-01-01T00:00:00Z",
            "２０２６-09-17T19:00:00Z",
            "2026-09-17T19:00:0٣Z",
            "-026-09-17T19:00:00Z",
        ] {
            check(text, Err("invalid_timestamp"));
        }
    }

    #[test]
    fn order_is_of_instants_and_not_of_texts() {
        let at = |text| Timestamp::parse(text).expect(text);
        assert!(at("2026-09-17T19:00:00Z") < at("2026-09-17T19:00:00.5Z"));
        assert!(at("2026-09-17T19:00:00.10Z") < at("2026-09-17T19:00:00.9Z"));
    }

    #[test]
    fn the_bounds_are_the_years_1_and_9999() {
        assert_eq!(Timestamp::MIN.to_string(), "0001-01-01T00:00:00Z");
        assert_eq!(Timestamp::MAX.to_string(), "9999-12-31T23:59:59.999999Z");
        assert_eq!(Timestamp::from_micros(i64::MAX), Timestamp::MAX);
        assert_eq!(Timestamp::MIN.plus_micros(-1), Timestamp::MIN);
    }
}
