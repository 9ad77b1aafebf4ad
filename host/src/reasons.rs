//! Every reason for which an observation is rejected, and every code with which a command is refused.
//!
//! The one home of these words: journal, page, command line and `schema.json` use the same. `host explain <code>` prints
//! their texts, and a test compares the README's table with this list.

/// A stable code with what it means and what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The code as printed.
    pub code: &'static str,
    /// What it means, one sentence.
    pub text: &'static str,
    /// What to do about it, one sentence.
    pub remedy: &'static str,
}

macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $code:literal: $text:literal, $remedy:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $(#[doc = concat!("`", $code, "`")] $variant,)*
        }

        impl $name {
            /// Every code, in the order in which tables list them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The code as printed.
            #[must_use]
            pub const fn code(self) -> &'static str {
                self.explanation().code
            }

            /// The code with its texts.
            #[must_use]
            pub const fn explanation(self) -> Explanation {
                match self {
                    $(Self::$variant => Explanation { code: $code, text: $text, remedy: $remedy },)*
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.code())
            }
        }
    };
}

codes! {
    /// Why one observation is rejected while the rest of the journal still folds (L 1, L 2.2, L 4, D11).
    Reason {
        InvalidRecord = "invalid_record":
            "The message or one of its parts is not of the shape of an observation.",
            "Send one JSON object with an entity and a non-empty fields object; head_transition is true or false.";
        UnsupportedSchemaVersion = "unsupported_schema_version":
            "The envelope names a schema that this host does not read.",
            "Leave schema out, or write debt-ledger-observation/v1.";
        UnknownKey = "unknown_key":
            "The envelope has a key that observations do not have.",
            "Remove or correct the key; schema.json lists the allowed ones.";
        LedgerMismatch = "ledger_mismatch":
            "The envelope names another ledger than the one being folded.",
            "Post it to the dashboard of its own ledger, or correct ledger.";
        EntityMismatch = "entity_mismatch":
            "The entity does not have exactly the keys of this kind, or a value is not valid.",
            "Give every entity key of the kind and no other; schema.json lists them.";
        UnknownField = "unknown_field":
            "A field is not declared by this kind.",
            "Correct the field's name; schema.json lists the fields.";
        InvalidFieldValue = "invalid_field_value":
            "A value does not fit the type of its field, or an integer does not fit 64 bits.",
            "Correct the value; schema.json says what the field takes.";
        InvalidConfidence = "invalid_confidence":
            "Confidence is not low, medium or high.",
            "Write one of the three, in lower case, or leave it out for medium.";
        MissingActor = "missing_actor":
            "No valid actor: neither the envelope nor the message's author names a lane.",
            "Set actor to machine or machine:workspace (ASCII letters, digits, . _ -).";
        MissingEvidence = "missing_evidence":
            "Evidence is absent or blank.",
            "Say what the observation rests on, e.g. the command that was run.";
        InvalidTimestamp = "invalid_timestamp":
            "A time is not of the form YYYY-MM-DDTHH:MM:SSZ, or does not exist.",
            "Write the time in UTC, e.g. 2026-09-17T19:00:00Z.";
        NaiveTimestamp = "naive_timestamp":
            "A time has no offset, so it could be any zone's.",
            "Convert the time to UTC and end it with Z.";
        NonUtcTimestamp = "non_utc_timestamp":
            "A time has an offset other than UTC.",
            "Convert the time to UTC and end it with Z.";
        UnparsableEnvelope = "unparsable_envelope":
            "The text after [OBS] is not one JSON object.",
            "Send one line: [OBS], a blank, one JSON object and nothing after it; `append` prints such a line.";
        ObservationIdMismatch = "observation_id_mismatch":
            "The observation's id is not the digest of its content, or another observation has the same id.",
            "Leave observation_id out; the host computes it.";
        FutureTimestamp = "future_timestamp":
            "observed_at is later than the message's own time plus the allowed clock skew.",
            "Set the clock right and send the observation again with the true time.";
        DuplicateKey = "duplicate_key":
            "A key stands twice in one object, so the text says two things at once.",
            "Send each key once.";
        ActorDiffersFromAuthor = "actor_differs_from_author":
            "With --strict-author: the envelope's actor is not the author of the message.",
            "Post under your own lane, or fold without --strict-author.";
    }
}

