"""The JSON protocol of circuits: what a turn says, and the sentence for every turn that says nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from veilgym.envs.causal_circuits.protocol import Turn, TurnReader, action_request, submission
from veilgym.envs.causal_circuits.task import action_schema, load_task
from veilgym.envs.core.replies import Reason, Unparsed

TASK = load_task()
READER = TurnReader(TASK)
ROWS = [[i / 10, -i / 10] for i in range(8)]
SUBMISSION = json.dumps({"prediction": ROWS})
RUN = '{"action_id": "clamp-u-0"}'

TURNS = [
    (RUN, Turn(0)),
    ('{"action_id":"clamp-x-3"}', Turn(11)),
    ('{"action_id": "observe_initial"}', Turn(None)),
    (SUBMISSION, Turn(12, tuple(map(tuple, ROWS)))),
    ({"action_id": "clamp-v-0"}, Turn(4)),
    ({"prediction": ROWS}, Turn(12, tuple(map(tuple, ROWS)))),
    (f"```json\n{RUN}\n```", Turn(0)),
    (f"The set {{u, v}} of roots matters, so I run\n{RUN}", Turn(0)),
    (f"<think>{SUBMISSION}</think>{RUN}", Turn(0)),
    (f"{RUN}\n{RUN}", Turn(0)),
    (f'The task says {{"prediction": [[x, y], ...]}}. I run {RUN}', Turn(0)),
    ('{"a": 1} and ' + RUN, Turn(0)),
]


@pytest.mark.parametrize(("reply", "turn"), TURNS, ids=range(len(TURNS)))
def test_a_turn_is_read(reply, turn) -> None:
    assert READER.read(reply) == turn


UNREAD = [
    ("", Reason.EMPTY, "empty"),
    (None, Reason.WRONG_TYPE, "allowed is text"),
    (5, Reason.WRONG_TYPE, "allowed is text"),
    ("clamp-u-0", Reason.NO_ANSWER, 'allowed is one JSON object like {"action_id": "clamp-u-0"}'),
    (json.dumps(ROWS), Reason.NO_ANSWER, '{"prediction": [[...], ...]}'),
    ("{}", Reason.WRONG_FIELDS, "no fields"),
    ('{"id": "clamp-u-0"}', Reason.WRONG_FIELDS, "'id'; allowed is one JSON object"),
    ('{"action_id": "clamp-u-0", "note": 1}', Reason.WRONG_FIELDS, "note"),
    ('{"action_id": "clamp-u-0", "prediction": []}', Reason.WRONG_SHAPE, "8 rows of 2 numbers"),
    (json.dumps({"prediction": ROWS, "action_id": "clamp-u-0"}), Reason.WRONG_FIELDS, "action_id"),
    ('{"action_id": "clamp-u-9"}', Reason.UNKNOWN_REQUEST, "'clamp-u-9' is unknown; allowed are clamp-u-0, clamp-u-1"),
    ('{"action_id": "Clamp-u-0"}', Reason.UNKNOWN_REQUEST, "observe_initial"),
    ('{"action_id": 0}', Reason.WRONG_TYPE, "as a string"),
    ('{"action_id": null}', Reason.WRONG_TYPE, "as a string"),
    ('{"action_id": ["clamp-u-0"]}', Reason.WRONG_TYPE, "as a string"),
    ('{"action_id": "clamp-u-0", "action_id": "clamp-u-1"}', Reason.DUPLICATE_KEY, "twice"),
    ('{"action_id": "clamp-u-0"', Reason.MALFORMED, "not JSON"),
    ("{'action_id': 'clamp-u-0'}", Reason.NO_ANSWER, "no JSON object"),
    (RUN + '{"action_id": "clamp-u-1"}', Reason.SEVERAL_ANSWERS, "2 requests; allowed is one a turn"),
    (RUN + SUBMISSION, Reason.SEVERAL_ANSWERS, "allowed is one a turn"),
    ('{"prediction": [[NaN, 0]]}', Reason.NOT_FINITE, "finite"),
    ('{"prediction": [[1e999, 0]]}', Reason.NOT_FINITE, "finite"),
    ('{"prediction": [[true, 0]]}', Reason.NOT_A_NUMBER, "prediction[0][0] is True"),
    ('{"prediction": [["0", 0]]}', Reason.NOT_A_NUMBER, "prediction[0][0] is '0'"),
    (json.dumps({"prediction": np.array(ROWS).T.tolist()}), Reason.TRANSPOSED, "transposed"),
    (json.dumps({"prediction": ROWS[:-1]}), Reason.WRONG_SHAPE, "8 rows of 2 numbers"),
    (json.dumps({"prediction": [*ROWS[:-1], [0]]}), Reason.RAGGED, "1 to 2 entries"),
    ('{"prediction": ' + "[" * 5000 + "]" * 5000 + "}", Reason.TOO_DEEP, "too deeply"),
    ('{"prediction": "all zero"}', Reason.WRONG_SHAPE, "all zero"),
]


@pytest.mark.parametrize(("reply", "reason", "said"), UNREAD, ids=range(len(UNREAD)))
def test_anything_else_is_refused_with_a_sentence(reply, reason, said) -> None:
    found = READER.read(reply)
    assert isinstance(found, Unparsed), found
    assert (found.reason, said in found.sentence) == (reason, True), found
    assert len(found.sentence) < 600


def test_the_schemas_accept_what_the_reader_does_and_no_more() -> None:
    """The reader against the schemas alone, over every turn that is JSON."""
    validators = [Draft202012Validator(schema) for schema in (action_request(TASK), submission(TASK))]
    cases = [(reply, True) for reply, _ in TURNS] + [(reply, False) for reply, _, _ in UNREAD]
    seen = 0
    for reply, is_read in cases:
        try:
            document = reply if isinstance(reply, dict) else json.loads(reply, parse_constant=str)
        except (TypeError, ValueError, RecursionError):
            continue
        if isinstance(document, dict) and "twice" not in str(READER.read(reply)):
            seen += 1
            assert any(validator.is_valid(document) for validator in validators) == is_read, reply
    assert seen > 15


def test_the_action_schema_is_the_task_files_with_one_request_more() -> None:
    names = action_schema(TASK)["properties"]["action_id"]["enum"]
    assert action_request(TASK)["properties"]["action_id"]["enum"] == [*names, "observe_initial"]
    assert action_schema(TASK)["properties"]["action_id"]["enum"] == names
