//! Writes a [`Value`] in the layouts that files, hashes and pages need (L 2.6, L 3, L 9).

use std::fmt::Write as _;

use super::Value;

/// How a value is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Keys sorted by code point, no blanks: what is hashed (L 3).
    Canonical,
    /// Document order, no blanks.
    Compact,
    /// Document order, `, ` and `: `: one line for a program that expects the reference's.
    Spaced,
    /// Document order, two blanks a level; the number is the level at which the value stands.
    Pretty(usize),
}

/// The value as text.
#[must_use]
pub fn text(value: &Value<'_>, layout: Layout) -> String {
    let mut out = String::new();
    write_value(&mut out, value, layout);
    out
}

/// The value as an error text shows it: the JSON of a scalar, cut after 60 characters; a list or object by its kind.
#[must_use]
pub fn excerpt(value: &Value<'_>) -> String {
    const SHOWN: usize = 60;
    match value {
        Value::List(_) | Value::Object(_) => value.kind().to_owned(),
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::BigInteger(_) | Value::Float(_) | Value::Text(_) => {
            let mut shown = text(value, Layout::Compact);
            if let Some((end, _)) = shown.char_indices().nth(SHOWN) {
                shown.truncate(end);
                shown.push('…');
            }
            shown
        }
    }
}

/// Appends the value to `out`.
pub fn write_value(out: &mut String, value: &Value<'_>, layout: Layout) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Integer(number) => out.push_str(itoa::Buffer::new().format(*number)),
        Value::BigInteger(digits) => out.push_str(digits),
        Value::Float(number) => write_float(out, *number),
        Value::Text(text) => write_text(out, text),
        Value::List(items) => write_list(out, items, layout),
        Value::Object(entries) if layout == Layout::Canonical => {
            let mut sorted: Vec<_> = entries.iter().collect();
            sorted.sort_by(|(left, _), (right, _)| left.cmp(right));
            write_object(out, sorted.into_iter(), layout);
        }
        Value::Object(entries) => write_object(out, entries.iter(), layout),
    }
}

fn write_list(out: &mut String, items: &[Value<'_>], layout: Layout) {
    let inner = layout.inner();
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        separate(out, index, inner);
        write_value(out, item, inner);
    }
    close(out, items.is_empty(), layout, ']');
}

fn write_object<'v, 'a: 'v>(
    out: &mut String,
    entries: impl ExactSizeIterator<Item = &'v (std::borrow::Cow<'a, str>, Value<'a>)>,
    layout: Layout,
) {
    let inner = layout.inner();
    let empty = entries.len() == 0;
    out.push('{');
    for (index, (key, value)) in entries.enumerate() {
        separate(out, index, inner);
        write_text(out, key);
        out.push_str(match layout {
            Layout::Canonical | Layout::Compact => ":",
            Layout::Spaced | Layout::Pretty(_) => ": ",
        });
        write_value(out, value, inner);
    }
    close(out, empty, layout, '}');
}

fn separate(out: &mut String, index: usize, inner: Layout) {
    if index > 0 {
        out.push(',');
    }
    match inner {
        Layout::Canonical | Layout::Compact => {}
        Layout::Spaced if index > 0 => out.push(' '),
        Layout::Spaced => {}
        Layout::Pretty(level) => new_line(out, level),
    }
}

fn close(out: &mut String, empty: bool, layout: Layout, bracket: char) {
    if let Layout::Pretty(level) = layout
        && !empty
    {
        new_line(out, level);
    }
    out.push(bracket);
}

fn new_line(out: &mut String, level: usize) {
    const BLANKS: &str = "\n                                ";
    match BLANKS.get(..=2 * level) {
        Some(blanks) => out.push_str(blanks),
        None => {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', 2 * level));
        }
    }
}

impl Layout {
    fn inner(self) -> Self {
        match self {
            Self::Pretty(level) => Self::Pretty(level + 1),
            Self::Canonical | Self::Compact | Self::Spaced => self,
        }
    }
}

/// Appends `text` as a JSON string: `"` and `\` escaped, controls below U+0020 as `\b \t \n \f \r` or `\u00xx`, all
/// else raw (L 3).
pub fn write_text(out: &mut String, text: &str) {
    out.push('"');
    write_escaped(out, text);
    out.push('"');
}

