"""The rows of a data set, made in blocks by a pure function.

A row is a record with an opaque id, a digest of the public content. Rows do not come in the order of the indices, which
would tell the label of a balanced family, but in an order keyed by the seed and all that the set consists of.
"""

from __future__ import annotations

import hashlib

import msgspec

from veilgym.envs.core.dataset.plan import Plan
from veilgym.envs.core.family import load_family
from veilgym.envs.core.records import content_id, to_json
from veilgym.envs.core.seeding import derive_key

SKELETONS, PAYLOADS = "skeletons", "payloads"
KINDS = (SKELETONS, PAYLOADS)
FIELD = {SKELETONS: "skeleton", PAYLOADS: "payload"}
"""The name of the record in a row of either kind."""

_ROUNDS = 8  # of a Feistel network; few bits a half need more than the four that many bits do


def block(plan: Plan, first: int, count: int) -> dict[str, bytes]:
    """The rows `first` to `first + count - 1` of a data set as JSON lines, by kind of file.

    A pure function: of the plan and the two numbers, in any process and on any machine.
    """
    family = load_family(plan.family)
    key = order_key(plan)
    indices = [shuffled(row, plan.count, key) for row in range(first, first + count)]
    lines: dict[str, list[bytes]] = {kind: [] for kind in KINDS}
    for skeleton in family.records(plan.parameters, plan.seed, plan.split, indices):
        payload = family.payload(skeleton)
        row_id = content_id(payload)
        for kind, record in ((SKELETONS, skeleton), (PAYLOADS, payload)):
            lines[kind].append(b'{"id":"%s","%s":%s}\n' % (row_id.encode(), FIELD[kind].encode(), to_json(record)))
    return {kind: b"".join(rows) for kind, rows in lines.items()}


def order_key(plan: Plan) -> int:
    """The key of the order of rows.

    It depends on the parameters too: with one order for short and long problems of a seed, whose labels alternate by
    the index in both, the answers to the ones would be those to the others.
    """
    task = hashlib.blake2b(msgspec.json.encode(plan.parameters, order="deterministic"), digest_size=16).hexdigest()
    return derive_key("order", plan.family, task, plan.split, plan.seed, plan.count)


def shuffled(row: int, count: int, key: int) -> int:
    """The place in [0, count) of `row` under a permutation keyed by `key`, without a table.

    A Feistel network permutes the next power of four; places beyond `count` are walked through again (cycle walking,
    Black and Rogaway, 2002).
    """
    half = max(1, -(-(count - 1).bit_length() // 2))
    while True:
        row = _feistel(row, half, key)
        if row < count:
            return row


def _feistel(number: int, half: int, key: int) -> int:
    mask = (1 << half) - 1
    left, right = number >> half, number & mask
    for turn in range(_ROUNDS):
        digest = hashlib.blake2b(b"%d %d" % (turn, right), digest_size=16, key=key.to_bytes(8, "little")).digest()
        left, right = right, left ^ (int.from_bytes(digest, "little") & mask)
    return left << half | right
