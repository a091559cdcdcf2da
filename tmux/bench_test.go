package tmux_test

import (
	"io"
	"os/exec"
	"slices"
	"testing"
	"time"

	"buddy/tmux"
	"buddy/tmux/host/hosttest"
)

// BenchmarkCommand runs one command from Start to its result. Goals, as medians: 5 ms in a pane of this machine, 90 ms
// in a container, 60 ms over ssh beyond one `ssh host true` (BenchmarkRun in package host).
func BenchmarkCommand(b *testing.B) {
	b.Run("tmux", func(b *testing.B) { benchCommand(b, newRig(b)) })
	b.Run("plain", func(b *testing.B) { benchCommand(b, newPlainRig(b)) })
	b.Run("sh", func(b *testing.B) { benchCommand(b, newShRig(b)) })
	b.Run("ssh", func(b *testing.B) { benchCommand(b, newSSHRig(b)) })
	b.Run("container", func(b *testing.B) { benchCommand(b, newContainerRig(b, hosttest.Bash)) })
	b.Run("bash-only", func(b *testing.B) {
		var took []time.Duration
		for b.Loop() {
			at := time.Now()
			if err := exec.Command("bash", "-c", "true").Run(); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(at))
		}
		reportMedian(b, took)
	})
}

// BenchmarkOwn runs one command in its own pane, from Start to its result.
func BenchmarkOwn(b *testing.B) {
	r := newRig(b)
	r.run("true")
	var took []time.Duration
	for b.Loop() {
		at := time.Now()
		r.wait(r.start(tmux.Spec{Own: true, Command: "true"}))
		took = append(took, time.Since(at))
	}
	reportMedian(b, took)
}

func benchCommand(b *testing.B, r *rig) {
	r.run("cd /tmp; export X=1; f() { echo f; }")
	b.ReportAllocs()
	var took []time.Duration
	for b.Loop() {
		at := time.Now()
		if res := r.run("true"); res.ExitCode != 0 {
			b.Fatal(res)
		}
		took = append(took, time.Since(at))
	}
	reportMedian(b, took)
}

func reportMedian(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
}

// BenchmarkFlood compares 100 MB of output with a plain pipe.
func BenchmarkFlood(b *testing.B) {
	const flood = "yes 0123456789012345678901234567890123456 | head -c 100000000"
	for _, bc := range []struct {
		name string
		rig  func(testing.TB) *rig
	}{{"tmux", newRig}, {"plain", newPlainRig}} {
		b.Run(bc.name, func(b *testing.B) {
			r := bc.rig(b)
			r.run("true")
			b.SetBytes(100000000)
			for b.Loop() {
				r.wait(r.start(tmux.Spec{Command: flood, Output: func(string, []byte, int64) {}}))
			}
		})
	}
	b.Run("pipe", func(b *testing.B) {
		b.SetBytes(100000000)
		for b.Loop() {
			cmd := exec.Command("bash", "-c", flood)
			out, err := cmd.StdoutPipe()
			if err != nil {
				b.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, out); err != nil {
				b.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
