package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlainCommands uses, in plain mode on a terminal, the commands that have panes and dialogs on the full screen.
func TestPlainCommands(t *testing.T) {
	for _, terminal := range []string{"xterm-256color", "dumb"} {
		t.Run(terminal, func(t *testing.T) {
			editor := filepath.Join(t.TempDir(), "editor")
			if err := os.WriteFile(editor, []byte("#!/bin/sh\nprintf '%s and\\nmore\\n' \"$(cat \"$1\")\" >\"$1\"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("EDITOR", editor)
			for _, name := range []string{"VISUAL", "DISPLAY", "WAYLAND_DISPLAY", "OPENAI_API_KEY"} {
				t.Setenv(name, "")
			}
			d := converse(t, terminal, "--plain", "--approve", "all")
			d.want("> ")
			d.types("/diff\r")
			d.want("No file changes in this session", "> ")
			d.types("touch a.txt; seq 1 400\r")
			d.want("to watch it from another terminal: tmux -S ", "exit 0", "It said:", "> ")
			d.types("/init\r")
			d.want("It said:", "> ")
			d.types("/find use MAKE\r")
			d.want(`"use MAKE" not found in this session`, "> ")
			d.types("/find 397\r")
			d.want("#1 touch a.txt; seq 1 400, line 397 of 400", "    396", "    397", "    398", "> ")
			d.types("/output 2\r")
			d.want("touch a.txt", "KB above", "400", "whole output: ", "> ")
			d.types("/diff\r")
			d.want("sub/AGENTS.md", "+Use make.", "> ")
			d.types("/export md kept.md\r")
			d.want("exported to kept.md", "> ")
			d.types("/edit begun\r")
			d.want("> begun and", "more", `You said "begun and\nmore".`, "> ")
			d.types("/copy\r")
			if terminal == "dumb" {
				d.want("no clipboard found", "> ")
			} else {
				d.want("\x1b]52;c;", "Copied 1 line through the terminal", "> ")
				d.types("the draft\x07")
				d.want(`You said "the draft and\nmore".`, "> ")
			}
			d.types("/undo\r")
			d.want("after it.", "/undo 1  undo its changes", "> ")
			d.types("/undo 1\r")
			d.want("undid the changes", "sub/AGENTS.md", "> ")
			d.types("!echo $((40+2)) of mine\r")
			d.want("42 of mine", "exit 0", "> ")
			d.types("/output\r")
			d.want("echo $((40+2)) of mine", "42 of mine", "> ")
			d.types("/detach\r")
			d.want("works only on the full screen: a session in plain mode ends with its terminal", "> ")
			d.types("/theme\r")
			d.want("works only on the full screen: plain mode has no themes", "> ")
			d.types("/palette\r")
			d.want("works only on the full screen: in plain mode, /help lists", "> ")
			d.types("/doctor\r")
			d.want("✓ settings", "✓ state", "> ")
			d.types("/login openai sk-in-the-open\r")
			d.want("The key in the prompt was not saved.", "key for openai (not shown): ")
			d.types("sk-unseen-123\r")
			d.want("openai: key saved in", "/model openai switches to it", "> ")
			d.types("/logout openai\r")
			d.want("openai: logged out", "> ")
			d.types("/target nowhere\r")
			d.want(`unknown target "nowhere" (have: local)`, "> ")
			d.types("/quit\r")
			if all := d.ends(); strings.Contains(all, "sk-unseen-123") {
				t.Errorf("the key is on the screen:\n%q", all)
			}
			history, err := os.ReadFile(filepath.Join(d.work, "home/.local/state/buddy/history"))
			if err != nil || strings.Contains(string(history), "sk-") || !strings.Contains(string(history), "begun and") {
				t.Errorf("the history is %q, %v", history, err)
			}
			if text, err := os.ReadFile(filepath.Join(d.work, "kept.md")); err != nil || !strings.Contains(string(text), "seq 1 400") {
				t.Errorf("exported is %q, %v", text, err)
			}
		})
	}
}

// TestPlainLinesAhead: lines typed while the agent works are sent one after another, on any terminal.
func TestPlainLinesAhead(t *testing.T) {
	for _, terminal := range []string{"xterm-256color", "dumb"} {
		t.Run(terminal, func(t *testing.T) {
			d := converse(t, terminal, "--plain", "--approve", "all")
			d.want("> ")
			d.types("touch a.txt; sleep 1\r")
			d.want("▶ touch a.txt")
			d.types("first\r!echo $((40+2)) of mine\rsecond\r")
			d.want("It said:", `You said "first".`, "42 of mine", `You said "`, `second".`, "> ")
			d.types("\x04")
			d.ends()
		})
	}
}
