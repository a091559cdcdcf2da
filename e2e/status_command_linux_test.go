package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStatusCommand: a status_command of the person shows its first line, follows the session and the settings, can
// write nothing and changes nothing else on the terminal.
func TestStatusCommand(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, echoes)
	own := filepath.Join(x.srv.Dir, "buddy.toml")
	conf, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(x.srv.Dir, "line.sh")
	use := func(settings, text string) {
		t.Helper()
		if err := os.WriteFile(script, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil { //nolint:gosec // a script
			t.Fatal(err)
		}
		if err := os.WriteFile(own, append(bytes.Clone(conf), "[ui]\nstatus_command = \""+script+" "+settings...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const writes = `(: >written) 2>/dev/null && echo wrote || echo nothing written`
	use("1\"\n", `sed 's/.*"display_name":"\([^"]*\)".*"mode":"\([^"]*\)".*/model \1, mode \2/'`)
	x.want("model test, mode ask")
	x.keys("BTab")
	x.want("model test, mode edits")
	x.send("hello")
	x.wantText("You said: hello.")
	x.rests()

	use("2\"\n", writes)
	x.want("nothing written")
	use("3\"\nstatus_sandbox = false\n", writes)
	x.want("wrote")
	if _, err := os.Stat(filepath.Join(x.work, "written")); err != nil {
		t.Error(err)
	}

	use("4\"\n", `printf '\033]0;stolen\007\033[3;3H\033[35mhere\033[0m\033[2J safe\nsecond line\n'`)
	x.want("here safe", "You said: hello.")
	x.gone("second line")
	if written := x.written(); bytes.Contains(written, []byte("stolen")) || !bytes.Contains(written, []byte("here")) {
		t.Error("the terminal got the sequences of the command")
	}

	use("5\"\n", "echo line; echo broken >&2; exit 3")
	x.wantText("status_command failed: exit code 3: broken")
	x.gone("here safe")
	x.keys("BTab")
	x.want("auto · sandbox")
	x.send("/statusline")
	x.want("in the read-only sandbox", "failed: exit code 3: broken", `"hook_event_name": "Status"`)
	x.keys("Escape")
	x.gone("read-only sandbox")
	if n := strings.Count(x.screen(), "status_command failed"); n != 1 {
		t.Errorf("the failure shows %d times", n)
	}
	x.quit()
}
