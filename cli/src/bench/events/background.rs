//! A program that runs beside this command, such as a server, until it is dropped.
use crate::error::{reason, Fail, Result};
use crate::process::{kill_group, prepare_child};
use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
};

pub struct Background {
    child: Child,
    what: String,
    /// The first line that it printed.
    pub said: String,
}

impl Background {
    /// Starts `command` and waits for its first line of output. `what` is its name in messages.
    pub fn start(what: &str, mut command: Command) -> Result<Background> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
        // SAFETY: what it calls is async-signal-safe, and it allocates nothing.
        unsafe { command.pre_exec(prepare_child) };
        let child = command.spawn().map_err(|e| Fail::new(format!("cannot run {what}: {}", reason(&e))))?;
        let mut started = Background { child, what: what.to_owned(), said: String::new() };
        let output = started.child.stdout.take().expect("it is piped");
        let read = BufReader::new(output).read_line(&mut started.said);
        match read {
            Ok(1..) => {
                started.said.truncate(started.said.trim_end().len());
                Ok(started)
            }
            _ => Err(Fail::new(format!("{what} ended before it printed a line"))),
        }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Fails if the program has ended.
    pub fn check(&mut self) -> Result<()> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(Fail::new(format!("{} has ended: {status}", self.what))),
            Err(e) => Err(Fail::new(format!("cannot wait for {}: {}", self.what, reason(&e)))),
        }
    }

    /// The seconds of user and system time that it has used so far, in steps of about 10 ms.
    pub fn cpu(&self) -> Result<f64> {
        let path = format!("/proc/{}/stat", self.id());
        let status = fs::read_to_string(&path).map_err(|e| Fail::io("read", path.as_ref(), e))?;
        // SAFETY: a plain question.
        let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64;
        cpu_ticks(&status).map(|used| used / ticks).ok_or_else(|| Fail::new(format!("{path} has no times")))
    }

    /// How often its threads have gone to sleep so far.
    pub fn sleeps(&self) -> Result<u64> {
        let tasks = format!("/proc/{}/task", self.id());
        let failed = |e| Fail::io("read", tasks.as_ref(), e);
        let mut sleeps = 0;
        for task in fs::read_dir(&tasks).map_err(failed)?.flatten() {
            // A thread may have ended in between.
            let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
            sleeps += status
                .lines()
                .find_map(|l| l.strip_prefix("voluntary_ctxt_switches:")?.trim().parse().ok())
                .unwrap_or(0);
        }
        Ok(sleeps)
    }
}

/// User and system time are the 14th and the 15th field. The second one, in parentheses, is a name with any characters.
fn cpu_ticks(status: &str) -> Option<f64> {
    let mut after_name = status.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut next = || after_name.next()?.parse::<f64>().ok();
    Some(next()? + next()?)
}

impl Drop for Background {
    fn drop(&mut self) {
        kill_group(self.child.id() as i32);
        // It is dead or dies now; nothing is left to report.
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<Background> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Background::start("a shell", command)
    }

    #[test]
    fn a_program_runs_until_it_is_dropped() {
        let mut running = shell("echo 4321; sleep 60 & wait").unwrap();
        assert_eq!(running.said, "4321");
        running.check().unwrap();
        let id = running.id();
        drop(running);
        assert!(!std::path::Path::new(&format!("/proc/{id}")).exists());
    }

    #[test]
    fn a_program_that_sleeps_often_is_seen_to() {
        let sleeps_after = |script: &str| {
            let running = shell(script).unwrap();
            let before = running.sleeps().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(300));
            running.sleeps().unwrap() - before
        };
        assert!(sleeps_after("echo; while :; do sleep 0.001; done") > 5);
        assert!(sleeps_after("echo; sleep 60") <= 5);
    }

    #[test]
    fn the_time_that_a_program_uses_is_read() {
        let status = "7 (a ) b) R 1 7 7 0 -1 4194304 99 0 0 0 30 12 0 0 20 0 1 0 1000 6000 200\n";
        assert_eq!((cpu_ticks(status), cpu_ticks("7 (sh")), (Some(42.0), None));
        let busy = shell("echo; while :; do :; done").unwrap();
        let used = (0..1000).find(|_| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            busy.cpu().unwrap() > 0.0
        });
        assert!(used.is_some());
    }

    #[test]
    fn a_program_that_ends_early_is_reported() {
        assert!(shell("exit 3").err().unwrap().message.contains("a shell ended before it printed a line"));
        let mut short = shell("echo; exit 3").unwrap();
        // The line comes before the end.
        let ended = (0..1000).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(5));
            short.check().err()
        });
        assert!(ended.unwrap().message.contains("exit status: 3"));
    }
}
