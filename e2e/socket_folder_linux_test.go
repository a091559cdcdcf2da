package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/model/modeltest"
	"buddy/tmux/tmuxtest"
)

// TestSocketFolderRemoved: a host creates its socket again when the socket's folder is removed or moved, and is found
// from an environment with another folder for sockets, so that its session never gets a second host.
func TestSocketFolderRemoved(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	x := newTerminal(t, func(req modeltest.Request) modeltest.Answer {
		if strings.Contains(promptIn(lastMessage(req).Content), "wait") {
			return modeltest.Answer{modeltest.Text("It begins"), modeltest.Until(release), modeltest.Text(" and it ends.")}
		}
		return echoes(req)
	})
	x.send("first prompt")
	x.want("You said: first prompt.")
	x.rests()
	x.send("wait for it")
	x.want("It begins")
	host, id := x.hostPID(), x.session()
	sockets := filepath.Join(x.srv.Dir, fmt.Sprintf("buddy-%d", os.Getuid()))
	if err := os.RemoveAll(sockets); err != nil {
		t.Fatal(err)
	}
	x.another("ls", "ls").want(id, "working", "ended 0")
	second := x.another("second", "attach "+id)
	second.want("first prompt", "It begins")
	if err := os.Rename(sockets, sockets+"-away"); err != nil {
		t.Fatal(err)
	}
	third := x.another("third", "resume "+id)
	third.want("first prompt", "It begins")
	close(release)
	for _, w := range []window{second, third} {
		w.want("and it ends.")
	}
	x.want("and it ends.")

	elsewhere := filepath.Join(x.srv.Dir, "e")
	if err := os.Mkdir(elsewhere, 0o700); err != nil {
		t.Fatal(err)
	}
	x.srv.Tmux("set-environment", "-g", "TMUX_TMPDIR", elsewhere)
	x.another("ls2", "ls").want(id, "ended 0")
	fourth := x.another("fourth", "resume "+id)
	fourth.want("first prompt", "and it ends.")
	fourth.rests()
	fourth.keys("-l", "second prompt")
	fourth.want("> second prompt")
	fourth.keys("Enter")
	x.want("You said: second prompt.")
	if now := x.hostPID(); now != host {
		t.Errorf("process %d runs it, %d did", now, host)
	}
	if folders, _ := filepath.Glob(filepath.Join(elsewhere, "*", "host-*")); len(folders) > 0 {
		t.Errorf("the session has a second host: %q", folders)
	}
	x.another("stop", "stop "+id).want("stopped "+id, "ended 0")
	tmuxtest.Until(t, "the host ends", func() bool { return x.hostPID() == 0 })
	if notes, _ := filepath.Glob(filepath.Join(x.work, ".buddyx/sessions/*.host")); len(notes) > 0 {
		t.Errorf("what names the host is left: %q", notes)
	}
}
