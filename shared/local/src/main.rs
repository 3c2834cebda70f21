//! `local run` starts the local stack, `local serve` its database alone.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that talks to the person who started it"
)]

use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use dynoxide::Database;
use local::interrupt::interrupted;
use local::template::Template;
use local::{database, family, requests, sample, watch};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};

const HELP: &str = "\
The local stack: an embedded DynamoDB with the tables of template.yaml and sample data of two tenants,
and the functions behind the template's routes. Run it in the project's folder.

  local run                                the database on 127.0.0.1:8000, the functions on 127.0.0.1:9000
  local serve [--host HOST] [--port PORT]  the database alone (127.0.0.1:8000)
  local --help";

/// Where `run` and, unless told otherwise, `serve` put the database.
const DATABASE: &str = "127.0.0.1:8000";

/// Where the functions answer.
const FUNCTIONS: &str = "127.0.0.1:9000";

/// How long the server of the functions may take to start. It compiles nothing for that.
const START: Duration = Duration::from_secs(60);

/// How long that server has to end by itself.
const PATIENCE: Duration = Duration::from_secs(5);

/// Settings that would send a function elsewhere than to the embedded database.
const REMOVED: &[&str] = &[
    "AWS_CONFIG_FILE",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_DEFAULT_REGION",
    "AWS_ENDPOINT_URL",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
    "AWS_PROFILE",
    "AWS_ROLE_ARN",
    "AWS_SESSION_TOKEN",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_USE_DUALSTACK_ENDPOINT",
    "AWS_USE_FIPS_ENDPOINT",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
];

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["run"] => run().await,
        ["serve", options @ ..] => match serve_address(options) {
            Ok(address) => serve(&address).await,
            Err(problem) => Err(problem),
        },
        ["--help" | "-h" | "help"] => {
            println!("{HELP}");
            Ok(())
        }
        [] => Err(format!("say what to do.\n\n{HELP}").into()),
        [word, ..] => Err(format!("{word:?} is not understood here.\n\n{HELP}").into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// The address in the options of `serve`.
fn serve_address(options: &[&str]) -> Result<String, Failure> {
    let (mut host, mut port) = DATABASE.split_once(':').unwrap_or_default();
    let mut rest = options;
    loop {
        rest = match rest {
            [] => return Ok(format!("{host}:{port}")),
            ["--host", value, rest @ ..] => {
                host = value;
                rest
            }
            ["--port", value, rest @ ..] => {
                value.parse::<u16>().map_err(|_| format!("--port {value}: not a port"))?;
                port = value;
                rest
            }
            [word @ ("--host" | "--port")] => return Err(format!("{word} needs a value").into()),
            [word, ..] => return Err(format!("serve does not know {word:?}").into()),
        };
    }
}

/// The database alone, until a signal comes.
async fn serve(address: &str) -> Result<(), Failure> {
    let template = template(&[])?;
    let listener = listen(address).await?;
    println!("DynamoDB answers on http://{address} with the tables {}. Ctrl-C ends it.", names(&template)?);
    let database = filled(&template)?;
    let stopped = interrupted()?;
    dynoxide::server::serve_with_shutdown(listener, database, stopped).await?;
    Ok(())
}

/// Database and functions, until a signal comes or the server of the functions ends.
async fn run() -> Result<(), Failure> {
    let endpoint = format!("http://{DATABASE}");
    let template = template(&[("AWS::StackName", "local"), ("DynamoDbEndpoint", &endpoint)])?;
    let listener = listen(DATABASE).await?;
    drop(listen(FUNCTIONS).await?);
    require_cargo_lambda().await?;
    // From here on a signal is heard, whatever the program waits for.
    let stopped = interrupted()?;
    tokio::pin!(stopped);

    let served = dynoxide::server::serve_with_shutdown(listener, filled(&template)?, std::future::pending());
    tokio::spawn(served);

    let configuration = configuration_file()?;
    std::fs::write(&configuration, watch::configuration(&template.routes()?))?;
    println!("Starting the functions behind their routes ...");
    let mut child = start(&template, &configuration, &endpoint)?;
    let outcome = tokio::select! {
        outcome = attend(&mut child, &template) => outcome,
        () = &mut stopped => Ok(()),
    };
    println!("Stopping ...");
    family::end(&mut child, PATIENCE).await;
    let _gone = std::fs::remove_file(&configuration);
    outcome?;
    println!("Stopped. Nothing is left running.");
    Ok(())
}

/// Waits until the functions can be asked, says how, and goes on waiting until their server ends,
/// which it should not.
async fn attend(child: &mut Child, template: &Template) -> Result<(), Failure> {
    let ended = |status: io::Result<std::process::ExitStatus>| -> Failure {
        match status {
            Ok(status) => {
                format!("cargo lambda watch ended by itself ({status}); its last lines say why").into()
            }
            Err(error) => format!("cargo lambda watch cannot be watched: {error}").into(),
        }
    };
    tokio::select! {
        listening = tokio::time::timeout(START, listens(FUNCTIONS)) => {
            if listening.is_err() {
                let seconds = START.as_secs();
                return Err(format!("cargo lambda watch does not listen on {FUNCTIONS} after {seconds} s").into());
            }
        }
        status = child.wait() => return Err(ended(status)),
    }
    println!(
        "\nDynamoDB:  http://{DATABASE}  tables {}, tenants {}",
        names(template)?,
        sample::TENANTS.join(", ")
    );
    println!("Functions: http://{FUNCTIONS}  the first request to a function starts it\n");
    println!("Requests to paste into another terminal (x-local-tenant stands in for the token):\n");
    for command in requests::curl_commands(Path::new("events"), &format!("http://{FUNCTIONS}"))? {
        println!("  {command}");
    }
    println!(
        "\nAn answer with a nextCursor goes on: the same request with &cursor=<its value> is the next page."
    );
    println!("\nJobs have no route and are invoked by name:\n");
    for command in requests::invocations(Path::new("events"), &format!("http://{FUNCTIONS}"))? {
        println!("  {command}");
    }
    println!("\nA change of the code is built and used at the next request. Ctrl-C ends everything.\n");
    Err(ended(child.wait().await))
}

/// The server of the functions, in a process group of its own so that Ctrl-C reaches it through this
/// program alone.
fn start(template: &Template, configuration: &Path, endpoint: &str) -> Result<Child, Failure> {
    let (address, port) = FUNCTIONS.split_once(':').unwrap_or_default();
    let mut command = Command::new("cargo");
    command.args(["lambda", "watch", "--invoke-address", address, "--invoke-port", port, "--global"]);
    command.arg(configuration).stdin(Stdio::null()).process_group(0).kill_on_drop(true);
    for name in REMOVED {
        command.env_remove(name);
    }
    command.envs(watch::environment(template)?);
    // Whatever credentials the person has, no request of this stack carries them.
    command.envs([
        ("AWS_ACCESS_KEY_ID", "local"),
        ("AWS_SECRET_ACCESS_KEY", "local"),
        ("AWS_REGION", "sa-east-1"),
        ("AWS_ENDPOINT_URL_DYNAMODB", endpoint),
        ("CURSOR_KEY", watch::CURSOR_KEY),
    ]);
    command.spawn().map_err(|error| format!("cargo cannot be started: {error}").into())
}

/// Ends when a server listens. A request would leave an error in its log: it serves no path but the
/// functions'.
async fn listens(address: &str) {
    while TcpStream::connect(address).await.is_err() {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

async fn listen(address: &str) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => {
            let port = address.rsplit_once(':').map_or(address, |(_, port)| port);
            format!("port {port} is in use: end the program that listens there, then try again").into()
        }
        _ => format!("cannot listen on {address}: {error}").into(),
    })
}

