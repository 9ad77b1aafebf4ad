//! Where a fold writes, under which locks, and in which order: snapshot, summary, status, then `fold.json` (D7).

use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::thread::ScopedJoinHandle;

use plugin_api::rules::time::Timestamp;
use sha2::{Digest as _, Sha256};

use super::digest::{hex, state_digest};
use super::fatal::FatalError;
use super::fold::Folded;
use super::foldfile::FoldText;
use super::reduce::{Outputs, Request, Surroundings, Texts, Wanted};
use super::repair::{Repair, StoredFold};
use super::shape::Shape;
use super::snapshot::SnapshotText;
use super::state::{FOLD, STATUS, SUMMARY, fold_file_elsewhere};
use crate::store::lock::PATIENCE;
use crate::store::{FoldLock, Guard, Guarded, Mode, OutputLock, Staged, Staging, commit_all, create_exclusive, temps};

/// Size at which a piece of the snapshot is handed to the threads that write and hash.
const PIECE: usize = 1 << 20;
/// Pieces that may wait for each of them: enough that none waits for long, few enough for the memory bound.
const WAITING: usize = 6;

/// Every path that a fold writes, judged by the guard.
#[derive(Debug)]
pub struct Targets {
    folder: Guarded,
    snapshots: Guarded,
    snapshot: Guarded,
    summary: Option<Guarded>,
    status: Option<Guarded>,
    fold: Guarded,
    elsewhere: Vec<Guarded>,
}

impl Targets {
    /// Judges the state directory always, and what will be written: snapshot, summary, status (L 11, L 13).
    ///
    /// # Errors
    /// `SHARED_PATH_REFUSED`, `REPO_PATH_REFUSED`.
    pub fn check(request: &Request, ledger: &str) -> Result<Option<Self>, FatalError> {
        let guard = Guard::from_env();
        let check = |path: &Path| guard.check(path).map_err(|error| error.code().of(&error));
        check(request.state.root())?;
        let Outputs::Files { snapshot, summary, status } = &request.outputs else { return Ok(None) };
        let folder = check(&request.state.ledger(ledger))?;
        let snapshots = check(&request.state.snapshots(ledger))?;
        let default = |name: &str| request.state.snapshots(ledger).join(name);
        let wanted = |wanted: &Wanted, name: &str| match wanted {
            Wanted::No => Ok(None),
            Wanted::Default => check(&default(name)).map(Some),
            Wanted::At(path) => check(path).map(Some),
        };
        let snapshot_path = snapshot.clone().unwrap_or_else(|| request.state.snapshot(ledger));
        let targets = Self {
            snapshot: check(&snapshot_path)?,
            summary: wanted(summary, SUMMARY)?,
            status: wanted(status, STATUS)?,
            // The default place by another name is the default place: a second fold file there would contradict the first.
            fold: match snapshot {
                Some(out) if check(out)?.path() != check(&request.state.snapshot(ledger))?.path() => {
                    check(&fold_file_elsewhere(out))?
                }
                Some(_) | None => check(&default(FOLD))?,
            },
            elsewhere: Vec::new(),
            folder,
            snapshots,
        };
        Ok(Some(targets.find_elsewhere()))
    }

    fn find_elsewhere(mut self) -> Self {
        let outputs = [Some(&self.snapshot), self.summary.as_ref(), self.status.as_ref()];
        let inside = |output: &&Guarded| output.path().parent() != Some(self.snapshots.path());
        self.elsewhere = outputs.into_iter().flatten().filter(inside).cloned().collect();
        self
    }
}

/// The right to write a ledger's artifacts: judged paths and held locks.
#[derive(Debug)]
pub struct Writer {
    targets: Targets,
    lock: FoldLock,
    _outputs: Option<OutputLock>,
    swept: Vec<String>,
}

impl Writer {
    /// Takes the ledger's lock, and one for each output that lies elsewhere (N22). Both end with this value.
    ///
    /// # Errors
    /// `LOCK_TIMEOUT`, `WRITE_FAILED`.
    pub fn lock(targets: Targets, around: &Surroundings<'_>, now: Timestamp) -> Result<Self, FatalError> {
        let clock = || (around.clock)();
        let refused = |error: crate::store::LockError| error.code().of(&error);
        let lock = FoldLock::acquire(around.disk, &targets.folder, PATIENCE, &clock).map_err(refused)?;
        let outputs: Vec<&Guarded> = targets.elsewhere.iter().collect();
        let outputs = match outputs.as_slice() {
            [] => None,
            some => Some(OutputLock::acquire(around.disk, some, PATIENCE, &clock).map_err(refused)?),
        };
        let swept = match temps::sweep(around.disk, &lock, &targets.snapshots, now) {
            Ok(swept) => {
                swept.removed.iter().map(|path| format!("stale_temporary_removed: {}", path.display())).collect()
            }
            Err(error) => vec![format!("stale_temporaries_kept: {}: {error}", targets.snapshots.path().display())],
        };
        Ok(Self { targets, lock, _outputs: outputs, swept })
    }

