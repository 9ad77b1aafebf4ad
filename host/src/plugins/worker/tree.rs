//! Ends everything that a worker started.
//!
//! On Linux the worker is a subreaper, and so is the host: what a living worker started is below it, what a dead one left
//! is below the host. A process of a worker is known by its ancestors, by its group, or by the worker's nonce in its
//! environment, which a fork inherits. Elsewhere only the group is known.

#[cfg(target_os = "linux")]
pub(super) use linux::{Tree, adopt_orphans, end_children};
#[cfg(not(target_os = "linux"))]
pub(super) use other::{Tree, adopt_orphans, end_children};

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::{BTreeMap, HashSet};
    use std::fs;
    use std::time::{Duration, Instant};

    use rustix::process::{
        Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, kill_process_group, set_child_subreaper,
        waitid, waitpid,
    };

    use crate::plugins::worker::spec::NONCE;

    /// How long the system may take to end what was killed. A process that waits for a dead disk takes longer.
    const PATIENCE: Duration = Duration::from_secs(2);

    /// The processes of a worker.
    pub(in crate::plugins::worker) struct Tree {
        worker: Pid,
        /// How the worker's nonce stands in an environment.
        mark: Vec<u8>,
        /// Those that were seen, and may have to be reaped.
        seen: HashSet<Pid>,
    }

    /// A line of the process table.
    struct Row {
        parent: i32,
        group: i32,
        ended: bool,
    }

    type Table = BTreeMap<i32, Row>;

    /// What loses its parent below this process becomes its child.
    pub(in crate::plugins::worker) fn adopt_orphans() {
        if let Err(error) = set_child_subreaper(Some(getpid())) {
            tracing::warn!(%error, "processes that a worker leaves behind cannot be adopted");
        }
    }

    impl Tree {
        pub(in crate::plugins::worker) fn of(worker: Pid, nonce: &str) -> Self {
            Self { worker, mark: format!("{NONCE}={nonce}").into_bytes(), seen: HashSet::new() }
        }

        /// Ends the worker and all below it. The caller reaps the worker, and then calls [`Self::end_orphans`].
        ///
        /// The worker is stopped first: it can start nothing more, and whatever loses its parent stays below it.
        pub(in crate::plugins::worker) fn end(&mut self) {
            let _ = kill_process(self.worker, Signal::STOP);
            self.sweep();
            let _ = kill_process(self.worker, Signal::KILL);
            let _ = kill_process_group(self.worker, Signal::KILL);
        }

        /// Ends what the worker left behind.
        pub(in crate::plugins::worker) fn end_orphans(&mut self) {
            self.sweep();
            let until = Instant::now() + PATIENCE;
            while !self.reap() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(1));
            }
        }

        /// Kills until none is left that lives: each look may find what was started since the last.
        fn sweep(&mut self) {
            let until = Instant::now() + PATIENCE;
            while self.kill_seen() && Instant::now() < until {
                self.reap();
                std::thread::sleep(Duration::from_millis(1));
            }
        }

        /// Whether any was alive.
        fn kill_seen(&mut self) -> bool {
            let table = table();
            let own = getpid().as_raw_nonzero().get();
            let worker = self.worker.as_raw_nonzero().get();
            let mut alive = false;
            for (pid, row) in &table {
                let is_its = row.group == worker || is_below(&table, *pid, worker) || self.is_marked(&table, *pid, own);
                let Some(process) = Pid::from_raw(*pid).filter(|_| is_its && *pid != worker && *pid != own) else {
                    continue;
                };
                self.seen.insert(process);
                if !row.ended {
                    let _ = kill_process(process, Signal::KILL);
                    alive = true;
                }
            }
            alive
        }

        /// Only what is below this process, or was left to the system, can be a worker's.
        fn is_marked(&self, table: &Table, pid: i32, own: i32) -> bool {
            let parent = table.get(&pid).map_or(0, |row| row.parent);
            if parent != 1 && !is_below(table, pid, own) {
                return false;
            }
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == self.mark)
        }

        /// Reaps those of the seen that are this process's children by now. Whether none is left to be waited for.
        fn reap(&mut self) -> bool {
            self.seen.retain(|pid| matches!(waitpid(Some(*pid), WaitOptions::NOHANG), Ok(None)));
            self.seen.is_empty()
        }
    }

    fn is_below(table: &Table, pid: i32, ancestor: i32) -> bool {
        let mut at = pid;
        // As many steps as there are processes: a table that changed while it was read may hold a circle.
        for _ in 0..table.len() {
            let Some(row) = table.get(&at) else { return false };
            if row.parent == ancestor {
                return true;
            }
            at = row.parent;
        }
        false
    }

    fn table() -> Table {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter_map(|pid: i32| Some((pid, row(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?))).collect()
    }

    /// Reads `<pid> (<name>) <state> <parent> <group> ..`. The name may hold anything.
    fn row(stat: &str) -> Option<Row> {
        let (_, rest) = stat.rsplit_once(") ")?;
        let mut words = rest.split(' ');
        let ended = matches!(words.next()?, "Z" | "X");
        Some(Row { ended, parent: words.next()?.parse().ok()?, group: words.next()?.parse().ok()? })
    }

    /// Ends all children of this process, and theirs, which become its own: for a worker whose host is gone. It may not
    /// look at the process table, so that it asks of each number whether it is a child's.
    pub(in crate::plugins::worker) fn end_children(most: i32) {
        let any = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        while waitid(WaitId::All, any).is_ok() {
            for pid in (1..=most).filter_map(Pid::from_raw) {
                if waitid(WaitId::Pid(pid), any).is_ok() {
                    let _ = kill_process(pid, Signal::KILL);
                    let _ = waitpid(Some(pid), WaitOptions::empty());
                }
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_name_with_blanks_and_brackets_does_not_shift_the_row() {
            let row = row("17 (a) Z (b) S 3 5 5 0 -1").unwrap();
            assert_eq!((row.ended, row.parent, row.group), (false, 3, 5));
        }

        #[test]
        fn ancestors_are_found_at_any_distance_and_a_circle_ends() {
            let rows = [(5, 4), (4, 3), (8, 9), (9, 8)];
            let table = rows.map(|(pid, parent)| (pid, Row { parent, group: 0, ended: false })).into_iter().collect();
            assert!(is_below(&table, 5, 3) && is_below(&table, 5, 4));
            assert!(!is_below(&table, 5, 5) && !is_below(&table, 8, 3));
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use rustix::process::{Pid, Signal, kill_process, kill_process_group};

    /// The processes of a worker: its group.
    pub(in crate::plugins::worker) struct Tree {
        worker: Pid,
    }

    /// There is no such thing here.
    pub(in crate::plugins::worker) fn adopt_orphans() {}

    /// The group ends with the worker.
    pub(in crate::plugins::worker) fn end_children(_: i32) {}

    impl Tree {
        pub(in crate::plugins::worker) fn of(worker: Pid, _: &str) -> Self {
            Self { worker }
        }

        /// Ends the worker and its group.
        pub(in crate::plugins::worker) fn end(&mut self) {
            let _ = kill_process_group(self.worker, Signal::KILL);
            let _ = kill_process(self.worker, Signal::KILL);
        }

        /// Nothing more is known.
        pub(in crate::plugins::worker) fn end_orphans(&mut self) {}
    }
}
