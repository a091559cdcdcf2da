package slash

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
)

func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		line, name, args string
		ok               bool
	}{
		{"/help", "help", "", true},
		{"/HELP", "help", "", true},
		{"/", "help", "", true},
		{"/q", "quit", "", true},
		{"/new", "clear", "", true},
		{"/resume", "session", "", true},
		{"/Resume 7f3a", "session", "resume 7f3a", true},
		{"/foo", "foo", "", true},
		{"/foo bar", "foo", "bar", true},
		{"/foo  bar  baz ", "foo", "bar  baz", true},
		{"/foo\tbar", "foo", "bar", true},
		{"/foo\nbar", "foo", "bar", true},
		{"/bg fix this\nand that", "bg", "fix this\nand that", true},
		{"/bg\nfix this", "bg", "fix this", true},
		{"/foo-bar_2 x", "foo-bar_2", "x", true},
		{"/foo?", "foo?", "", true},
		{"/foo, please", "foo,", "please", true},
		{"/größe", "größe", "", true},
		{"/tmp is full", "tmp", "is full", true}, // it may be a command as well; a blank in front sends it
		{"/etc/hosts is what?", "", "", false},
		{"/tmp/", "", "", false},
		{"/.bashrc is long", "", "", false},
		{"/vmlinuz.old is what?", "", "", false},
		{"//go:build linux", "", "", false},
		{"/* a comment */", "", "", false},
		{"/[a-z]+/ matches what?", "", "", false},
		{" /foo", "", "", false},
		{"a /foo", "", "", false},
		{"", "", "", false},
	} {
		name, args, ok := Split(tt.line)
		if name != tt.name || args != tt.args || ok != tt.ok {
			t.Errorf("Split(%q) = %q, %q, %v, want %q, %q, %v", tt.line, name, args, ok, tt.name, tt.args, tt.ok)
		}
	}
}

func TestShellLine(t *testing.T) {
	for line, want := range map[string]bool{
		"!ls -la": true, "! ls": true, "!!": true, "!": false, "! ": false, "!\n": false, " !ls": false, "ls !": false, "/bg !ls": false, "": false,
	} {
		if ShellLine(line) != want {
			t.Errorf("ShellLine(%q) is not %v", line, want)
		}
	}
}

func TestPrivate(t *testing.T) {
	for line, want := range map[string]bool{"/login openai sk-1": true, " /LOGIN a b": true, "/login openai": false, "login openai sk-1": false} {
		if Private(line) != want {
			t.Errorf("Private(%q) is not %v", line, want)
		}
	}
}

// What is typed becomes one command for the runtime, or says what is wrong with it.
func TestCommands(t *testing.T) {
	type read = func(string) (event.Command, error)
	for _, tt := range []struct {
		read read
		args string
		want event.Command
		err  string
	}{
		{Kill, "", event.Cancel{Only: true}, ""},
		{Kill, "#2", event.Cancel{Task: 2}, ""},
		{Kill, "0", nil, `"0" is not a task's number`},
		{SetTimeout, "10m", event.SetTimeout{Duration: 10 * time.Minute}, ""},
		{SetTimeout, "30s #3", event.SetTimeout{Task: 3, Duration: 30 * time.Second}, ""},
		{SetTimeout, "soon", nil, `"soon"`},
		{SetTimeout, "30s x", nil, `"x" is not a task's number`},
		{Approve, "plan", event.SetMode{Mode: action.ModePlan}, ""},
		{Approve, "edits 1h", event.SetMode{Mode: action.ModeEdits, Duration: time.Hour}, ""},
		{Approve, "10m", event.SetMode{Mode: action.ModeAll, Duration: 10 * time.Minute}, ""},
		{Approve, "", nil, "/approve needs a mode: ask, "},
		{Approve, "maybe", nil, `unknown mode "maybe"`},
		{Pin(false), "", event.Pin{Back: 1}, ""},
		{Pin(true), "3", event.Pin{Back: 3, Off: true}, ""},
		{Pin(false), "-1", nil, `"-1" is not an exchange's number (1 is the last)`},
		{Compact, "", event.Compact{}, ""},
		{Compact, "keep the ports", event.Compact{Instructions: "keep the ports"}, ""},
		{Compact, strings.Repeat("x", 4001), nil, "4001 bytes"},
	} {
		got, err := tt.read(tt.args)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q: error %v, want %q", tt.args, err, tt.err)
			}
			continue
		}
		if err != nil || fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", tt.want) {
			t.Errorf("%q: %#v, %v, want %#v", tt.args, got, err, tt.want)
		}
	}
}

func TestReply(t *testing.T) {
	q := event.QuestionAsked{ID: "q1", Choices: []string{"red", "blue"}}
	for text, want := range map[string]string{"2": "blue", " 1 ": "red", "3": "3", "green": "green", "0": "0"} {
		if got := Reply(q, text); got.ID != "q1" || got.Text != want {
			t.Errorf("Reply(%q) = %+v, want %q", text, got, want)
		}
	}
}

// TestNamesOfCommands: a name may have a colon, and no slash.
func TestNamesOfCommands(t *testing.T) {
	for line, want := range map[string]string{"/git:pr 7": "git:pr", "/a::b": "a::b", "/etc/hosts": "", "/time: now?": "time:"} {
		if name, _, _ := Split(line); name != want {
			t.Errorf("%q is %q, want %q", line, name, want)
		}
	}
}

// Hooks of the end are told why a person left.
func TestReasonOfLeaving(t *testing.T) {
	for want, n := range map[string]Next{"clear": {Again: true}, "resume": {Again: true, Resume: "x"}, "prompt_input_exit": {}} {
		if got := n.Reason(); got != want {
			t.Errorf("%+v: %s", n, got)
		}
	}
}
