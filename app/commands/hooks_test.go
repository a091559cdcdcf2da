package commands

import (
	"slices"
	"strings"
	"testing"
	"time"

	"buddy/agent/hooks"
	"buddy/app/compose"
	"buddy/app/slash"
)

// TestHookRows: a row says when a hook runs, whose it is and how it ran last.
func TestHookRows(t *testing.T) {
	mine := hooks.Handler{Event: hooks.PreToolUse, Matcher: "Bash", If: "Bash(git *)", Command: "./guard.sh\nexit", Outside: true, Line: 3, Origin: hooks.Origin{Source: hooks.Person, File: "/h/hooks.json"}}
	theirs := hooks.Handler{Event: hooks.Stop, Command: "true", Origin: hooks.Origin{Source: hooks.Project, File: "/w/.buddy/hooks.json", Part: "hook:Stop"}}
	for _, tt := range []struct {
		h    hooks.Listed
		want string
		more []string
	}{
		{hooks.Listed{Handler: mine}, "./guard.sh exit|PreToolUse Bash if Bash(git *)|person, hooks.json:3|not run yet", []string{"./guard.sh\nexit", "/h/hooks.json:3", "Runs outside the sandbox, even in auto mode (\"outside\": true)."}},
		{hooks.Listed{Handler: theirs, Ran: hooks.Run{Times: 1}, Passes: true}, "true|Stop|project, trusted as hook:Stop|running", []string{"/w/.buddy/hooks.json, trusted as hook:Stop", "Failures of this hook are ignored in this session."}},
		{hooks.Listed{Handler: theirs, Ran: hooks.Run{Times: 2, Outcome: "ok", Took: 1500 * time.Microsecond, Failure: "exit code 3"}}, "true|Stop|project, trusted as hook:Stop|ok in 2ms (2 runs); last failure: exit code 3", nil},
	} {
		r := hookRow(tt.h)
		if got := strings.Join(r.Cells, "|"); got != tt.want || slices.ContainsFunc(tt.more, func(s string) bool { return !slices.Contains(r.More, s) }) {
			t.Errorf("%s, want %s\n%q", got, tt.want, r.More)
		}
	}
	if a, b := hookRow(hooks.Listed{Handler: mine}), hookRow(hooks.Listed{Handler: theirs}); a.ID == b.ID {
		t.Errorf("two hooks have one id %s", a.ID)
	}
	if a, err := Run(t.Context(), here(), "hooks"); err != nil || !strings.Contains(a.String(), "No hooks") {
		t.Errorf("without hooks: %s, %v", a, err)
	}
}

// here is a session on this machine.
func here() *Session {
	return &Session{Program: &compose.Program{Setup: compose.Setup{Target: slash.ThisMachine}}}
}
