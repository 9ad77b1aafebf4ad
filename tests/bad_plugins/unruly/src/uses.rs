//! What an organ may do, and what its confinement should refuse.

use std::fmt::Display;

use plugin_api::Failure;
use plugin_api::organ::Host;

use crate::Order;

/// Does one of the things that a sound organ may try.
pub(crate) fn useful(word: &str, order: &Order, host: &Host<'_>) -> Result<String, Failure> {
    match word {
        "hang_politely" => loop {
            host.check()?;
            std::thread::sleep(std::time::Duration::from_millis(1));
        },
        "sleep" => host.sleep_ms(order.number).map(|()| "slept".to_owned()),
        "ask" => host.now().map(|now| now.micros().to_string()),
        "ask_from_two_threads" => Ok(two_threads(host)),
        "ask_often" => Ok(often(host, order.number)),
        "lines" => {
            println!("out: {}", order.text);
            eprintln!("err: {}", order.text);
            Ok("printed".to_owned())
        }
        "log" => {
            plugin_api::tracing::info!(answer = 42, word = %order.text, "an event");
            plugin_api::tracing::warn!("a warning");
            Ok("logged".to_owned())
        }
        "read" => Ok(told(std::fs::read_to_string(&order.text))),
        "write" => Ok(told(std::fs::File::create(&order.text).map(|_| "written"))),
        "execute" => Ok(told(std::process::Command::new(&order.text).status())),
        "connect" => Ok(told(std::net::TcpStream::connect(&order.text).map(|_| "connected"))),
        "signal" => Ok(signal(order.number)),
        "variables" => Ok(variables()),
        _ => Err(Failure::new("unknown_order", word)),
    }
}

fn told<T: Display>(result: Result<T, std::io::Error>) -> String {
    match result {
        Ok(value) => value.to_string(),
        Err(error) => format!("{:?}", error.kind()),
    }
}

/// The answers to questions asked at once, in the order of the threads.
fn two_threads(host: &Host<'_>) -> String {
    std::thread::scope(|scope| {
        let first = scope.spawn(|| host.state("scope", "first"));
        let second = scope.spawn(|| host.state("scope", "second"));
        let texts = [first.join(), second.join()].map(|joined| match joined {
            Ok(Ok(value)) => value.value.to_string(),
            Ok(Err(failure)) => failure.code,
            Err(_) => "panicked".to_owned(),
        });
        texts.join(" ")
    })
}

/// How many of many questions at once were refused because they were too many.
fn often(host: &Host<'_>, questions: u64) -> String {
    let refused = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..questions).map(|_| scope.spawn(|| host.state("scope", "often"))).collect();
        let ended = asking.into_iter().filter_map(|thread| thread.join().ok());
        ended.filter(|end| end.as_ref().is_err_and(|failure| failure.code == "too_many_questions")).count()
    });
    refused.to_string()
}

fn signal(pid: u64) -> String {
    let pid = i32::try_from(pid).unwrap_or(i32::MAX);
    // SAFETY: signal 0 asks whether a signal could be sent, and sends none.
    #[expect(unsafe_code, reason = "no safe interface sends a signal")]
    let sent = unsafe { libc::kill(pid, 0) };
    if sent == 0 { "signalled".to_owned() } else { format!("{:?}", std::io::Error::last_os_error().kind()) }
}

/// Names of the variables that the worker has.
fn variables() -> String {
    let mut names: Vec<String> = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names.join(" ")
}
