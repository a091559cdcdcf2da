package target

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"buddy/agent/action"
	"buddy/agent/policy"
	"buddy/tmux"
	"buddy/tmux/host"
	"buddy/tmux/host/hosttest"
	"buddy/tmux/pane"
	"buddy/tmux/tmuxtest"
	"buddy/tools"
	"buddy/tools/file"
	"buddy/tools/shell"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "pane" { // this process is the supervisor of a pane
		os.Exit(pane.Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// testTarget is a target shared by the processes of a test.
type testTarget struct {
	t     testing.TB
	srv   *hosttest.SSHD // nil: this machine
	name  string
	dir   string
	files *file.Workspace
	o     tmux.Options
}

// newTestTarget returns a target on an ssh server; nil is this machine.
func newTestTarget(t testing.TB, srv *hosttest.SSHD, name string) *testTarget {
	t.Helper()
	s := &testTarget{t: t, srv: srv, name: name, dir: tmuxtest.Dir(t)}
	s.o = tmux.Options{Session: "t-" + name, Greeting: pane.Greeting{Cwd: s.dir}}
	files, err := file.NewWorkspace(s.dir, policy.Secret)
	if err != nil {
		t.Fatal(err)
	}
	if s.files = files; srv == nil {
		local := tmuxtest.New(t)
		s.o.Socket, s.o.Exe, s.o.Env = local.Socket, os.Args[0], local.Env
		return s
	}
	t.Cleanup(func() { // ends what a test left running on purpose
		kill := exec.Command("tmux", "-L", "buddy", "kill-server")
		kill.Env = tmuxtest.Env(t, srv.Dir)
		_ = kill.Run() // it may have ended
	})
	s.connect()
	return s
}

// connect connects a process; the connection of the process before ends.
func (s *testTarget) connect() {
	if s.srv == nil {
		return
	}
	if s.o.Host != nil {
		_ = s.o.Host.Close()
	}
	s.o.Host = s.srv.Host(s.t)
	s.files = file.NewTargetWorkspace(s.o.Host, s.name, s.files.Root(), policy.Secret)
}

// session returns the session of a process on the target.
func (s *testTarget) session() *Session {
	panes, plain := tmux.New(s.o), tmux.NewPlain(s.o)
	s.t.Cleanup(func() {
		for _, p := range []*tmux.Session{panes, plain} {
			if _, err := p.Close(context.Background()); err != nil {
				s.t.Error(err)
			}
		}
	})
	sh := shell.New(panes, plain, s.name, s.dir, func(text string) { s.t.Errorf("%s: %s", s.name, text) })
	one := NewSession(&Target{Name: s.name, Host: s.o.Host}, sh, s.files)
	one.Env.Dir, one.Panes, one.plain = s.dir, panes, plain
	return one
}

// process returns the set and the tools of a new process.
func process(names []string, all map[string]*testTarget) (*Set, *tools.Registry) {
	var others []*Target
	for _, name := range names[1:] {
		others = append(others, &Target{Name: name})
	}
	set := NewSet(all[names[0]].session(), others, func(_ context.Context, t *Target) (*Session, error) {
		if t.Name == "down" {
			return nil, &host.DownError{Host: "down", Why: "connection refused", Next: "start it"}
		}
		return all[t.Name].session(), nil
	})
	return set, registry(set)
}

// registry has the tools of a set.
func registry(set *Set) *tools.Registry {
	first := set.First()
	var all []tools.Tool
	for _, t := range append(first.Tools(), first.Deferred()...) {
		all = append(all, set.Route(t))
	}
	return tools.NewRegistry(append(all, shell.NewTaskOutput(first.Shell), shell.NewTaskKill(first.Shell))...)
}

var threeNames = []string{"local", "web-01", "web-02", "down"}

func threeTargets(t testing.TB) map[string]*testTarget {
	all := map[string]*testTarget{"local": newTestTarget(t, nil, "local")}
	for _, name := range []string{"web-01", "web-02"} {
		all[name] = newTestTarget(t, hosttest.NewSSHD(t, ""), name)
	}
	return all
}

// threeOpen returns the tools on this machine, two real ssh servers and one that is down.
func threeOpen(t testing.TB) (set *Set, tools *tools.Registry, dirs map[string]string) {
	t.Helper()
	all := threeTargets(t)
	dirs = map[string]string{}
	for name, s := range all {
		dirs[name] = s.dir
	}
	set, tools = process(threeNames, all)
	return set, tools, dirs
}

// do plans and runs a call as the runtime does.
func do(t testing.TB, r *tools.Registry, name string, args map[string]any, more ...func(*tools.Call)) (action.Action, tools.Result) {
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
	call := tools.Call{ID: "c", Name: name, Arguments: string(tools.JSON(args)), Dir: filepath.Join(t.TempDir(), "out")}
	for _, m := range more {
		m(&call)
	}
	if call.Planned, err = tool.Plan(call); err != nil {
		return call.Planned, tools.Failure(err)
	}
	ctx := context.Background()
	return call.Planned, tool.Run(ctx, call)
}

// view holds the model's view of a command: Note is the text of the line in brackets.
type view struct{ Stdout, Stderr, Note string }

func viewOf(text string) (p view) {
	if text, p.Note, _ = cutLast(strings.TrimRight(text, "\n"), "["); p.Note != "" && !strings.HasPrefix(p.Note, "stderr") {
		p.Note = strings.TrimSuffix(p.Note, "]")
	} else {
		text, p.Note = text+"["+p.Note, ""
	}
	p.Stdout, p.Stderr, _ = strings.Cut(strings.TrimSuffix(text, "["), "[stderr]\n")
	return p
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// severalOf returns the model's view of each target, in order.
func severalOf(t testing.TB, r tools.Result, names ...string) (all []view) {
	t.Helper()
	text := r.Content
	for i, name := range names {
		_, after, ok := strings.Cut(text, "["+name+"]\n")
		if !ok {
			t.Fatalf("%s is not in %s", name, r.Content)
		}
		text = after
		if i+1 < len(names) {
			after, _, _ = strings.Cut(after, "\n["+names[i+1]+"]\n")
		}
		all = append(all, viewOf(after))
	}
	return all
}

// TestCallsRunOnTheTargetTheyName: a call uses the folder, panes and files of the target that it names, and of the
// current target if it names none.
func TestCallsRunOnTheTargetTheyName(t *testing.T) {
	set, r, dirs := threeOpen(t)
	act, res := do(t, r, "run_shell", map[string]any{"command": "pwd; echo ${SSH_CONNECTION:+over ssh}", "target": "web-01"})
	if act.Target != "web-01" || act.Cwd != dirs["web-01"] || len(act.Targets) > 0 || act.Command == "" {
		t.Errorf("action %+v", act)
	}
	if !strings.HasSuffix(res.Content, "over ssh\n") {
		t.Errorf("on web-01: %s", res.Content)
	}
	if len(set.Sessions()) != 2 {
		t.Errorf("%d targets were reached for, want that which was named", len(set.Sessions())-1)
	}
	act, res = do(t, r, "run_shell", map[string]any{"command": "echo ${SSH_CONNECTION:-here}"})
	if act.Target != "local" || res.Content != "here\n" {
		t.Errorf("without a name: %+v, %s", act, res.Content)
	}
	act, res = do(t, r, "write_file", map[string]any{"path": "x.txt", "content": "there", "target": "web-02"})
	if act.Target != "web-02" || act.Path != filepath.Join(dirs["web-02"], "x.txt") || res.IsError {
		t.Errorf("%+v: %s", act, res.Content)
	}
	if b, err := os.ReadFile(filepath.Join(dirs["web-02"], "x.txt")); err != nil || string(b) != "there" {
		t.Errorf("the file has %q, %v", b, err)
	}
	set.Switch("web-02")
	if act, res = do(t, r, "read_file", map[string]any{"path": "x.txt"}); act.Target != "web-02" || !strings.Contains(res.Content, "there") {
		t.Errorf("on the current one: %+v: %s", act, res.Content)
	}
	for _, tt := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"path": "x", "target": "db"}, `"db" is not a target of this session (have: local, web-01, web-02, down)`},
		{map[string]any{"path": "x", "target": 3}, "target: expected string"},
		{map[string]any{"path": "x", "target": "down"}, "connection refused; start it"},
		{map[string]any{"path": "x", "targets": []string{"local"}}, `unknown argument "targets"`},
	} {
		if _, res := do(t, r, "read_file", tt.args); !res.IsError || !strings.Contains(res.Content, tt.want) {
			t.Errorf("%v: %s, want %q", tt.args, res.Content, tt.want)
		}
	}
}

