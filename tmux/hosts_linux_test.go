package tmux_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"buddy/tmux"
	"buddy/tmux/pane"
	"buddy/tmux/pane/fence"
)

// fencedRig is a rig whose commands run in the workspace sandbox and may ask for hosts.
func fencedRig(t *testing.T, make func(testing.TB) *rig) *rig {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	r := make(t)
	work := filepath.Join(r.dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	r.opt.Fence, r.opt.Cwd = &fence.Settings{Work: []string{work}, Asks: true}, work
	if err := tmux.Fences(r.opt); err != nil {
		t.Skip(err)
	}
	return r
}

// TestHostsOfAFencedCommand: the client decides through the supervisor, once for each host. After an approval the name
// is looked up, which fails for every name below invalid.
func TestHostsOfAFencedCommand(t *testing.T) {
	t.Parallel()
	r := fencedRig(t, newRig)
	r.Session = tmux.New(r.opt)
	t.Cleanup(func() { _, _ = r.Close(t.Context()) })
	asked := make(chan string, 20)
	decide := func(h pane.Host) error {
		asked <- h.Name + ":" + h.Port
		switch h.Name {
		case "good.invalid":
			return nil
		case "nobody.invalid":
			return fence.ErrNobody
		}
		return errors.New("the user said no")
	}
	const get = "for h in good bad nobody; do curl -s -m 20 http://$h.invalid/; done; curl -s -m 20 http://bad.invalid/"
	run := func(hosts func(pane.Host) error) string {
		r.n++
		cmd, err := r.Start(t.Context(), tmux.Spec{Dir: filepath.Join(r.dir, "c"+string(rune('0'+r.n))), Command: get, Fenced: true, Hosts: hosts})
		if err != nil {
			t.Fatal(err)
		}
		res, err := cmd.Wait(t.Context())
		if err != nil || !res.Fenced {
			t.Fatalf("%+v, %v", res, err)
		}
		return string(res.Stdout.Head) + string(res.Stderr.Head)
	}
	const refused = `" is not among allow_hosts of [sandbox]`
	out := run(decide)
	want := "buddy: \"bad.invalid" + refused + "; the user said no\nbuddy: \"nobody.invalid" + refused + "\nbuddy: \"bad.invalid" + refused + "; the user said no\n"
	if !strings.HasPrefix(out, "buddy: lookup good.invalid") || !strings.HasSuffix(out, want) {
		t.Errorf("it got %q", out)
	}
	close(asked)
	var all []string
	for host := range asked {
		all = append(all, host)
	}
	if got := strings.Join(all, " "); got != "good.invalid:80 bad.invalid:80 nobody.invalid:80" {
		t.Errorf("asked about %q", got)
	}
	if out := run(nil); strings.Count(out, refused+"\n") != 4 {
		t.Errorf("without anybody who decides it got %q", out)
	}
}

// TestHostsOfACommandThatIsTakenOver: a question that the earlier process has not answered counts as denied.
func TestHostsOfACommandThatIsTakenOver(t *testing.T) {
	t.Parallel()
	r := fencedRig(t, newRig)
	first := tmux.New(r.opt)
	t.Cleanup(func() { _, _ = first.Close(context.Background()) })
	asked, over := make(chan struct{}), make(chan struct{})
	dir := filepath.Join(r.dir, "c")
	_, err := first.Start(t.Context(), tmux.Spec{Dir: dir, Command: "curl -s -m 20 http://good.invalid/", Fenced: true, Hosts: func(pane.Host) error {
		close(asked)
		<-over
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer close(over)
	<-asked
	second := tmux.New(r.opt)
	t.Cleanup(func() { _, _ = second.Close(context.Background()) })
	cmd, err := second.Reattach(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := cmd.Wait(t.Context())
	if out := string(res.Stdout.Head); err != nil || out != "buddy: \"good.invalid\" is not among allow_hosts of [sandbox]\n" {
		t.Errorf("it got %q, %v", out, err)
	}
}
