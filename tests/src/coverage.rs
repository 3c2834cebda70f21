//! Nothing can be forgotten: for each folder in functions/ there is all that a function needs, and a
//! test names what is missing.

use std::path::Path;

use crate::events;
use crate::registry;
use crate::world::root;

fn folders(path: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

#[test]
fn every_folder_is_a_function_and_has_its_events() {
    let names: Vec<&str> = registry::all().iter().map(|function| function.name()).collect();
    let mut missing = Vec::new();
    for folder in folders(&root().join("functions")) {
        if !names.contains(&folder.as_str()) {
            missing.push(format!("functions/{folder} is not in tests/src/registry.rs"));
        }
        let kinds = events::files().remove(&folder).unwrap_or_default();
        let is_job = registry::all()
            .iter()
            .any(|function| function.name() == folder && matches!(function, kit::function::Function::Job(_)));
        let expected: &[&str] = if is_job { &[""] } else { &["http-", "rest-"] };
        for kind in expected {
            let is_kind = |path: &Path| path.file_name().unwrap().to_str().unwrap().starts_with(kind);
            if !kinds.iter().any(|(path, _)| is_kind(path)) {
                missing.push(format!("events/{folder}/ has no {kind}*.json"));
            }
        }
        for file in ["Cargo.toml", "src/lib.rs", "src/main.rs"] {
            if !root().join("functions").join(&folder).join(file).is_file() {
                missing.push(format!("functions/{folder}/{file} is not there"));
            }
        }
    }
    for name in &names {
        if !root().join("functions").join(name).is_dir() {
            missing.push(format!("{name} is in tests/src/registry.rs, but functions/{name} is not there"));
        }
    }
    for folder in folders(&root().join("events")) {
        if !names.contains(&folder.as_str()) {
            missing.push(format!("events/{folder} is of no function"));
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn every_question_has_an_event() {
    let mut missing = Vec::new();
    for list in registry::lists() {
        let files = events::files().remove(list.name()).unwrap_or_default();
        for question in list.questions() {
            let required: Vec<&str> = question.required().into_iter().flatten().collect();
            let asked = files.iter().any(|(_, event)| {
                let fields = [&event["queryStringParameters"], &event["pathParameters"]];
                let fields = fields.into_iter().filter_map(|fields| fields.as_object()).flatten();
                let names = fields.map(|(name, _)| name.as_str());
                let given: Vec<&str> = names.filter(|name| !kit::list::PAGING.contains(name)).collect();
                required.iter().all(|name| given.contains(name))
                    && given.iter().all(|name| required.contains(name) || question.optional().contains(name))
            });
            if !asked {
                missing.push(format!("events/{}/ asks no {}", list.name(), question.name));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn names_of_questions_and_paths_are_used_once() {
    let mut questions: Vec<&str> = Vec::new();
    let mut routes: Vec<(&str, &str)> = Vec::new();
    for function in registry::all() {
        for (method, path) in function.routes() {
            assert!(!routes.contains(&(method.as_str(), path)), "{path} is served twice");
            routes.push((method.as_str(), path));
        }
    }
    for list in registry::lists() {
        for question in list.questions() {
            assert!(!questions.contains(&question.name), "{} is asked by two lists", question.name);
            questions.push(question.name);
        }
    }
}

#[test]
fn the_readme_names_every_error_code_every_route_and_every_setting() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let mut missing = Vec::new();
    for code in kit::error::Code::ALL {
        let row = format!("| `{}` | {} |", code.as_str(), kit::http::status(*code));
        if !readme.contains(&row) {
            missing.push(row);
        }
    }
    for function in registry::all() {
        for (method, path) in function.routes() {
            let row = format!("`{} {path}`", method.as_str());
            if !readme.contains(&row) {
                missing.push(row);
            }
        }
    }
    let stages: Vec<String> = tables::ROLLOUTS.iter().map(|rollout| rollout.variable()).collect();
    for setting in stages.iter().map(String::as_str).chain([
        "TABLE_PREFIX",
        "TENANT_CLAIM",
        "TIME_ZONE",
        "CURSOR_KEY",
        "CURSOR_KEY_PREVIOUS",
        "METRICS_NAMESPACE",
        "AWS_ENDPOINT_URL_DYNAMODB",
    ]) {
        if !readme.contains(&format!("`{setting}`")) {
            missing.push(setting.to_owned());
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}