// TestPlannedTarget: a call approved for one target never runs on another.
func TestPlannedTarget(t *testing.T) {
	set, r, _ := threeOpen(t)
	tool, _ := r.Lookup("run_shell")
	call := tools.Call{Name: "run_shell", Arguments: `{"command":"echo ${SSH_CONNECTION:-here}","why":"w","risk":"low","mutation":false,"privesc":false}`, Dir: filepath.Join(t.TempDir(), "1")}
	act, err := tool.Plan(call)
	if err != nil {
		t.Fatal(err)
	}
	set.Switch("web-01")
	call.Planned = act
	if res := tool.Run(t.Context(), call); res.Content != "here\n" {
		t.Errorf("ran on %q", res.Content)
	}
}

// TestPaneNames: names of panes start with the name of the target, except on the first one.
func TestPaneNames(t *testing.T) {
	_, r, _ := threeOpen(t)
	_, res := do(t, r, "tmux_create_pane", map[string]any{"title": "work", "command": "echo in the pane; sleep 1000", "risk": "low", "mutation": false, "privesc": false, "target": "web-01"})
	pane, _, _ := strings.Cut(strings.TrimPrefix(res.Content, "pane "), ",")
	if !strings.HasPrefix(pane, "web-01:%") {
		t.Fatalf("%s", res.Content)
	}
	act := action.Action{}
	tmuxtest.Until(t, "the pane shows its text", func() bool {
		act, res = do(t, r, "capture-pane", map[string]any{"pane": pane})
		return strings.Count(res.Content, "in the pane") > 1 // the command line and its output
	})
	if act.Target != "web-01" || !strings.Contains(res.Content, pane) {
		t.Errorf("%+v: %s", act, res.Content)
	}
	interrupt := func() {
		if act, _ := do(t, r, "send-keys", map[string]any{"pane": pane, "keys": []string{"C-c"}, "risk": "low", "mutation": false, "privesc": false}); act.Target != "web-01" {
			t.Errorf("send-keys goes to %q", act.Target)
		}
	}
	interrupt()
	if _, res := do(t, r, "capture-pane", map[string]any{"pane": pane, "target": "web-02"}); !res.IsError || !strings.Contains(res.Content, "is on web-01, not on web-02") {
		t.Errorf("a pane of another target: %s", res.Content)
	}
	if act, _ := do(t, r, "capture-pane", map[string]any{"pane": "%0"}); act.Target != "local" {
		t.Errorf("a bare id is of %q", act.Target)
	}
	tmuxtest.Until(t, "the task has ended", func() bool {
		if _, res = do(t, r, "task_output", map[string]any{"pane": pane}); strings.Contains(res.Content, "[exit code ") {
			return true
		}
		interrupt() // bash loses a Ctrl-C between the fork and the start of a program
		return false
	})
}

