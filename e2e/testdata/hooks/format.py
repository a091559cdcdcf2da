#!/usr/bin/env python3
"""After an edit: takes blanks at the ends of lines out of the file, and says so to the model."""
import json
import re
import sys

call = json.load(sys.stdin)
name = call["tool_input"]["file_path"]
text = open(name).read()
clean = re.sub(r"[ \t]+\n", "\n", text)
if clean != text:
    open(name, "w").write(clean)
    print(json.dumps({"hookSpecificOutput": {
        "hookEventName": call["hook_event_name"],
        "additionalContext": "format.py took trailing blanks out of " + name,
    }}))
