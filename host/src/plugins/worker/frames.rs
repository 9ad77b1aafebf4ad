//! Frames on a channel: four bytes of length, the least first, and that many bytes of JSON.

#[cfg(test)]
use std::io::Write;
use std::io::{self, Read};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::protocol::MAX_FRAME;

/// Why no frame came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// The other side closed the channel between two frames, or it cannot be read.
    Closed,
    /// It stopped within a frame: so many bytes of so many.
    Half(u64, u64),
    /// A frame of more than [`MAX_FRAME`] bytes was announced.
    TooLarge(u64),
    /// What came is no frame of the protocol.
    Garbled(String),
}

/// Reads one frame. Memory grows with what comes, never with what is announced.
pub(super) fn read<T: DeserializeOwned>(mut from: impl Read) -> Result<T, Broken> {
    let announced = length(&mut from)?;
    let mut bytes = Vec::new();
    let ended = from.take(announced).read_to_end(&mut bytes);
    let got = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if ended.is_err() || got < announced {
        return Err(Broken::Half(got, announced));
    }
    parse(&bytes)
}

/// The length of the frame that follows.
fn length(mut from: impl Read) -> Result<u64, Broken> {
    let mut bytes = [0; 4];
    let mut got = 0;
    while let Some(rest) = bytes.get_mut(got..).filter(|rest| !rest.is_empty()) {
        match from.read(rest) {
            Ok(0) if got == 0 => return Err(Broken::Closed),
            Ok(0) => return Err(Broken::Half(u64::try_from(got).unwrap_or(0), 4)),
            Ok(count) => got += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // The other side was killed with bytes of ours unread: the same as an end.
            Err(_) => return Err(Broken::Closed),
        }
    }
    allowed(bytes)
}

/// The length that a frame announces, if a frame may be so long.
pub(super) fn allowed(bytes: [u8; 4]) -> Result<u64, Broken> {
    let announced = u32::from_le_bytes(bytes);
    if announced > MAX_FRAME { Err(Broken::TooLarge(u64::from(announced))) } else { Ok(u64::from(announced)) }
}

/// The content of a frame.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Broken> {
    serde_json::from_slice(bytes).map_err(|error| Broken::Garbled(error.to_string()))
}

/// The bytes of a frame.
///
/// # Errors
/// `FileTooLarge` when it would be longer than a frame may be; nothing was sent then.
pub(super) fn bytes(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length = bytes.len() - 4;
    let announced = u32::try_from(length).ok().filter(|length| *length <= MAX_FRAME);
    let announced = announced.ok_or_else(|| {
        io::Error::new(io::ErrorKind::FileTooLarge, format!("{length} bytes are more than a frame may hold"))
    })?;
    for (place, byte) in bytes.iter_mut().zip(announced.to_le_bytes()) {
        *place = byte;
    }
    Ok(bytes)
}

/// Writes one frame.
///
/// # Errors
/// As [`bytes`], or the channel's.
#[cfg(test)]
pub(super) fn write(mut to: impl Write, message: &impl Serialize) -> io::Result<()> {
    to.write_all(&bytes(message)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: Result<u32, Broken>) {
        assert_eq!(read::<u32>(bytes), expected);
    }

    #[test]
    fn a_frame_is_read_as_it_was_written() {
        let mut bytes = Vec::new();
        write(&mut bytes, &17_u32).unwrap();
        assert_eq!(bytes, [2, 0, 0, 0, b'1', b'7']);
        check(&bytes, Ok(17));
    }

    #[test]
    fn an_end_between_frames_is_a_closed_channel() {
        check(b"", Err(Broken::Closed));
    }

    #[test]
    fn an_end_within_the_length_is_half_a_frame() {
        check(&[2, 0], Err(Broken::Half(2, 4)));
    }

    #[test]
    fn an_end_within_the_content_is_half_a_frame() {
        check(&[2, 0, 0, 0, b'1'], Err(Broken::Half(1, 2)));
    }

    #[test]
    fn what_is_announced_too_long_is_not_waited_for() {
        check(&[1, 0, 0, 4], Err(Broken::TooLarge(67_108_865)));
    }

    #[test]
    fn what_is_no_json_is_garbled() {
        check(&[1, 0, 0, 0, b'x'], Err(Broken::Garbled("expected value at line 1 column 1".to_owned())));
    }

    #[test]
    fn a_frame_that_nobody_would_read_is_not_written() {
        let error = bytes(&"x".repeat(usize::try_from(MAX_FRAME).unwrap())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }
}