/// Appends the inside of a JSON string, without its quotes.
pub fn write_escaped(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = first_escaped(rest.as_bytes()) {
        let (plain, tail) = rest.split_at(at);
        out.push_str(plain);
        let mut tail = tail.chars();
        match tail.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\u{8}') => out.push_str("\\b"),
            Some('\t') => out.push_str("\\t"),
            Some('\n') => out.push_str("\\n"),
            Some('\u{c}') => out.push_str("\\f"),
            Some('\r') => out.push_str("\\r"),
            Some(control) => write_display(out, format_args!("\\u{:04x}", u32::from(control))),
            None => {}
        }
        rest = tail.as_str();
    }
    out.push_str(rest);
}

/// Place of the first byte that needs an escape, eight bytes at a time: a fold writes a hundred million bytes of text,
/// and next to none of them needs one.
fn first_escaped(bytes: &[u8]) -> Option<usize> {
    let escaped = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    let (chunks, rest) = bytes.as_chunks::<8>();
    for (index, chunk) in chunks.iter().enumerate() {
        if has_escaped(u64::from_ne_bytes(*chunk)) {
            return chunk.iter().position(escaped).map(|at| index * 8 + at);
        }
    }
    rest.iter().position(escaped).map(|at| chunks.len() * 8 + at)
}

/// Whether one of eight bytes is below 0x20, `"` or `\`. Subtracting a limit from a byte below it borrows into its high
/// bit; bytes that had that bit set before (all above 0x7f) are masked out.
fn has_escaped(word: u64) -> bool {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGH;
    let equals = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    below(word, 0x20) | equals(b'"') | equals(b'\\') != 0
}

