package tmux_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"buddy/tmux"
	"buddy/tmux/tmuxtest"
)

// console starts a program that reads the terminal, in its own pane.
func (r *rig) console(command string) *tmux.Running {
	r.t.Helper()
	run := r.start(tmux.Spec{Own: true, Title: "console", Command: "exec </dev/tty >/dev/tty 2>&1\n" + command})
	r.t.Cleanup(func() { run.Cancel(); <-run.Done() })
	return run
}

func (r *rig) shows(pane, text string) {
	r.t.Helper()
	tmuxtest.Until(r.t, "the pane shows "+text, func() bool {
		_, got, err := r.Capture(context.Background(), pane, tmux.View{Join: true})
		return err == nil && strings.Contains(got, text)
	})
}

// TestTyping: text, keys and bytes reach only the program in the pane.
func TestTyping(t *testing.T) {
	owns(t, true, func(t *testing.T, _ testTarget, r *rig) {
		pane := r.console("echo ready; while IFS= read -r line; do echo \"got <$line>\"; done; echo the end; exec sleep 100").Pane()
		r.shows(pane, "ready")
		r.srv.Tmux("copy-mode", "-t", pane) // as if a person read its history
		if _, err := r.Keys(t.Context(), pane, "a; b #{x} \"q\" $HOME -l ünï", []string{"Enter"}); err != nil {
			t.Fatal(err)
		}
		r.shows(pane, `got <a; b #{x} "q" $HOME -l ünï>`)
		if err := r.Type(t.Context(), pane, []byte("byte\x7fs\r")); err != nil {
			t.Fatal(err)
		}
		r.shows(pane, "got <byts>")
		if p, err := r.Keys(t.Context(), pane, "", []string{"C-d"}); err != nil || p.Title != "console" {
			t.Errorf("pane %+v, error %v", p, err)
		}
		r.shows(pane, "the end")
		if _, err := r.Keys(t.Context(), pane, "x", []string{"Ctrl-C"}); err == nil || !strings.Contains(err.Error(), `key "Ctrl-C" is unknown`) {
			t.Errorf("error %v", err)
		}
		if _, err := r.Keys(t.Context(), pane, strings.Repeat("x", tmux.TypeMax+1), nil); err == nil {
			t.Error("too much was typed")
		}
	})
}

// TestPaste: a paste is marked if the program asked for it, and its newlines become Enter. Pictures have the program's
// mode of the arrow keys.
func TestPaste(t *testing.T) {
	owns(t, true, func(t *testing.T, _ testTarget, r *rig) {
		pane := r.console("stty raw -echo; printf '\\033[?2004h\\033[?1hbegin'; echo -now; exec cat -v").Pane()
		r.shows(pane, "begin-now")
		text := "a \\ $HOME; \"q\"\n" + strings.Repeat("x", 20<<10) + "\nünd\x00 end"
		if err := r.Paste(t.Context(), pane, text); err != nil {
			t.Fatal(err)
		}
		r.shows(pane, "M-CM-<nd end^[[201~")
		rows, err := r.History(t.Context(), pane)
		if got := strings.ReplaceAll(strings.Join(rows, ""), "^M", ""); err != nil || !strings.Contains(got, `^[[200~a \ $HOME; "q"xxx`) || strings.Count(got, "x") < 20<<10 {
			t.Errorf("history of %d rows, %v: %.200q", len(rows), err, got)
		}
		if err := r.Paste(t.Context(), pane, strings.Repeat("x", tmux.PasteMax+1)); err == nil || strings.Contains(err.Error(), "xxx") {
			t.Errorf("too much was pasted: %v", err)
		}
		if out := r.srv.Tmux("list-buffers"); strings.Contains(out, "buddy-paste") {
			t.Errorf("the paste stays in a buffer: %s", out)
		}
	})
}

