//! What is particular to the carts of a customer.

use serde_json::json;

use crate::event::get;
use crate::world::{World, send};

#[tokio::test]
async fn carts_are_read_by_customer_on_their_index() {
    let world = World::new();
    for (tenant, id, customer) in [
        ("acme", "cart-1", "c-1"),
        ("acme", "cart-2", "c-2"),
        ("acme", "cart-3", "c-1"),
        ("beta", "cart-1", "c-1"),
    ] {
        world.put(
            "Cart",
            json!({"tenant": {"S": tenant}, "id": {"S": id}, "customerId": {"S": customer}, "note": {"S": "só à tarde"}}),
        );
    }
    let answer = send(&world.deployed(&cart::LIST), &get("/carts", "acme").with("customerId", "c-2")).await;

    let calls = world.calls();
    assert_eq!(calls.len(), 1, "a short range is one call");
    assert_eq!(calls[0].operation, "Query");
    assert_eq!(calls[0].index(), Some("tenant-customerId-index"));
    assert_eq!(calls[0].key_condition(), "tenant = acme AND customerId = c-2");
    assert_eq!(
        answer.json(),
        json!({
            "items": [{"customerId": "c-2", "id": "cart-2", "note": "só à tarde", "tenant": "acme"}],
            "page": 1, "limit": 20, "total": 1,
        })
    );
}

#[tokio::test]
async fn carts_of_nobody_are_no_question() {
    let world = World::new();
    let answer = send(&world.deployed(&cart::LIST), &get("/carts", "acme")).await;
    assert_eq!((answer.status, answer.code().as_str()), (400, "unsupported_question"));
    assert_eq!(answer.message(), "no key answers a request without parameters; this list answers customerId");
    assert!(world.calls().is_empty());
}
