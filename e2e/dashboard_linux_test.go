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

// detached starts a session without a screen in a folder of its own, next to the program on the screen.
func (x *terminal) detached(name, prompt string) (work string) {
	x.t.Helper()
	work = filepath.Join(x.srv.Dir, name)
	if err := os.Mkdir(work, 0o700); err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(func() { endHosts(work) })
	path, err := exec.LookPath("buddy")
	if err != nil {
		x.t.Fatal(err)
	}
	started := filepath.Join(x.srv.Dir, name+".started")
	x.srv.Tmux("new-window", "-d", "-t", "t:", "-c", work, "env -u TMUX -u TMUX_PANE '"+path+"' --config '"+filepath.Join(x.srv.Dir, "buddy.toml")+
		"' exec --detach --approve ask '"+prompt+"' && touch '"+started+"'")
	tmuxtest.Until(x.t, name+" has started", func() bool { return exists(started) })
	return work
}

// The dashboard on the screen of one session answers the approvals of others in the ordinary dialog, stops one, and
// attaches to one.
func TestDashboardOfOtherSessions(t *testing.T) {
	t.Parallel()
	x := newTerminal(t, func(req modeltest.Request) modeltest.Answer {
		if lastMessage(req).Role == model.Tool {
			return modeltest.Answer{modeltest.Text("The folder is there.")}
		}
		_, folder, _ := strings.Cut(lastOf(req, model.User), "make the folder ")
		return modeltest.Answer{shellCall("c1", "mkdir "+strings.TrimSpace(folder))}
	})
	first := x.detached("first", "make the folder a1")
	second := x.detached("second", "make the folder b2")

	x.keys("F7")
	x.want("waiting for you", "approve mkdir a1", "approve mkdir b2")
	answer := func(folder, key string) {
		t.Helper()
		x.filter(folder) // sessions of other tests are in the list, too
		x.keys("a")
		x.want("Run this command?", "in make the folder "+folder)
		<-time.After(approvalGrace)
		x.keys(key)
		x.gone("Run this command?")
		x.gone("approve mkdir " + folder)
	}
	answer("a1", "y")
	tmuxtest.Until(t, "the approved command has run", func() bool { return exists(filepath.Join(first, "a1")) })
	answer("b2", "n")
	if exists(filepath.Join(second, "b2")) {
		t.Error("the denied command ran")
	}
	x.keys("x")
	x.want("It stays saved.")
	x.keys("y")
	x.want("stopped make the folder b2")
	x.filter("a1")
	x.keys("Enter") // attaches
	x.want("The folder is there.", "F1 help")
	x.quit() // a screen would start its killed host again
}

// filter shows one session in the dashboard, and gives the keys to the list.
func (x *terminal) filter(text string) {
	x.t.Helper()
	x.keys("/")
	x.gone("a answer") // the filter has the keys; what arrives with the slash is a paste
	x.srv.Tmux("send-keys", "-t", "t", "-l", "make the folder "+text)
	x.want("> make the folder " + text)
	x.keys("Tab")
	x.want("a answer")
}
