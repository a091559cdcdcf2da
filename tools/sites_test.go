package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/tmux"
	"buddy/tmux/host"
	"buddy/tmux/host/hosttest"
	"buddy/tmux/tmuxtest"
	"buddy/tools/web"
)

// testSites are targets of a test, made when they are needed first.
type testSites struct {
	names []string
	make  map[string]func() (*Site, error)

	mu      sync.Mutex // guards what follows
	current string
	open    map[string]*Site
}

func (s *testSites) Names() []string { return s.names }

func (s *testSites) Current() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

func (s *testSites) Open(_ context.Context, name string) (*Site, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[name] != nil {
		return s.open[name], nil
	}
	site, err := s.make[name]()
	if err == nil {
		s.open[name] = site
	}
	return site, err
}

// seat is a place for commands and files of a target.
type seat struct {
	t     testing.TB
	srv   *hosttest.SSHD // nil: this machine
	name  string
	dir   string
	files *Workspace
	o     tmux.Options
}

// newSeat returns a seat on an ssh server; nil is this machine.
func newSeat(t testing.TB, srv *hosttest.SSHD, name string) *seat {
	t.Helper()
	s := &seat{t: t, srv: srv, name: name, dir: tmuxtest.Dir(t)}
	s.o = tmux.Options{Session: "t-" + name, Cwd: s.dir}
	files, err := NewWorkspace(s.dir, dotEnv)
	if err != nil {
		t.Fatal(err)
	}
	if s.files = files; srv == nil {
		local := tmuxtest.New(t)
		s.o.Socket, s.o.Exe, s.o.Env = local.Socket, os.Args[0], local.Env
		return s
	}
	t.Cleanup(func() { // what a test left running on purpose
		kill := exec.Command("tmux", "-L", "buddy", "kill-server")
		kill.Env = tmuxtest.Env(srv.Dir)
		_ = kill.Run() // it may have ended
	})
	s.connect()
	return s
}

// connect makes the connection of a process; that of another before ends.
func (s *seat) connect() {
	if s.srv == nil {
		return
	}
	if s.o.Host != nil {
		_ = s.o.Host.Close()
	}
	s.o.Host = s.srv.Host(s.t)
	s.files = NewTargetWorkspace(s.o.Host, s.name, s.files.Root(), dotEnv)
}

// shell returns the shell of a process, beside that of the first target unless it is nil.
func (s *seat) shell(first *RunShell) *RunShell {
	panes, plain := tmux.New(s.o), tmux.NewPlain(s.o)
	s.t.Cleanup(func() {
		for _, p := range []*tmux.Session{panes, plain} {
			if _, err := p.Close(context.Background()); err != nil {
				s.t.Error(err)
			}
		}
	})
	shell := NewRunShell(panes, plain, s.name, s.dir, func(text string) { s.t.Errorf("%s: %s", s.name, text) })
	if first != nil {
		shell.Beside(first)
	}
	return shell
}

// process returns the sites of a process, and its tools.
func process(names []string, seats map[string]*seat) (*testSites, *Registry) {
	local := seats["local"]
	shell := local.shell(nil)
	sites := &testSites{names: names, current: "local", open: map[string]*Site{"local": NewSite(shell, local.files)}, make: map[string]func() (*Site, error){}}
	for name, s := range seats {
		sites.make[name] = func() (*Site, error) { return NewSite(s.shell(shell), s.files), nil }
	}
	sites.make["down"] = func() (*Site, error) {
		return nil, &host.DownError{Host: "down", Why: "connection refused", Next: "start it"}
	}
	return sites, NewRegistry(DefaultOn(sites, shell, local.files, web.NewClient(web.Options{}), nil)...)
}

var threeNames = []string{"local", "web-01", "web-02", "down"}

func threeSeats(t testing.TB) map[string]*seat {
	seats := map[string]*seat{"local": newSeat(t, nil, "local")}
	for _, name := range []string{"web-01", "web-02"} {
		seats[name] = newSeat(t, hosttest.NewSSHD(t, ""), name)
	}
	return seats
}

// threeSites are this machine, two real ssh servers and one that is down.
func threeSites(t testing.TB) (sites *testSites, tools *Registry, dirs map[string]string) {
	t.Helper()
	seats := threeSeats(t)
	dirs = map[string]string{}
	for name, s := range seats {
		dirs[name] = s.dir
	}
	sites, tools = process(threeNames, seats)
	return sites, tools, dirs
}

