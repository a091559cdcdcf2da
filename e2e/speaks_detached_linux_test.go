package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"buddy/agent/model"
	"buddy/agent/model/modeltest"
	"buddy/tmux/tmuxtest"
)

// detaching is a script that tries to act as the person without a supervisor above it. The result of each way is in a
// file with its name.
const detaching = `cd "$(dirname "$0")"
(while sleep 0.3; do echo y || exit; done) | timeout 20 script -qefc 'buddy trust' /dev/null >trust 2>&1
buddy config set agent.mode all >config 2>&1
buddy exec --approve all 'touch made' >exec 2>&1
tmux -S "$BUDDY_TMUX_SOCKET" run-shell 'session-peer >run-shell.part 2>&1; mv run-shell.part run-shell'
setsid sh -c 'until test -e next; do sleep 0.05; done; session-peer >daemon.part; mv daemon.part daemon' </dev/null >/dev/null 2>&1 &
p=$$
until tr '\0' ' ' <"/proc/$p/cmdline" | grep -q ' pane '; do p=$(cut -d ' ' -f 4 "/proc/$p/stat"); done
setsid sh -c "kill -9 $p; sleep 0.2; session-peer >killed.part 2>&1; mv killed.part killed" </dev/null >/dev/null 2>&1 &
sleep 60
`

// TestWhatDetachesItselfIsNoPerson: processes that an approved command starts below the tmux server, leaves behind when
// it kills its supervisor, or that outlive the session, can't set a mode of this session or the next one; nor can they
// trust, change settings or start a session that asks nobody. A person in a terminal can.
func TestWhatDetachesItselfIsNoPerson(t *testing.T) {
	for _, program := range []string{"script", "setsid"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("needs ", program)
		}
	}
	t.Parallel()
	x := newTerminal(t, func(req modeltest.Request) modeltest.Answer {
		if req.Messages[len(req.Messages)-1].Role == model.Tool {
			return modeltest.Answer{modeltest.Text("All is said.")}
		}
		return modeltest.Answer{shellCall("c1", "sh ./detach")}
	})
	if err := os.WriteFile(filepath.Join(x.work, "detach"), []byte("export TMUX_TMPDIR="+x.srv.Dir+"\n"+detaching), 0o600); err != nil {
		t.Fatal(err)
	}
	want := func(what, text string) {
		t.Helper()
		var got []byte
		defer func() {
			if t.Failed() {
				t.Logf("%s: %q, want %q", what, got, text)
			}
		}()
		tmuxtest.Until(t, what, func() bool { // it is written piece by piece
			got, _ = os.ReadFile(filepath.Join(x.work, what))
			return strings.Contains(string(got), text)
		})
	}
	x.send("go")
	x.want("Run this command?")
	<-time.After(approvalGrace)
	x.keys("y")
	for _, what := range []string{"trust", "config", "exec"} {
		want(what, "a person in their own terminal can")
	}
	want("run-shell", "this terminal belongs to the tmux server")
	want("killed", "refused: commands that buddy runs")
	x.want("All is said.")
	if _, err := os.Stat(filepath.Join(x.work, "made")); err == nil {
		t.Error("a command made a session that asks nobody")
	}

	// The supervisor and the processes below it are gone; the session ends as well.
	x.keys("C-c")
	x.keys("C-c")
	x.want("ended 0")
	const person = "cd $W; export TMUX_TMPDIR=$D; env -u TMUX -u TMUX_PANE buddy config set agent.mode ask >person.config 2>&1 && echo done >>person.config; "
	at := strings.NewReplacer("$W", x.work, "$D", x.srv.Dir, "$F", filepath.Join(x.srv.Dir, "buddy.toml"))
	x.srv.Tmux("respawn-pane", "-k", "-t", "t", at.Replace(person+"exec env -u TMUX -u TMUX_PANE TMUX_TMPDIR=$D buddy --config $F"))
	want("person.config", "done")
	x.want("● test")
	if err := os.WriteFile(filepath.Join(x.work, "next"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	want("daemon", "watches")
	if screen := x.srv.Tmux("capture-pane", "-p", "-t", "t"); strings.Contains(screen, "another screen") {
		t.Errorf("the daemon changed the mode:\n%s", screen)
	}
	x.srv.Tmux("new-window", "-d", "-t", "t", "-c", x.work, at.Replace("TMUX_TMPDIR=$D session-peer >person.part; mv person.part person"))
	want("person", "speaks")
	x.want("mode all, set on another screen (pts/")
}
