//! The end of a process and of everything that it started.
//!
//! A process can leave its parent (fork twice), its group and its session (`setsid`), but not what it was started with:
//! a marker in its environment. So members are found in three ways, stopped as they are found until a look at the system
//! shows no new one, and only then killed: what is stopped starts nothing more.
//!
//! Linux tells all of this. Elsewhere the process group ends, or what the system's own tool takes for the tree.

#[cfg(target_os = "linux")]
pub use linux::kill_tree;
#[cfg(unix)]
pub use rustix::process::Pid;

/// Number of a process.
#[cfg(not(unix))]
pub type Pid = u32;

/// Kills the process group of `root`; what left it stays.
#[cfg(all(unix, not(target_os = "linux")))]
pub fn kill_tree(root: Pid, _marker: Option<(&str, &str)>) {
    let _gone_already = rustix::process::kill_process_group(root, rustix::process::Signal::KILL);
    let _gone_already = rustix::process::kill_process(root, rustix::process::Signal::KILL);
}

/// Kills what the system's tool takes for the tree of `root`.
#[cfg(not(unix))]
pub fn kill_tree(root: Pid, _marker: Option<(&str, &str)>) {
    let mut tool = std::process::Command::new("taskkill");
    let _gone_already = tool.args(["/T", "/F", "/PID", &root.to_string()]).output();
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;
    use std::fs;
    use std::time::Duration;

    use rustix::io::Errno;
    use rustix::process::{
        PidfdFlags, Signal, WaitOptions, getpid, kill_process, pidfd_open, pidfd_send_signal, waitpid,
    };

    use super::Pid;

    /// How often the tree is looked for anew after it was killed. One look is enough unless the system refuses a signal.
    const SWEEPS: u32 = 8;
    /// How often new members are looked for before those that are known are killed.
    const LOOKS: u32 = 64;
    /// How often a killed process is looked at until it is gone, and the pause between: 2 s altogether.
    const PATIENCE: (u32, Duration) = (1000, Duration::from_millis(2));

    /// A process as `/proc/PID/stat` tells.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Process {
        pid: Pid,
        parent: i32,
        group: i32,
        /// It ended and waits for its parent to ask.
        zombie: bool,
        /// When it started, in ticks: tells it from a later one of the same number.
        start: u64,
    }

    /// Members by their number, with their start.
    type Tree = BTreeMap<i32, Process>;

    /// Kills `root`, its process group, all that descend from either, and every process with the variable `marker`
    /// (name and value) in the environment that it was started with. Returns when they are gone; `root` itself is left
    /// for its parent to reap.
    ///
    /// `root` must not have been reaped yet: its number could be another's.
    pub fn kill_tree(root: Pid, marker: Option<(&str, &str)>) {
        let marker = marker.map(|(name, value)| format!("{name}={value}").into_bytes());
        for _ in 0..SWEEPS {
            let tree = stopped(root, marker.as_deref());
            if tree.is_empty() {
                return;
            }
            for process in tree.values() {
                signal(*process, Signal::KILL);
            }
            for process in tree.values() {
                await_end(*process, root);
            }
        }
        tracing::warn!(root = root.as_raw_nonzero().get(), "some of what a program started could not be killed");
    }

    /// Every living member, stopped.
    fn stopped(root: Pid, marker: Option<&[u8]>) -> Tree {
        let mut tree = Tree::new();
        for _ in 0..LOOKS {
            let new = members(&processes(), root, marker, &tree);
            if new.is_empty() {
                break;
            }
            for process in new {
                signal(process, Signal::STOP);
                tree.insert(process.pid.as_raw_nonzero().get(), process);
            }
        }
        tree
    }

    /// Living members among `all` that are not in `known`.
    fn members(all: &[Process], root: Pid, marker: Option<&[u8]>, known: &Tree) -> Vec<Process> {
        let (root, own) = (root.as_raw_nonzero().get(), getpid());
        let mut found = known.clone();
        let mut new = Vec::new();
        loop {
            let before = new.len();
            for process in all {
                let pid = process.pid.as_raw_nonzero().get();
                if process.zombie || process.pid == own || pid == 1 || found.contains_key(&pid) {
                    continue;
                }
                let descends = pid == root || process.group == root || process.parent == root;
                if descends || found.contains_key(&process.parent) || carries(pid, marker) {
                    found.insert(pid, *process);
                    new.push(*process);
                }
            }
            if new.len() == before {
                return new;
            }
        }
    }

    fn carries(pid: i32, marker: Option<&[u8]>) -> bool {
        let Some(marker) = marker else { return false };
        // Of a process of another user the environment is not told.
        fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|environment| environment.split(|byte| *byte == 0).any(|entry| entry == marker))
    }

    fn processes() -> Vec<Process> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        entries
            .filter_map(|entry| Pid::from_raw(entry.ok()?.file_name().to_str()?.parse().ok()?))
            .filter_map(process)
            .collect()
    }

    fn process(pid: Pid) -> Option<Process> {
        let bytes = fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        parse(pid, &String::from_utf8_lossy(&bytes))
    }

    /// The program's name stands in parentheses and may hold any character, so what follows the last one counts.
    fn parse(pid: Pid, stat: &str) -> Option<Process> {
        let (_, rest) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        Some(Process {
            pid,
            zombie: matches!(*fields.first()?, "Z" | "X"),
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            start: fields.get(19)?.parse().ok()?,
        })
    }

    /// Through a descriptor, so that no later process of the same number is hit.
    fn signal(wanted: Process, signal: Signal) {
        let sent = match pidfd_open(wanted.pid, PidfdFlags::empty()) {
            Ok(descriptor) if is_there(wanted) => pidfd_send_signal(descriptor, signal),
            // A kernel before 5.3.
            Err(Errno::NOSYS) if is_there(wanted) => kill_process(wanted.pid, signal),
            Ok(_) | Err(_) => Ok(()),
        };
        if let Err(error) = sent
            && error != Errno::SRCH
        {
            tracing::warn!(pid = wanted.pid.as_raw_nonzero().get(), cause = %error, "a process takes no signal");
        }
    }

    fn is_there(wanted: Process) -> bool {
        process(wanted.pid).is_some_and(|found| found.start == wanted.start)
    }

    /// Waits until it is gone. One that was left to this process by its parent's death is reaped.
    fn await_end(wanted: Process, root: Pid) {
        let (looks, pause) = PATIENCE;
        for _ in 0..looks {
            match process(wanted.pid) {
                Some(found) if found.start == wanted.start => {
                    if found.zombie {
                        if found.pid != root && found.parent == getpid().as_raw_nonzero().get() {
                            let _reaped = waitpid(Some(found.pid), WaitOptions::NOHANG);
                        }
                        return;
                    }
                }
                Some(_) | None => return,
            }
            std::thread::sleep(pause);
        }
    }

    #[cfg(test)]
    mod tests {
        use std::io::{BufRead as _, BufReader};
        use std::os::unix::process::CommandExt as _;
        use std::process::{Command, Stdio};

        use super::*;

        #[test]
        fn a_name_with_parentheses_and_blanks_does_not_mislead() {
            let stat = format!("7 (a) R 1 (b) S 3 4 5 {} 99 0", vec!["0"; 15].join(" "));
            let found = parse(Pid::from_raw(7).unwrap(), &stat).unwrap();
            assert_eq!((found.parent, found.group, found.zombie), (3, 4, false));
        }

        /// Starts a program that prints the numbers of what it started, kills it, and looks whether all of it is gone.
        #[track_caller]
        fn check(script: &str, count: usize, marker: Option<(&str, &str)>) {
            let mut command = Command::new("python3");
            command.args(["-c", script]).stdout(Stdio::piped()).process_group(0);
            if let Some((name, value)) = marker {
                command.env(name, value);
            }
            let mut child = command.spawn().unwrap();
            let lines = BufReader::new(child.stdout.take().unwrap()).lines().take(count);
            let started: Vec<Pid> =
                lines.map(|line| Pid::from_raw(line.unwrap().trim().parse().unwrap()).unwrap()).collect();
            assert_eq!(started.len(), count);
            kill_tree(Pid::from_child(&child), marker);
            assert!(!child.wait().unwrap().success());
            for pid in started {
                let left = process(pid).filter(|found| !found.zombie);
                assert_eq!(left, None);
            }
        }

        #[test]
        fn children_and_their_children_are_killed() {
            let script = "import subprocess, time\n\
                          for _ in range(3):\n    \
                              print(subprocess.Popen(['sleep', '600']).pid, flush=True)\n\
                          time.sleep(600)";
            check(script, 3, None);
        }

        #[test]
        fn one_that_left_parent_group_and_session_is_killed_by_its_marker() {
            let script = "import os, time\n\
                          if os.fork() == 0:\n    \
                              os.setsid()\n    \
                              if os.fork() == 0:\n        \
                                  print(os.getpid(), flush=True)\n        \
                                  time.sleep(600)\n    \
                              os._exit(0)\n\
                          os.wait()\n\
                          time.sleep(600)";
            check(script, 1, Some(("HOST_TEST_MARKER", "one-that-left")));
        }

        #[test]
        fn one_that_keeps_forking_is_caught() {
            let script = "import os, time\n\
                          print(os.getpid(), flush=True)\n\
                          while True:\n    \
                              if os.fork() == 0:\n        \
                                  os.setsid()\n        \
                                  time.sleep(600)\n    \
                              time.sleep(0.005)";
            check(script, 1, Some(("HOST_TEST_MARKER", "one-that-forks")));
            let marked = processes().into_iter().filter(|found| {
                !found.zombie && carries(found.pid.as_raw_nonzero().get(), Some(b"HOST_TEST_MARKER=one-that-forks"))
            });
            assert_eq!(marked.count(), 0);
        }
    }
}