// do plans and runs a call as the runtime does.
func do(t testing.TB, r *Registry, name string, args map[string]any, more ...func(*Call)) (action.Action, Result) {
	t.Helper()
	tool, err := r.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	if name == "run_shell" {
		for k, v := range map[string]any{"why": "a test", "risk": "low", "mutation": false, "privesc": false} {
			args[k] = v
		}
	}
	args["why"] = "a test"
	call := Call{ID: "c", Name: name, Arguments: string(compact(args)), Dir: filepath.Join(t.TempDir(), "out")}
	for _, m := range more {
		m(&call)
	}
	if call.Planned, err = tool.Plan(call); err != nil {
		return call.Planned, failure(err)
	}
	ctx := context.Background()
	return call.Planned, tool.Run(ctx, call)
}

// sitesPayload is what the model reads of a command on several targets.
type sitesPayload struct {
	Failed  []string
	Targets []struct {
		Target string
		Error  string
		Result shellResult
	}
}

func sitesOf(t testing.TB, r Result) sitesPayload {
	t.Helper()
	var p sitesPayload
	if err := json.Unmarshal(resultOf(r.Content), &p); err != nil {
		t.Fatalf("%s: %v", r.Content, err)
	}
	return p
}

// TestSites: a call works on the target that it names, with the folder, panes and files of
// that one, and else on the current one.
func TestSites(t *testing.T) {
	sites, r, dirs := threeSites(t)
	act, res := do(t, r, "run_shell", map[string]any{"command": "pwd; echo ${SSH_CONNECTION:+over ssh}", "target": "web-01"})
	if act.Target != "web-01" || act.Cwd != dirs["web-01"] || len(act.Places) > 0 || act.Command == "" {
		t.Errorf("action %+v", act)
	}
	if p := payload(t, res); !strings.HasSuffix(p.Stdout, "over ssh\n") || p.ExitCode != 0 {
		t.Errorf("on web-01: %+v", p)
	}
	if len(sites.open) != 2 {
		t.Errorf("%d targets were reached for, want that which was named", len(sites.open)-1)
	}
	act, res = do(t, r, "run_shell", map[string]any{"command": "echo ${SSH_CONNECTION:-here}"})
	if p := payload(t, res); act.Target != "local" || p.Stdout != "here\n" {
		t.Errorf("without a name: %+v, %+v", act, p)
	}
	act, res = do(t, r, "write_file", map[string]any{"path": "x.txt", "content": "there", "target": "web-02"})
	if act.Target != "web-02" || act.Path != filepath.Join(dirs["web-02"], "x.txt") || res.IsError {
		t.Errorf("%+v: %s", act, res.Content)
	}
	if b, err := os.ReadFile(filepath.Join(dirs["web-02"], "x.txt")); err != nil || string(b) != "there" {
		t.Errorf("the file has %q, %v", b, err)
	}
	sites.current = "web-02"
	if act, res = do(t, r, "read_file", map[string]any{"path": "x.txt"}); act.Target != "web-02" || !strings.Contains(res.Content, "there") {
		t.Errorf("on the current one: %+v: %s", act, res.Content)
	}
	for _, tt := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"path": "x", "target": "db"}, `"db" is none of this session (have: local, web-01, web-02, down)`},
		{map[string]any{"path": "x", "target": 3}, "target: expected string"},
		{map[string]any{"path": "x", "target": "down"}, "connection refused; start it"},
		{map[string]any{"path": "x", "targets": []string{"local"}}, `unknown argument "targets"`},
	} {
		if _, res := do(t, r, "read_file", tt.args); !res.IsError || !strings.Contains(res.Content, tt.want) {
			t.Errorf("%v: %s, want %q", tt.args, res.Content, tt.want)
		}
	}
}

// TestPlannedTarget: what was allowed for one target never runs on another.
func TestPlannedTarget(t *testing.T) {
	sites, r, _ := threeSites(t)
	tool, _ := r.Lookup("run_shell")
	call := Call{Name: "run_shell", Arguments: `{"command":"echo ${SSH_CONNECTION:-here}","why":"w","risk":"low","mutation":false,"privesc":false}`, Dir: filepath.Join(t.TempDir(), "1")}
	act, err := tool.Plan(call)
	if err != nil {
		t.Fatal(err)
	}
	sites.current, call.Planned = "web-01", act
	if p := payload(t, tool.Run(t.Context(), call)); p.Stdout != "here\n" {
		t.Errorf("ran on %q", p.Stdout)
	}
}

