//! The first frame to a worker, which carries the plugin itself where the system can send a descriptor.

use std::io::{IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};

use super::frames::{self, Broken};
use super::protocol::ToWorker;

/// Sends the first frame, and the descriptor with it.
///
/// # Errors
/// The channel's.
pub(super) fn send(mut to: &UnixStream, message: &ToWorker, plugin: Option<BorrowedFd<'_>>) -> std::io::Result<()> {
    let bytes = frames::bytes(message)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let plugin = plugin.map(|plugin| [plugin]);
    if let Some(plugin) = &plugin {
        control.push(SendAncillaryMessage::ScmRights(plugin));
    }
    let sent = sendmsg(to, &[IoSlice::new(&bytes)], &mut control, SendFlags::empty())?;
    to.write_all(bytes.get(sent..).unwrap_or_default())
}

/// The worker starts nothing that should have the plugin's descriptor.
#[cfg(target_os = "linux")]
const FLAGS: RecvFlags = RecvFlags::CMSG_CLOEXEC;
/// No descriptor is sent.
#[cfg(not(target_os = "linux"))]
const FLAGS: RecvFlags = RecvFlags::empty();

/// Receives the first frame, and the descriptor that came with it.
///
/// # Errors
/// [`Broken`]
pub(super) fn receive(mut from: &UnixStream) -> Result<(ToWorker, Option<OwnedFd>), Broken> {
    let mut head = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let got = recvmsg(from, &mut [IoSliceMut::new(&mut head)], &mut control, FLAGS).map_err(|_| Broken::Closed)?;
    if got.bytes == 0 {
        return Err(Broken::Closed);
    }
    let mut plugin = None;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(mut descriptors) = message {
            plugin = descriptors.next();
        }
    }
    let rest = head.get_mut(got.bytes..).unwrap_or_default();
    from.read_exact(rest).map_err(|_| Broken::Closed)?;
    let announced = frames::allowed(head)?;
    let mut bytes = Vec::new();
    from.take(announced).read_to_end(&mut bytes).map_err(|_| Broken::Closed)?;
    frames::parse(&bytes).map(|message| (message, plugin))
}
