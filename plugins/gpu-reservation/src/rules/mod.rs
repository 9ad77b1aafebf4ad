//! The rules of the ledger: pure, so that equal inputs give equal bytes.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `declaration` | fields and the verb; with `examples` |
//! | `reservation` | a folded row, read into types |
//! | `summary`, `status` | what is printed of all rows |
//! | `check_pending` | whether a lane may run on a device now |

mod check_pending;
mod declaration;
mod examples;
mod reservation;
mod status;
mod summary;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod vectors;

use plugin_api::{Failure, KindDeclaration, LedgerKind, LedgerView, StatusText, Value, VerbAnswer, VerbCall};

use declaration::CHECK_PENDING;
use summary::Summary;

/// The kind `gpu-reservation`.
#[derive(Clone, Copy, Debug, Default)]
pub struct GpuReservation;

impl LedgerKind for GpuReservation {
    const NAME: &'static str = "gpu-reservation";

    fn declaration(&self) -> KindDeclaration {
        declaration::declaration()
    }

    fn summary(&self, ledger: &LedgerView<'_>) -> Result<Vec<(String, Value<'static>)>, Failure> {
        Ok(Summary::of(ledger)?.json())
    }

    fn status(&self, ledger: &LedgerView<'_>, max_rows: usize) -> Result<StatusText, Failure> {
        Ok(status::status(&Summary::of(ledger)?, ledger.counts.stale, max_rows))
    }

    fn verb(&self, call: &VerbCall<'_>) -> Result<VerbAnswer, Failure> {
        match call.verb {
            CHECK_PENDING => Ok(check_pending::answer(call)),
            other => Err(Failure::new("unknown_verb", format!("gpu-reservation has no verb {other}"))),
        }
    }
}
