//! Values of an organ's arguments: from the words that were typed to what crosses.

use plugin_api::organ::ArgumentType;
use serde_json::Value as Json;

/// The value of one word.
///
/// # Errors
/// What is wrong with the word, to be read after it: `is not an integer`.
pub fn parse(kind: &ArgumentType, word: &str) -> Result<Json, String> {
    match kind {
        ArgumentType::Text => Ok(word.into()),
        ArgumentType::Flag => Err("is given to a flag, which takes no value".to_owned()),
        ArgumentType::Integer { min, max } => integer(word, *min, *max),
        ArgumentType::Choice(words) if words.iter().any(|one| one == word) => Ok(word.into()),
        ArgumentType::Choice(words) => Err(format!("is not one of {}", words.join(", "))),
        ArgumentType::Duration => duration(word),
        ArgumentType::Input | ArgumentType::Output if word.is_empty() => Err("is no path".to_owned()),
        ArgumentType::Input | ArgumentType::Output => Ok(word.into()),
        ArgumentType::Json => serde_json::from_str(word).map_err(|error| format!("is not JSON: {error}")),
    }
}

/// What stands for the value in a usage line.
#[must_use]
pub fn placeholder(kind: &ArgumentType) -> &'static str {
    match kind {
        ArgumentType::Text => "TEXT",
        ArgumentType::Flag => "",
        ArgumentType::Integer { .. } => "N",
        ArgumentType::Choice(_) => "WORD",
        ArgumentType::Duration => "DURATION",
        ArgumentType::Input | ArgumentType::Output => "PATH",
        ArgumentType::Json => "JSON",
    }
}

fn integer(word: &str, min: i64, max: i64) -> Result<Json, String> {
    let number: i64 = word.parse().map_err(|_| "is not an integer".to_owned())?;
    if (min..=max).contains(&number) { Ok(number.into()) } else { Err(format!("is not between {min} and {max}")) }
}

fn duration(word: &str) -> Result<Json, String> {
    let wrong = || "is not a duration such as 90s, 15m, 2h or 1d".to_owned();
    let time = humantime::parse_duration(word).map_err(|_| wrong())?;
    let ms = i64::try_from(time.as_millis()).map_err(|_| wrong())?;
    Ok(ms.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: &ArgumentType, word: &str, expected: Result<Json, &str>) {
        assert_eq!(parse(kind, word), expected.map_err(str::to_owned));
    }

    #[test]
    fn words_are_what_their_type_says() {
        let choice = ArgumentType::Choice(vec!["a".into(), "b".into()]);
        let number = ArgumentType::Integer { min: 1, max: 300 };
        check(&ArgumentType::Text, "", Ok("".into()));
        check(&number, "17", Ok(17.into()));
        check(&number, "0", Err("is not between 1 and 300"));
        check(&number, "x", Err("is not an integer"));
        check(&choice, "b", Ok("b".into()));
        check(&choice, "c", Err("is not one of a, b"));
        check(&ArgumentType::Duration, "15m", Ok(900_000.into()));
        check(&ArgumentType::Duration, "15", Err("is not a duration such as 90s, 15m, 2h or 1d"));
        check(&ArgumentType::Output, "", Err("is no path"));
        check(&ArgumentType::Json, "{\"a\":[1]}", Ok(serde_json::json!({ "a": [1] })));
    }
}
