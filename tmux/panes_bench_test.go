package tmux_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"buddy/tmux"
)

// pictures records how old the newest line of each picture is. The line is the time at which it was printed.
type pictures struct {
	mu    sync.Mutex // guards the fields below
	count int
	ages  []time.Duration
	last  map[string]string
}

func (p *pictures) show(s tmux.Screen) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	line := ""
	for _, row := range slices.Backward(s.Rows) {
		if line = strings.TrimSpace(row); line != "" {
			break
		}
	}
	if line == p.last[s.Pane] {
		return
	}
	p.last[s.Pane] = line
	if sec, err := strconv.ParseFloat(line, 64); err == nil {
		p.ages = append(p.ages, now.Sub(time.Unix(0, int64(sec*1e9))))
	}
}

// cpu returns the CPU time of a process: this one, or by number.
func cpu(tb testing.TB, pid string) time.Duration {
	if pid == "" {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			tb.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		tb.Skip("no /proc")
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// BenchmarkWatch shows 1, 4 and 16 panes that print ten times a second each. Goals: 6 % of a core in total for 16,
// pictures at most 35 ms old (p95), the interval of the screen's frames.
func BenchmarkWatch(b *testing.B) {
	const printer = `for ((;;)); do printf '%s\n' "$EPOCHREALTIME"; read -rt 0.1 <> <(:); done`
	for _, n := range []int{1, 4, 16} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := newRig(b)
			seen := &pictures{last: map[string]string{}}
			r.opt.OnScreen = seen.show
			r.Session = tmux.New(r.opt)
			r.closeAtEnd()
			r.run("true")
			var ids []string
			for range n {
				ids = append(ids, r.srv.Tmux("new-window", "-d", "-n", "printer", "-P", "-F", "#{pane_id}", "-t", "=buddy-t:", "bash", "-c", printer))
			}
			server := r.srv.Tmux("display-message", "-p", "#{pid}")
			const alone = 3 * time.Second
			unwatched := cpu(b, server)
			time.Sleep(alone)
			unwatched = cpu(b, server) - unwatched
			r.Watch(ids)
			time.Sleep(time.Second)
			b.ReportAllocs()
			seen.mu.Lock()
			seen.ages, seen.count = nil, 0
			seen.mu.Unlock()
			self, tmuxs, began := cpu(b, ""), cpu(b, server), time.Now()
			for b.Loop() {
				time.Sleep(time.Second)
			}
			took := time.Since(began)
			percent := func(d time.Duration) float64 { return 100 * float64(d) / float64(took) }
			b.ReportMetric(percent(cpu(b, "")-self), "%cpu")
			b.ReportMetric(percent(cpu(b, server)-tmuxs), "%cpu-tmux")
			b.ReportMetric(100*unwatched.Seconds()/alone.Seconds(), "%cpu-tmux-unwatched")
			r.Watch(nil)
			seen.mu.Lock()
			defer seen.mu.Unlock()
			if len(seen.ages) == 0 {
				b.Fatal("no pictures")
			}
			slices.Sort(seen.ages)
			b.ReportMetric(float64(seen.count)/took.Seconds(), "pictures/s")
			b.ReportMetric(float64(seen.ages[len(seen.ages)/2].Microseconds())/1000, "median-ms")
			b.ReportMetric(float64(seen.ages[len(seen.ages)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}

// BenchmarkWatchFlood prints 50 MB of lines in a pane, unwatched and watched. Goal: at least 80 % of the speed.
func BenchmarkWatchFlood(b *testing.B) {
	r := newRig(b)
	r.opt.OnScreen = func(tmux.Screen) {}
	r.Session = tmux.New(r.opt)
	r.closeAtEnd()
	r.run("true")
	flood := func(watch bool) time.Duration {
		done := filepath.Join(r.dir, "done")
		_ = os.Remove(done)
		id := r.srv.Tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "=buddy-t:", "bash", "-c",
			"while [ ! -e "+done+".go ]; do sleep 0.01; done; yes 0123456789012345678901234567890123456 | head -c 50000000; touch "+done)
		r.Watch(nil)
		if watch {
			r.Watch([]string{id})
		}
		time.Sleep(200 * time.Millisecond)
		began := time.Now()
		if err := os.WriteFile(done+".go", nil, 0o600); err != nil {
			b.Fatal(err)
		}
		for ; ; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(done); err == nil {
				break
			}
		}
		took := time.Since(began)
		_ = os.Remove(done + ".go")
		return took
	}
	var alone, watched time.Duration
	for b.Loop() {
		alone += flood(false)
		watched += flood(true)
	}
	b.ReportMetric(100*float64(alone)/float64(watched), "%speed")
	b.ReportMetric(50*float64(b.N)/watched.Seconds(), "MB/s")
}
