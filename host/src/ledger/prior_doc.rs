//! The snapshot that a fold starts from, read and checked in one go.
//!
//! Its rows are nearly all of its text. A fold writes them in one layout, and in JSON no line break can stand inside a
//! string, so threads find whole rows in it without reading what stands before; what a row was read into is dropped as
//! soon as it was checked. A text with another layout, or with a fault, is read from its start (DECISIONS 6.5).

use plugin_api::json::ReadError;
use rayon::prelude::*;

use super::kind::KindFailure;
use super::outer::{Items, Outer};
use super::rowcheck::Run;
use super::shape::Shape;
use super::snapshot_doc::{SnapshotDoc, read_frame, read_run};

/// From the line break before `rows` to the opening brace of the first row.
const OPENING: &str = "\n  \"rows\": [\n    {";
/// From the line break before the closing brace of the last row to what follows the rows.
const CLOSING: &str = "\n    }\n  ],\n  \"rejections\": [";
/// From the line break before the closing brace of a row to the opening brace of the next.
const SEAM: &str = "\n    },\n    {";
/// The closing brace of a row, with its line break.
const ROW_END: &str = "\n    }";
/// Size at which a run of rows ends: 1 MB, some 60 rows with full histories. Small enough to share out evenly.
const RUN: usize = 1 << 20;
/// Stands in the frame where the text has its rows.
const MARK: &str = "0";

/// A snapshot's text, cut where its layout shows rows. Nothing is believed yet: [`PriorDoc::read`] reads all of it.
#[derive(Debug)]
pub struct Cut<'a> {
    /// Everything but the rows, with [`MARK`] in their place.
    frame: String,
    /// Where the mark stands.
    mark: usize,
    /// The rows: whole ones each, with what stands between them.
    runs: Vec<&'a str>,
}

impl<'a> Cut<'a> {
    /// Cuts `text`; `None` when it has another layout.
    #[must_use]
    pub fn find(text: &'a str) -> Option<Self> {
        let start = text.find(OPENING)? + OPENING.len() - 1;
        let end = text.rfind(CLOSING)? + ROW_END.len();
        let rows = text.get(start..end)?;
        let frame = [&text[..start], MARK, &text[end..]].concat();
        Some(Self { frame, mark: start, runs: runs(rows, RUN) })
    }

    /// The outer levels, when the mark is the one item of the root's `rows`: only then are the runs that list.
    fn root(&self) -> Option<Outer<'_>> {
        let root = read_frame(&self.frame).ok()?;
        let Some(Outer::List(Items::Raw(items))) = root.get("rows") else { return None };
        let [item] = items.as_slice() else { return None };
        let is_mark = std::ptr::eq(item.get().as_ptr(), self.frame[self.mark..].as_ptr());
        is_mark.then_some(root)
    }
}

/// Rows as runs of at least `size` bytes, all but the last.
fn runs(rows: &str, size: usize) -> Vec<&str> {
    let mut runs = Vec::with_capacity(rows.len() / size + 1);
    let mut rest = rows;
    loop {
        let from = rest.ceil_char_boundary(size);
        let Some(seam) = rest[from..].find(SEAM) else { break };
        let (run, later) = rest.split_at(from + seam + ROW_END.len());
        runs.push(run);
        rest = &later[SEAM.len() - 1 - ROW_END.len()..];
    }
    runs.push(rest);
    runs
}

/// A prior snapshot whose rows were checked; what is wrong with them is told later, in its turn.
#[derive(Debug)]
pub struct PriorDoc<'a> {
    /// Everything but the rows' contents.
    pub root: Outer<'a>,
    /// The rows, in file order; `None` when `rows` is not a list.
    pub rows: Option<Vec<Result<Run, KindFailure>>>,
}

