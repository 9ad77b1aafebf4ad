//! `host worker`: the process in which an organ runs.
//!
//! The order matters. Its channel is put where nothing that the plugin prints can reach it, the plugin's bytes are hashed,
//! the system's rights are given up, and only then is the plugin loaded.

use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, OnceLock};

use abi_stable::sabi_trait::TD_Opaque;
use abi_stable::std_types::{RResult, RStr};
use plugin_api::Failure;
use plugin_api::adapt_organ::Lent;
use plugin_api::ffi::{FfiError, FfiEvent, OrganBox, ServicesBox, ServicesObject_TO, SessionBox};
use plugin_api::guard::guard;
use serde::Serialize;
use serde_json::value::RawValue;

use super::hello;
use super::protocol::{Calling, Hello, PROTOCOL, Ready, ToHost, ToWorker};
use super::questions::{Channel, Incoming, answer};
use super::spec::NONCE;
use super::tree::{adopt_orphans, end_children};
use crate::env;
use crate::plugins::image::Image;
use crate::plugins::load::Plugin;
use crate::plugins::log::host_api_to;

/// Where the events of the plugin go.
static LOG: OnceLock<Arc<Channel>> = OnceLock::new();
/// Most process numbers that are looked at when the host is gone: what Linux gives out by default.
const MOST_PROCESSES: i32 = 4_194_304;

/// Why a process is no worker.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A person started it.
    #[error("`host worker` is started by the host itself; run an organ with `host run <organ>`")]
    NotByAHost,
    /// Its channel is none.
    #[error("the channel to the host cannot be used: {0}")]
    Channel(String),
}

/// Runs until the host closes the channel.
///
/// # Errors
/// [`ServeError`] when no host is there.
pub fn serve() -> Result<(), ServeError> {
    if env::get(NONCE).is_none() {
        return Err(ServeError::NotByAHost);
    }
    let stream = private_channel().map_err(|error| ServeError::Channel(error.to_string()))?;
    let (message, plugin) = hello::receive(&stream).map_err(|broken| ServeError::Channel(format!("{broken:?}")))?;
    let ToWorker::Hello(hello) = message else {
        return Err(ServeError::Channel("the first frame is no greeting".to_owned()));
    };
    let copy = |stream: &UnixStream| stream.try_clone().map_err(|error| ServeError::Channel(error.to_string()));
    let to_host = Arc::new(Channel::new(copy(&stream)?, hello.features.clone()));
    let log = Arc::clone(&to_host);
    LOG.get_or_init(|| log);
    adopt_orphans();
    let (sender, calls) = channel();
    let listening = Arc::clone(&to_host);
    let reader = copy(&stream)?;
    // Begins before the plugin is loaded: whatever that does, a worker does not outlive its host.
    let listener = std::thread::Builder::new().name("worker-channel".to_owned()).spawn(move || {
        listening.listen(reader, &sender);
        end();
    });
    listener.map_err(|error| ServeError::Channel(error.to_string()))?;
    match prepare(&hello, plugin) {
        Ok((ready, organ)) => {
            send(&to_host, &ToHost::Ready(Box::new(ready)));
            answer_calls(&to_host, &organ, &calls);
        }
        Err(Failure { code, message }) => send(&to_host, &ToHost::Refused { code, message }),
    }
    Ok(())
}

/// Takes the channel away from stdin, which is /dev/null from then on.
fn private_channel() -> std::io::Result<UnixStream> {
    let channel: OwnedFd = rustix::io::fcntl_dupfd_cloexec(std::io::stdin().as_fd(), 3)?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    Ok(UnixStream::from(channel))
}

/// The host is gone: this process ends, and all that the plugin started.
fn end() {
    end_children(MOST_PROCESSES);
    let own = rustix::process::getpid();
    // Only when it leads its group: a worker that was started in another way ends alone.
    if rustix::process::getpgrp() == own {
        let _ = rustix::process::kill_process_group(own, rustix::process::Signal::KILL);
    }
    std::process::exit(0);
}

/// Hashes, confines, loads.
fn prepare(hello: &Hello, plugin: Option<OwnedFd>) -> Result<(Ready, OrganBox), Failure> {
    let refused = |code: &str, why: &dyn std::error::Error| Failure::new(code, why.to_string());
    if hello.protocol != PROTOCOL {
        let text = format!("the host speaks protocol {}, this binary {PROTOCOL}; start the host again", hello.protocol);
        return Err(Failure::new("worker_protocol", text));
    }
    let image = image(hello, plugin).map_err(|error| refused("worker_plugin", &error))?;
    let found = image.sha256().map(ToString::to_string).unwrap_or_default();
    if found != hello.sha256 {
        let text = format!("the plugin's SHA-256 is {found}, the host sent {}", hello.sha256);
        return Err(Failure::new("worker_plugin_altered", text));
    }
    let confinement = confine(hello).map_err(|error| refused("worker_confinement", &error))?;
    let plugin = Plugin::load_with(&image, |package| host_api_to(package, hello.max_level, forward));
    let plugin = plugin.map_err(|error| refused("worker_plugin", &error))?;
    let declaration = plugin.organs().iter().find(|organ| organ.name == hello.organ).cloned();
    let missing = || Failure::new("worker_plugin", format!("the plugin has no organ {}", hello.organ));
    let declaration = declaration.ok_or_else(missing)?;
    let organ = plugin.open_organ(&hello.organ).map_err(|error| refused("worker_plugin", &error))?;
    let ready = Ready {
        protocol: PROTOCOL,
        nonce: hello.nonce.clone(),
        contract: plugin.manifest().contract.clone(),
        sha256: found,
        declaration,
        confinement,
    };
    Ok((ready, organ))
}

