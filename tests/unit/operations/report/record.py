"""Make a recording for the tests out of what `slipway report --save-events FILE` kept: `python record.py FILE NAME`.

Only what a report reads is kept, and of this machine nothing: names of images and addresses are those of an example."""

import json
import re
import sys
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "recorded"
_EXAMPLES = {
    r"localhost/slipway/(\w+):([0-9a-f]{12})": r"registry.example.com/slipway/\1:\2",
    r"ssh-ed25519 [A-Za-z0-9+/=]+ [\w@.-]+": "ssh-ed25519 AAAAexample researcher@example.com",
    r"\|local\|[^\"]+": "",
    r"\b127\.0\.0\.\d+": "192.0.2.10",
}
_STATE = ("custom", "retainOnDelete", "inputs")


def small(event: dict[str, Any]) -> dict[str, Any] | None:
    """What a report reads of an event, or None."""
    if step := event.get("resourcePreEvent", {}).get("metadata"):
        parts = ("custom",) if step["op"] == "same" else _STATE
        for side in ("old", "new"):
            step[side] = step[side] and {key: step[side][key] for key in parts if key in step[side]}
        kept = {key: step[key] for key in ("op", "urn", "type", "old", "new", "keys", "diffs") if step.get(key)}
        return {"resourcePreEvent": {"metadata": kept}}
    if (said := event.get("diagnosticEvent")) and said["severity"] != "debug":
        return {"diagnosticEvent": {key: said[key] for key in ("severity", "message", "urn") if said.get(key)}}
    for kind in ("policyAnalyzeSummaryEvent", "policyAnalyzeStackSummaryEvent"):
        if kind in event:
            return {kind: {key: event[kind][key] for key in ("passed", "failed") if key in event[kind]}}
    for kind in ("policyEvent", "summaryEvent"):
        if kind in event:
            return {kind: {key: value for key, value in event[kind].items() if key != "durationSeconds"}}
    return None


def main(source: str, name: str) -> None:
    events = (small(json.loads(line)) for line in Path(source).read_text().splitlines())
    lines = dict.fromkeys(json.dumps(event) for event in events if event)  # rules say of many resources the same
    text = "".join(f"{line}\n" for line in lines)
    for pattern, example in _EXAMPLES.items():
        text = re.sub(pattern, example, text)
    (RECORDED / f"{name}.jsonl").write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
