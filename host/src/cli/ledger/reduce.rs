//! `reduce`: folds an export onto the state (L 10.3).

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{Context, outputs};
use crate::cli::args::ReduceArgs;
use crate::cli::outcome::{CommandError, Outcome};
use crate::clock;
use crate::ledger::checkpoint::OnDamage;
use crate::ledger::reduce::{Outputs, Reduced, Request, Surroundings, Wanted, reduce};
use crate::ledger::state::StateDir;

/// How long a fold may take before a bar is worth looking at: 1 s.
const PATIENCE: Duration = Duration::from_secs(1);

/// Runs it.
pub(super) fn run(context: &Context<'_, '_>, args: &ReduceArgs) -> Result<Outcome, CommandError> {
    let state = StateDir::choose(args.place.state_dir.as_deref())?;
    outputs::check(args, &state, context.shape.ledger())?;
    let request = request(args, state.clone());
    let progress = Progress::new(context);
    let show = |done| progress.show(done);
    let around = Surroundings { disk: context.disk, clock: &clock::now, progress: &show };
    let result = reduce(&request, context.shape, &around);
    progress.end();
    let reduced = result?;
    report(context, args, &reduced, &state)?;
    context.ui.warn(&reduced.folded.warnings);
    context.ui.warn(&reduced.folded.notices);
    let rejections = reduced.folded.rejections.len();
    // The process ends here: taking the rows apart one by one would only cost time.
    std::mem::forget(reduced);
    if args.fail_on_rejections && rejections > 0 {
        context.ui.note(&format!("FAIL: {rejections} observation(s) rejected"));
        return Ok(Outcome::REFUSED);
    }
    Ok(Outcome::OK)
}

fn request(args: &ReduceArgs, state: StateDir) -> Request {
    let wanted = |off: bool, path: &Option<PathBuf>| match (off, path) {
        (true, _) => Wanted::No,
        (false, None) => Wanted::Default,
        (false, Some(path)) => Wanted::At(path.clone()),
    };
    let outputs = if args.dry_run || args.stdout {
        Outputs::Nothing
    } else {
        Outputs::Files {
            snapshot: args.out.clone(),
            summary: wanted(args.no_summary, &args.summary_out),
            status: wanted(args.no_status, &args.status_out),
        }
    };
    Request {
        state,
        events: args.events.clone(),
        no_events: args.no_events,
        snapshot: args.snapshot.clone(),
        baseline: args.baseline.clone(),
        outputs,
        window_full: args.window_full,
        on_damage: if args.salvage { OnDamage::Salvage } else { OnDamage::Refuse },
        strict_author: args.strict_author,
        now: args.clock.now.clone(),
    }
}

fn report(
    context: &Context<'_, '_>,
    args: &ReduceArgs,
    reduced: &Reduced,
    state: &StateDir,
) -> Result<(), CommandError> {
    let rows = reduced.folded.rows.rows.len();
    let rejections = reduced.folded.rejections.len();
    let head = if args.stdout {
        reduced.texts.summary.clone()
    } else if args.dry_run {
        let place = state.root().display();
        format!("DRY-RUN: {rows} row(s), {rejections} rejection(s), nothing written (state dir {place})\n")
    } else {
        let place = state.ledger(context.shape.ledger());
        format!("WROTE {rows} row(s), {rejections} rejection(s) under {}\n", place.display())
    };
    context.ui.data(&format!("{head}{}", reduced.texts.status))
}

/// A bar on stderr, once the fold takes longer than a person likes to wait without one.
struct Progress {
    start: Instant,
    wanted: bool,
    bar: Mutex<Option<ProgressBar>>,
}

impl Progress {
    fn new(context: &Context<'_, '_>) -> Self {
        Self { start: Instant::now(), wanted: context.ui.shows_progress(), bar: Mutex::new(None) }
    }

    fn show(&self, done: usize) {
        if !self.wanted || self.start.elapsed() < PATIENCE {
            return;
        }
        // A thread that cannot have the bar now leaves it to the next.
        let Ok(mut bar) = self.bar.try_lock() else { return };
        let bar = bar.get_or_insert_with(|| {
            // How many there are is known only when the file has been read to its end.
            let style = ProgressStyle::with_template("{spinner} {human_pos} messages judged, {elapsed}");
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
                .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        });
        bar.set_position(u64::try_from(done).unwrap_or(u64::MAX));
    }

    fn end(&self) {
        if let Ok(bar) = self.bar.lock()
            && let Some(bar) = bar.as_ref()
        {
            bar.finish_and_clear();
        }
    }
}
