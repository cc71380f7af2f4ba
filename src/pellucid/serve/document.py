"""The OpenAPI document of a server, made from what its model takes and gives."""

from typing import Any

import pellucid
from pellucid.serve.records import Limits, Schema
from pellucid.serve.rows import ARROW, JSON, OPTIONS

TYPES = {  # of a cell, by the kind of its column
    "number": ["number", "null"],
    "whole": ["number", "null"],
    "truth": ["boolean", "string", "number", "null"],
    "list": ["array", "string", "null"],
    "date": ["string", "null"],
    "text": ["string", "null"],
    "category": ["string", "number", "null"],
}
WORDS = {
    "proba": "Add the probability of every class.",
    "interval": "Add limits that cover with this chance.",
    "threshold": "Say the positive class from this probability on.",
    "sets": "Add sets of classes that cover with this chance.",
}
REFUSALS = {
    "400": "The request is not JSON or its header is wrong.",
    "401": "The token is missing or wrong.",
    "408": "The request did not come in time.",
    "413": "The request is too large.",
    "415": "The content is neither JSON nor an Arrow stream.",
    "422": "The model cannot answer this; the sentence says why.",
    "500": "Something failed inside.",
    "503": "The server is busy: come again.",
}


def openapi(schema: Schema, limits: Limits, name: str, *, token: bool) -> dict[str, Any]:
    """OpenAPI 3.1 as plain data."""
    problem = {"description": "", "content": {JSON: {"schema": {"$ref": "#/components/schemas/E"}}}}
    errors = {code: problem | {"description": text} for code, text in REFUSALS.items()}
    stream: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}
    answers = {JSON: {"schema": {"$ref": "#/components/schemas/Answers"}}, ARROW: stream}
    asked = [
        {"name": option, "in": "query", "schema": option_type(option), "description": WORDS[option]}
        for option in OPTIONS
        if getattr(schema.abilities, option)
    ]
    predict = {
        "summary": f"Predict up to {limits.rows} rows",
        "description": "Options go into the JSON object, or into the address for Arrow.",
        "parameters": asked,
        "requestBody": {
            "required": True,
            "content": {JSON: {"schema": {"$ref": "#/components/schemas/Rows"}}, ARROW: stream},
        },
        "responses": {"200": {"description": "One answer a row.", "content": answers}, **errors},
    }
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": name, "version": pellucid.__version__},
        "paths": {
            "/predict": {"post": predict},
            "/schema": {"get": plain_answer("What the model takes and gives")},
            "/card": {"get": plain_answer("What the model says of itself")},
            "/drift": {"get": plain_answer("Counts of rows and of cells unlike the training rows")},
            "/openapi.json": {"get": plain_answer("This document")},
            "/health/live": {"get": plain_answer("Whether the process answers")},
            "/health/ready": {"get": plain_answer("Whether the model can be asked")},
        },
        "components": {"schemas": schemas(schema)},
    }
    if token:
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"token": []}]
    return document


def plain_answer(summary: str) -> dict[str, Any]:
    content = {JSON: {"schema": {"type": "object"}}}
    return {"summary": summary, "responses": {"200": {"description": "", "content": content}}}


def option_type(option: str) -> dict[str, Any]:
    if option == "proba":
        return {"type": "boolean"}
    return {"type": "number", "minimum": 0, "maximum": 1}


def schemas(schema: Schema) -> dict[str, Any]:
    """The shapes of a request, of an answer and of a refusal."""
    cells = {
        one.name: {"type": TYPES.get(one.kind, ["string", "number", "null"])}
        for one in schema.columns
    }
    line: dict[str, Any] = {"type": "array", "items": {"type": ["number", "null"]}}
    if schema.named:
        line = {"type": "object", "properties": cells, "required": [c.name for c in schema.columns]}
    options = {o: option_type(o) for o in OPTIONS if getattr(schema.abilities, o)}
    rows = {"type": "array", "items": line, "minItems": 1}
    answer = {"type": "object", "additionalProperties": True}
    return {
        "Rows": {
            "type": "object",
            "properties": {"rows": rows, **options},
            "required": ["rows"],
            "additionalProperties": False,
        },
        "Answers": {
            "type": "object",
            "properties": {"predictions": {"type": "array", "items": answer}},
        },
        "E": {"type": "object", "properties": {"error": {"type": "string"}}},
    }