// TestKill: the pane closes at once, its command ends, and one event reports it.
func TestKill(t *testing.T) {
	owns(t, true, func(t *testing.T, _ testTarget, r *rig) {
		run := r.start(tmux.Spec{Own: true, Command: "echo begun; sleep 100"})
		if err := r.Kill(t.Context(), run.Pane()); err != nil {
			t.Fatal(err)
		}
		if ids := r.panes(); len(ids) != 1 {
			t.Errorf("panes %v", ids)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if res, err := run.Wait(ctx); err == nil && res.ExitCode == 0 || err != nil && !errors.Is(err, tmux.ErrLost) {
			t.Errorf("end %+v, %v", res, err)
		}
		r.wait(r.start(tmux.Spec{Own: true, Command: "true"}))
		tmuxtest.Until(t, "both are told to be closed", func() bool { return strings.Count(r.kinds(), "closed") == 2 })
		if k := r.kinds(); strings.Contains(k, "lost") {
			t.Errorf("events %q", k)
		}
	})
}

// TestForeignPanes: a pane that a person opened in our session is left alone.
func TestForeignPanes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if _, err := r.Keys(t.Context(), "", "x", nil); err == nil || !strings.Contains(err.Error(), "no pane yet") {
		t.Errorf("before the first command: %v", err)
	}
	r.run("true")
	theirs := r.srv.Tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "=buddy-t:", "sh")
	if ids := r.panes(); len(ids) != 1 {
		t.Errorf("panes %v", ids)
	}
	for _, id := range []string{theirs, "%99", "; kill-server"} {
		_, _, err := r.Capture(t.Context(), id, tmux.View{})
		_, keyErr := r.Keys(t.Context(), id, "exit", []string{"Enter"})
		for _, err := range []error{err, keyErr, r.Kill(t.Context(), id), r.Type(t.Context(), id, []byte("x"))} {
			if !errors.Is(err, tmux.ErrNoPane) || !strings.Contains(err.Error(), r.Pane()+" (shared)") {
				t.Errorf("pane %s: error %v", id, err)
			}
		}
	}
	r.srv.Tmux("kill-pane", "-t", theirs)
}

