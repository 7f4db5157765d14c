//! The description of the API names all routes, and no others.

use std::collections::BTreeSet;

use crate::fixture::Running;

#[test]
fn routes_are_described() {
    let source = include_str!("../../src/http/routes.rs");
    let routes: BTreeSet<String> = source
        .split(".route(\"")
        .skip(1)
        .map(|rest| {
            let (path, rest) = rest.split_once("\", ").unwrap();
            format!("{} {}", &rest[..rest.find('(').unwrap()], path.replace("{*", "{"))
        })
        .collect();
    let server = Running::start();
    let description = server.client.look("/openapi.json");
    let mut described = BTreeSet::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        described.extend(methods.as_object().unwrap().keys().map(|method| format!("{method} {path}")));
    }
    assert_eq!(described, routes);
    // Every field of a request is described: those that are not would be refused.
    for (path, methods) in description["paths"].as_object().unwrap() {
        let Some(body) = methods["post"]["requestBody"]["content"]["application/json"]["schema"].as_object() else {
            continue;
        };
        let fields = body["properties"].as_object().unwrap();
        let wrong = fields.keys().map(|name| (name.clone(), serde_json::json!({ "never": "right" })));
        let answer = server.client.post(path, &wrong.collect::<serde_json::Map<_, _>>().into());
        assert!(!answer.problem().1.contains("unknown field"), "{path}: {}", answer.text());
    }
}
