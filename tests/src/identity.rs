//! Who asks: the tenant comes from the authorizer's claims and from nowhere else.

use serde_json::{Value, json};

use kit::function::Function;

use crate::asking::first_asked;
use crate::event::{Event, get};
use crate::registry;
use crate::world::{World, send, send_raw};

/// An event with which the function can be asked something it answers.
fn event_of(function: Function) -> Option<Event> {
    match function {
        Function::List(list) => Some(first_asked(list)),
        Function::Operation(operation) => {
            let route = &operation.routes[0];
            Some(get(route.path, "acme").method(route.method.as_str()).with("id", "x"))
        }
        // Whoever may invoke a job is an operator, of all tenants.
        Function::Job(_) => None,
    }
}

#[tokio::test]
async fn without_a_tenant_there_is_no_answer() {
    let world = World::new();
    let long = "t".repeat(129);
    for function in registry::all() {
        let app = world.deployed(function);
        let Some(asked) = event_of(function) else { continue };
        for (claims, status, code) in [
            (None, 401, "unauthenticated"),
            (Some(json!({"sub": "a"})), 401, "unauthenticated"),
            (Some(json!({"custom:tenant": null})), 401, "unauthenticated"),
            (Some(json!({"custom:tenant": ""})), 403, "invalid_tenant"),
            (Some(json!({"custom:tenant": " "})), 403, "invalid_tenant"),
            (Some(json!({"custom:tenant": "t1#x"})), 403, "invalid_tenant"),
            (Some(json!({"custom:tenant": "t1\n"})), 403, "invalid_tenant"),
            (Some(json!({"custom:tenant": long})), 403, "invalid_tenant"),
            (Some(json!({"custom:tenant": ["acme"]})), 403, "invalid_tenant"),
            (Some(json!({"custom:tenant": 1})), 403, "invalid_tenant"),
        ] {
            let event = asked.clone().claims(claims.clone());
            for event in [event.http(), event.rest()] {
                let answer = send_raw(&app, &event.to_string()).await;
                assert_eq!((answer.status, answer.code().as_str()), (status, code), "{claims:?}");
            }
        }
    }
    assert!(world.calls().is_empty());
}

#[tokio::test]
async fn claims_that_are_no_texts_do_not_get_in_the_way() {
    let world = World::new();
    let claims =
        json!({"custom:tenant": "acme", "groups": ["a"], "exp": 1, "nested": {"a": [1]}, "none": null});
    let answer = send(&world.deployed(&orders::LIST), &get("/orders", "").claims(Some(claims))).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
}

#[tokio::test]
async fn every_kind_of_authorizer_is_understood_and_the_claim_s_name_is_a_setting() {
    let world = World::new();
    let app = world.declared_with(&orders::LIST, &[("TENANT_CLAIM", "org")]);
    let http = |authorizer: Value| {
        let mut event = get("/orders", "other").http();
        event["requestContext"]["authorizer"] = authorizer;
        event
    };
    let rest = |authorizer: Value| {
        let mut event = get("/orders", "other").rest();
        event["requestContext"]["authorizer"] = authorizer;
        event
    };
    for event in [
        http(json!({"jwt": {"claims": {"org": "acme"}, "scopes": null}})),
        http(json!({"lambda": {"org": "acme"}})),
        rest(json!({"claims": {"org": "acme"}})),
        rest(json!({"org": "acme", "principalId": "user"})),
    ] {
        let answer = send_raw(&app, &event.to_string()).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert_eq!(world.calls()[0].key_condition(), "tenant = acme");
    }
}

#[tokio::test]
async fn nothing_that_a_caller_writes_becomes_the_tenant() {
    let world = World::new();
    let app = world.deployed(&orders::LIST);
    let event = get("/orders", "acme").header("x-local-tenant", "beta").header("X-Tenant", "beta");
    send(&app, &event).await;
    assert_eq!(world.calls()[0].key_condition(), "tenant = acme", "the claim counts, not the header");
    let answer = send(&app, &get("/orders", "acme").with("tenant", "beta")).await;
    assert_eq!(answer.code(), "unknown_parameter");
    // An identity without a tenant is not helped by the header either, not even in a debug build.
    let event = get("/orders", "acme").claims(Some(json!({"sub": "a"}))).header("x-local-tenant", "beta");
    assert_eq!(send(&app, &event).await.status, 401);
}

#[tokio::test]
async fn in_a_debug_build_a_header_stands_in_for_a_missing_authorizer() {
    let world = World::new();
    let app = world.deployed(&orders::LIST);
    let event = get("/orders", "").claims(None).header("X-Local-Tenant", "acme");
    assert_eq!(send(&app, &event).await.status, 200);
    assert_eq!(world.calls()[0].key_condition(), "tenant = acme");
    let event = get("/orders", "").claims(None).header("X-Local-Tenant", "a#b");
    assert_eq!(send(&app, &event).await.status, 403);
}
