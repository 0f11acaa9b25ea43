"""The part of JSON Schema that our schemas use, over the standard library.

    errors = list(problems(value, schema))

A keyword that is not known here is an error, so that a schema cannot ask for
something that nobody checks.
"""
import re

NOTES = {"$schema", "$id", "title", "description", "$defs", "$comment"}


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
    return isinstance(value, kinds[name])


def follow(root, reference):
    at = root
    for part in reference.split("/")[1:]:
        at = at[part]
    return at


def of_object(value, schema, root, where):
    for name in schema.get("required", []):
        if name not in value:
            yield "%s: '%s' is missing" % (where, name)
    known = schema.get("properties", {})
    for name, item in value.items():
        if name in known:
            yield from problems(item, known[name], root, "%s.%s" % (where, name))
        elif schema.get("additionalProperties") is False:
            yield "%s: '%s' is not in the schema" % (where, name)


def of_array(value, schema, root, where):
    if len(value) < schema.get("minItems", 0):
        yield "%s: %d items, expected %d" % (where, len(value), schema["minItems"])
    for i, item in enumerate(value):
        yield from problems(item, schema.get("items", {}), root, "%s[%d]" % (where, i))


def problems(value, schema, root=None, where="$"):
    root = root if root is not None else schema
    if "$ref" in schema:
        yield from problems(value, follow(root, schema["$ref"]), root, where)
        return
    for word in schema:
        if word not in NOTES and word not in ("type", "const", "enum", "minimum", "maximum", "anyOf", "required",
                                              "properties", "additionalProperties", "items", "minItems", "pattern"):
            raise ValueError("the checker does not know '%s'" % word)
    if "type" in schema and not is_type(value, schema["type"]):
        yield "%s: %r is no %s" % (where, value, schema["type"])
        return
    if "const" in schema and value != schema["const"]:
        yield "%s: %r, expected %r" % (where, value, schema["const"])
    if "enum" in schema and value not in schema["enum"]:
        yield "%s: %r is none of %s" % (where, value, ", ".join(schema["enum"]))
    if "minimum" in schema and value < schema["minimum"]:
        yield "%s: %r is below %r" % (where, value, schema["minimum"])
    if "maximum" in schema and value > schema["maximum"]:
        yield "%s: %r is above %r" % (where, value, schema["maximum"])
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield "%s: %r does not look like %s" % (where, value, schema["pattern"])
    if "anyOf" in schema:
        found = [list(problems(value, each, root, where)) for each in schema["anyOf"]]
        if all(found):
            yield min(found, key=len)[0]
    if isinstance(value, dict):
        yield from of_object(value, schema, root, where)
    if isinstance(value, list):
        yield from of_array(value, schema, root, where)