#[cfg(target_os = "linux")]
fn image(hello: &Hello, plugin: Option<OwnedFd>) -> Result<Image, crate::plugins::PluginError> {
    let file = Path::new(&hello.file);
    let image = match plugin {
        Some(plugin) => Image::of_received(plugin, file, &hello.organ),
        None => Image::of_organ(file, None, &hello.organ),
    };
    Ok(image?)
}

#[cfg(not(target_os = "linux"))]
fn image(hello: &Hello, _: Option<OwnedFd>) -> Result<Image, crate::plugins::PluginError> {
    Ok(Image::of_organ(Path::new(&hello.file), None, &hello.organ)?)
}

#[cfg(target_os = "linux")]
fn confine(hello: &Hello) -> std::io::Result<super::protocol::Confinement> {
    super::confine::confine(hello)
}

#[cfg(not(target_os = "linux"))]
fn confine(_: &Hello) -> std::io::Result<super::protocol::Confinement> {
    let missing = "workers are confined on Linux only".to_owned();
    Ok(super::protocol::Confinement { missing, ..Default::default() })
}

/// Makes the calls one after the other.
fn answer_calls(to_host: &Channel, organ: &OrganBox, calls: &Receiver<Incoming>) {
    let mut session: Option<SessionBox> = None;
    while let Ok(Incoming { calling, questions }) = calls.recv() {
        let id = questions.id();
        let questions = Arc::new(questions);
        let services: ServicesBox = ServicesObject_TO::from_value(Lent(Arc::clone(&questions)), TD_Opaque);
        let result = make(organ, &mut session, &calling, &services);
        questions.over();
        send(to_host, &answer(id, result));
    }
}

/// Makes one call; a call without a result answers null.
fn make(
    organ: &OrganBox,
    session: &mut Option<SessionBox>,
    calling: &Calling,
    services: &ServicesBox,
) -> Result<String, Failure> {
    let none = || Failure::new("no_session", "no session is open");
    let null = || "null".to_owned();
    match calling {
        Calling::Plan(call) => Ok(organ.plan(RStr::from(text(call)?.as_str()), services).into_result()?.into()),
        Calling::Finish(ended) => Ok(organ.finish(RStr::from(text(ended)?.as_str())).into_result()?.into()),
        Calling::Open(opening) => {
            *session = Some(organ.open(RStr::from(text(opening)?.as_str()), services).into_result()?);
            Ok(null())
        }
        Calling::Run(unit) => {
            let session = session.as_mut().ok_or_else(none)?;
            Ok(session.run(RStr::from(text(unit)?.as_str()), services).into_result()?.into())
        }
        Calling::Close => {
            session.take().ok_or_else(none)?.close(services).into_result()?;
            Ok(null())
        }
    }
}

fn text(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(|error| Failure::new("invalid_call", error.to_string()))
}

/// Sends a frame. An answer that is too large for one is told as such; a host that is gone needs none.
fn send(to_host: &Channel, message: &ToHost) {
    let Err(error) = to_host.send(message) else { return };
    if let (ToHost::Answer { id, .. }, std::io::ErrorKind::FileTooLarge) = (message, error.kind()) {
        let failure = Failure::new("answer_too_large", format!("the answer is too large: {error}"));
        let _ = to_host.send(&answer(*id, Err(failure)));
    }
}

/// Sends an event of the plugin on. Guarded, because an unwind out of a callback would end the process.
extern "C" fn forward(event: FfiEvent<'_>) -> RResult<(), FfiError> {
    let sent = guard(|| {
        let fields =
            RawValue::from_string(event.fields.to_string()).map_err(|error| Failure::new("log", error.to_string()))?;
        let message = ToHost::Log {
            level: event.level,
            target: event.target.to_string(),
            message: event.message.to_string(),
            fields,
        };
        let channel = LOG.get().ok_or_else(|| Failure::new("log", "there is no channel yet"))?;
        channel.send(&message).map_err(|error| Failure::new("log", error.to_string()))
    });
    sent.map_err(FfiError::from).into()
}
