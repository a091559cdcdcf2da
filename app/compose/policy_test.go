package compose

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"buddy/agent/action"
	"buddy/app/apptest"
	"buddy/tmux/host/hosttest"
)

// A command is explained as the session would judge it that begins on the same target: in the
// folder that the configuration names.
func TestExplainWorksWhereASessionWould(t *testing.T) {
	home := apptest.Home(t)
	s := hosttest.NewSSHD(t, "")
	file := filepath.Join(home, "c.toml")
	text := fmt.Sprintf("[targets.web]\nssh = %q\nssh_config = %q\ncwd = %q\n", s.Dest, s.Config, s.Dir)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]action.Decision{dir + "/x": action.Allow, "/etc/passwd": action.Ask} {
		e, err := Explained(&Options{Config: file, Targets: []string{"web"}, Approve: action.ModeAsk}, "cat "+path)
		if err != nil || e.Verdict.Decision != want {
			t.Errorf("%s: %v because %q, %v; want %v", path, e.Verdict.Decision, e.Verdict.Reason, err, want)
		}
	}
}
