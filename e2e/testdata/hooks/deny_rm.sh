#!/bin/sh
# Refuses commands that delete: exit code 2, the reason on standard error.
if grep -Eq '"command":"[^"]*\brm\b'; then
	echo "deleting is done by hand here" >&2
	exit 2
fi
