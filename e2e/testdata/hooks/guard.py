#!/usr/bin/env python3
"""Decides about commands by JSON: pushes need a look, deploys are refused."""
import json
import sys

call = json.load(sys.stdin)
command = call["tool_input"].get("command", "")
decision = "ask" if "push" in command else "deny" if "deploy" in command else ""
if decision:
    print(json.dumps({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": "guard.py looked at: " + command,
    }}))
