#!/bin/sh
# Ends as its arguments say: the exit code or "signal", then what it prints.
case $2 in
text) echo some words ;;
json) echo '{"systemMessage": "the hook was here"}' ;;
broken) echo '{half' ;;
esac
echo "a reason" >&2
[ "$1" = signal ] && kill -9 $$
exit "$1"