    /// Where the snapshot goes.
    #[must_use]
    pub fn snapshot(&self) -> &Path {
        self.targets.snapshot.path()
    }

    /// What the sweep of stale temporary files says.
    #[must_use]
    pub fn swept(&self) -> &[String] {
        &self.swept
    }

    /// Whether this fold file is the one that this writer's lock protects.
    #[must_use]
    pub fn owns(&self, fold_file: &Path) -> bool {
        let own = self.targets.snapshots.path().join(FOLD);
        fold_file == own || std::fs::canonicalize(fold_file).is_ok_and(|found| found == own)
    }

    /// Copies a damaged prior snapshot before it is replaced, under a name that tells its content. The copy lies beside
    /// the snapshot that is written: where the damaged one was read from may be somebody else's folder.
    ///
    /// # Errors
    /// `WRITE_FAILED`, or the guard's refusal of the place.
    pub fn keep_damaged(&self, text: &str, around: &Surroundings<'_>) -> Result<(), FatalError> {
        let digest = hex(&Sha256::digest(text.as_bytes()));
        let copy = self.targets.snapshot.with_suffix(&format!(".corrupt-{}", &digest[..12]));
        let copy = copy.map_err(|error| error.code().of(&error))?;
        create_exclusive(around.disk, &copy, Mode::Default, text.as_bytes())
            .map_err(|error| error.code().of(&error))?;
        Ok(())
    }

    /// Stages every artifact, then puts them in place, the fold file last. `texts` makes summary and status; it is asked
    /// while the snapshot is still being written.
    ///
    /// # Errors
    /// `WRITE_FAILED`, or the error of `texts`. Before the first rename nothing has changed; after it, the next fold
    /// repairs.
    pub fn write(
        &self,
        result: &FoldResult<'_, '_>,
        texts: impl FnOnce() -> Result<Texts, FatalError> + Send,
    ) -> Result<Texts, FatalError> {
        let FoldResult { folded, generation, shape, around } = *result;
        let (snapshot, made) = self.stage_snapshot(result, texts)?;
        let (texts, others) = made.others?;
        let mut artifacts = vec![(self.artifact_name(&snapshot), made.sha256)];
        artifacts.extend(others.iter().map(|staged| self.artifact(staged)));
        let mut staged = vec![snapshot];
        staged.extend(others);
        let fold = FoldText {
            generation,
            generated_at: folded.now.to_string(),
            state_digest: &made.state_digest,
            warnings: folded.warnings.iter().chain(&folded.notices).map(String::as_str).collect(),
            differs: &folded.differs,
            rows: &folded.rows,
            reopened: &folded.reopened,
            high_water: &folded.high_water,
            row_marks: made.row_marks,
        };
        staged.push(stage(&self.targets.fold, &fold.write(&artifacts, shape), around)?);
        commit_all(&self.lock, staged).map_err(|error| error.code().of(&error))?;
        Ok(texts)
    }

    /// Writes summary and status anew where the torn fold file lists them, then a fold file that matches.
    ///
    /// # Errors
    /// `WRITE_FAILED`.
    pub fn repair(
        &self,
        texts: &[(&str, &str)],
        stored: &StoredFold,
        fold: &FoldText<'_>,
        with: &Repair<'_, '_>,
    ) -> Result<(), FatalError> {
        let refused = |error: crate::store::GuardError| error.code().of(&error);
        let mut artifacts =
            vec![(super::state::SNAPSHOT.to_owned(), hex(&Sha256::digest(with.snapshot_text.as_bytes())))];
        let mut staged = Vec::new();
        for (name, text) in texts {
            let listed = stored.file().is_none_or(|file| file.digest(name).is_some());
            if listed {
                let target = self.targets.snapshots.join(name).map_err(refused)?;
                let file = stage(&target, text, with.around)?;
                artifacts.push(((*name).to_owned(), hex(&file.sha256().unwrap_or_default())));
                staged.push(file);
            }
        }
        let target = self.targets.snapshots.join(FOLD).map_err(refused)?;
        staged.push(stage(&target, &fold.write(&artifacts, with.shape), with.around)?);
        commit_all(&self.lock, staged).map_err(|error| error.code().of(&error))
    }

    fn stage_texts(&self, texts: &Texts, around: &Surroundings<'_>) -> Result<Vec<Staged>, FatalError> {
        let wanted = [(&self.targets.summary, &texts.summary), (&self.targets.status, &texts.status)];
        let wanted = wanted.into_iter().filter_map(|(target, text)| target.as_ref().map(|target| (target, text)));
        wanted.map(|(target, text)| stage(target, text, around)).collect()
    }

