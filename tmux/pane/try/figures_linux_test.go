//go:build amd64 || arm64

package try

import (
	"fmt"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// spent returns the processor time of this process and its children.
func spent() (all time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		_ = syscall.Getrusage(who, &u)
		all += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return all
}

// BenchmarkSed measures a command without a sandbox, its try and its keeping, in turn; the least of all rounds counts.
func BenchmarkSed(b *testing.B) {
	for _, n := range []int{200, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := newPlace(b, b.TempDir())
			p.many(n)
			least := map[string]time.Duration{}
			measure := func(name string, do func()) {
				cpu, began := spent(), time.Now()
				do()
				for name, d := range map[string]time.Duration{"ms-" + name: time.Since(began), "cpu-ms-" + name: spent() - cpu} {
					if old, ok := least[name]; !ok || d < old {
						least[name] = d
					}
				}
			}
			from, to := "foo", "bar"
			for b.Loop() {
				line := fmt.Sprintf("find . -name '*.txt' -print0 | xargs -0 sed -i s/%s/%s/", from, to)
				from, to = to, from
				var r *Result
				measure("tried", func() { r = p.run(Limits{}, line) })
				if len(r.Changes) != n {
					b.Fatalf("%d changes", len(r.Changes))
				}
				measure("kept", func() { p.keep(r) })
				measure("discarded", func() {
					if err := r.Discard(); err != nil {
						b.Fatal(err)
					}
				})
				if d, ok := least["ms-command"]; !ok || r.Took < d {
					least["ms-command"] = r.Took
				}
				measure("plain", func() {
					cmd := exec.Command("bash", "-c", fmt.Sprintf("find . -name '*.txt' -print0 | xargs -0 sed -i s/%s/%s/", from, to))
					cmd.Dir = p.work
					if out, err := cmd.CombinedOutput(); err != nil {
						b.Fatalf("%v %s", err, out)
					}
				})
				from, to = to, from
			}
			for name, d := range least {
				b.ReportMetric(float64(d.Microseconds())/1000, name)
			}
		})
	}
}
