//! A binary at work as a process of its own, and what the kernel says that it used.

use std::fs::Metadata;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;

use crate::Failure;
use crate::bench::runtime_api::{Answer, RuntimeApi};

/// What a process needs to fall asleep after its last system call that is seen here.
const TO_FALL_ASLEEP: Duration = Duration::from_millis(2);

/// A process and the Runtime API that it polls. It ends with this value.
pub struct Process {
    child: Child,
    api: Arc<RuntimeApi>,
    started: Instant,
}

impl Process {
    /// Starts a binary and waits for its first poll. It has `time_to_answer` for each event, and `more` in
    /// its environment. `line` is told each line of its log.
    ///
    /// # Errors
    ///
    /// It is not built, or does not poll.
    pub async fn start(
        binary: &Path,
        endpoint: &str,
        time_to_answer: Duration,
        more: &[(&str, String)],
        mut line: impl FnMut(String) + Send + 'static,
    ) -> Result<Self, Failure> {
        built(binary)?;
        let (api, address) = RuntimeApi::serve(time_to_answer).await?;
        let mut command = Command::new(binary);
        command
            .env_clear()
            .env("AWS_LAMBDA_RUNTIME_API", address)
            .env("AWS_LAMBDA_FUNCTION_NAME", "function")
            .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256")
            .env("AWS_LAMBDA_FUNCTION_VERSION", "1")
            .env("AWS_REGION", "sa-east-1")
            .env("AWS_ACCESS_KEY_ID", "measure")
            .env("AWS_SECRET_ACCESS_KEY", "measure")
            .env("AWS_ENDPOINT_URL_DYNAMODB", endpoint)
            .env("CURSOR_KEY", local::watch::CURSOR_KEY)
            .envs(more.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            // A pipe, as on Lambda: the log costs what it costs there.
            .stdout(Stdio::piped());
        let started = Instant::now();
        let mut child = command.spawn()?;
        let log = child.stdout.take();
        let process = Self { child, api, started };
        if let Some(log) = log {
            std::thread::spawn(move || BufReader::new(log).lines().map_while(Result::ok).for_each(&mut line));
        }
        process.api.idle().await.map_err(|error| format!("{}: {error}", binary.display()))?;
        Ok(process)
    }

    /// The time from its start to its first poll.
    ///
    /// # Errors
    ///
    /// It has not polled.
    pub fn time_to_first_poll(&self) -> Result<Duration, Failure> {
        let polled = self.api.first_poll().ok_or("a function does not poll")?;
        Ok(polled - self.started)
    }

    /// Has it answer an event.
    ///
    /// # Errors
    ///
    /// It does not.
    pub async fn invoke(&self, event: Bytes) -> Result<Answer, Failure> {
        self.api.invoke(event).await
    }

    /// Waits until it polls for what is next.
    ///
    /// # Errors
    ///
    /// It takes too long.
    pub async fn idle(&self) -> Result<(), Failure> {
        self.api.idle().await
    }

    /// The number by which the kernel knows it.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Has it answer an event so many times, one after the other. Gives the last answer.
    ///
    /// # Errors
    ///
    /// An answer that is none of success.
    pub async fn answer(&self, event: &Bytes, times: usize) -> Result<Bytes, Failure> {
        let mut last = Bytes::new();
        for _ in 0..times {
            last = self.invoke(event.clone()).await?.body;
            if !last.starts_with(br#"{"statusCode":200"#) {
                return Err(format!("a function answered {}", String::from_utf8_lossy(&last)).into());
            }
        }
        self.api.idle().await?;
        Ok(last)
    }

    /// The processor time that its threads took so far, in it and in the kernel for it.
    ///
    /// # Errors
    ///
    /// The kernel does not tell, or a thread has ended and taken its part along.
    pub async fn processor_time(&self) -> Result<Duration, Failure> {
        tokio::time::sleep(TO_FALL_ASLEEP).await;
        let mut nanoseconds = 0;
        for thread in std::fs::read_dir(self.told("task"))? {
            let told = std::fs::read_to_string(thread?.path().join("schedstat"))?;
            nanoseconds += told.split(' ').next().unwrap_or_default().parse::<u64>()?;
        }
        Ok(Duration::from_nanos(nanoseconds))
    }

    /// The most memory that it has had so far, in bytes.
    ///
    /// # Errors
    ///
    /// The kernel does not tell.
    pub fn peak_memory(&self) -> Result<u64, Failure> {
        self.memory("VmHWM")
    }

    /// The memory that it has at this moment, in bytes.
    ///
    /// # Errors
    ///
    /// The process has ended, or the kernel does not tell.
    pub fn resident_memory(&self) -> Result<u64, Failure> {
        self.memory("VmRSS")
    }

    /// How many files, sockets and the like it has open.
    ///
    /// # Errors
    ///
    /// The process has ended, or the kernel does not tell.
    pub fn open_files(&self) -> Result<usize, Failure> {
        Ok(std::fs::read_dir(self.told("fd"))?.count())
    }

    fn memory(&self, what: &str) -> Result<u64, Failure> {
        let told = std::fs::read_to_string(self.told("status"))?;
        let line = told.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(':'));
        let line =
            line.ok_or_else(|| format!("process {} has ended, or its {what} is not told", self.child.id()))?;
        Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
    }

    fn told(&self, what: &str) -> String {
        format!("/proc/{}/{what}", self.child.id())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself, which was told where it was missed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the file system says of a binary.
///
/// # Errors
///
/// It is not there.
pub fn built(binary: &Path) -> Result<Metadata, Failure> {
    std::fs::metadata(binary)
        .map_err(|_| format!("{} is not built: start this by make, which builds it", binary.display()).into())
}