    /// Name and digest of an artifact.
    fn artifact(&self, staged: &Staged) -> (String, String) {
        (self.artifact_name(staged), hex(&staged.sha256().unwrap_or_default()))
    }

    /// The bare name beside the fold file, the whole path elsewhere.
    fn artifact_name(&self, staged: &Staged) -> String {
        let path = staged.target().path();
        let beside = path.parent() == self.targets.fold.path().parent();
        let name = if beside { path.file_name().unwrap_or_default() } else { path.as_os_str() };
        name.to_string_lossy().into_owned()
    }

    /// One thread makes the text, another hashes and writes it. What else a fold needs is made meanwhile.
    fn stage_snapshot<'f>(
        &self,
        result: &FoldResult<'f, '_>,
        texts: impl FnOnce() -> Result<Texts, FatalError> + Send,
    ) -> Result<(Staged, Made<'f>), FatalError> {
        let FoldResult { folded, shape, around, .. } = *result;
        let text = SnapshotText::new(folded, shape);
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel::<String>(WAITING);
            // Written pieces come back and are filled again: fresh memory for each would cost more than its text.
            let (returner, returned) = sync_channel::<String>(WAITING + 2);
            let target = &self.targets.snapshot;
            let (forwarder, written) = sync_channel::<String>(WAITING);
            let writing = scope.spawn(move || {
                let mut staging = Staging::begin(around.disk, target, Mode::Default)?;
                for piece in receiver {
                    staging.put(piece.as_bytes())?;
                    // The hashing thread ends only after this one.
                    let _ = forwarder.send(piece);
                }
                drop(forwarder);
                staging.finish()
            });
            // Hashing takes longer than writing: in a thread of its own it does not hold the writes up.
            let hashing = scope.spawn(move || {
                let mut digest = Sha256::new();
                for mut piece in written {
                    digest.update(piece.as_bytes());
                    piece.clear();
                    // At the end nobody takes them back any more.
                    let _ = returner.try_send(piece);
                }
                hex(&digest.finalize())
            });
            // Both cores have work then, whichever of the three is the slowest.
            let late = scope.spawn(move || self.make_late(result, texts));
            let fresh = || String::with_capacity(PIECE + PIECE / 8);
            let mut row_marks = Vec::with_capacity(folded.rows.rows.len());
            let mut piece = fresh();
            text.head(&mut piece);
            for row in 0..folded.rows.rows.len() {
                row_marks.push(text.row(row, &mut piece));
                if piece.len() >= PIECE {
                    let next = returned.try_recv().unwrap_or_else(|_| fresh());
                    if sender.send(std::mem::replace(&mut piece, next)).is_err() {
                        break; // The writer has failed; its error is joined below.
                    }
                }
            }
            let (state_digest, others) = joined(late);
            text.tail(&state_digest, &mut piece);
            // As above: a writer that is gone has an error to tell.
            let _ = sender.send(piece);
            drop(sender);
            let staged = joined(writing).map_err(|error| error.code().of(&error))?;
            Ok((staged, Made { sha256: joined(hashing), state_digest, row_marks, others }))
        })
    }

    /// What the rows alone do not give: their digest, and the two texts that the kind has a part in, staged.
    fn make_late(
        &self,
        result: &FoldResult<'_, '_>,
        texts: impl FnOnce() -> Result<Texts, FatalError>,
    ) -> (String, Result<(Texts, Vec<Staged>), FatalError>) {
        let state_digest = state_digest(&result.folded.rows, result.shape);
        let staged = texts().and_then(|texts| {
            let staged = self.stage_texts(&texts, result.around)?;
            Ok((texts, staged))
        });
        (state_digest, staged)
    }
}

/// The result of a thread; its panic goes on in this one.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// A fold that is to be written.
#[derive(Clone, Copy)]
pub struct FoldResult<'f, 'k> {
    /// What the fold came to.
    pub folded: &'f Folded,
    /// Its generation.
    pub generation: i64,
    /// The kind.
    pub shape: &'f Shape<'k>,
    /// Disk and clock.
    pub around: &'f Surroundings<'f>,
}

/// What is made while the snapshot is being written.
struct Made<'f> {
    /// SHA-256 of the snapshot, in hex.
    sha256: String,
    state_digest: String,
    row_marks: Vec<(&'f str, u64)>,
    others: Result<(Texts, Vec<Staged>), FatalError>,
}

fn stage(target: &Guarded, text: &str, around: &Surroundings<'_>) -> Result<Staged, FatalError> {
    let stage = || {
        let mut staging = Staging::begin(around.disk, target, Mode::Default)?.with_sha256();
        staging.put(text.as_bytes())?;
        staging.finish()
    };
    stage().map_err(|error| error.code().of(&error))
}
