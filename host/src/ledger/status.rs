//! `status.md` (L 9.5, 9.6): the common lines around the kind's.

use plugin_api::LedgerView;
use plugin_api::rules::text::printable;

use super::kind::KindFailure;
use super::shape::Shape;
use super::summary::Head;

/// The text of `status.md`. Control and bidirectional characters are shown by their number (N20).
///
/// # Errors
/// [`KindFailure`] when the kind gave no usable answer.
pub fn status_text(
    head: &Head,
    ledger: &LedgerView<'_>,
    shape: &Shape<'_>,
    max_rows: usize,
) -> Result<String, KindFailure> {
    let counts = ledger.counts;
    let mut lines = vec![format!(
        "[LEDGER] {} @ {} | events {} (+{}) | rows {} live / {} historical | window {}",
        shape.ledger(),
        head.generated_at,
        head.consumed_total,
        head.journal_records,
        counts.live,
        counts.historical,
        head.window.kind.as_str(),
    )];
    let own = shape.kind().status(ledger, max_rows)?;
    lines.extend(own.head);
    lines.extend(own.rows.into_iter().take(max_rows));
    let more = usize::try_from(counts.live).unwrap_or(usize::MAX).saturating_sub(max_rows);
    if more > 0 {
        lines.push(format!("  ... {more} more live rows"));
    }
    let rejected: u64 = head.rejections.iter().map(|(_, count)| count).sum();
    if rejected > 0 {
        lines.push(format!("rejected: {rejected} observation(s)"));
    }
    lines.extend(head.warnings.iter().map(|warning| format!("warn: {warning}")));
    let mut out = String::new();
    for line in &lines {
        out.push_str(&printable(line));
        out.push('\n');
    }
    Ok(out)
}
