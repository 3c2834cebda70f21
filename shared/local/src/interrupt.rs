//! The end of a program that a person or the system asks for.

use std::io;

use tokio::signal::unix::{SignalKind, signal};

/// Ends when the person or the system asks the program to end. It is heard from now on, whatever the program waits
/// for.
///
/// # Errors
///
/// The system does not let signals be heard.
pub fn interrupted() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let mut signals =
        [signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?, signal(SignalKind::hangup())?];
    Ok(async move {
        let [interrupt, terminate, hangup] = &mut signals;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}