// TestPaneNames: the panes of other targets than the first have its name in front.
func TestPaneNames(t *testing.T) {
	_, r, _ := threeSites(t)
	_, res := do(t, r, "tmux_create_pane", map[string]any{"title": "work", "command": "echo in the pane; sleep 1000", "risk": "low", "mutation": false, "privesc": false, "target": "web-01"})
	var made struct {
		Pane string `json:"pane_id"`
		ID   int
	}
	if err := json.Unmarshal(resultOf(res.Content), &made); err != nil || !strings.HasPrefix(made.Pane, "web-01:%") {
		t.Fatalf("%s: %v", res.Content, err)
	}
	act := action.Action{}
	tmuxtest.Until(t, "the pane shows its text", func() bool {
		act, res = do(t, r, "capture-pane", map[string]any{"pane": made.Pane})
		return strings.Count(res.Content, "in the pane") > 1 // the command line, and what it prints
	})
	if act.Target != "web-01" || !strings.Contains(res.Content, made.Pane) {
		t.Errorf("%+v: %s", act, res.Content)
	}
	interrupt := func() {
		if act, _ := do(t, r, "send-keys", map[string]any{"pane": made.Pane, "keys": []string{"C-c"}, "risk": "low", "mutation": false, "privesc": false}); act.Target != "web-01" {
			t.Errorf("send-keys goes to %q", act.Target)
		}
	}
	interrupt()
	if _, res := do(t, r, "capture-pane", map[string]any{"pane": made.Pane, "target": "web-02"}); !res.IsError || !strings.Contains(res.Content, "is on web-01, not on web-02") {
		t.Errorf("a pane of another target: %s", res.Content)
	}
	if act, _ := do(t, r, "capture-pane", map[string]any{"pane": "%0"}); act.Target != "local" {
		t.Errorf("a bare id is of %q", act.Target)
	}
	tmuxtest.Until(t, "the task has ended", func() bool {
		if _, res = do(t, r, "task_output", map[string]any{"pane": made.Pane}); strings.Contains(res.Content, "exit_code") {
			return true
		}
		interrupt() // bash loses a Ctrl-C between the fork and the start of a program
		return false
	})
}

// TestSideBySide: one call runs a command on several targets at once, of which one is down.
func TestSideBySide(t *testing.T) {
	_, r, dirs := threeSites(t)
	var mu sync.Mutex
	var live strings.Builder
	var total int64
	// Each waits for a file that the others make: one after the other would never end.
	meet := t.TempDir()
	command := fmt.Sprintf(`touch %s/$$; for i in $(seq 600); do test $(ls %s | wc -l) -ge 3 && break; sleep 0.1; done; ls %s | wc -l; printf 'no end' >&2; test "$SSH_CONNECTION"`, meet, meet, meet)
	act, res := do(t, r, "run_shell", map[string]any{"command": command, "targets": []string{"web-02", "local", "down", "web-01"}}, func(c *Call) {
		c.Output = func(c Chunk) {
			mu.Lock()
			defer mu.Unlock()
			live.Write(c.Text)
			if c.Stream == Stderr {
				total = c.Total
			}
		}
	})
	want := []action.Place{{Target: "web-02", Cwd: dirs["web-02"]}, {Target: "local", Cwd: dirs["local"]}, {Target: "down"}, {Target: "web-01", Cwd: dirs["web-01"]}}
	if !slices.Equal(act.Places, want) || act.Target != "web-02, local, down, web-01" || act.Cwd != "" {
		t.Errorf("action %+v", act)
	}
	p := sitesOf(t, res)
	if res.IsError || len(p.Targets) != 4 || !slices.Equal(p.Failed, []string{"local: exit code 1", "down: execution failed: down: connection refused; start it"}) {
		t.Fatalf("%s", res.Content)
	}
	for i, code := range []int{0, 1, 0, 0} {
		part := p.Targets[i]
		if part.Target != want[i].Target || part.Result.ExitCode != code || i != 2 && (part.Result.Stdout != "3\n" || part.Result.Stderr != "no end" || part.Result.DurationMS <= 0) {
			t.Errorf("part %d: %+v", i, part)
		}
	}
	if res.ExitCode == nil || *res.ExitCode != 1 || !strings.Contains(res.Tail, "── local · exit code 1\n3\nno end\n") {
		t.Errorf("exit code %v, shown %q", res.ExitCode, res.Tail)
	}
	for _, line := range []string{"[web-01] 3\n", "[web-02] 3\n", "[local] 3\n", "[web-01] no end\n"} {
		if !strings.Contains(live.String(), line) {
			t.Errorf("%q is not in %q", line, live.String())
		}
	}
	if want := int64(len("[web-01] no end\n[web-02] no end\n[local] no end\n")); total != want {
		t.Errorf("%d bytes of stderr, want %d", total, want)
	}
}

