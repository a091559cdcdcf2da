package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/adrg/xdg"

	"buddy/app/apptest"
	"buddy/sessions"
	"buddy/tmux/tmuxtest"
)

var growthTurns = flag.Int("growth", 0, "how many turns of five calls TestGrowth works; 2000 have 100 MB of output")

const (
	tooled          = `"tools":[{` // in requests that are not for a summary or a title
	turnsOfExchange = 20
	callsOfTurn     = 5
	warmUp          = 5 // exchanges until caches are full and the context was made smaller for the first time
)

// busyModel answers over HTTP like a model that works on prompts: twenty answers with five calls each, then one that
// ends the exchange. It keeps nothing of the requests.
type busyModel struct {
	answers, calls atomic.Int64
	ended          chan struct{} // receives at the end of each exchange
}

func (m *busyModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := func(delta map[string]any, finish string) {
		choice := map[string]any{"delta": delta}
		if finish != "" {
			choice["finish_reason"] = finish
		}
		text, _ := json.Marshal(map[string]any{"choices": []any{choice}})
		_, _ = fmt.Fprintf(w, "data: %s\n\n", text)
	}
	finish := "stop"
	if calls := m.next(body); calls == nil {
		chunk(map[string]any{"content": "I looked at the **numbers** again; they are as they were."}, "")
		if bytes.Contains(body, []byte(tooled)) {
			defer func() { m.ended <- struct{}{} }()
		}
	} else {
		chunk(map[string]any{"tool_calls": calls}, "")
		finish = "tool_calls"
	}
	chunk(map[string]any{}, finish)
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// next returns the calls of an answer, nil for a summary, a title or the end of an exchange.
func (m *busyModel) next(request []byte) (calls []any) {
	if !bytes.Contains(request, []byte(tooled)) || m.answers.Add(1)%(turnsOfExchange+1) == 0 {
		return nil
	}
	for i := range callsOfTurn {
		n := m.calls.Add(1)
		name, args := "run_shell", map[string]any{"command": fmt.Sprintf("seq %d %d", 1_000_000+n, 1_002_100+n)} // 16,808 bytes
		switch i {
		case 1:
			name, args = "write_file", map[string]any{"path": fmt.Sprintf("note%d.txt", n%100), "content": fmt.Sprintf("note %d\n", n)}
		case 3:
			name, args = "read_file", map[string]any{"path": fmt.Sprintf("note%d.txt", (n-2)%100)}
		}
		text, _ := json.Marshal(args)
		calls = append(calls, map[string]any{"index": i, "id": fmt.Sprintf("call%d", n), "type": "function", "function": map[string]any{"name": name, "arguments": string(text)}})
	}
	return calls
}

// lived holds the memory of a session at a moment, and the duration of its last turns.
type lived struct {
	turns        int           // turns so far
	screen, host int64         // bytes of the two processes, at rest
	each         time.Duration // the median time of a turn, in the last tenth of the exchanges
}

// TestGrowth works in a session for a long time: neither the duration of a turn nor the memory of the two processes
// grows. The model is scripted; everything else is real: the program on a terminal, the protocol, commands in tmux,
// files, the session's file, the shortening of the context.
func TestGrowth(t *testing.T) {
	if *growthTurns == 0 {
		t.Skip("takes minutes; -growth says how long, as make counterparts ONLY=growth does")
	}
	m := &busyModel{ended: make(chan struct{}, 1)}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	d := newDialog(t, "xterm-256color")
	settings := fmt.Sprintf("[agent]\nmodel = \"busy\"\n[models.busy]\napi_base_url = %q\napi_key = \"\"\nmodel = \"busy\"\ncontext_limit = 200000\n", server.URL+"/v1")
	if err := os.WriteFile(filepath.Join(d.work, "home/.config/buddy/buddy.toml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	d.start("--approve", "all")
	d.want("Enter")
	exchanges := *growthTurns/turnsOfExchange + warmUp
	tenth := max(1, (exchanges-warmUp)/10)
	var took []time.Duration
	var table []lived
	for n := range exchanges {
		took = append(took, d.exchange(m, fmt.Sprintf("prompt %d.", n))/turnsOfExchange)
		done := n + 1 - warmUp
		if done > 0 && done%tenth == 0 {
			l := d.weigh()
			last := slices.Sorted(slices.Values(took[len(took)-tenth:]))
			l.turns, l.each = (n+1)*turnsOfExchange, last[len(last)/2]
			table = append(table, l)
		}
	}
	d.judge(table, exchanges)
	d.types("/find prompt 1.")
	time.Sleep(pasteGap)
	d.forget()
	began := time.Now()
	d.types("\r")
	d.want("prompt 1.")
	t.Logf("the second prompt was found in %s", time.Since(began))
}

// pasteGap exceeds the time in which an Enter counts as pasted.
const pasteGap = 300 * time.Millisecond

// exchange types a prompt and returns the time until the model and the session have finished.
func (d *dialog) exchange(m *busyModel, prompt string) time.Duration {
	d.t.Helper()
	d.forget()
	d.types(prompt)
	time.Sleep(pasteGap)
	began := time.Now()
	d.types("\r")
	select {
	case <-m.ended:
	case <-time.After(10 * plainLimit):
		d.t.Fatalf("%s: the exchange did not end", prompt)
	}
	return time.Since(began)
}

// forget drops the program's output so far.
func (d *dialog) forget() {
	d.mu.Lock()
	d.text.Reset()
	d.seen = 0
	d.mu.Unlock()
}

// weigh waits until both processes are idle, and returns their memory.
func (d *dialog) weigh() lived {
	d.t.Helper()
	pids := []int{d.cmd.Process.Pid, d.hostPID()}
	var worked int64
	for same := 0; same < 8; same++ { // half seconds
		time.Sleep(500 * time.Millisecond)
		if now := ticks(d.t, pids[0]) + ticks(d.t, pids[1]); now > worked+2 {
			same, worked = 0, now
		}
	}
	return lived{screen: pss(d.t, pids[0]), host: pss(d.t, pids[1])}
}

// hostPID returns the process that runs the session, once it exists.
func (d *dialog) hostPID() (pid int) {
	d.t.Helper()
	tmuxtest.Until(d.t, "a process has the session", func() bool {
		files, _ := filepath.Glob(filepath.Join(d.work, ".buddyx/sessions/*.pid"))
		for _, file := range files {
			text, _ := os.ReadFile(file) // it may have been removed
			pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		return pid != 0
	})
	return pid
}

// pss returns the bytes of memory of a process, with its share of shared memory.
func pss(t testing.TB, pid int) int64 { return memory(t, pid, "smaps_rollup", "Pss:") }

// peak returns the maximum bytes of memory that a process has used.
func peak(t testing.TB, pid int) int64 { return memory(t, pid, "status", "VmHWM:") }

// memory returns the bytes that a file in /proc states for a process under a name.
func memory(t testing.TB, pid int, file, name string) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name {
			kb, _ := strconv.ParseInt(fields[1], 10, 64)
			return kb << 10
		}
	}
	t.Fatalf("no %s in %q", name, text)
	return 0
}

// ticks returns the processor time of a process, in hundredths of a second.
func ticks(t testing.TB, pid int) (n int64) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	for _, field := range fields[11:13] { // in user mode and in the kernel
		used, _ := strconv.ParseInt(field, 10, 64)
		n += used
	}
	return n
}

// worked counts the results in the session's file, and the bytes of all output.
func (d *dialog) worked() (results int, size int64) {
	d.t.Helper()
	files, _ := filepath.Glob(filepath.Join(d.work, ".buddyx/sessions/*.jsonl"))
	if len(files) != 1 {
		d.t.Fatalf("session files %q, want one", files)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		d.t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var env struct {
			Type    string
			Payload struct {
				Result     string
				FullOutput struct{ Bytes int64 } `json:"full_output"`
			}
		}
		if err := json.Unmarshal(line, &env); err == nil && env.Type == "tool.result" {
			results++
			size += max(int64(len(env.Payload.Result)), env.Payload.FullOutput.Bytes)
		}
	}
	return results, size
}

// judge prints the table, and fails if its end is worse than its beginning.
func (d *dialog) judge(table []lived, exchanges int) {
	t := d.t
	t.Helper()
	results, size := d.worked()
	if want := exchanges * turnsOfExchange * callsOfTurn; results != want {
		t.Errorf("%d results of calls, want %d", results, want)
	}
	var text strings.Builder
	const mb = 1 << 20
	for _, l := range table {
		fmt.Fprintf(&text, "%8d %12.1f %10.1f %10.1f\n", l.turns, float64(l.each.Microseconds())/1000, float64(l.screen)/mb, float64(l.host)/mb)
	}
	t.Logf("%d calls, %d MB of output\n%8s %12s %10s %10s\n%s", results, size/mb, "turns", "ms per turn", "screen MB", "host MB", text.String())
	first, last := table[0], table[len(table)-1]
	if float64(last.each) > 1.5*float64(first.each) {
		t.Errorf("a turn took %s at the end, %s at the beginning", last.each, first.each)
	}
	for _, grown := range []struct {
		what     string
		from, to int64
	}{{"the screen", first.screen, last.screen}, {"the host", first.host, last.host}} {
		if grown.to-grown.from > 8*mb {
			t.Errorf("%s grew from %d to %d MB", grown.what, grown.from/mb, grown.to/mb)
		}
	}
}

// TestLargeSession resumes a stored session of 500 MB, finds its first prompt, and searches all sessions: its end is
// shown as quickly as that of a short one, and the memory of the processes does not grow with its size, except while
// the whole conversation is displayed.
func TestLargeSession(t *testing.T) {
	if *growthTurns == 0 {
		t.Skip("writes 500 MB; make counterparts ONLY=growth does")
	}
	d := newDialog(t, "xterm-256color")
	d.start("--version")
	d.ends()
	t.Setenv("XDG_STATE_HOME", filepath.Join(d.work, "home/.local/state"))
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	store, _, err := sessions.Dir(d.work, sessions.Automatic)
	if err != nil {
		t.Fatal(err)
	}
	const exchanges = 25_000
	id := apptest.StoredSession(t, store, exchanges, 20<<10)
	info, err := os.Stat(filepath.Join(store.Path(), id+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	screen := d.another("resume", id)
	screen.want(fmt.Sprintf("prompt %d", exchanges))
	first := time.Since(began)
	l := screen.weigh()
	const mb = 1 << 20
	t.Logf("%d MB: first frame after %s, the screen holds %d MB (%d at the most), the host %d (%d)", info.Size()/mb, first,
		l.screen/mb, peak(t, screen.cmd.Process.Pid)/mb, l.host/mb, peak(t, screen.hostPID())/mb)
	if l.screen > 40*mb || l.host > 80*mb || peak(t, screen.cmd.Process.Pid) > 100*mb {
		t.Error("want at most 40 MB in the screen, 100 at any time, and 80 in the host")
	}
	screen.types("/find prompt 1:")
	time.Sleep(pasteGap)
	screen.forget()
	began = time.Now()
	screen.types("\r")
	screen.want("searching")
	screen.want("1 of 1")
	t.Logf("found its first prompt after %s; then the screen has held %d MB at the most", time.Since(began), peak(t, screen.cmd.Process.Pid)/mb)

	search := d.another("sessions", "search", "prompt 24999")
	began = time.Now()
	search.ends()
	t.Logf("searched from outside in %s, with %d MB at the most", time.Since(began), search.cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss/1024)
}
