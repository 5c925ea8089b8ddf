//! What a program writes against the schema that its users have. Beside the tests and not in the helpers' library, which
//! every build of the workspace compiles.

use serde_json::Value;

/// Every place of `value` that isn't as the schema, given as its text, says. None where it is valid.
pub(crate) fn violations(schema: &str, value: &Value) -> Vec<String> {
    let schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is a schema");
    let errors = validator.iter_errors(value);
    errors.map(|error| format!("{}: {error}", error.instance_path)).collect()
}