codes! {
    /// Why a command is refused as a whole: nothing is written and the exit code is 1 (L 13).
    Fatal {
        SharedPathRefused = "SHARED_PATH_REFUSED":
            "A path to be written lies at or below the folder that machines share.",
            "Choose a local path outside the folder that ROOSYNC_SHARED_PATH names.";
        RepoPathRefused = "REPO_PATH_REFUSED":
            "A path to be written lies inside a git repository or work tree.",
            "Choose a path outside of every repository; without --state-dir the default is one.";
        UnreadableInput = "UNREADABLE_INPUT":
            "A file that was named cannot be read.",
            "Check the path and its permissions.";
        InvalidJson = "INVALID_JSON":
            "A file is not one valid JSON value in UTF-8, or repeats a key outside of any message.",
            "Correct it, or export it again; a file that was cut short is refused whole.";
        MissingInput = "MISSING_INPUT":
            "The command was not told what to read.",
            "Give the flag that the message names.";
        InvalidEntity = "INVALID_ENTITY":
            "--entity does not have the form of this ledger's row key.",
            "Write it as the message shows.";
        CheckpointLedgerMismatch = "CHECKPOINT_LEDGER_MISMATCH":
            "The prior snapshot belongs to another ledger.",
            "Give the snapshot of this ledger, or the right --state-dir.";
        CorruptCheckpoint = "CORRUPT_CHECKPOINT":
            "The prior snapshot is not what a fold wrote: it was edited, cut or damaged.",
            "Restore the file, or fold with --salvage to keep what is sound; the damaged file is copied first.";
        UnsupportedExportSchema = "UNSUPPORTED_EXPORT_SCHEMA":
            "The export names a schema that this host does not read.",
            "Export again with a supported tool; the schema is debt-ledger-journal-export/v1 or absent.";
        ExportLedgerMismatch = "EXPORT_LEDGER_MISMATCH":
            "The export says that it belongs to another ledger.",
            "Give the export of this ledger's dashboard.";
        UnsupportedExportFormat = "UNSUPPORTED_EXPORT_FORMAT":
            "The export's format is not json.",
            "Read the dashboard with its JSON format.";
        UnsupportedWindowKind = "UNSUPPORTED_WINDOW_KIND":
            "The export's window is neither full nor incremental, or its archives are not a list of names.",
            "Export again; --window-full only helps an export that declares no window.";
        UnsupportedExportShape = "UNSUPPORTED_EXPORT_SHAPE":
            "No list of messages was found in the export.",
            "Export the whole journal; the list stands under messages, entries, events, items, journal or content.";
        UnsupportedBaselineSchema = "UNSUPPORTED_BASELINE_SCHEMA":
            "The baseline's schema is not debt-ledger-baseline/v1.",
            "Correct the schema key; init writes an empty baseline.";
        BaselineLedgerMismatch = "BASELINE_LEDGER_MISMATCH":
            "The baseline belongs to another ledger.",
            "Correct its ledger key, or give the right baseline.";
        InvalidBaseline = "INVALID_BASELINE":
            "The baseline's header or one of its rows is not valid.",
            "Correct the row that the message names; its reason is explained by `host explain`.";
        MissingCheckpoint = "MISSING_CHECKPOINT":
            "The export covers only a tail of the journal, and there is no prior snapshot to fold it onto.",
            "Fold a full export first (--window-full when the export is one and does not say so).";
        LockTimeout = "LOCK_TIMEOUT":
            "Another fold holds this ledger's lock.",
            "Wait until it has ended, then run the command again.";
        UninitialisedStateDir = "UNINITIALISED_STATE_DIR":
            "The state directory was never initialised for this ledger.",
            "Run `host run <ledger> init --apply`, or give the right --state-dir.";
        InvalidSpool = "INVALID_SPOOL":
            "A file in the spool is not a valid observation.",
            "Look at the file that the message names; move it out of the spool once its content is safe.";
        EnvelopeTooLong = "ENVELOPE_TOO_LONG":
            "The line is longer than 4096 bytes and would be split on its way.",
            "Shorten evidence or note, or send the fields as several observations.";
        WriteFailed = "WRITE_FAILED":
            "A file could not be written; what was there before is untouched.",
            "Check space and permissions, then run the command again.";
        NoSnapshot = "NO_SNAPSHOT":
            "There is no snapshot of this ledger to read.",
            "Fold first: `host run <ledger> reduce --events <export>`.";
        UnknownRow = "UNKNOWN_ROW":
            "The snapshot has no row of this key, or the ledger no field of this name.",
            "`host run <ledger> show --all` lists the rows.";
        VerifyFailed = "VERIFY_FAILED":
            "Some of the stored state is not what its digests say.",
            "The next fold makes summary, status and fold.json again; restore what else the list names, or fold with --salvage.";
        UnknownCode = "UNKNOWN_CODE":
            "Neither the host nor a plugin that was found has such a code.",
            "Run `host explain` without a code for the list.";
        PluginNotFound = "PLUGIN_NOT_FOUND":
            "No folder that is searched holds a plugin of this name.",
            "Check the name, and --plugin-dir or HOST_PLUGIN_DIR; the message lists what was found where.";
        PluginAmbiguous = "PLUGIN_AMBIGUOUS":
            "Two files of one folder serve the same name.",
            "Remove one of the two files that the message names.";
        PluginUnpinned = "PLUGIN_UNPINNED":
            "A plugin is not pinned and does not lie beside the binary, so none of its code was run.",
            "Pin it with `host plugin add FILE`, or load it this once with --allow-unpinned.";
        PluginTaken = "PLUGIN_TAKEN":
            "A plugin that was added serves the same name already.",
            "Add with --replace to take its place, or remove it first.";
        PluginAltered = "PLUGIN_ALTERED":
            "An added plugin is not what was pinned: its copy was altered, damaged or removed.",
            "Find out who changed it; then add the plugin again with --replace, from a file that you trust.";
        PluginPinsUnreadable = "PLUGIN_PINS_UNREADABLE":
            "The lock file of the added plugins cannot be read, so nobody knows which are pinned.",
            "Restore the file that the message names; or remove it and its folder store, then add the plugins again.";
        PluginUnreadable = "PLUGIN_UNREADABLE":
            "A plugin file cannot be read, is no library of this machine, or has no manifest.",
            "Build it for this machine with the export_plugin! macro, and copy it whole.";
        PluginIncompatible = "PLUGIN_INCOMPATIBLE":
            "A plugin was built against a contract that this host does not speak.",
            "Rebuild the plugin or install the host that the message names.";
        PluginFailed = "PLUGIN_FAILED":
            "A plugin could not answer: it panicked, or its answer makes no sense.",
            "Report the message to the plugin's author; nothing was written.";
    }
}

/// The texts of a code, `None` when the host has no such code.
#[must_use]
pub fn explain(code: &str) -> Option<Explanation> {
    let reasons = Reason::ALL.iter().map(|reason| reason.explanation());
    let fatals = Fatal::ALL.iter().map(|fatal| fatal.explanation());
    reasons.chain(fatals).find(|explanation| explanation.code == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_codes_are_the_same_and_every_text_is_a_sentence() {
        let all: Vec<_> = Reason::ALL
            .iter()
            .map(|reason| reason.explanation())
            .chain(Fatal::ALL.iter().map(|fatal| fatal.explanation()))
            .collect();
        for (index, one) in all.iter().enumerate() {
            assert!(all[..index].iter().all(|other| other.code != one.code), "{} stands twice", one.code);
            assert!(one.text.ends_with('.') && one.remedy.ends_with('.'), "{}", one.code);
        }
    }

    #[test]
    fn a_code_is_found_by_its_printed_word() {
        assert_eq!(explain("naive_timestamp"), Some(Reason::NaiveTimestamp.explanation()));
        assert_eq!(explain("LOCK_TIMEOUT"), Some(Fatal::LockTimeout.explanation()));
        assert_eq!(explain("nonsense"), None);
    }
}