// TestSideBySideBounded: the output of all together is as large as that of one may be.
func TestSideBySideBounded(t *testing.T) {
	_, r, _ := threeSites(t)
	_, res := do(t, r, "run_shell", map[string]any{"command": "seq 100000; seq 100000 >&2", "targets": []string{"web-01", "web-02", "local"}})
	if n := len(res.Content); res.IsError || n > 2*shellOutput+3*1000 {
		t.Errorf("%d bytes, %v", n, res.IsError)
	}
	for _, part := range sitesOf(t, res).Targets {
		if !part.Result.Truncated || part.Result.FullOutput == "" || !strings.HasSuffix(part.Result.Stdout, "99999\n100000\n") {
			t.Errorf("%s: %+v", part.Target, part.Result)
		}
	}
	if len(res.Tail) > tailLimit+1000 {
		t.Errorf("%d bytes are shown", len(res.Tail))
	}
}

func TestSideBySideArguments(t *testing.T) {
	_, r, _ := threeSites(t)
	for _, tt := range []struct {
		targets any
		target  string
		want    string
	}{
		{[]string{"web-01", "db"}, "", `"db" is none of this session`},
		{[]string{"web-01", "web-01"}, "", "is there twice"},
		{[]string{"web-01"}, "local", "target and targets: give one of them"},
		{"web-01", "", "targets: expected array of strings, got string"},
		{make([]string, 21), "", "21 of them (at most 20)"},
		{[]string{"down"}, "", "it ran nowhere"},
	} {
		args := map[string]any{"command": "true", "targets": tt.targets}
		if tt.target != "" {
			args["target"] = tt.target
		}
		if _, res := do(t, r, "run_shell", args); !res.IsError || !strings.Contains(res.Content, tt.want) {
			t.Errorf("%v: %s, want %q", tt.targets, res.Content, tt.want)
		}
	}
	if _, res := do(t, r, "run_shell", map[string]any{"command": "echo x", "targets": []string{}}); res.IsError {
		t.Errorf("no targets: %s", res.Content)
	}
}

// TestSideBySideCancelled: cancelling ends the command everywhere.
func TestSideBySideCancelled(t *testing.T) { // A17
	_, r, _ := threeSites(t)
	tool, _ := r.Lookup("run_shell")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	begun := 0
	call := Call{Name: "run_shell", Dir: filepath.Join(t.TempDir(), "1"), Arguments: `{"command":"echo begun; exec sleep 1000","targets":["web-01","local"],"why":"w","risk":"low","mutation":false,"privesc":false}`}
	call.Output = func(Chunk) {
		mu.Lock()
		defer mu.Unlock()
		if begun++; begun == 2 {
			cancel()
		}
	}
	call.Planned, _ = tool.Plan(call)
	res := tool.Run(ctx, call)
	if !res.IsError || !strings.HasPrefix(res.Content, cancelled) || strings.Count(res.Content, "exit code 130") < 2 {
		t.Errorf("%s", res.Content)
	}
}