// TestCapture: history, joined lines and colours.
func TestCapture(t *testing.T) {
	owns(t, true, func(t *testing.T, _ testTarget, r *rig) {
		r.run("seq 100; printf '\\033[31mred\\033[m'; printf '%0130d\\n' 7")
		r.shows("", "\n100\n")
		get := func(v tmux.View) string {
			t.Helper()
			_, text, err := r.Capture(t.Context(), "shared", v)
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		screen := get(tmux.View{})
		if strings.Contains(screen, "\n5\n") || strings.Contains(screen, "\x1b") || strings.Contains(screen, strings.Repeat("0", 126)) {
			t.Errorf("screen:\n%s", screen)
		}
		if all := get(tmux.View{Start: "-"}); !strings.Contains(all, "\n1\n2\n") || !strings.Contains(all, "red") {
			t.Errorf("history:\n%s", all)
		}
		if joined := get(tmux.View{Join: true}); !strings.Contains(joined, strings.Repeat("0", 126)) {
			t.Errorf("joined:\n%s", joined)
		}
		if coloured := get(tmux.View{Escapes: true}); !strings.Contains(coloured, "\x1b[31mred") {
			t.Errorf("coloured:\n%s", coloured)
		}
		if octal := get(tmux.View{Escapes: true, Octal: true}); !strings.Contains(octal, `\033[31mred`) || strings.Contains(octal, "\x1b") {
			t.Errorf("octal:\n%s", octal)
		}
		r.run("printf 'blanks   \\n'")
		r.shows("", "\nblanks")
		if spaces := get(tmux.View{Spaces: true}); !strings.Contains(spaces, "blanks   \n") {
			t.Errorf("with the blanks:\n%s", spaces)
		}
		if _, _, err := r.Capture(t.Context(), "", tmux.View{Other: true}); !errors.Is(err, tmux.ErrNoOther) {
			t.Errorf("without another screen: %v", err)
		}
		own := r.console("printf 'main screen\\n\\033[?1049hfu''ll screen'; sleep 100").Pane()
		r.shows(own, "full screen")
		if _, text, err := r.Capture(t.Context(), own, tmux.View{Other: true}); err != nil || !strings.Contains(text, "main screen") || strings.Contains(text, "full screen") {
			t.Errorf("the other screen (%v):\n%s", err, text)
		}
		if _, _, err := r.Capture(t.Context(), "", tmux.View{Start: "1; kill-server"}); err == nil {
			t.Error("a line that is no number was accepted")
		}
	})
}

// TestFit: a pane has the size of a view only while nobody is attached.
func TestFit(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.run("true")
	size := func() string {
		return r.srv.Tmux("display-message", "-p", "-t", r.Pane(), "#{pane_width}x#{pane_height}")
	}
	if did, err := r.Fit(t.Context(), "", 70, 20); !did || err != nil || size() != "70x20" {
		t.Errorf("Fit = %v, %v; size %s", did, err, size())
	}
	if did, err := r.Fit(t.Context(), "", 0, 0); !did || err != nil || size() != "120x40" {
		t.Errorf("Fit back = %v, %v; size %s", did, err, size())
	}
	if _, err := r.Fit(t.Context(), "", 0, 20); err == nil {
		t.Error("no size was accepted")
	}
	// A terminal for the person: another tmux.
	person := tmuxtest.New(t)
	person.Tmux("new-session", "-d", "-x", "90", "-y", "31", "env", "-u", "TMUX", "tmux", "-S", r.srv.Socket, "attach", "-t", "=buddy-t")
	tmuxtest.Until(t, "the pane has the size of the person's terminal", func() bool { return size() == "90x30" })
	if did, err := r.Fit(t.Context(), "", 70, 20); did || err != nil || size() != "90x30" {
		t.Errorf("attached: Fit = %v, %v; size %s", did, err, size())
	}
}

func TestCheckKey(t *testing.T) {
	for _, name := range []string{"C-c", "Up", "M-S-Left", "F12", "a", ";", "-", "Enter", "C-M-x", "BSpace"} {
		if err := tmux.CheckKey(name); err != nil {
			t.Errorf("CheckKey(%q) = %v", name, err)
		}
	}
	for _, name := range []string{"", "ab", "C-", "F13", "Enter Enter", "\n", "C-C-C-C-c", "-l", "é"} {
		if tmux.CheckKey(name) == nil {
			t.Errorf("CheckKey(%q) accepts it", name)
		}
	}
}

// TestKeyNames: tmux knows every name that CheckKey allows, so that none is typed as text.
func TestKeyNames(t *testing.T) {
	t.Parallel()
	srv := tmuxtest.New(t)
	srv.Tmux("new-session", "-d", "sh")
	names := strings.Fields("Up Down Left Right Home End PageUp PageDown PgUp PgDn PPage NPage Enter Escape Tab BTab Space BSpace Delete DC Insert IC F1 F12 C-c M-x S-Up ; -")
	for _, n := range names {
		cmd := exec.Command("tmux", "-S", srv.Socket, "bind-key", "-T", "root", "--", strings.Replace(n, ";", "\\;", 1), "refresh-client")
		cmd.Env = append(os.Environ(), "TMUX=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("tmux does not know %q: %s", n, out)
		}
	}
}

// TestSessions: the session can be opened before a command, once; only unused sessions with our marks can be closed.
func TestSessions(t *testing.T) {
	owns(t, true, func(t *testing.T, _ testTarget, r *rig) {
		p, created, err := r.Open(t.Context())
		if err != nil || !created || !p.Shared || p.ID != r.Pane() {
			t.Fatalf("Open = %+v, %v, %v", p, created, err)
		}
		if again, created, err := r.Open(t.Context()); err != nil || created || again.ID != p.ID {
			t.Errorf("again: %+v, %v, %v", again, created, err)
		}
		r.want("echo $((1+1))", "2\n")
		for _, c := range []struct{ name, mark string }{{"left", "1"}, {"theirs", ""}, {"used", "1"}} {
			r.srv.Tmux("new-session", "-d", "-s", c.name, "sleep 1000")
			if c.mark != "" {
				r.srv.Tmux("set-option", "-t", "="+c.name+":", "@buddy_managed", "1", ";", "set-option", "-t", "="+c.name+":", "@buddy_owner", "buddy")
			}
		}
		stop := r.srv.Attach("used")
		tmuxtest.Until(t, "somebody is attached", func() bool { return r.srv.Tmux("list-clients", "-t", "=used") != "" })
		if left, err := r.AbandonedSessions(t.Context()); err != nil || !slices.Equal(left, []string{"left"}) {
			t.Errorf("AbandonedSessions = %v, %v", left, err)
		}
		for _, name := range []string{"", "default", r.Name()} {
			if err := r.KillSession(t.Context(), name); err == nil || !strings.Contains(err.Error(), "cannot be closed") {
				t.Errorf("KillSession(%q) = %v", name, err)
			}
		}
		for _, name := range []string{"theirs", "used", "lef", "nothing", "left; kill-server"} {
			if err := r.KillSession(t.Context(), name); !errors.Is(err, tmux.ErrNoSession) || !strings.Contains(err.Error(), "have: left") {
				t.Errorf("KillSession(%q) = %v", name, err)
			}
		}
		if err := r.KillSession(t.Context(), "left"); err != nil {
			t.Error(err)
		}
		stop()
		if got := r.srv.Tmux("list-sessions", "-F", "#{session_name}"); strings.Contains(got, "left") || !strings.Contains(got, "theirs") || !strings.Contains(got, "used") {
			t.Errorf("sessions %q", got)
		}
	})
}
