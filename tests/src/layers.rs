//! What a part must not know, as ARCHITECTURE.md states it.

use std::path::{Path, PathBuf};

use crate::world::root;

fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            files.push((path, text));
        }
    }
    files
}

/// What comes before the unit tests of a file, without comments.
fn code(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[test]
fn only_one_module_of_the_kit_talks_to_dynamodb() {
    for (path, text) in sources(&root().join("shared/kit/src")) {
        let code = code(&text);
        let is = |name: &str| path.ends_with(name);
        assert!(is("dynamo.rs") || !code.contains("aws_sdk_dynamodb::Client"), "{}", path.display());
        assert!(is("dynamo.rs") || !code.contains(".send()"), "{}", path.display());
        assert!(is("config.rs") || !code.contains("std::env"), "{}", path.display());
        assert!(is("app.rs") || !code.contains("println!"), "{}", path.display());
        assert!(is("dynamo.rs") || !code.contains("client.scan("), "{}", path.display());
        // A list scans through its plan alone, where an old path says so; jobs may.
        let jobs = is("dynamo.rs") || is("load.rs") || is("report.rs");
        assert!(jobs || !code.contains(".scan("), "{}", path.display());
        let numbers = ["=> 400", "=> 401", "=> 404", "=> 500", "status_code = "];
        assert!(is("http.rs") || !numbers.iter().any(|number| code.contains(number)), "{}", path.display());
    }
}

#[test]
fn the_pure_parts_of_the_kit_do_no_io() {
    for name in [
        "key",
        "list",
        "plan",
        "cursor",
        "dates",
        "expression",
        "item",
        "request",
        "http",
        "observe",
        "error",
        "rollout",
        "row",
    ] {
        let path = root().join(format!("shared/kit/src/{name}.rs"));
        let code = code(&std::fs::read_to_string(&path).unwrap());
        for word in ["async fn", "tokio", "SystemTime", "Timestamp::now", "std::env", "crate::dynamo::Db"] {
            assert!(!code.contains(word), "{name}.rs has {word}");
        }
    }
}

#[test]
fn the_tables_know_the_key_types_and_nothing_else_of_the_kit() {
    for (path, text) in sources(&root().join("shared/tables/src")) {
        for line in code(&text).lines().filter(|line| line.contains("kit::")) {
            assert!(line.trim_start().starts_with("use kit::key::"), "{}: {line}", path.display());
        }
    }
    let kit = std::fs::read_to_string(root().join("shared/kit/Cargo.toml")).unwrap();
    assert!(!kit.contains("tables"), "the kit knows no table");
}

#[test]
fn the_main_of_a_function_is_one_line_and_a_list_needs_no_sdk() {
    for function in crate::registry::all() {
        let name = function.name();
        let folder = root().join("functions").join(name);
        let main = code(&std::fs::read_to_string(folder.join("src/main.rs")).unwrap());
        let lines: Vec<&str> = main.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines.len(), 3, "{name}: {main}");
        assert!(lines[1].trim().starts_with("kit::run(&"), "{name}");
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        for unneeded in ["aws-", "lambda", "tokio", "serde"] {
            assert!(!manifest.contains(unneeded), "{name} depends on {unneeded}");
        }
        if matches!(function, kit::function::Function::List(_)) {
            let needs: Vec<&str> =
                manifest.lines().filter(|line| line.ends_with(".workspace = true")).collect();
            let dependencies =
                needs.iter().filter(|line| line.starts_with("kit.") || line.starts_with("tables."));
            assert_eq!(dependencies.count(), 2, "{name}");
            let others = manifest.split("[dependencies]").nth(1).unwrap().split('[').next().unwrap();
            assert_eq!(others.trim().lines().count(), 2, "{name}: {others}");
        }
    }
}

#[test]
fn the_stored_names_that_were_never_right_are_nowhere() {
    let folders = ["functions", "shared/tables/src"];
    for (path, text) in folders.iter().flat_map(|folder| sources(&root().join(folder))) {
        for name in ["\"productId-index\"", "ProductStatusIndex"] {
            assert!(!text.contains(name), "{}: {name}", path.display());
        }
    }
}