// TestSideBySide: one call runs a command on several targets at once, one of them down.
func TestSideBySide(t *testing.T) {
	_, r, dirs := threeOpen(t)
	var mu sync.Mutex
	var live strings.Builder
	var total int64
	// Each command waits for files of the others, so running them one after the other would never end.
	meet := t.TempDir()
	command := fmt.Sprintf(`touch %s/$$; for i in $(seq 600); do test $(ls %s | wc -l) -ge 3 && break; sleep 0.1; done; ls %s | wc -l; printf 'no end' >&2; test "$SSH_CONNECTION"`, meet, meet, meet)
	act, res := do(t, r, "run_shell", map[string]any{"command": command, "targets": []string{"web-02", "local", "down", "web-01"}}, func(c *tools.Call) {
		c.Output = func(c tools.Chunk) {
			mu.Lock()
			defer mu.Unlock()
			live.Write(c.Text)
			if c.Stream == tools.Stderr {
				total = c.Total
			}
		}
	})
	want := []action.TargetCwd{{Target: "web-02", Cwd: dirs["web-02"]}, {Target: "local", Cwd: dirs["local"]}, {Target: "down"}, {Target: "web-01", Cwd: dirs["web-01"]}}
	if !slices.Equal(act.Targets, want) || act.Target != "web-02, local, down, web-01" || act.Cwd != "" {
		t.Errorf("action %+v", act)
	}
	p := severalOf(t, res, "web-02", "local", "down", "web-01")
	if res.IsError || !maps.Equal(res.Exits, map[string]int{"web-02": 0, "local": 1, "web-01": 0}) {
		t.Fatalf("%v: %s", res.Exits, res.Content)
	}
	for i, note := range []string{"", "exit code 1, ", "", ""} {
		if i != 2 && (p[i].Stdout != "3\n" || strings.TrimSpace(p[i].Stderr) != "no end" || !strings.HasPrefix(p[i].Note, note) || (note == "") != (p[i].Note == "")) {
			t.Errorf("part %d: %+v", i, p[i])
		}
	}
	if p[2].Stdout != "Tool error: execution failed: down: connection refused; start it" {
		t.Errorf("%+v", p[2])
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

// TestSideBySideBounded: the outputs of several targets together are limited like the output of one.
func TestSideBySideBounded(t *testing.T) {
	_, r, _ := threeOpen(t)
	_, res := do(t, r, "run_shell", map[string]any{"command": "seq 100000; seq 100000 >&2", "targets": []string{"web-01", "web-02", "local"}})
	if n := len(res.Content); res.IsError || n > 2*4000+3*1000 {
		t.Errorf("%d bytes, %v", n, res.IsError)
	}
	for _, part := range severalOf(t, res, "web-01", "web-02", "local") {
		if !strings.HasPrefix(part.Note, "the whole output is in /") || !strings.HasSuffix(part.Stdout, "99999\n100000\n") {
			t.Errorf("%+v", part)
		}
	}
	if len(res.Tail) > tools.TailLimit+1000 {
		t.Errorf("%d bytes are shown", len(res.Tail))
	}
}

func TestSideBySideArguments(t *testing.T) {
	_, r, _ := threeOpen(t)
	for _, tt := range []struct {
		targets any
		target  string
		want    string
	}{
		{[]string{"web-01", "db"}, "", `"db" is not a target of this session`},
		{[]string{"web-01", "web-01"}, "", "is listed twice"},
		{[]string{"web-01"}, "local", "target and targets: give one of them"},
		{"web-01", "", "targets: expected array of strings, got string"},
		{make([]string, 21), "", "21 of them (at most 20)"},
		{[]string{"down"}, "", "it ran nowhere"},
		{[]string{"local", "down"}, "", "1 of 2 failed"},
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
func TestSideBySideCancelled(t *testing.T) {
	_, r, _ := threeOpen(t)
	tool, _ := r.Lookup("run_shell")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	begun := 0
	call := tools.Call{Name: "run_shell", Dir: filepath.Join(t.TempDir(), "1"), Arguments: `{"command":"echo begun; exec sleep 1000","targets":["web-01","local"],"why":"w","risk":"low","mutation":false,"privesc":false}`}
	call.Output = func(tools.Chunk) {
		mu.Lock()
		defer mu.Unlock()
		if begun++; begun == 2 {
			cancel()
		}
	}
	call.Planned, _ = tool.Plan(call)
	res := tool.Run(ctx, call)
	if !res.IsError || !strings.HasPrefix(res.Content, "operation cancelled by user") || strings.Count(res.Content, "exit code 130") < 2 {
		t.Errorf("%s", res.Content)
	}
}

// TestSideBySideRecovered: another process finds the results on each target.
func TestSideBySideRecovered(t *testing.T) {
	all := threeTargets(t)
	set, r := process(threeNames, all)
	tool, _ := r.Lookup("run_shell")
	gate := filepath.Join(t.TempDir(), "gate")
	call := tools.Call{Name: "run_shell", Dir: filepath.Join(t.TempDir(), "1")}
	call.Arguments = `{"command":"echo begun; until test -e ` + gate + `; do sleep 0.1; done; echo done","targets":["web-01","local","down","web-02"],"why":"w","risk":"low","mutation":false,"privesc":false}`
	call.Planned, _ = tool.Plan(call)
	var begun sync.WaitGroup
	begun.Add(3)
	first := call
	first.Output = func(c tools.Chunk) {
		if bytes.Contains(c.Text, []byte("begun")) {
			begun.Done()
		}
	}
	over := make(chan struct{})
	go func() { defer close(over); tool.Run(context.WithoutCancel(t.Context()), first) }() // the process that dies
	begun.Wait()
	for _, one := range set.Sessions() {
		if _, err := one.Panes.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for _, s := range all {
		s.connect()
	}
	if err := os.RemoveAll(filepath.Join(call.Dir, "web-02")); err != nil {
		t.Fatal(err)
	}
	_, r = process(threeNames, all)
	tool, _ = r.Lookup("run_shell")
	call.Planned, _ = tool.Plan(call)
	call.Output = func(tools.Chunk) { _ = os.WriteFile(gate, nil, 0o600) } // the command is being followed
	res := tool.(tools.Recoverer).Recover(t.Context(), call)
	if !strings.HasPrefix(res.Content, "Tool error: 2 of 4 failed: ") || !res.IsError {
		t.Fatalf("%s", res.Content)
	}
	p := severalOf(t, res, "web-01", "local", "down", "web-02")
	if p[0].Stdout != "begun\ndone" || p[1].Stdout != "begun\ndone" || !strings.HasPrefix(p[2].Stdout, "Tool error: ") || p[3].Stdout != "Tool error: it was not started there" {
		t.Errorf("%+v", p)
	}
	<-over
}

// A target that does not answer delays a call for several targets by 5 seconds, and the call does not wait for it
// again.
func TestPlanDoesNotWaitForASilentTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := NewSession(&Target{Name: "local"}, shell.New(nil, nil, "local", "/here", nil), &file.Workspace{})
		set := NewSet(first, []*Target{{Name: "silent"}, {Name: "down"}}, func(ctx context.Context, t *Target) (*Session, error) {
			if t.Name == "silent" {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return nil, errors.New("gone")
		})
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		began, tool := time.Now(), set.Route(first.Shell).(*shellRouter)
		act, err := tool.Plan(tools.Call{Arguments: `{"command":"x","targets":["local","silent","down"]}`, Planning: ctx})
		if err != nil || !slices.Equal(act.Targets, []action.TargetCwd{{Target: "local", Cwd: "/here"}, {Target: "silent"}, {Target: "down"}}) {
			t.Errorf("%+v, %v", act, err)
		}
		if sh, err := tool.reached(ctx, "local"); sh != first.Shell || err != nil {
			t.Errorf("local: %v", err)
		}
		for name, want := range map[string]string{"silent": "did not answer within 5s", "down": "gone"} {
			if _, err := tool.reached(ctx, name); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestPlanOnADownTarget(t *testing.T) {
	first := NewSession(&Target{Name: "local"}, shell.New(nil, nil, "local", "", nil), &file.Workspace{})
	set := NewSet(first, []*Target{{Name: "a"}}, func(context.Context, *Target) (*Session, error) { return nil, errors.New("gone") })
	if _, err := set.Route(first.Shell).Plan(tools.Call{Arguments: `{"command":"x","target":"a"}`}); !errors.Is(err, tools.ErrExecution) {
		t.Errorf("%v", err)
	}
}

// BenchmarkSideBySide measures a command on one and on eight targets over ssh.
func BenchmarkSideBySide(b *testing.B) {
	names, all := []string{"local"}, map[string]*testTarget{"local": newTestTarget(b, nil, "local")}
	for i := range 8 {
		name := fmt.Sprintf("web-%d", i)
		names = append(names, name)
		all[name] = newTestTarget(b, hosttest.NewSSHD(b, ""), name)
	}
	_, r := process(names, all)
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
