#!/usr/bin/env bash
# langfuse 5.0.4, CreateScoreRequest: the body of a score as the API's JSON names its fields (`traceId`, `dataType`), read
# by the SDK's own pydantic model with `model_validate`. It validates; `trace_id` and `data_type` are None, and the values
# are kept as unknown extra fields, so that a wrong `dataType` passes. `model_dump(by_alias=True)` writes `trace_id`.
# An expert would guess that the model of a request reads the request, or refuses it: the names are aliases to its own
# functions alone (langfuse.api.core.pydantic_utilities.parse_obj_as), not to pydantic.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check langfuse==5.0.4
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from langfuse.api.core.pydantic_utilities import parse_obj_as
from langfuse.api.scores import CreateScoreRequest

body = {"traceId": "t1", "name": "accuracy", "value": 1.0, "dataType": "NUMERIC"}
request = CreateScoreRequest.model_validate(body)
print("langfuse", version("langfuse"), "trace_id:", request.trace_id, "extra:", request.model_extra)
assert (request.trace_id, request.data_type) == (None, None)
assert request.model_extra == {"traceId": "t1", "dataType": "NUMERIC"}
CreateScoreRequest.model_validate({**body, "dataType": "NO SUCH TYPE"})
own = CreateScoreRequest(trace_id="t1", name="accuracy", value=1.0)
assert own.model_dump(by_alias=True, exclude_none=True)["trace_id"] == "t1"
assert parse_obj_as(CreateScoreRequest, body).trace_id == "t1"
PYTHON
