package e2e

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/adrg/xdg"

	"buddy/app/apptest"
	"buddy/app/host"
	"buddy/sessions"
)

// BenchmarkAttach measures how long a person waits to attach to a running session and to detach from it: from the start
// of the program until the text is on the terminal, and from the hang-up until the program has ended. Medians of real
// processes; CPU is the screen's from its start to its end.
func BenchmarkAttach(b *testing.B) {
	b.Run("100000-blocks", func(b *testing.B) {
		d := converse(b, "xterm-256color", "--version")
		d.ends()
		b.Setenv("XDG_STATE_HOME", filepath.Join(d.work, "home/.local/state"))
		xdg.Reload()
		b.Cleanup(xdg.Reload)
		store, _, err := sessions.Dir(d.work, sessions.Automatic)
		if err != nil {
			b.Fatal(err)
		}
		id := apptest.StoredSession(b, store, 25_000, 1<<10)
		first := d.another("resume", id)
		first.want("prompt 25000", "25000") // the second is the answer
		benchAttach(b, first, id, "25000")
	})
	b.Run("mid-answer", func(b *testing.B) {
		d := converse(b, "xterm-256color")
		d.want("Enter")
		d.types("stream")
		time.Sleep(300 * time.Millisecond) // as long as a person takes; an immediate Enter would count as pasted
		d.types("\r")
		d.want("a word a word")
		benchAttach(b, d, d.session(), "a word")
	})
}

// benchAttach attaches to a session that already has a screen, and stops the session at the end.
func benchAttach(b *testing.B, open *dialog, id, text string) {
	b.Helper()
	for deadline := time.Now().Add(plainLimit); ; time.Sleep(50 * time.Millisecond) { // a real process, which may read for long
		running := exec.Command("buddy", "ls")
		running.Dir, running.Env = open.work, open.cmd.Env
		if out, err := running.Output(); err == nil && strings.Contains(string(out), host.Short(id)) {
			break
		}
		if time.Now().After(deadline) {
			b.Fatal("no process runs the session")
		}
	}
	defer open.stop()
	var attach, detach, cpu []time.Duration
	for b.Loop() {
		began := time.Now()
		d := open.another("attach", id)
		d.want(text)
		attach = append(attach, time.Since(began))
		time.Sleep(200 * time.Millisecond) // a person looks at it
		began = time.Now()
		if err := d.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			b.Fatal(err)
		}
		_ = d.code() // the exit code of a hang-up
		detach = append(detach, time.Since(began))
		cpu = append(cpu, d.cmd.ProcessState.UserTime()+d.cmd.ProcessState.SystemTime())
	}
	for name, times := range map[string][]time.Duration{"attach-ms": attach, "detach-ms": detach, "cpu-ms": cpu} {
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, name)
	}
}