impl<'a> PriorDoc<'a> {
    /// Reads `text` and checks its rows. `cut` is the text's.
    ///
    /// # Errors
    /// [`ReadError`] when it is not JSON, an object repeats a key, or a float overflows.
    pub fn read(text: &'a str, cut: Option<&'a Cut<'_>>, shape: &Shape<'_>) -> Result<Self, ReadError> {
        match cut.and_then(|cut| Self::read_cut(cut, shape)) {
            Some(doc) => Ok(doc),
            None => SnapshotDoc::read(text).map(|doc| Self::check(&doc, shape)),
        }
    }

    /// `None` when anything is refused or in doubt.
    fn read_cut(cut: &'a Cut<'_>, shape: &Shape<'_>) -> Option<Self> {
        let root = cut.root()?;
        let runs = cut.runs.par_iter().map(|run| Some(Run::check(&read_run(run)?, shape)));
        Some(Self { root, rows: Some(runs.collect::<Option<_>>()?) })
    }

    /// Checks the rows of a snapshot that was read as a whole.
    #[must_use]
    pub fn check(doc: &SnapshotDoc<'a>, shape: &Shape<'_>) -> Self {
        let rows = doc.rows.as_ref().map(|rows| Run::check_all(rows, shape));
        Self { root: doc.root.clone(), rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &str =
        "{\n      \"key\": \"a\"\n    },\n    {\n      \"key\": \"é\"\n    },\n    {\n      \"key\": \"c\"\n    }";

    fn snapshot(rows: &str) -> String {
        format!("{{\n  \"schema\": \"s\",\n  \"rows\": [\n    {rows}\n  ],\n  \"rejections\": []\n}}\n")
    }

    #[test]
    fn rows_are_cut_between_rows_only() {
        let [a, e, c] = ["a", "é", "c"].map(|key| format!("{{\n      \"key\": \"{key}\"\n    }}"));
        assert_eq!(runs(ROWS, 1), [a.as_str(), &e, &c]);
        // The first seam at or behind the 40th byte is the one behind the second row.
        assert_eq!(runs(ROWS, 40), [format!("{a},\n    {e}"), c]);
        assert_eq!(runs(ROWS, 1000), [ROWS]);
        for size in 1..ROWS.len() {
            assert_eq!(runs(ROWS, size).join(",\n    "), ROWS, "{size}");
        }
    }

    #[test]
    fn a_cut_text_keeps_its_outer_levels() {
        let text = snapshot(ROWS);
        let cut = Cut::find(&text).expect("the layout of a fold");
        assert_eq!(cut.runs, [ROWS]);
        let root = cut.root().expect("the rows of the root");
        assert_eq!(root.get("schema").and_then(Outer::as_text), Some("s"));
        assert!(matches!(root.get("rejections"), Some(Outer::List(items)) if items.is_empty()));
    }

    #[test]
    fn another_layout_is_not_cut() {
        for text in
            ["", "{}", &snapshot(ROWS).replace("\n    ", " "), &snapshot(ROWS).replace("rejections", "rejected")]
        {
            assert!(Cut::find(text).is_none(), "{text}");
        }
        let turned_round = format!("{{{CLOSING}],{OPENING}}}]}}");
        assert!(Cut::find(&turned_round).is_none());
    }

    #[test]
    fn rows_elsewhere_than_in_the_root_are_not_taken_for_the_rows() {
        let inside = snapshot(ROWS).replacen('{', "{\"inner\":{", 1).replace("]\n}\n", "]},\"rows\":[0]}");
        assert!(serde_json::from_str::<serde_json::Value>(&inside).is_ok(), "{inside}");
        assert!(Cut::find(&inside).expect("the layout of a fold").root().is_none());
        let twice = snapshot(ROWS).replacen('{', "{\"rows\":[],", 1);
        assert!(Cut::find(&twice).expect("the layout of a fold").root().is_none());
    }

    #[test]
    fn rows_inside_of_a_string_are_not_taken_for_the_rows() {
        let text = snapshot(ROWS).replacen("\"s\"", "\"s", 1);
        assert!(Cut::find(&text).expect("the layout of a fold").root().is_none());
    }
}
