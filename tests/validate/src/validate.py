# Answers each line of input, {"schema": TEXT, "document": …}, with a line: the list of what the schema refuses.
import json
import sys

from jsonschema.validators import validator_for

validators = {}
for line in sys.stdin:
    asked = json.loads(line)
    text = asked["schema"]
    if text not in validators:
        schema = json.loads(text)
        validator = validator_for(schema)
        validator.check_schema(schema)
        validators[text] = validator(schema)
    errors = validators[text].iter_errors(asked["document"])
    print(json.dumps([f"{error.json_path}: {error.message}" for error in errors]), flush=True)
