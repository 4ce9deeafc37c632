"""The answer parser: what counts as an answer, what does not and why, in any wrapping and in linear time."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veilgym.envs.core.replies import Choice, Matrix, Reason, Unparsed, read_choice, read_matrix

OUTCOMES = ("PRESENT", "ABSENT")
ANSWERS = ("YES", "NO")


def options_of(label: str) -> tuple[str, str]:
    return OUTCOMES if label in OUTCOMES else ANSWERS


# Each is the answer Y of the options Y and N, whichever words these are.
STATED = [
    "Y",
    " Y ",
    "\n\nY\n",
    "Y.",
    "Y!",
    "**Y**",
    "*Y*",
    "__Y__",
    "_Y_",
    "***Y***.",
    "`Y`",
    "# Y",
    "### Y",
    "> Y",
    "- Y",
    "* Y",
    '"Y"',
    "'Y'",
    "“Y”",
    "\u2018Y\u2019",
    "«Y»",
    "(Y)",
    "[Y]",
    "```\nY\n```",
    "```text\nY\n```",
    "```Y```",
    "\ufeffY",
    "\u00a0Y\u00a0",
    "Y\r\n",
    "✅ Y",
    "Answer: Y",
    "answer: Y",
    "ANSWER:Y",
    "Answer: **Y**",
    "**Answer:** Y",
    "**Answer: Y**",
    "**Answer**: `Y`",
    "Answer = Y",
    "Answer -> Y",
    "Answer → Y",
    "Answer - Y",
    "Answer \u2013 Y",
    "Answer — Y.",
    "Answer\nY",
    "Answer:\nY",
    "Answer:\n\n**Y**\n",
    "## Answer\n\nY\n",
    "## Final answer\n\nY\n\nThe events above show it.",
    "Answer Y",
    "Answer: Y.",
    "Answer: [Y]",
    "Answer: (Y)",
    "Answer: <Y>",
    'Answer: "Y"',
    "Answer (Y or N): Y",
    "Answer (Y/N): Y",
    "Final answer: Y",
    "Final Answer: Y",
    "**Final Answer:** $Y$",
    "My answer: Y",
    "The answer is Y",
    "The answer is Y.",
    "The answer is: Y",
    "The answer is **Y**.",
    'The answer is "Y".',
    "The answer's Y.",
    "The answer I would give is Y.",
    "The answer that we choose is Y.",
    "I answer in the form that was asked for.\nAnswer: Y",
    "the final answer is Y!",
    "So the answer is Y.",
    "So, the correct answer is Y.",
    "The answer must be Y.",
    "The answer should be Y.",
    "The answer is clearly Y.",
    "The answer is therefore Y.",
    "The answer is most likely Y.",
    "The answer to the question is Y.",
    "The answer for the new case here is Y.",
    "The answer is Y, because the counts say so.",
    "The answer is Y because the counts say so.",
    "The answer is Y (see above).",
    "The answer is Y; all else is noise.",
    "The answer is Y - see above.",
    "The answer is Y, not N.",
    "The answer is Y rather than N.",
    "My prediction is Y.",
    "Verdict: Y",
    "Conclusion: Y",
    "Decision: Y",
    "My choice is Y.",
    "We weigh Y and N in turn.\nBoth are thinkable.\n\nAnswer: Y",
    "Is it Y or N? The third event settles it.\nAnswer: Y",
    "It might be N at first sight. It is not.\n\nFinal answer: Y",
    "E1 is not above E2, so the answer is Y.",
    "The record was N at first. Then it changed.\n\nY",
    "Reasoning first.\nThen more of it.\n**Y**",
    "Reasoning first. Then more of it. Y.",
    "Reasoning first.\nTherefore: Y",
    "Reasoning first.\nSo, Y.",
    "Reasoning first. Therefore, it is Y.",
    "Reasoning first. Hence the outcome is Y.",
    "Reasoning first. Thus after all events the record is Y.",
    "Reasoning first. Therefore the more likely outcome is Y.",
    "Reasoning first. I conclude that it is Y.",
    "Reasoning first. I would say Y.",
    "Reasoning first. I choose Y.",
    "Reasoning first. We predict Y.",
    "Reasoning first. I'll go with Y.",
    "Reasoning first. Overall, Y is more likely.",
    "Reasoning first. Y is the most probable outcome.",
    "N never follows from these. So I am going with Y.",
    "Y\n\nThe first event adds it and nothing takes it away.",
    "**Y**\n\nExplanation: the first event adds it.",
    "Y. The first event adds it.",
    "Y because the first event adds it.",
    "Y, since the first event adds it.",
    "Answer: Based on the counts above, Y.",
    "Reasoning first. Based on this, the record is more likely Y.",
    "Reasoning first. As a result, the record is Y.",
    "Answer: Y \u2705",
    "Answer: Y<|im_end|>",
    "Y</s>",
    "Y<|eot_id|><|start|>",
    "Y<end_of_turn>",
    "The answer is Y</s>",
    "A: Y",
    "<final_answer>Y</final_answer>",
    "<answer>Y</answer>",
    "<answer> Y </answer>",
    "<ANSWER>Y.</ANSWER>",
    "<answer>\nY\n</answer>",
    "<answer>**Y**</answer>",
    "<answer>The answer is Y.</answer>",
    "It may be N, or it may be Y.\n<answer>Y</answer>",
    "<answer>Y",
    "I am done. <answer>Y</answer> Have a nice day.",
    "\\boxed{Y}",
    "$\\boxed{Y}$",
    "$$\\boxed{\\text{Y}}$$",
    "\\boxed{\\textbf{Y}}",
    "The answer is $\\boxed{\\text{Y}}$.",
    "With \\boxed{0.25} for the first part, \\boxed{Y}",
    "Is it N?\n\\[ \\boxed{\\mathrm{Y}} \\]",
    '{"answer": "Y"}',
    '{"answer":"Y"}',
    '{"final_answer": "Y"}',
    '{"reasoning": "it could be N", "answer": "Y"}',
    '{"confidence": 0.9, "answer": "Y", "notes": {"a": [1, 2]}}',
    '```json\n{"answer": "Y"}\n```',
    'Here it is:\n```json\n{\n  "answer": "Y"\n}\n```\nDone.',
    'My answer is below. {"answer": "Y"}',
    "<think>It is N. The answer is N.</think>Y",
    "<think>\nN\n</think>\n\n**Y**",
    "<think>Answer: N</think>\nThe answer is Y.",
    "It looks like N. Answer: N</think> Answer: Y",
    "<thinking>N?</thinking>\n<answer>Y</answer>",
    "Answer: Y\n\nAnswer: Y",
    "The answer is Y.\n\nFinal answer: Y",
    "If the flag were set, the answer is N. It is not.\n\nAnswer: Y",
    "The answer is Y with probability 0.93.",
    "Answer: Y (confidence: 80%)",
    "Answer: Y. The chance of it is 30% only without E1.",
    "Answer: Y (C3 cannot say that it is otherwise)",
    "I am not sure.\nAnswer: Y",
    'The form is as you asked.\n{"example": {"answer": "N"}}\n{"answer": "Y"}',
    "The final answer is:\n<answer>Y</answer>",
    "Answer: Y\n\nThis is the opposite of C3's outcome.",
]

# Replies to the question whose options are those named, and why they are no answer.
UNPARSED = [
    # What a small model has written: the end of its prompt again, cut off.
    (
        "What does this tell you?\n\n2. There are two possible answers:\nPRESENT: after the last procedure the sign is "
        "more likely present.\nABSENT: after the last procedure the sign is more likely absent.\nEnd your reply with a "
        'line that is either "Answer: PRESENT" or "Answer: ABSENT',
        OUTCOMES,
        Reason.NOT_CONCLUDED,
    ),
    ("", ANSWERS, Reason.EMPTY),
    (" \n\t ", ANSWERS, Reason.EMPTY),
    ("\ufeff", ANSWERS, Reason.EMPTY),
    ("<think>YES</think>", ANSWERS, Reason.EMPTY),
    ("<think>YES</think>\n  ", ANSWERS, Reason.EMPTY),
    ("<think>The answer is YES", ANSWERS, Reason.UNFINISHED),
    ("<think>a</think> more <think>\nYES", ANSWERS, Reason.UNFINISHED),
    (None, ANSWERS, Reason.WRONG_TYPE),
    (True, ANSWERS, Reason.WRONG_TYPE),
    (1, ANSWERS, Reason.WRONG_TYPE),
    (["YES"], ANSWERS, Reason.WRONG_TYPE),
    (b"YES", ANSWERS, Reason.WRONG_TYPE),
    ("I cannot tell.", OUTCOMES, Reason.NO_ANSWER),
    ("Answer:", ANSWERS, Reason.NO_ANSWER),
    ("Answer: unknown", OUTCOMES, Reason.NO_ANSWER),
    ("true", ANSWERS, Reason.NO_ANSWER),
    ("1", ANSWERS, Reason.NO_ANSWER),
    ("Y", ANSWERS, Reason.NO_ANSWER),
    ("...", ANSWERS, Reason.NO_ANSWER),
    ("YES", OUTCOMES, Reason.NO_ANSWER),
    ("PRESENTATION", OUTCOMES, Reason.PART_OF_A_WORD),
    ("presently", OUTCOMES, Reason.PART_OF_A_WORD),
    ("The answer is PRESENTATION.", OUTCOMES, Reason.PART_OF_A_WORD),
    ("ABSENTEE", OUTCOMES, Reason.PART_OF_A_WORD),
    ("absent-minded", OUTCOMES, Reason.PART_OF_A_WORD),
    ("Answer: absent-minded", OUTCOMES, Reason.PART_OF_A_WORD),
    ("NON-PRESENT", OUTCOMES, Reason.PART_OF_A_WORD),
    ("NOW", ANSWERS, Reason.PART_OF_A_WORD),
    ("KNOWN", ANSWERS, Reason.PART_OF_A_WORD),
    ("Answer: NOT", ANSWERS, Reason.PART_OF_A_WORD),
    ("Answer: NONE", ANSWERS, Reason.PART_OF_A_WORD),
    ("YESTERDAY", ANSWERS, Reason.PART_OF_A_WORD),
    ("No-one", ANSWERS, Reason.PART_OF_A_WORD),
    ("NO_ANSWER", ANSWERS, Reason.PART_OF_A_WORD),
    ("YES1", ANSWERS, Reason.PART_OF_A_WORD),
    ("Y\u200bES or NOT", ANSWERS, Reason.PART_OF_A_WORD),
    ("\\boxed{NOW}", ANSWERS, Reason.PART_OF_A_WORD),
    ("not PRESENT", OUTCOMES, Reason.NEGATED),
    ("Not present.", OUTCOMES, Reason.NEGATED),
    ("not **PRESENT**", OUTCOMES, Reason.NEGATED),
    ("isn't YES", ANSWERS, Reason.NEGATED),
    ("isn\u2019t YES", ANSWERS, Reason.NEGATED),
    ("The answer isn't YES.", ANSWERS, Reason.NEGATED),
    ("The answer isn\u2019t YES.", ANSWERS, Reason.NEGATED),
    ("The answer is not YES.", ANSWERS, Reason.NEGATED),
    ("The answer cannot be YES.", ANSWERS, Reason.NEGATED),
    ("Answer: not YES", ANSWERS, Reason.NEGATED),
    ("Answer: NOT PRESENT", OUTCOMES, Reason.NEGATED),
    ("Therefore, it is not PRESENT.", OUTCOMES, Reason.NEGATED),
    ("So the record is never PRESENT.", OUTCOMES, Reason.NEGATED),
    ("!YES", ANSWERS, Reason.NEGATED),
    ("¬PRESENT", OUTCOMES, Reason.NEGATED),
    ("<answer>not YES</answer>", ANSWERS, Reason.NEGATED),
    ("\\boxed{\\text{not YES}}", ANSWERS, Reason.NEGATED),
    ('{"answer": "not YES"}', ANSWERS, Reason.NEGATED),
    ("I do not think the answer is YES.", ANSWERS, Reason.NOT_CONCLUDED),
    ("It is false that the answer is YES.", ANSWERS, Reason.NOT_CONCLUDED),
    ("I doubt the answer is YES.", ANSWERS, Reason.NOT_CONCLUDED),
    ("Present:\n- C1\n- C2", OUTCOMES, Reason.NOT_CONCLUDED),
    ("Answer: Based on the counts it is not PRESENT.", OUTCOMES, Reason.NEGATED),
    ("Answer: PRESENT \u274c", OUTCOMES, Reason.NOT_CONCLUDED),
    ("Answer: Either it is so or it is PRESENT.", OUTCOMES, Reason.NOT_CONCLUDED),
    ("PRESENT or ABSENT", OUTCOMES, Reason.OPTIONS_ECHOED),
    ("present/absent", OUTCOMES, Reason.OPTIONS_ECHOED),
    ("YES/NO", ANSWERS, Reason.OPTIONS_ECHOED),
    ("YES NO", ANSWERS, Reason.OPTIONS_ECHOED),
    ("YES, NO", ANSWERS, Reason.OPTIONS_ECHOED),
    ("YES | NO", ANSWERS, Reason.OPTIONS_ECHOED),
    ("Yes and no.", ANSWERS, Reason.OPTIONS_ECHOED),
    ("Answer: YES or NO", ANSWERS, Reason.OPTIONS_ECHOED),
    ("Answer: YES/NO", ANSWERS, Reason.OPTIONS_ECHOED),
    ("Answer: <YES|NO>", ANSWERS, Reason.OPTIONS_ECHOED),
    ("Answer with YES or NO.", ANSWERS, Reason.OPTIONS_ECHOED),
    ("Answer with PRESENT or ABSENT on the last line.", OUTCOMES, Reason.OPTIONS_ECHOED),
    ("The answer is either PRESENT or ABSENT.", OUTCOMES, Reason.OPTIONS_ECHOED),
    ("The answer is PRESENT or ABSENT.", OUTCOMES, Reason.OPTIONS_ECHOED),
    ("<answer>PRESENT or ABSENT</answer>", OUTCOMES, Reason.OPTIONS_ECHOED),
    ("\\boxed{YES/NO}", ANSWERS, Reason.OPTIONS_ECHOED),
    ('{"answer": "YES/NO"}', ANSWERS, Reason.OPTIONS_ECHOED),
    ("Answer: YES, maybe NO", ANSWERS, Reason.OPTIONS_ECHOED),
    ("Answer: YES. Then again:\nAnswer: YES or NO", ANSWERS, Reason.OPTIONS_ECHOED),
    ("The answer is YES, but it could well be NO.", ANSWERS, Reason.OPTIONS_ECHOED),
    ("Answer: YES\nAnswer: NO", ANSWERS, Reason.SEVERAL_ANSWERS),
    ("The answer is YES. Final answer: NO", ANSWERS, Reason.SEVERAL_ANSWERS),
    ("YES\nNO", ANSWERS, Reason.SEVERAL_ANSWERS),
    ("- PRESENT\n- ABSENT", OUTCOMES, Reason.SEVERAL_ANSWERS),
    ("## PRESENT\nSome say so.\n## ABSENT\nOthers do not.", OUTCOMES, Reason.SEVERAL_ANSWERS),
    ("YES\n\nOn reflection:\n\nNO", ANSWERS, Reason.SEVERAL_ANSWERS),
    ("<answer>YES</answer><answer>NO</answer>", ANSWERS, Reason.SEVERAL_ANSWERS),
    ("<answer>YES</answer>\nAnswer: NO", ANSWERS, Reason.SEVERAL_ANSWERS),
    ("\\boxed{YES} or rather \\boxed{NO}", ANSWERS, Reason.SEVERAL_ANSWERS),
    ('{"answer": "YES"}\n{"answer": "NO"}', ANSWERS, Reason.SEVERAL_ANSWERS),
    ('{"answer": "YES", "final_answer": "NO"}', ANSWERS, Reason.SEVERAL_ANSWERS),
    ('{"answer": "YES"} The answer is NO.', ANSWERS, Reason.SEVERAL_ANSWERS),
    ("Answer: YES\n\nActually, no.", ANSWERS, Reason.SEVERAL_ANSWERS),
    ("Answer: YES\n\nOn second thought it is not YES.", ANSWERS, Reason.SEVERAL_ANSWERS),
    ("Answer: YES. The answer is not YES.", ANSWERS, Reason.SEVERAL_ANSWERS),
    ("Answer: YES. Wait, actually NO.", ANSWERS, Reason.SEVERAL_ANSWERS),
    ("Answer: YES\nCorrection: NO", ANSWERS, Reason.SEVERAL_ANSWERS),
    ("Answer: YES\n\nOr maybe NO.", ANSWERS, Reason.SEVERAL_ANSWERS),
    ("Answer: YES. Or rather, no.", ANSWERS, Reason.SEVERAL_ANSWERS),
    ("The answer: NO, wait: YES", ANSWERS, Reason.SEVERAL_ANSWERS),
    ("YES. So I conclude NO.", ANSWERS, Reason.SEVERAL_ANSWERS),
    ('{"answer": "YES", "answer": "NO"}', ANSWERS, Reason.DUPLICATE_KEY),
    ('{"answer": "YES", "answer": "YES"}', ANSWERS, Reason.DUPLICATE_KEY),
    ('{"answer": true}', ANSWERS, Reason.WRONG_TYPE),
    ('{"answer": ["YES"]}', ANSWERS, Reason.WRONG_TYPE),
    ('{"answer": null}', ANSWERS, Reason.WRONG_TYPE),
    ("In case C3 the record is present.", OUTCOMES, Reason.NOT_CONCLUDED),
    ("In case C3 the record was PRESENT.", OUTCOMES, Reason.NOT_CONCLUDED),
    ("The record is present in 40 of 48 trials of C1", OUTCOMES, Reason.NOT_CONCLUDED),
    ("There is no event that says so.", ANSWERS, Reason.NOT_CONCLUDED),
    ("No event places X1 above X2.", ANSWERS, Reason.NOT_CONCLUDED),
    ("No, I cannot help with that.", ANSWERS, Reason.NOT_CONCLUDED),
    ("Yes, I can do that for you.", ANSWERS, Reason.NOT_CONCLUDED),
    ("Yes, and what is the question?", ANSWERS, Reason.NOT_CONCLUDED),
    ("There is no answer.", ANSWERS, Reason.NOT_CONCLUDED),
    ("We need to give an answer. There is no way around it, and X1 moved", ANSWERS, Reason.NOT_CONCLUDED),
    ("The answer is no event at all.", ANSWERS, Reason.NOT_CONCLUDED),
    ("The answer is present in the table.", OUTCOMES, Reason.NOT_CONCLUDED),
    ("The answer to whether the record is present is unknown.", OUTCOMES, Reason.NOT_CONCLUDED),
    ("We must find the answer to whether the record is present.", OUTCOMES, Reason.NOT_CONCLUDED),
    ("The answer depends on whether the record is present.", OUTCOMES, Reason.NOT_CONCLUDED),
    ("The answer is YES if E1 is above E2.", ANSWERS, Reason.NOT_CONCLUDED),
    ("The answer is YES, if E1 is above E2.", ANSWERS, Reason.NOT_CONCLUDED),
    ("If E1 is above E2, the answer is YES.", ANSWERS, Reason.NOT_CONCLUDED),
    ("Unless it moved, the answer is YES.", ANSWERS, Reason.NOT_CONCLUDED),
    ("Maybe the answer is YES.", ANSWERS, Reason.NOT_CONCLUDED),
    ("Perhaps the answer is YES", ANSWERS, Reason.NOT_CONCLUDED),
    ("Answer: YES?", ANSWERS, Reason.NOT_CONCLUDED),
    ("Is the answer YES?", ANSWERS, Reason.NOT_CONCLUDED),
    ("YES?", ANSWERS, Reason.NOT_CONCLUDED),
    ("So is it PRESENT?", OUTCOMES, Reason.NOT_CONCLUDED),
    ("Therefore it may be PRESENT.", OUTCOMES, Reason.NOT_CONCLUDED),
    ("Answer: YES (?)", ANSWERS, Reason.NOT_CONCLUDED),
    ("Therefore we rule out YES.", ANSWERS, Reason.NOT_CONCLUDED),
    ("Thus it is the contrary of PRESENT.", OUTCOMES, Reason.NOT_CONCLUDED),
    ("So the evidence speaks against PRESENT.", OUTCOMES, Reason.NOT_CONCLUDED),
    ("Answer: anything other than YES", ANSWERS, Reason.NOT_CONCLUDED),
    ("Nobody would say the answer is YES.", ANSWERS, Reason.NOT_CONCLUDED),
    ("A naive solver concludes the answer is YES.", ANSWERS, Reason.NOT_CONCLUDED),
    ("Many would say the answer is YES. I am not so sure.", ANSWERS, Reason.NOT_CONCLUDED),
    ('else: answer = "NO"', ANSWERS, Reason.NOT_CONCLUDED),
    ("Option A: YES\nOption B: NO\nAnswer: B", ANSWERS, Reason.NOT_CONCLUDED),
    ("The following answer is wrong:\nYES", ANSWERS, Reason.SEVERAL_ANSWERS),
    ("Not\nYES", ANSWERS, Reason.SEVERAL_ANSWERS),
    ("YES\n(wrong)", ANSWERS, Reason.NOT_CONCLUDED),
    ("Answer: YES.txt", ANSWERS, Reason.NOT_CONCLUDED),
    ("- [x] YES\n- [ ] NO", ANSWERS, Reason.NOT_CONCLUDED),
    ("1. YES\n2. NO", ANSWERS, Reason.NOT_CONCLUDED),
    ("~~YES~~", ANSWERS, Reason.NOT_CONCLUDED),
    ("❌ PRESENT", OUTCOMES, Reason.NOT_CONCLUDED),
    ("First\nYES\nlast", ANSWERS, Reason.NOT_CONCLUDED),
    ("PRESENT would need a flag. ABSENT would need a veto. Both are thinkable.", OUTCOMES, Reason.NOT_CONCLUDED),
    ("PRESENT is more likely than ABSENT, or so it seems", OUTCOMES, Reason.NOT_CONCLUDED),
    ("present present present present", OUTCOMES, Reason.NOT_CONCLUDED),
    ("The answer is YES (30% confident), NO (70% confident)", ANSWERS, Reason.NOT_CONCLUDED),
    ("The answer is YES with probability 0.3", ANSWERS, Reason.NOT_CONCLUDED),
    ("The answer is YES (30% sure).", ANSWERS, Reason.NOT_CONCLUDED),
    ("Should I answer YES", ANSWERS, Reason.NOT_CONCLUDED),
    ("So is it YES", ANSWERS, Reason.NOT_CONCLUDED),
    ("I expect the trap answer is YES", ANSWERS, Reason.NOT_CONCLUDED),
    ("Previous answer: YES", ANSWERS, Reason.NOT_CONCLUDED),
    ("Example answer: YES", ANSWERS, Reason.NOT_CONCLUDED),
    ('For example, "Answer: YES".', ANSWERS, Reason.NOT_CONCLUDED),
    ("Answer: YES\nQ: Is E1 above E3?\nAnswer:", ANSWERS, Reason.UNFINISHED),
    ("Answer: YES!=NO", ANSWERS, Reason.NEGATED),
    ("Answer: No. of events is 400", ANSWERS, Reason.NOT_CONCLUDED),
    ("No. of events is 400", ANSWERS, Reason.NOT_CONCLUDED),
    ("Answer: No. 5", ANSWERS, Reason.NOT_CONCLUDED),
    ("Answer: No (insufficient information); cannot decide", ANSWERS, Reason.NOT_CONCLUDED),
    ("Answer: NO, I cannot tell.", ANSWERS, Reason.NOT_CONCLUDED),
    ("No.\nIdea", ANSWERS, Reason.NOT_CONCLUDED),
    ("no\nway", ANSWERS, Reason.NOT_CONCLUDED),
    ("It's not clear\nYES", ANSWERS, Reason.NOT_CONCLUDED),
    ("I will not answer.\nYES", ANSWERS, Reason.NEGATED),
    ("YES. Just kidding, it's the other one.", ANSWERS, Reason.SEVERAL_ANSWERS),
    ('{"example": {"answer": "YES"}}', ANSWERS, Reason.WRONG_FIELDS),
    ("Which is the answer I would give: YES", ANSWERS, Reason.NOT_CONCLUDED),
    ("An answer I would give is YES.", ANSWERS, Reason.NOT_CONCLUDED),
    # Written by a small model in earnest.
    (
        'So, I think it is a bit complicated to answer the question with one line of form: "Answer: YES".\n'
        "The entry for Mathilda Holloway is 108 (the first nurse).\n\nSo, I think",
        ANSWERS,
        Reason.NOT_CONCLUDED,
    ),
    (
        "I agree with the previous answers: yes, NO. The answer I would give is NO.\nSo, yes, it is true that there "
        "are ships in radio contact with each other.\nAnswer: YES.\n\nThis question relates to shipping.",
        ANSWERS,
        Reason.SEVERAL_ANSWERS,
    ),
]


@pytest.mark.parametrize("label", ["PRESENT", "ABSENT", "YES", "NO"])
@pytest.mark.parametrize("form", STATED)
def test_an_answer_is_recognised_in_every_form(form: str, label: str) -> None:
    options = options_of(label)
    other = next(option for option in options if option != label)
    reply = "".join({"Y": label, "N": other}.get(part, part) for part in split_letters(form))
    assert read_choice(reply, options) == Choice(options.index(label), label), reply


def split_letters(form: str) -> list[str]:
    """The form, cut so that the letters Y and N that stand for labels are pieces of their own."""
    pieces, last = [], 0
    for i, letter in enumerate(form):
        before, after = form[i - 1 : i], form[i + 1 : i + 2]
        if letter in "YN" and not before.isalnum() and not after.isalnum():
            pieces += [form[last:i], letter]
            last = i + 1
    return [*pieces, form[last:]]


@pytest.mark.parametrize(("reply", "options", "reason"), UNPARSED)
def test_anything_else_is_unparsed_and_says_why(reply, options, reason) -> None:
    found = read_choice(reply, options)
    assert isinstance(found, Unparsed), found
    assert found.reason is reason
    assert found.sentence
    assert "allowed" in found.sentence


def test_the_tables_are_of_a_useful_size() -> None:
    assert len(set(STATED)) == len(STATED)
    assert len({(repr(reply), options) for reply, options, _ in UNPARSED}) == len(UNPARSED)
    assert len(STATED) + len(UNPARSED) >= 250
    assert {reason for _, _, reason in UNPARSED} >= set(list(Reason)[:9])


def test_case_and_order_of_the_options_do_not_matter() -> None:
    for options in (ANSWERS, ANSWERS[::-1], ("yes", "no")):
        for reply in ("yes", "Yes", "YES", "yEs", "answer: yes"):
            assert read_choice(reply, options) == Choice(
                [o.lower() for o in options].index("yes"), options_like(options)
            )


def options_like(options: tuple[str, ...]) -> str:
    return next(option for option in options if option.lower() == "yes")


def test_more_than_two_options() -> None:
    options = ("rise", "fall", "stay")
    assert read_choice("The answer is stay.", options) == Choice(2, "stay")
    assert read_choice("rise or fall", options).reason is Reason.OPTIONS_ECHOED


@pytest.mark.parametrize(
    "options", [(), ("YES",), ("YES", "yes"), ("YES", "NO WAY"), ("YES", ""), ("YES", 1), ("é", "b")]
)
def test_options_that_are_not_different_words_are_an_error(options) -> None:
    with pytest.raises(ValueError, match="options must be two or more different words"):
        read_choice("YES", options)


# Properties

ENDINGS = ["", "!", ".", "\n", "  \n\n"]
WRAPPINGS = [
    "{}",
    "**{}**",
    "`{}`",
    '"{}"',
    "# {}",
    "```\n{}\n```",
    "Answer: {}",
    "Final answer: {}",
    "The answer is {}",
    "<answer>{}</answer>",
    "\\boxed{{{}}}",
    '{{"answer": "{}"}}',
]
THOUGHTS = ["", "<think>Is it PRESENT, or ABSENT, YES or NO?</think>", "Some events happen, others do not.\n\n"]
CASES = [str.upper, str.lower, str.title]

# Letters of no label, so that no word can be one or contain one.
prose = st.text("abcdgijkmquvwxz ,.\n:*#-", max_size=300)
labels = st.sampled_from(["PRESENT", "ABSENT", "YES", "NO"])


@given(
    label=labels,
    case=st.sampled_from(CASES),
    wrapping=st.sampled_from(WRAPPINGS),
    thoughts=st.sampled_from(THOUGHTS),
    ending=st.sampled_from(ENDINGS),
)
@settings(max_examples=300, deadline=None)
def test_wrapping_an_answer_keeps_it(label, case, wrapping, thoughts, ending) -> None:
    found = read_choice(thoughts + wrapping.format(case(label)) + ending, options_of(label))
    assert found == Choice(options_of(label).index(label), label)


@given(label=labels, before=prose, after=prose, wrapping=st.sampled_from(WRAPPINGS[5:]))
@settings(max_examples=300, deadline=None)
def test_prose_around_a_stated_answer_keeps_it(label, before, after, wrapping) -> None:
    reply = f"{before}\n\n{wrapping.format(label)}\n\n{after}"
    if "```" not in wrapping:  # a bare line amid prose concludes nothing
        assert read_choice(reply, options_of(label)) == Choice(options_of(label).index(label), label)


@given(text=prose, label=labels)
@settings(max_examples=300, deadline=None)
def test_text_without_a_label_never_scores(text, label) -> None:
    found = read_choice(f"Answer: {text}", options_of(label))
    assert isinstance(found, Unparsed)
    glued = read_choice(f"The answer is q{label} {label}q {text.replace(',', ';')}", options_of(label))
    assert isinstance(glued, Unparsed)


@given(
    reply=st.text(max_size=400)
    | st.lists(st.sampled_from([*WRAPPINGS, "YES", "NO", "not", " ", "\n", "or", "{", "[", '"']), max_size=12).map(
        "".join
    )
)
@settings(max_examples=500, deadline=None)
def test_any_text_is_read_without_an_error(reply) -> None:
    assert isinstance(read_choice(reply, ANSWERS), Choice | Unparsed)
    assert isinstance(read_matrix(reply, (2, 2)), Matrix | Unparsed)


@given(wrappings=st.lists(st.sampled_from(WRAPPINGS[6:]), min_size=2, max_size=4), label=labels)
@settings(max_examples=200, deadline=None)
def test_two_different_answers_never_score(wrappings, label) -> None:
    options = options_of(label)
    other = next(option for option in options if option != label)
    reply = "\n".join(form.format(label if i else other) for i, form in enumerate(wrappings))
    assert read_choice(reply, options).reason is Reason.SEVERAL_ANSWERS


HOSTILE = [
    "YES. I was ",
    "answer: yes 0.3",
    "answer: yes (30% ",
    "it is not clear\n",
    "for example, answer: yes ",
    "so is it ",
    "wait, ",
    "answer: yes. but, ",
    "NO ",
    "NO\n",
    "answer: ",
    "answer is not ",
    "answer for ",
    "the answer is (",
    '{"answer": ',
    '{"answer": "NO"} ',
    "\\boxed{",
    "<answer>",
    "<think>",
    "[",
    "{",
    '{"',
    '{"prediction": [[',
    "[[0,",
    "_",
    "`",
    "*",
    "(",
    "\n ",
    " ",
    "so ",
    "not ",
    "YES, ",
    "'",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_time_is_linear_in_the_length(piece) -> None:
    """Reading a megabyte has to come back; a pattern that backtracks would take hours."""
    reply = piece * (1_000_000 // len(piece))
    assert isinstance(read_choice(reply, ANSWERS), Choice | Unparsed)
    assert isinstance(read_matrix(reply, (8, 2)), Unparsed)


def test_the_end_of_a_very_long_reply_is_read() -> None:
    reasoning = "It could be NO, or it could be YES; the next event tells more.\n" * 20_000
    assert read_choice(f"{reasoning}\nAnswer: YES", ANSWERS) == Choice(0, "YES")
    assert isinstance(read_choice(reasoning, ANSWERS), Unparsed)
    assert isinstance(read_choice("YES\n" + "and so on; " * 100_000, ANSWERS), Unparsed)


# Matrices

SHAPE = (3, 2)
ROWS = [[0.5, -0.25], [0, 1e-3], [-1, 0.125]]
GOOD = Matrix(((0.5, -0.25), (0.0, 1e-3), (-1.0, 0.125)))
TEXT = json.dumps(ROWS)
NAMED = json.dumps({"prediction": ROWS})

MATRICES = [
    ROWS,
    tuple(map(tuple, ROWS)),
    np.array(ROWS),
    {"prediction": ROWS},
    {"prediction": tuple(ROWS), "reasoning": "none"},
    TEXT,
    NAMED,
    f"  {TEXT}\n",
    f"```json\n{NAMED}\n```",
    f"```\n{TEXT}\n```",
    f"`{TEXT}`",
    f"My prediction: {TEXT}",
    f"After some thought [1, 2] I submit\n\n{NAMED}\n\nThank you.",
    f"<think>[[9, 9]]</think>{NAMED}",
    f"The readings were [[1, 2], [3, 4]], so {NAMED}",
    f"First {NAMED} and again {NAMED}",
    f'The form is {{"prediction": [[...], ...]}}, so:\n{NAMED}',
    json.dumps({"reasoning": 'a "[[1, 2]]" in a string', "prediction": ROWS}),
    json.dumps({"prediction": ROWS}, indent=2),
    '{"prediction": [[5E-1, -25e-2], [-0, 0.001], [-1.0, 0.125]]}',
]

NO_MATRICES = [
    ("", Reason.EMPTY),
    (None, Reason.WRONG_TYPE),
    (3.5, Reason.WRONG_TYPE),
    ("I do not know.", Reason.NO_ANSWER),
    ("{}", Reason.NO_ANSWER),
    ('{"action_id": "clamp-u-0"}', Reason.NO_ANSWER),
    ({"answer": ROWS}, Reason.NO_ANSWER),
    ("<think>" + NAMED, Reason.UNFINISHED),
    (NAMED[:-1], Reason.MALFORMED),
    (TEXT[:-1], Reason.MALFORMED),
    (f"{NAMED} {NAMED[:-1]}", Reason.MALFORMED),
    ("[[0.5 -0.25], [0, 1], [1, 1]]", Reason.MALFORMED),
    ("[[0.5, -0.25], [0, 1], [1, 1],]", Reason.MALFORMED),
    ("[[.5, -0.25], [0, 1], [1, 1]]", Reason.MALFORMED),
    ("[[+1, -0.25], [0, 1], [1, 1]]", Reason.MALFORMED),
    ("[[0x1, 0], [0, 1], [1, 1]]", Reason.MALFORMED),
    ("[[1/2, 0], [0, 1], [1, 1]]", Reason.MALFORMED),
    ("[[0.5, -0.25], ..., [1, 1]]", Reason.MALFORMED),
    ('{"prediction": [[0.5, -0.25], # comment\n [0, 1], [1, 1]]}', Reason.MALFORMED),
    ('{"prediction": __import__("os").getcwd()}', Reason.MALFORMED),
    ('{"prediction": [], "prediction": []}', Reason.DUPLICATE_KEY),
    (f'{{"prediction": {TEXT}, "prediction": {TEXT}}}', Reason.DUPLICATE_KEY),
    (f'{{"prediction": {TEXT}, "note": {{"a": 1, "a": 1}}}}', Reason.DUPLICATE_KEY),
    ("[[NaN, 0], [0, 1], [1, 1]]", Reason.NOT_FINITE),
    ("[[Infinity, 0], [0, 1], [1, 1]]", Reason.NOT_FINITE),
    ("[[-Infinity, 0], [0, 1], [1, 1]]", Reason.NOT_FINITE),
    ("[[1e999, 0], [0, 1], [1, 1]]", Reason.NOT_FINITE),
    ("[[" + "9" * 400 + ", 0], [0, 1], [1, 1]]", Reason.NOT_FINITE),
    ("[[" + "9" * 9000 + ", 0], [0, 1], [1, 1]]", Reason.NOT_FINITE),
    ([[math.nan, 0], [0, 1], [1, 1]], Reason.NOT_FINITE),
    ([[math.inf, 0], [0, 1], [1, 1]], Reason.NOT_FINITE),
    ([[10**400, 0], [0, 1], [1, 1]], Reason.NOT_FINITE),
    ("[[true, 0], [0, 1], [1, 1]]", Reason.NOT_A_NUMBER),
    ([[True, 0], [0, 1], [1, 1]], Reason.NOT_A_NUMBER),
    ('[["0.5", 0], [0, 1], [1, 1]]', Reason.NOT_A_NUMBER),
    ("[[null, 0], [0, 1], [1, 1]]", Reason.NOT_A_NUMBER),
    ("[[[0.5], 0], [0, 1], [1, 1]]", Reason.NOT_A_NUMBER),
    ([[1j, 0], [0, 1], [1, 1]], Reason.NOT_A_NUMBER),
    ("[[0.5, 1], [0], [1, 1]]", Reason.RAGGED),
    ("[[0.5, 1], [0, 1, 2], [1, 1]]", Reason.RAGGED),
    ("[[0.5, 1, 2], [0, 1, 2]]", Reason.TRANSPOSED),
    (np.array(ROWS).T, Reason.TRANSPOSED),
    ("[[0.5, 1], [0, 1]]", Reason.WRONG_SHAPE),
    ("[0.5, 1, 0, 1, 1, 1]", Reason.WRONG_SHAPE),
    ("[]", Reason.WRONG_SHAPE),
    ("[[]]", Reason.WRONG_SHAPE),
    ('{"prediction": 0.5}', Reason.WRONG_SHAPE),
    ('{"prediction": "[[0.5, 1], [0, 1], [1, 1]]"}', Reason.WRONG_SHAPE),
    ('{"prediction": {"x": 1}}', Reason.WRONG_SHAPE),
    ('{"prediction": [{"x": 1, "y": 2}]}', Reason.WRONG_SHAPE),
    ("0.5", Reason.WRONG_SHAPE),
    ("[" * 100_000 + "]" * 100_000, Reason.TOO_DEEP),
    ("[" * 100 + "1" + "]" * 100, Reason.TOO_DEEP),
    ('{"prediction": ' + '{"prediction": ' * 100 + "1" + "}" * 101, Reason.TOO_DEEP),
    (f"{TEXT} {json.dumps(ROWS[::-1])}", Reason.SEVERAL_ANSWERS),
    (f"{NAMED} {json.dumps({'prediction': ROWS[::-1]})}", Reason.SEVERAL_ANSWERS),
    (f"[[1, 2], [3, 4]] and {TEXT}", Reason.SEVERAL_ANSWERS),
]


@pytest.mark.parametrize("reply", MATRICES, ids=range(len(MATRICES)))
def test_a_matrix_is_recognised(reply) -> None:
    assert read_matrix(reply, SHAPE) == GOOD


@pytest.mark.parametrize(("reply", "reason"), NO_MATRICES, ids=range(len(NO_MATRICES)))
def test_anything_else_is_no_matrix_and_says_why(reply, reason) -> None:
    found = read_matrix(reply, SHAPE)
    assert isinstance(found, Unparsed), found
    assert found.reason is reason, found.sentence
    assert len(found.sentence) < 400


numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**9), 10**9)


@given(rows=st.lists(st.lists(numbers, min_size=2, max_size=2), min_size=3, max_size=3), form=st.integers(0, 4))
@settings(max_examples=300, deadline=None)
def test_numbers_come_back_exactly_from_any_form(rows, form) -> None:
    text = json.dumps(rows)
    reply = [text, f'{{"prediction": {text}}}', f"```json\n{text}\n```", f"so:\n{text}\n", rows][form]
    found = read_matrix(reply, SHAPE)
    assert isinstance(found, Matrix)
    assert np.array_equal(found.rows, rows)


def test_the_sentence_names_the_place_and_what_is_allowed() -> None:
    found = read_matrix("[[0.5, 1], [0, true], [1, 1]]", SHAPE)
    assert "prediction[1][1] is True of type bool; allowed are numbers" in found.sentence
    assert (
        'allowed is JSON like {"prediction": [[...], ...]} with 3 rows of 2 numbers'
        in read_matrix("[]", SHAPE).sentence
    )