async fn require_cargo_lambda() -> Result<(), Failure> {
    let mut command = Command::new("cargo");
    let output = command.args(["lambda", "--version"]).stdin(Stdio::null()).output().await;
    match output {
        Ok(output) if output.status.success() => Ok(()),
        _ => Err("cargo-lambda is not installed: `make run` installs it and starts this program".into()),
    }
}

fn template(parameters: &[(&str, &str)]) -> Result<Template, Failure> {
    Ok(Template::load("template.yaml")?.with_parameters(parameters)?)
}

fn filled(template: &Template) -> Result<Database, Failure> {
    let database = database::open(template)?;
    let prefix = template.parameters().get("TablePrefix").and_then(|value| value.as_str());
    sample::load(&database, prefix.unwrap_or_default())?;
    Ok(database)
}

fn names(template: &Template) -> Result<String, Failure> {
    let tables = template.tables()?;
    let names = tables.iter().filter_map(|table| table.get("TableName")?.as_str());
    Ok(names.collect::<Vec<&str>>().join(", "))
}

/// A file beside this program's build, which is inside the target folder.
fn configuration_file() -> Result<PathBuf, Failure> {
    let program = std::env::current_exe()?;
    let folder = program.parent().ok_or("this program has no folder")?.join("local-stack");
    std::fs::create_dir_all(&folder)?;
    Ok(folder.join("watch.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serve_takes_a_host_and_a_port() {
        assert_eq!(serve_address(&[]).unwrap(), "127.0.0.1:8000");
        assert_eq!(serve_address(&["--port", "1", "--host", "0.0.0.0"]).unwrap(), "0.0.0.0:1");
        let problem = |options: &[&str]| serve_address(options).unwrap_err().to_string();
        assert_eq!(problem(&["--port"]), "--port needs a value");
        assert_eq!(problem(&["--port", "x"]), "--port x: not a port");
        assert_eq!(problem(&["--prot"]), "serve does not know \"--prot\"");
    }
}
