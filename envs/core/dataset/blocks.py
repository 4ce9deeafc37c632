"""The rows of a data set, made in blocks by a pure function.

A row is a record with an opaque id, a digest of the public content. Rows do not come in the order of the indices, which
would tell the label of a balanced family, but in an order keyed by the seed and all that the set consists of.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import msgspec

from veilgym import __version__
from veilgym.envs.core.dataset.plan import Plan
from veilgym.envs.core.family import load_family
from veilgym.envs.core.records import content_id, to_json
from veilgym.envs.core.seeding import derive_key, shuffled

SKELETONS, PAYLOADS = "skeletons", "payloads"
KINDS = (SKELETONS, PAYLOADS)
FIELD = {SKELETONS: "skeleton", PAYLOADS: "payload"}
"""The name of the record in a row of either kind."""


class Failure(msgspec.Struct, frozen=True):
    """A row that cannot be made: its place in the file, its index in the seed's sequence, and the error."""

    row: int
    index: int
    error: str


class Block(msgspec.Struct, frozen=True):
    """Rows as JSON lines, by kind of file, without those that have failed."""

    data: dict[str, bytes]
    failed: list[Failure]


def block(plan: Plan, first: int, count: int) -> Block:
    """The rows `first` to `first + count - 1` of a data set.

    A pure function: of the plan and the two numbers, in any process and on any machine.

    Raises:
        ValueError: the plan cannot be carried out for any row.
        RuntimeError: this process has another version of the package than the one that made the plan.
    """
    if plan.veilgym != __version__:
        raise RuntimeError(f"the plan is of veilgym {plan.veilgym}, this worker has {__version__}")
    key = order_key(plan)
    indices = [shuffled(row, plan.count, key) for row in range(first, first + count)]
    lines: dict[str, list[bytes]] = {kind: [] for kind in KINDS}
    failed: list[Failure] = []
    done = 0
    while done < count:
        try:
            for row in _rows(plan, indices[done:]):
                for kind, line in row.items():
                    lines[kind].append(line)
                done += 1
        except ValueError:  # of the parameters, so of every row
            raise
        except Exception as error:  # whatever it is, the other rows can be made
            failed.append(Failure(first + done, indices[done], f"{type(error).__name__}: {error}"))
            done += 1
    return Block({kind: b"".join(rows) for kind, rows in lines.items()}, failed)


def _rows(plan: Plan, indices: Sequence[int]) -> Iterator[dict[str, bytes]]:
    family = load_family(plan.family)
    for skeleton in family.records(plan.parameters, plan.seed, plan.split, indices):
        payload = family.payload(skeleton)
        row_id = content_id(payload).encode()
        yield {
            kind: b'{"id":"%s","%s":%s}\n' % (row_id, FIELD[kind].encode(), to_json(record))
            for kind, record in ((SKELETONS, skeleton), (PAYLOADS, payload))
        }


def order_key(plan: Plan) -> int:
    """The key of the order of rows.

    It depends on the parameters too: with one order for short and long problems of a seed, whose labels alternate by
    the index in both, the answers to the ones would be those to the others.
    """
    task = hashlib.blake2b(msgspec.json.encode(plan.parameters, order="deterministic"), digest_size=16).hexdigest()
    return derive_key("order", plan.family, task, plan.split, plan.seed, plan.count)
