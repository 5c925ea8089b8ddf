//! What a program writes against the schema that its users have.

use serde_json::Value;

/// A schema, from its text.
pub fn validator_of(schema: &str) -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
    jsonschema::validator_for(&schema).expect("the schema is a schema")
}

/// Panics with every place of `value` that isn't as the schema says.
pub fn assert_valid(schema: &str, what: &str, value: &Value) {
    let validator = validator_of(schema);
    let errors: Vec<String> = validator
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path))
        .collect();
    assert!(errors.is_empty(), "{what}: {errors:#?}");
}
