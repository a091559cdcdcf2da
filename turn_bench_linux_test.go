package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"buddy/agent/model"
	"buddy/agent/model/modeltest"
)

// BenchmarkToolTurn is a turn with one command in a real pane: from one request to the next, which has the result of
// the command in it. Goals, as medians on a machine that does nothing else: 5 ms, in the read-only sandbox 5.5 ms. CPU
// and switches between threads are those of `buddy exec`, without its supervisor; of switches noise makes few.
func BenchmarkToolTurn(b *testing.B) {
	const turns = 50
	for _, bc := range []struct{ name, command string }{
		{"sandboxed", "echo turn-%d"},
		{"approved", "echo turn-%d; : >made"},
	} {
		b.Run(bc.name, func(b *testing.B) {
			var asked []time.Time
			c := newCrasher(b, rand.New(rand.NewPCG(1, 1)))
			c.serve(func(r modeltest.Request) modeltest.Answer {
				asked = append(asked, time.Now())
				n := 0
				for _, m := range r.Messages {
					if m.Role == model.Tool {
						n++
					}
				}
				if n%turns == 0 && n > 0 {
					return modeltest.Answer{modeltest.Text("done")}
				}
				args, _ := json.Marshal(map[string]string{"command": fmt.Sprintf(bc.command, n)})
				return modeltest.Answer{modeltest.Call{ID: fmt.Sprint("c", n), Name: "run_shell", Arguments: string(args)}}
			})
			var took []time.Duration
			var cpu time.Duration
			var switches int64
			for b.Loop() {
				asked = nil
				cmd := exec.Command("buddy", "exec", "--config", "buddy.toml", "--model", "test", "--approve", "all", "go")
				cmd.Dir, cmd.Env = c.work, c.env
				if out, err := cmd.CombinedOutput(); err != nil || len(asked) != turns+1 {
					b.Fatalf("%d requests, %v\n%s", len(asked), err, out)
				}
				for i, at := range asked[1:] {
					took = append(took, at.Sub(asked[i]))
				}
				u := cmd.ProcessState.SysUsage().(*syscall.Rusage)
				cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
				switches += u.Nvcsw + u.Nivcsw
			}
			slices.Sort(took)
			for name, at := range map[string]int{"least-ms/turn": 0, "p10-ms/turn": len(took) / 10, "median-ms/turn": len(took) / 2} {
				b.ReportMetric(float64(took[at].Microseconds())/1000, name)
			}
			b.ReportMetric(float64(cpu.Microseconds())/1000/float64(len(took)), "cpu-ms/turn")
			b.ReportMetric(float64(switches)/float64(len(took)), "switches/turn")
		})
	}
}
