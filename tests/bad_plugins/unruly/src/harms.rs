//! What harms the worker itself.

use std::fs::File;
use std::io::Write as _;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd as _;
use std::time::Duration;

use crate::Order;

/// Does one of the harms; the text for the answer where one can still be given.
pub(crate) fn harm(word: &str, order: &Order) -> Option<String> {
    match word {
        "abort" => std::process::abort(),
        "exit" => std::process::exit(3),
        "segfault" => signal_self(libc::SIGSEGV),
        "stop" => signal_self(libc::SIGSTOP),
        "hang" => hang(),
        "half_frame" => {
            protocol(&[232, 3, 0, 0, b'{', b'"']);
            std::process::exit(0)
        }
        "half_frame_and_hang" => {
            protocol(&[232, 3, 0, 0, b'{', b'"']);
            hang()
        }
        "garbage" => {
            protocol(&[4, 0, 0, 0, b'h', b'a', b'h', b'a']);
            hang()
        }
        "huge_frame" => {
            protocol(&[255, 255, 255, 255]);
            hang()
        }
        "wrong_answer" => {
            frame(r#"{"answer":{"id":77,"result":{"ok":null}}}"#);
            hang()
        }
        "close_protocol" => {
            // SAFETY: shuts a channel down, and touches no memory.
            #[expect(unsafe_code, reason = "no safe interface shuts down what somebody else owns")]
            unsafe {
                libc::shutdown(protocol_descriptor(), libc::SHUT_RDWR)
            };
            hang()
        }
        "print" => Some(print(order)),
        "print_forever" => loop {
            print(order);
        },
        "allocate" => Some(allocate(order.number)),
        "allocate_or_die" => Some(vec![1_u8; usize::try_from(order.number).unwrap_or(usize::MAX)].len().to_string()),
        "open_files" => Some(open_files()),
        _ => None,
    }
}

/// Never ends, and does not look at the wish that it should.
pub(crate) fn hang() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

fn signal_self(signal: i32) -> Option<String> {
    // SAFETY: sends a signal to this very thread, and touches no memory. The standard library has a handler of its own for
    // some, which would let this thread go on.
    #[expect(unsafe_code, reason = "no safe interface sends a signal")]
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal)
    };
    Some("still here".to_owned())
}

/// The descriptor of the worker's channel: the only socket. A confined worker may not list its descriptors, so that each
/// number is asked what it is.
fn protocol_descriptor() -> i32 {
    (3..1024).find(|number| is_socket(*number)).unwrap_or(-1)
}

fn is_socket(descriptor: i32) -> bool {
    let mut kind = 0_i32;
    let mut length = libc::socklen_t::try_from(size_of::<i32>()).unwrap_or(4);
    // SAFETY: `kind` and `length` are as large as the option; a number that is no socket is an error.
    #[expect(unsafe_code, reason = "no safe interface asks a bare number")]
    let found = unsafe {
        libc::getsockopt(descriptor, libc::SOL_SOCKET, libc::SO_TYPE, (&raw mut kind).cast(), &raw mut length)
    };
    found == 0
}

fn file(descriptor: i32) -> ManuallyDrop<File> {
    // SAFETY: the number is that of an open descriptor, and the file is never dropped, so that its owner keeps it.
    #[expect(unsafe_code, reason = "the channel belongs to somebody else, which is the point")]
    ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) })
}

/// Writes where only the worker should.
fn protocol(bytes: &[u8]) {
    if let Err(error) = file(protocol_descriptor()).write_all(bytes) {
        eprintln!("cannot write to the channel: {error}");
    }
}

fn frame(text: &str) {
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend_from_slice(text.as_bytes());
    protocol(&bytes);
}

/// Prints `number` bytes on stdout and a line on stderr.
fn print(order: &Order) -> String {
    let line = [b'x'; 1 << 16];
    let mut left = order.number;
    let mut stdout = std::io::stdout().lock();
    while left > 0 {
        let part = left.min(1 << 16);
        let length = usize::try_from(part).unwrap_or(line.len());
        if stdout.write_all(&line[..length]).is_err() {
            break;
        }
        left -= part;
    }
    eprintln!("{}", order.text);
    "printed".to_owned()
}

/// Asks for memory in one piece, and says whether it got it.
fn allocate(bytes: u64) -> String {
    let mut memory: Vec<u8> = Vec::new();
    match memory.try_reserve_exact(usize::try_from(bytes).unwrap_or(usize::MAX)) {
        Ok(()) => "got it".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// Opens files until that fails, and closes them.
fn open_files() -> String {
    let mut kept = Vec::new();
    loop {
        match File::open("/dev/null") {
            Ok(file) if kept.len() < 1 << 16 => kept.push(file),
            Ok(_) => return "no end".to_owned(),
            Err(error) => return format!("{} then {:?}", kept.len(), error.raw_os_error()),
        }
    }
}
