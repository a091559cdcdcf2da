package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/agent/model/modeltest"
	"buddy/sessions"
)

var (
	crashes   = flag.Int("crashes", 30, "how often TestCrash kills the program")
	crashSeed = flag.Uint64("crashseed", uint64(time.Now().UnixNano()), "which instants TestCrash picks")
)

const (
	crashSession = 10 // kills of one session
	crashCalls   = 3  // commands of one exchange
)

// TestCrash kills the program with -9 at any instant, resumes and checks: every printed event is in the session,
// because it is stored before anyone sees it; a strict server accepts every request; and no command ran twice.
func TestCrash(t *testing.T) {
	crash(t, *crashes, func(c *crasher) scene {
		c.serve(c.answer)
		return scene{c.run, c.check, func() {}}
	})
}

// TestCrashOfGoals does the same while each prompt is the text of a goal whose check fails once, with a todo list: a
// goal never ends twice, and the last goal is met.
func TestCrashOfGoals(t *testing.T) {
	crash(t, *crashes, func(c *crasher) scene {
		c.goals = true
		c.serve(c.answer)
		return scene{c.run, c.check, c.checkGoals}
	})
}

// scene holds what a crash test does with a crasher.
type scene struct {
	run   func(after time.Duration) // works in the session and kills the program after a time, 0 for never
	check func()                    // verifies the state after each run
	end   func()                    // verifies the state at the end
}

// crash kills the program so many times, in sessions of their own for every crashSession kills.
func crash(t *testing.T, times int, begin func(*crasher) scene) {
	if testing.Short() {
		t.Skip("kills the program many times")
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("needs tmux: ", err)
	}
	t.Logf("seed %d", *crashSeed)
	rng := rand.New(rand.NewPCG(*crashSeed, 1))
	for left := times; left > 0; left -= crashSession {
		c := newCrasher(t, rng)
		s := begin(c)
		s.run(0) // measures one run and leaves a session to resume
		for range min(left, crashSession) {
			s.run(time.Duration(rng.Int64N(int64(c.typical))))
			s.check()
		}
		s.run(0)
		s.check()
		s.end()
	}
}

// crasher holds a folder with sessions, and a model that calls commands in it.
type crasher struct {
	t       testing.TB
	rng     *rand.Rand
	work    string
	env     []string
	server  *modeltest.Server
	goals   bool                         // each prompt is the text of a goal
	typical time.Duration                // duration of a run without a kill
	printed map[string]map[uint64]string // types of printed durable events, by session

	mu    sync.Mutex // guards the fields below
	calls int
}

// newCrasher returns a crasher without a model; see serve.
func newCrasher(t testing.TB, rng *rand.Rand) *crasher {
	t.Helper()
	c := &crasher{t: t, rng: rng, work: t.TempDir(), printed: make(map[string]map[uint64]string)}
	run, err := os.MkdirTemp("", "b") // short, because the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(run, "tmux")
	t.Cleanup(func() {
		endTmux(socket, c.env)
		_ = os.RemoveAll(run)
	})
	home := filepath.Join(c.work, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); name != "TMUX" && name != "TMUX_PANE" && !strings.HasPrefix(name, "BUDDY_") {
			c.env = append(c.env, e)
		}
	}
	c.env = append(c.env, "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "XDG_STATE_HOME="+home+"/.local/state",
		"XDG_RUNTIME_DIR="+run, "TMUX_TMPDIR="+run, "BUDDY_TMUX_SOCKET="+socket)
	return c
}

