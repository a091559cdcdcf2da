package compose

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/adrg/xdg"

	"buddy/agent/action"
	"buddy/app/apptest"
	"buddy/config"
	"buddy/tmux/host/hosttest"
)

// A command is explained as a session on the same target would judge it, in the configured folder.
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
		e, err := Explained(&Options{Place: Place{Targets: []string{"web"}}, Config: file, Approve: action.ModeAsk}, "cat "+path)
		if err != nil || e.Verdict.Decision != want {
			t.Errorf("%s: %v because %q, %v; want %v", path, e.Verdict.Decision, e.Verdict.Reason, err, want)
		}
	}
}

// Files with buddy's keys and the state folder are protected where a session may read everything else: from commands
// without approval, and in mode "all".
func TestOwnKeysOfASession(t *testing.T) {
	home := apptest.Home(t)
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	key := write("plain/name", "sk-x\n")
	write("plain/other", "x\n")
	settings := write("conf/mine.toml", fmt.Sprintf("[models.m]\napi_base_url = \"https://example.com/v1\"\napi_key_file = %q\n", key))
	t.Chdir(home)
	state := filepath.Join(xdg.StateHome, "buddy", "key")
	for _, mode := range []action.Mode{action.ModeAsk, action.ModeAll} {
		for command, want := range map[string]action.Decision{
			"base64 plain/name": action.Ask, "cat conf/mine.toml": action.Ask, "base64 " + key: action.Ask, "xxd " + state: action.Ask, "cat " + config.Auth().Path(): action.Ask,
			"cd plain && cat name": action.Ask, "cat plain/other": action.Allow,
		} {
			e, err := Explained(&Options{Config: settings, Approve: mode}, command)
			if err != nil {
				t.Fatal(err)
			}
			if e.Verdict.Decision != want {
				t.Errorf("mode %s, %s: %s because %q", mode, command, e.Verdict.Decision, e.Verdict.Reason)
			}
		}
	}
}
