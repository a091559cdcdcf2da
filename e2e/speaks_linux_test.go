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

// speaking is a script that sends the session requests which only its person may make, if requested with its own
// terminal. The output of each command is in $1.COMMAND.
const speaking = `cd "$(dirname "$0")"
id=$(basename .buddyx/sessions/*.jsonl .jsonl)
buddy ls >$1.ls 2>&1
buddy logs $id >$1.logs 2>&1
(while sleep 1; do echo y || exit; done) | timeout 60 script -qefc "buddy approve $id" /dev/null >$1.approve 2>&1
test $1 != person || until test -e made; do sleep 0.05; done
tail --pid=$$ -f /dev/null | timeout 60 script -qefc "buddy attach $id" /dev/null >$1.attach 2>&1 &
until grep -qe 1049h -e 'buddy runs' $1.attach; do sleep 0.05; done
kill $!
buddy stop $id >$1.stop 2>&1
echo $? >$1.done
`

// TestCommandsDoNotSpeakForTheirPerson: the socket of the session refuses requests from an approved make, in whatever
// way it detaches itself; it accepts the same commands from the person.
func TestCommandsDoNotSpeakForTheirPerson(t *testing.T) {
	for _, program := range []string{"make", "script", "setsid"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("needs ", program)
		}
	}
	t.Parallel()
	x := newTerminal(t, func(req modeltest.Request) modeltest.Answer {
		calls := 0
		for _, m := range req.Messages {
			if m.Role == model.Tool {
				calls++
			}
		}
		return modeltest.Answer{[]modeltest.Part{shellCall("c1", "make"), shellCall("c2", "mkdir made"), modeltest.Text("All is said.")}[min(calls, 2)]}
	})
	path, err := exec.LookPath("buddy")
	if err != nil {
		t.Fatal(err)
	}
	env := "env -i HOME=" + filepath.Join(x.srv.Dir, "home") + " TMUX_TMPDIR=" + x.srv.Dir + " PATH=" + filepath.Dir(path) + ":$$PATH TERM=xterm"
	makefile := "all:\n\tsh ./speak command\n\t(setsid " + env + " sh -c 'until test -e go; do sleep 0.05; done; exec sh ./speak detached' </dev/null >/dev/null 2>&1 &)\n"
	for name, text := range map[string]string{"speak": speaking, "Makefile": makefile} {
		if err := os.WriteFile(filepath.Join(x.work, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	said := func(who, what string) string {
		text, err := os.ReadFile(filepath.Join(x.work, who+"."+what))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	refused := func(who string) {
		t.Helper()
		tmuxtest.Until(t, who+" has spoken", func() bool { _, err := os.Stat(filepath.Join(x.work, who+".done")); return err == nil })
		for _, what := range []string{"ls", "logs", "approve", "attach", "stop"} {
			if text := said(who, what); !strings.Contains(text, "commands that buddy runs can't use its sessions") {
				t.Errorf("%s: buddy %s: %q", who, what, text)
			}
		}
		if said(who, "done") == "0\n" {
			t.Errorf("%s has stopped the session", who)
		}
	}

	x.send("build it")
	x.want("Run this command?")
	<-time.After(approvalGrace)
	x.keys("y")
	refused("command")
	x.want("mkdir made", "Run this command?")
	if err := os.WriteFile(filepath.Join(x.work, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused("detached")
	x.want("mkdir made", "Run this command?")
	if _, err := os.Stat(filepath.Join(x.work, "made")); err == nil {
		t.Error("the approval has been answered")
	}

	x.srv.Tmux("new-window", "-d", "-t", "t", "-c", x.work, strings.ReplaceAll(env, "$$", "$")+" sh ./speak person")
	x.want("ended 0")
	tmuxtest.Until(t, "the person has spoken", func() bool { _, err := os.Stat(filepath.Join(x.work, "person.done")); return err == nil })
	for what, want := range map[string]string{"ls": "waits for approval", "logs": "build it", "approve": "once: mkdir made", "attach": "\x1b[?1049h", "stop": "stopped", "done": "0\n"} {
		if text := said("person", what); !strings.Contains(text, want) {
			t.Errorf("a person: buddy %s: %q, want %q", what, text, want)
		}
	}
	if _, err := os.Stat(filepath.Join(x.work, "made")); err != nil {
		t.Error(err)
	}
}