// TestSideBySideRecovered: another process finds the results, each where it was (DECISIONS 8).
func TestSideBySideRecovered(t *testing.T) {
	seats := threeSeats(t)
	sites, r := process(threeNames, seats)
	tool, _ := r.Lookup("run_shell")
	gate := filepath.Join(t.TempDir(), "gate")
	call := Call{Name: "run_shell", Dir: filepath.Join(t.TempDir(), "1")}
	call.Arguments = `{"command":"echo begun; until test -e ` + gate + `; do sleep 0.1; done; echo done","targets":["web-01","local","down","web-02"],"why":"w","risk":"low","mutation":false,"privesc":false}`
	call.Planned, _ = tool.Plan(call)
	var begun sync.WaitGroup
	begun.Add(3)
	first := call
	first.Output = func(c Chunk) {
		if bytes.Contains(c.Text, []byte("begun")) {
			begun.Done()
		}
	}
	over := make(chan struct{})
	go func() { defer close(over); tool.Run(context.WithoutCancel(t.Context()), first) }() // the process that dies
	begun.Wait()
	for _, site := range sites.open {
		if _, err := site.shell.panes.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for _, s := range seats {
		s.connect()
	}
	if err := os.RemoveAll(filepath.Join(call.Dir, "web-02")); err != nil {
		t.Fatal(err)
	}
	_, r = process(threeNames, seats)
	tool, _ = r.Lookup("run_shell")
	call.Planned, _ = tool.Plan(call)
	call.Output = func(Chunk) { _ = os.WriteFile(gate, nil, 0o600) } // it is followed
	p := sitesOf(t, tool.(Recoverer).Recover(t.Context(), call))
	if len(p.Targets) != 4 || p.Targets[0].Result.Stdout != "begun\ndone\n" || p.Targets[1].Result.Stdout != "begun\ndone\n" || p.Targets[2].Error == "" {
		t.Errorf("%+v", p)
	}
	if p.Targets[3].Error != "it was not started there" {
		t.Errorf("%+v", p.Targets[3])
	}
	<-over
}

// TestSitesDefinitions: tools can name a target only where there are several, and what is
// not about a place never does.
func TestSitesDefinitions(t *testing.T) {
	b := newBench(t)
	shell := NewRunShell(nil, nil, "local", "", nil)
	one := NewRegistry(Default(shell, b.ws, web.NewClient(web.Options{}), nil)...)
	for _, d := range one.Definitions() {
		if strings.Contains(string(d.Parameters), `"target`) {
			t.Errorf("%s takes a target though there is one only", d.Name)
		}
	}
	sites := &testSites{names: []string{"local", "a"}, current: "local", open: map[string]*Site{"local": NewSite(shell, b.ws)}}
	several := NewRegistry(DefaultOn(sites, shell, b.ws, web.NewClient(web.Options{}), nil)...)
	more := 0
	for i, d := range several.Definitions() {
		if !json.Valid(d.Parameters) {
			t.Errorf("%s: %s", d.Name, d.Parameters)
		}
		about := !slices.Contains([]string{"fetch_url", "web_search", "time", "todo", "ask_user", "tool_search", "use_tool"}, d.Name)
		if about != strings.Contains(string(d.Parameters), `"target":{`) || (d.Name == "run_shell") != strings.Contains(string(d.Parameters), `"targets":{`) {
			t.Errorf("%s: %s", d.Name, d.Parameters)
		}
		more += len(d.Parameters) - len(one.Definitions()[i].Parameters)
	}
	if more > 500 {
		t.Errorf("several targets cost %d bytes of each request", more)
	}
}

func TestPlanBesideADownTarget(t *testing.T) {
	sites := &testSites{names: []string{"local", "a"}, open: map[string]*Site{}, make: map[string]func() (*Site, error){
		"local": func() (*Site, error) { return nil, errors.New("gone") },
	}}
	tool := onSites(sites, NewRunShell(nil, nil, "local", "", nil))
	if _, err := tool.Plan(Call{Arguments: `{"command":"x","targets":["a"]}`}); !errors.Is(err, ErrExecution) {
		t.Errorf("%v", err)
	}
}

// BenchmarkSideBySide measures a command on one and on eight targets that are reached over
// ssh.
func BenchmarkSideBySide(b *testing.B) {
	names, seats := []string{"local"}, map[string]*seat{"local": newSeat(b, nil, "local")}
	for i := range 8 {
		name := fmt.Sprintf("web-%d", i)
		names = append(names, name)
		seats[name] = newSeat(b, hosttest.NewSSHD(b, ""), name)
	}
	_, r := process(names, seats)
	for _, n := range []int{1, 8} {
		run := func(b *testing.B) {
			if _, res := do(b, r, "run_shell", map[string]any{"command": "sleep 0.2", "targets": names[1 : 1+n]}); res.IsError || *res.ExitCode != 0 {
				b.Fatal(res.Content)
			}
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			run(b) // connects
			b.ReportAllocs()
			b.ResetTimer()
			began := time.Now()
			for b.Loop() {
				run(b)
			}
			b.ReportMetric(float64(time.Since(began).Milliseconds())/float64(b.N)-200, "ms-over-the-command/op")
		})
	}
}
