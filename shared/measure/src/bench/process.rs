//! A binary at work as a process of its own, and what the kernel says that it used.

use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;

use crate::Failure;
use crate::bench::runtime_api::RuntimeApi;

/// What a process needs to fall asleep after its last system call that is seen here.
const TO_FALL_ASLEEP: Duration = Duration::from_millis(2);

/// A process and the Runtime API that it polls. It ends with this value.
pub struct Process {
    child: Child,
    api: Arc<RuntimeApi>,
    started: Instant,
}

impl Process {
    /// Starts a binary and waits for its first poll.
    ///
    /// # Errors
    ///
    /// It is not built, or does not poll.
    pub async fn start(
        binary: &Path,
        endpoint: &str,
        event: String,
        more: &[(&str, String)],
    ) -> Result<Self, Failure> {
        built(binary)?;
        let (api, address) = RuntimeApi::serve(event).await?;
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
        if let Some(mut log) = log {
            std::thread::spawn(move || io::copy(&mut log, &mut io::sink()));
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

    /// Has it answer its event so many times, one after the other.
    ///
    /// # Errors
    ///
    /// An answer that is none of success.
    pub async fn answer(&mut self, times: usize) -> Result<(), Failure> {
        self.api.hand_out(times).await
    }

    /// Has it answer its event once. Gives the time from handing the event out to having the answer.
    ///
    /// # Errors
    ///
    /// An answer that is none of success.
    pub async fn answer_one(&mut self) -> Result<Duration, Failure> {
        self.api.hand_out(1).await?;
        Ok(self.api.last_took())
    }

    /// The number by which the kernel knows it.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its last answer.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn last_answer(&self) -> Result<Bytes, Failure> {
        let answer = self.api.last_answer();
        if answer.is_empty() { Err("a function did not answer".into()) } else { Ok(answer) }
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
        let told = std::fs::read_to_string(self.told("status"))?;
        let line = told.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no peak is told")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
    }

    fn told(&self, what: &str) -> String {
        format!("/proc/{}/{what}", self.id())
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
    std::fs::metadata(binary).map_err(|_| format!("{} is not built: run make bench", binary.display()).into())
}
