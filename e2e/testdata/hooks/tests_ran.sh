#!/bin/sh
# Lets the model end only when the tests have run: the first time it is told to run them.
grep -q '"stop_hook_active":true' && exit 0
echo "run the tests before you finish" >&2
exit 2
