//! Puts any [`Organ`] behind the objects that cross the boundary.
//!
//! Everything the author wrote runs inside [`guard`], destructors included.

use std::io::Write as _;

use abi_stable::sabi_trait::TD_Opaque;
use abi_stable::std_types::{RResult, RStr, RString};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ffi::{FfiError, OrganObject, ServicesBox, SessionBox, SessionObject, SessionObject_TO};
use crate::guard::guard;
use crate::kind::Failure;
use crate::organ::{Ask, Host, Organ, Session};

/// An organ behind the boundary.
pub struct OrganAdapter<O: Organ> {
    /// `None` only while it is being dropped.
    organ: Option<O>,
}

impl<O: Organ> OrganAdapter<O> {
    /// Makes the organ. Runs the author's code: only inside a guard.
    pub(crate) fn open() -> Self {
        Self { organ: Some(O::default()) }
    }

    fn organ(&self) -> Result<&O, Failure> {
        self.organ.as_ref().ok_or_else(|| Failure::new("closed", "the organ is being closed"))
    }
}

impl<O: Organ> Drop for OrganAdapter<O> {
    fn drop(&mut self) {
        let organ = self.organ.take();
        drop_guarded(organ, O::NAME);
    }
}

/// A value of the author's is dropped; a panic of its destructor is logged.
fn drop_guarded<T>(value: T, organ: &str) {
    if let Err(failure) = guard(|| {
        drop(value);
        Ok(())
    }) {
        tracing::warn!(organ, "the organ failed while it was closed: {}", failure.message);
    }
}

impl<O: Organ> OrganObject for OrganAdapter<O> {
    fn plan(&self, call: RStr<'_>, services: &ServicesBox) -> RResult<RString, FfiError> {
        answered(|| text(&self.organ()?.plan(&read(call)?, &Host::new(&Crossing(services)))?))
    }

    fn open(&self, opening: RStr<'_>, services: &ServicesBox) -> RResult<SessionBox, FfiError> {
        answered(|| {
            let session = self.organ()?.open(&read(opening)?, &Host::new(&Crossing(services)))?;
            let adapter = SessionAdapter { session: Some(session), organ: O::NAME };
            Ok(SessionObject_TO::from_value(adapter, TD_Opaque))
        })
    }

    fn finish(&self, ended: RStr<'_>) -> RResult<RString, FfiError> {
        answered(|| text(&self.organ()?.finish(&read(ended)?)?))
    }
}

/// A session behind the boundary.
struct SessionAdapter<S: Session> {
    /// `None` once it was closed.
    session: Option<S>,
    organ: &'static str,
}

impl<S: Session> SessionObject for SessionAdapter<S> {
    fn run(&mut self, unit: RStr<'_>, services: &ServicesBox) -> RResult<RString, FfiError> {
        answered(|| {
            let session = self.session.as_mut().ok_or_else(|| Failure::new("closed", "the session was closed"))?;
            text(&session.run(&read(unit)?, &Host::new(&Crossing(services)))?)
        })
    }

    fn close(&mut self, services: &ServicesBox) -> RResult<(), FfiError> {
        answered(|| {
            let session = self.session.take().ok_or_else(|| Failure::new("closed", "the session was closed before"))?;
            session.close(&Host::new(&Crossing(services)))
        })
    }
}

impl<S: Session> Drop for SessionAdapter<S> {
    fn drop(&mut self) {
        drop_guarded(self.session.take(), self.organ);
    }
}

/// Runs one call. What the author printed leaves this library's own buffer before the answer does, so that it can be
/// attached to the unit.
fn answered<T>(call: impl FnOnce() -> Result<T, Failure>) -> RResult<T, FfiError> {
    let outcome = guard(call);
    if let Err(error) = std::io::stdout().flush() {
        tracing::warn!("what the organ printed is lost: {error}");
    }
    outcome.map_err(FfiError::from).into()
}

fn read<T: DeserializeOwned>(text: RStr<'_>) -> Result<T, Failure> {
    serde_json::from_str(text.as_str()).map_err(|error| Failure::new("invalid_call", error.to_string()))
}

fn text(value: &impl Serialize) -> Result<RString, Failure> {
    let text = serde_json::to_string(value).map_err(|error| Failure::new("invalid_answer", error.to_string()))?;
    Ok(text.into())
}

/// The host's services as the organ reaches them.
struct Crossing<'s>(&'s ServicesBox);

impl Ask for Crossing<'_> {
    fn ask(&self, service: &str, request: &str) -> Result<String, Failure> {
        let reply = self.0.ask(service.into(), request.into()).into_result();
        reply.map(Into::into).map_err(Failure::from)
    }

    fn cancelled(&self) -> bool {
        // A host that cannot say is one that is going away.
        self.0.cancelled().into_result().unwrap_or(true)
    }

    fn remaining_ms(&self) -> Option<u64> {
        self.0.remaining_ms().into_result().ok().filter(|ms| *ms != u64::MAX)
    }

    fn features(&self) -> Vec<String> {
        let listed = self.0.features().into_result();
        listed.ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }
}

/// The services of a host, as a library is given them.
pub struct Lent<A>(pub A);

impl<A: Ask> crate::ffi::ServicesObject for Lent<A> {
    fn ask(&self, service: RStr<'_>, request: RStr<'_>) -> RResult<RString, FfiError> {
        let reply = guard(|| self.0.ask(service.as_str(), request.as_str()));
        reply.map(RString::from).map_err(FfiError::from).into()
    }

    fn cancelled(&self) -> RResult<bool, FfiError> {
        guard(|| Ok(self.0.cancelled())).map_err(FfiError::from).into()
    }

    fn remaining_ms(&self) -> RResult<u64, FfiError> {
        guard(|| Ok(self.0.remaining_ms().unwrap_or(u64::MAX))).map_err(FfiError::from).into()
    }

    fn features(&self) -> RResult<RString, FfiError> {
        guard(|| text(&self.0.features())).map_err(FfiError::from).into()
    }
}