// endTmux ends the tmux server at a socket, if there is one.
func endTmux(socket string, env []string) {
	// kill-server is not enough: tmux waits forever for clients whose program was killed.
	who := exec.Command("tmux", "-S", socket, "display-message", "-p", "#{pid}")
	who.Env = env
	out, _ := who.Output()
	if pid, err := strconv.Atoi(strings.TrimSpace(string(out))); err == nil && pid > 1 {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// serve starts the model and configures it.
func (c *crasher) serve(script modeltest.Script) {
	c.t.Helper()
	c.server = modeltest.Start(c.t, script)
	c.configure(c.server.URL)
}

// configure adds the model at a URL under the name test.
func (c *crasher) configure(url string) {
	c.t.Helper()
	conf := "[models.test]\napi_base_url = \"" + url + "\"\napi_key = \"\"\nmodel = \"test\"\ncontext_limit = 100000\n"
	if err := os.WriteFile(filepath.Join(c.work, "buddy.toml"), []byte(conf), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// answer calls commands, each of which records its run, and then answers slowly.
func (c *crasher) answer(req modeltest.Request) modeltest.Answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	results := 0
	for i := len(req.Messages) - 1; i >= 0 && req.Messages[i].Role != model.User; i-- {
		if req.Messages[i].Role == model.Tool {
			results++
		}
	}
	slow := modeltest.Chunks{Bytes: 3, Every: 2 * time.Millisecond}
	if results >= crashCalls {
		return modeltest.Answer{slow, modeltest.Text("All is done, and it took a while to say so.")}
	}
	var a modeltest.Answer
	a = append(a, slow, modeltest.Text("I will run it. "))
	if c.goals && results == 0 {
		list := fmt.Sprintf(`{"items":[{"state":"in_progress","text":"step %d"}]}`, c.calls)
		a = append(a, modeltest.Call{ID: fmt.Sprintf("list-%d", c.calls), Name: "todo", Arguments: list})
	}
	for range 1 + c.calls%2 {
		c.calls++
		command := fmt.Sprintf("echo run-%d >> ran; sleep 0.0%d; echo out-%d", c.calls, c.calls%6, c.calls)
		args, _ := json.Marshal(map[string]any{"command": command, "why": "to test", "risk": "low", "mutation": true, "privesc": false})
		a = append(a, modeltest.Call{ID: fmt.Sprintf("call-%d", c.calls), Name: "run_shell", Arguments: string(args)})
	}
	return a
}

// run answers one prompt and kills the program after a time, 0 for never.
func (c *crasher) run(after time.Duration) {
	c.t.Helper()
	args := []string{"exec", "--config", "buddy.toml", "--model", "test", "--approve", "all", "--json"}
	if len(c.files()) > 0 {
		args = append(args, "--resume", "last")
	}
	if c.goals {
		ran, _ := os.ReadFile(filepath.Join(c.work, "ran"))
		args = append(args, "--check", fmt.Sprintf("test $(wc -l <ran) -gt %d", bytes.Count(ran, []byte("\n"))+crashCalls))
	}
	cmd := exec.Command("buddy", append(args, "do it")...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = c.work, c.env, time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	limit := after
	if limit == 0 {
		limit = time.Minute // the program hangs
	}
	kill := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	kill.Stop()
	if after == 0 {
		c.typical = max(c.typical, time.Since(began))
		if err != nil && !strings.Contains(stderr.String(), "no session") {
			c.t.Fatalf("a run that was not killed: %v\n%s", err, stderr.String())
		}
	}
	c.remember(&stdout)
}

// remember records the printed events, which must be in the session whatever happens.
func (c *crasher) remember(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var env event.Envelope
		if json.Unmarshal(lines.Bytes(), &env) != nil || !event.Durable(env.Payload) {
			continue // cut off, or a delta
		}
		if c.printed[env.Session] == nil {
			c.printed[env.Session] = make(map[uint64]string)
		}
		c.printed[env.Session][env.Seq] = event.Type(env.Payload)
	}
}

func (c *crasher) files() []string {
	files, err := filepath.Glob(filepath.Join(c.work, ".buddyx/sessions/*.jsonl"))
	if err != nil {
		c.t.Fatal(err)
	}
	return files
}

// check verifies the state after a crash.
func (c *crasher) check() {
	c.t.Helper()
	for _, req := range c.server.Requests() {
		if req.Refused != nil {
			c.t.Fatalf("a request was refused: %v\n%s", req.Refused, req.Body)
		}
	}
	store := sessions.At(filepath.Join(c.work, ".buddyx", "sessions"))
	commands := make(map[string]int) // starts, by the line that the command writes
	for _, path := range c.files() {
		id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		part := c.load(store, id)
		stored := make(map[uint64]bool)
		asked := make(map[string]string)
		for _, env := range part.Events {
			stored[env.Seq] = true
			switch p := env.Payload.(type) {
			case event.ToolRequested:
				_, line, _ := strings.Cut(p.Action.Command, "echo ")
				asked[p.CallID], _, _ = strings.Cut(line, " ")
			case event.ToolStarted:
				commands[asked[p.CallID]]++
			}
		}
		for seq, kind := range c.printed[id] {
			if !stored[seq] {
				c.t.Fatalf("session %s: event %d, %s, was told and is missing\n%s", id, seq, kind, c.journals())
			}
		}
	}
	ran, err := os.ReadFile(filepath.Join(c.work, "ran"))
	if err != nil && !os.IsNotExist(err) {
		c.t.Fatal(err)
	}
	times := make(map[string]int)
	for line := range strings.Lines(string(ran)) {
		line = strings.TrimSpace(line)
		if times[line]++; times[line] > 1 {
			c.t.Fatalf("%s ran twice", line)
		}
		if commands[line] != 1 {
			c.t.Fatalf("%s ran, and was started %d times in the sessions\n%s", line, commands[line], c.journals())
		}
	}
}

// checkGoals verifies that each goal ended once, that checks failed, and that the last goal is met.
func (c *crasher) checkGoals() {
	c.t.Helper()
	store := sessions.At(filepath.Join(c.work, ".buddyx", "sessions"))
	for _, path := range c.files() {
		ended := make(map[int]event.GoalState)
		last, failed := 0, 0
		for _, env := range c.load(store, strings.TrimSuffix(filepath.Base(path), ".jsonl")).Events {
			switch p := env.Payload.(type) {
			case event.GoalSet:
				if p.ID != last+1 {
					c.t.Fatalf("goal %d follows goal %d", p.ID, last)
				}
				last = p.ID
			case event.GoalChecked:
				if !p.Met {
					failed++
				}
			case event.GoalChanged:
				if was := ended[p.ID]; was != "" {
					c.t.Fatalf("goal %d is %s after it was %s\n%s", p.ID, p.State, was, c.journals())
				}
				if p.State == event.GoalMet || p.State == event.GoalOff {
					ended[p.ID] = p.State
				}
			}
		}
		if failed == 0 || ended[last] != event.GoalMet {
			c.t.Fatalf("of %d goals, with %d failed checks, the last is %q\n%s", last, failed, ended[last], c.journals())
		}
	}
}

// load reads a session, which another process may have open.
func (c *crasher) load(store sessions.Store, id string) sessions.Part {
	c.t.Helper()
	j, err := store.View(id)
	if err != nil {
		c.t.Fatal(err)
	}
	defer j.Close() //nolint:errcheck // only read
	part, err := j.Load()
	if err != nil || len(part.Warnings) > 0 {
		c.t.Fatalf("session %s: %q, %v", id, part.Warnings, err)
	}
	return part
}

// journals returns the contents of the sessions, shortened.
func (c *crasher) journals() string {
	var all strings.Builder
	for _, path := range c.files() {
		text, err := os.ReadFile(path)
		if err != nil {
			return err.Error()
		}
		for line := range strings.Lines(string(text)) {
			fmt.Fprintf(&all, "%.400s\n", strings.TrimSpace(line))
		}
	}
	return all.String()
}
