//! What is true of release builds alone. `make check` builds them and runs these; elsewhere they are
//! ignored.

use std::path::PathBuf;

use crate::binaries::{Running, sandbox};
use crate::event::get;
use crate::registry;
use crate::world::root;

fn release_binaries() -> Vec<(&'static str, PathBuf)> {
    registry::all()
        .into_iter()
        .map(|function| {
            let name = function.name();
            (name, root().join("target/lambda").join(name).join("bootstrap"))
        })
        .collect()
}

#[test]
#[ignore = "needs the release build of make check"]
fn no_release_binary_knows_the_header_that_stands_in_for_an_authorizer() {
    for (name, path) in release_binaries() {
        let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let holds =
            |needle: &[u8]| bytes.windows(needle.len()).any(|window| window.eq_ignore_ascii_case(needle));
        assert!(!holds(b"x-local-tenant"), "{name}");
        // The search finds the name of another header that is looked for in the same way.
        assert!(holds(b"accept-encoding"), "{name}");
    }
}

#[tokio::test]
#[ignore = "needs the release build of make check"]
async fn a_release_build_refuses_the_header_that_stands_in_for_an_authorizer() {
    let sandbox = sandbox().await;
    for (name, path) in release_binaries() {
        let function = registry::all().into_iter().find(|function| function.name() == name).unwrap();
        // A job has no route and asks for no identity.
        let Some((method, route)) = function.routes().first().copied() else { continue };
        let running = Running::start(&sandbox, &path).await;
        let event = get(route, "").method(method.as_str()).claims(None).header("X-Local-Tenant", "acme");
        let answer = running.invoke(&event.http().to_string()).await;
        assert_eq!(answer["statusCode"], 401, "{name}: {answer}");
    }
}

#[test]
#[ignore = "needs the release build of make check"]
fn release_binaries_are_small() {
    for (name, path) in release_binaries() {
        let bytes = std::fs::metadata(&path).unwrap().len();
        assert!(bytes < 12 * 1024 * 1024, "{name}: {bytes} bytes");
    }
}
