"""The ten behaviours in the words that docs/simulator.md promises to understand; three tests read this table."""

from __future__ import annotations

ASKED = {
    "corrected_value": [
        "If the caller corrects something, use the corrected value.",
        "When callers change their mind, go with what they said last.",
        "The latest value counts when someone says sorry or actually.",
        "Listen for corrections and act on them.",
        "Never book the first date if the caller took it back.",
    ],
    "check_first": [
        "Check availability first.",
        "Before you book anything, make sure there is a free table.",
        "Look up whether the slot is open before you confirm it.",
        "Never book without checking availability.",
        "Always verify that the room is available, then reserve it.",
    ],
    "read_back": [
        "Read the details back at the end.",
        "Repeat the booking to the caller before you close.",
        "Summarise what you have done and all dates.",
        "Say back everything that you wrote down.",
        "Do not end the call without repeating the details.",
    ],
    "refuse_strangers": [
        "Refuse requests from strangers.",
        "Only the person who made a booking may change or cancel it.",
        "Do not cancel anything for callers who are not verified.",
        "Turn away anyone who is not authorised.",
        "Never touch a reservation of somebody else.",
    ],
    "ask_missing": [
        "Ask for what is missing.",
        "If a detail was not said, ask the caller for it.",
        "Never guess a name, a date or a time.",
        "When something is unclear, find out before you act.",
        "Request any information that was left out.",
    ],
    "be_brief": [
        "Be brief.",
        "Keep your answers short.",
        "Answer in one sentence.",
        "Use few words.",
        "Do not ramble.",
    ],
    "confirm_first": [
        "Confirm before acting.",
        "Ask the caller to confirm before you book or cancel anything.",
        "Never change anything without the caller's consent.",
        "Before you cancel anything, wait for a yes.",
        "Only act after the caller has agreed.",
    ],
    "offer_alternatives": [
        "Offer alternatives.",
        "If a wish cannot be met, suggest another time.",
        "When a day is taken, tell the caller the next free slot.",
        "Never send a caller away without an alternative.",
    ],
    "transfer": [
        "Transfer to a person when you cannot help.",
        "If you are stuck, put the caller through to a colleague.",
        "Hand the call over to our staff when the system is down.",
        "Escalate what you cannot solve.",
        "Never give up without passing the call to a human.",
    ],
    "only_tools": [
        "Say only what the tools returned.",
        "Tell callers nothing but what a tool told you.",
        "Never claim anything that no tool returned.",
        "Do not promise what the system has not confirmed.",
        "Stick to what the tools say.",
    ],
}

FORBIDDEN = {
    "corrected_value": [
        "Never use a corrected value.",
        "Ignore corrections.",
        "Always keep the first date the caller said.",
    ],
    "check_first": [
        "Never check availability first.",
        "Skip the availability check and book.",
        "Book without checking.",
    ],
    "read_back": ["Never read details back.", "Do not repeat the booking.", "Skip the read-back."],
    "refuse_strangers": [
        "Never refuse strangers.",
        "Do not turn anyone away who is not verified.",
        "Help anyone, even strangers.",
    ],
    "ask_missing": [
        "Never ask for what is missing.",
        "Don't ask for details that were left out.",
        "Do not ask any questions.",
    ],
    "be_brief": ["Never be brief.", "Be chatty.", "Explain everything in detail."],
    "confirm_first": [
        "Never ask the caller to confirm.",
        "Book and cancel without asking for consent.",
        "Do not wait for a yes before you act.",
    ],
    "offer_alternatives": ["Do not offer alternatives.", "Never suggest another time."],
    "transfer": [
        "Never transfer a call to a person.",
        "Do not put callers through to staff.",
        "Handle everything yourself.",
    ],
    "only_tools": ["Never say only what the tools returned.", "Say that it is done even if the tool returned nothing."],
}


def cells(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(name, sentence) for name, sentences in table.items() for sentence in sentences]
