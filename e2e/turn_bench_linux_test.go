package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"buddy/agent/model"
	"buddy/agent/model/modeltest"
)

// BenchmarkToolTurn measures a turn with one command in a real pane: from the model's answer to the next request, which
// contains the command's result. Goals, as medians on an idle machine: 5 ms, in the read-only sandbox 5.5 ms. The model
// thinks for a moment before each answer, as every model does: work done meanwhile counts for the CPU only. CPU and
// switches between threads are those of `buddy exec`, without its supervisor; noise reduces the switches.
func BenchmarkToolTurn(b *testing.B) {
	const (
		turns  = 50
		thinks = 20 * time.Millisecond
	)
	for _, bc := range []struct{ name, command string }{
		{"sandboxed", "echo turn-%d"},
		{"approved", "echo turn-%d; : >made"},
	} {
		b.Run(bc.name, func(b *testing.B) {
			var asked, answered []time.Time
			c := newCrasher(b, rand.New(rand.NewPCG(1, 1)))
			script := modeltest.New(func(r modeltest.Request) modeltest.Answer {
				time.Sleep(thinks)
				defer func() { answered = append(answered, time.Now()) }()
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
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = append(asked, time.Now()) // before the server reads and checks it
				script.ServeHTTP(w, r)
			}))
			b.Cleanup(server.Close)
			c.configure(server.URL + "/v1")
			var took []time.Duration
			var cpu time.Duration
			var switches int64
			for b.Loop() {
				asked, answered = nil, nil
				cmd := exec.Command("buddy", "exec", "--config", "buddy.toml", "--model", "test", "--approve", "all", "go")
				cmd.Dir, cmd.Env = c.work, c.env
				if out, err := cmd.CombinedOutput(); err != nil || len(asked) != turns+1 {
					b.Fatalf("%d requests, %v\n%s", len(asked), err, out)
				}
				for i, at := range asked[1:] {
					took = append(took, at.Sub(answered[i]))
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