/// Appends a float: shortest digits that read back, `.0` when integral, an exponent outside 1e-4 to 1e16 (L 2.6).
///
/// Of two shortest forms at the same distance the even digit is taken, as the reference does: 1000000000000000.25 is
/// `1000000000000000.2`. The standard library prints `.3`, so the digits are ryu's.
pub fn write_float(out: &mut String, number: f64) {
    if !number.is_finite() {
        // No JSON: whoever reads it refuses it. A Value that was read is always finite.
        return write_display(out, number);
    }
    let mut buffer = ryu::Buffer::new();
    let printed = buffer.format_finite(number);
    let size = number.abs();
    if size == 0.0 || (1e-4..1e16).contains(&size) {
        out.push_str(printed);
        return;
    }
    let (printed, negative) = printed.strip_prefix('-').map_or((printed, ""), |printed| (printed, "-"));
    let (mantissa, exponent) = printed.split_once('e').unwrap_or((printed, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let zeros = digits.len() - digits.trim_start_matches('0').len();
    // ryu prints 1e-5 as 0.00001: its first digit stands behind `zeros` places.
    let shift = i64::try_from(whole.len()).unwrap_or(1) - 1 - i64::try_from(zeros).unwrap_or(0);
    let exponent = exponent.parse::<i64>().unwrap_or(0) + shift;
    let digits = digits.trim_start_matches('0').trim_end_matches('0');
    let (first, rest) = digits.split_at_checked(1).unwrap_or((digits, ""));
    let point = if rest.is_empty() { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    write_display(out, format_args!("{negative}{first}{point}{rest}e{sign}{:02}", exponent.unsigned_abs()));
}

fn write_display(out: &mut String, shown: impl std::fmt::Display) {
    // Writing into a String cannot fail.
    let _ = write!(out, "{shown}");
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    #[track_caller]
    fn float(number: f64, expected: &str) {
        let mut out = String::new();
        write_float(&mut out, number);
        assert_eq!(out, expected);
        assert_eq!(out.parse::<f64>().map(f64::to_bits), Ok(number.to_bits()));
    }

    #[test]
    fn floats_use_the_shortest_digits_and_the_exponent_of_the_reference() {
        float(4.0, "4.0");
        float(1e15, "1000000000000000.0");
        float(9_999_999_999_999_998.0, "9999999999999998.0");
        float(0.0001, "0.0001");
        float(0.00001, "1e-05");
        float(1e16, "1e+16");
        float(12_345_678_901_234_567.0, "1.2345678901234568e+16");
        float(1.5e300, "1.5e+300");
        float(-0.0, "-0.0");
        float(5e-324, "5e-324");
        float(0.1 + 0.2, "0.30000000000000004");
        float(-2.5e-7, "-2.5e-07");
        float(0.000_012_34, "1.234e-05");
        float(1.0e100, "1e+100");
        float(1.234_567e25, "1.234567e+25");
    }

    #[test]
    fn of_two_shortest_forms_the_even_digit_is_taken() {
        float(1_000_000_000_000_000.2, "1000000000000000.2");
        float(1_000_000_000_000_000.8, "1000000000000000.8");
        float(5e-324, "5e-324");
        float(2_f64.powi(-44), "5.684341886080802e-14");
    }

    #[track_caller]
    fn laid_out(json: &str, layout: Layout, expected: &str) {
        assert_eq!(text(&read(json).expect(json).value, layout), expected);
    }

    #[test]
    fn canonical_sorts_by_code_point_at_every_level() {
        laid_out(
            r#"{"b": 1, "a": {"\ud83d\ude00": null, "\uffee": [2.50, true]}, "Z": "\/"}"#,
            Layout::Canonical,
            "{\"Z\":\"/\",\"a\":{\"\u{ffee}\":[2.5,true],\"😀\":null},\"b\":1}",
        );
    }

    #[test]
    fn strings_escape_quotes_backslash_and_controls_and_nothing_else() {
        laid_out(
            r#""\u0001\u001f\b\t\n\f\r\"\\\/\u007f\u2028é""#,
            Layout::Canonical,
            "\"\\u0001\\u001f\\b\\t\\n\\f\\r\\\"\\\\/\u{7f}\u{2028}é\"",
        );
    }

    #[test]
    fn the_first_byte_to_escape_is_found_at_every_place() {
        for length in 0..40 {
            for at in 0..length {
                for (byte, expected) in [
                    ("\"", Some(at)),
                    ("\\", Some(at)),
                    ("\u{1f}", Some(at)),
                    (" ", None),
                    ("!", None),
                    ("\u{7f}", None),
                ] {
                    let text = format!("{}{byte}{}", "a".repeat(at), "z".repeat(length - at - 1));
                    assert_eq!(first_escaped(text.as_bytes()), expected, "{text:?}");
                }
            }
        }
        assert_eq!(first_escaped("ééééééééé".as_bytes()), None);
        assert_eq!(first_escaped("ééééééé\n".as_bytes()), Some(14));
        assert_eq!(first_escaped(&(0x80..=0xff).collect::<Vec<u8>>()), None);
    }

    #[test]
    fn pretty_keeps_order_and_writes_empty_containers_on_one_line() {
        laid_out(
            r#"{"b":[1,{"x":[]}],"a":{}}"#,
            Layout::Pretty(0),
            "{\n  \"b\": [\n    1,\n    {\n      \"x\": []\n    }\n  ],\n  \"a\": {}\n}",
        );
    }

    #[test]
    fn spaced_is_one_line_with_blanks_after_separators() {
        laid_out(r#"{"a":1,"b":[1,2]}"#, Layout::Spaced, r#"{"a": 1, "b": [1, 2]}"#);
    }

    #[track_caller]
    fn excerpted(json: &str, expected: &str) {
        assert_eq!(excerpt(&read(json).expect(json).value), expected);
    }

    #[test]
    fn an_excerpt_shows_scalars_and_names_containers() {
        excerpted("-1.50", "-1.5");
        excerpted("null", "null");
        excerpted(r#"" two\nlines""#, r#"" two\nlines""#);
        excerpted("[1,2]", "a list");
        excerpted("{}", "an object");
    }

    #[test]
    fn a_long_excerpt_is_cut_between_characters() {
        excerpted(&format!("\"{}\"", "é".repeat(58)), &format!("\"{}\"", "é".repeat(58)));
        excerpted(&format!("\"{}\"", "é".repeat(59)), &format!("\"{}…", "é".repeat(59)));
        excerpted(&"9".repeat(4301), &format!("{}…", "9".repeat(60)));
    }

    #[test]
    fn deep_levels_are_indented_in_full() {
        let mut value = Value::Integer(1);
        for _ in 0..20 {
            value = Value::List(vec![value]);
        }
        assert!(text(&value, Layout::Pretty(0)).contains(&format!("\n{}1", " ".repeat(40))));
    }
}
