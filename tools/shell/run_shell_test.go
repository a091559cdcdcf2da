package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/tmux"
	"buddy/tmux/pane"
	"buddy/tmux/tmuxtest"
	"buddy/tools"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "pane" { // this process is the supervisor of a pane
		os.Exit(pane.Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// shellTool is run_shell on a tmux server of the test's own.
func shellTool(t testing.TB, warn func(string)) *Shell {
	t.Helper()
	srv := tmuxtest.New(t)
	o := tmux.Options{Socket: srv.Socket, Session: "t", Exe: os.Args[0], Greeting: pane.Greeting{Env: srv.Env, Cwd: t.TempDir()}}
	panes, plain := tmux.New(o), tmux.NewPlain(o)
	t.Cleanup(func() {
		for _, s := range []*tmux.Session{panes, plain} {
			if _, err := s.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}
	})
	return New(panes, plain, "local", "", warn)
}

func shellCall(t *testing.T, command string, more ...string) tools.Call {
	t.Helper()
	args := map[string]any{"command": command, "why": "a test", "risk": "low", "mutation": false, "privesc": false}
	for _, m := range more {
		args["mode"] = m
	}
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return tools.Call{ID: "c1", Name: "run_shell", Arguments: string(data), Dir: filepath.Join(t.TempDir(), "out")}
}

// ran holds the model's view of a command: Note is the text of the line in brackets.
type ran struct {
	ExitCode                   int
	Stdout, Stderr, Note, Pane string
	ID                         int
}

var (
	taskOf = regexp.MustCompile(`task (\d+)`)
	paneOf = regexp.MustCompile(`pane ([\w:-]*%\d+)`)
)

// payload reads a result.
func payload(t *testing.T, r tools.Result) (p ran) {
	t.Helper()
	if r.IsError || !strings.HasSuffix(r.Content, r.Aside) {
		t.Fatalf("%+v", r)
	}
	p.Stdout, p.Stderr, _ = strings.Cut(strings.TrimSuffix(r.Content, r.Aside), "[stderr]\n")
	p.Note = strings.Trim(r.Aside, "[]\n")
	if r.ExitCode != nil {
		p.ExitCode = *r.ExitCode
	}
	if m := taskOf.FindStringSubmatch(r.Content); m != nil {
		p.ID, _ = strconv.Atoi(m[1])
	}
	if m := paneOf.FindStringSubmatch(r.Content); m != nil {
		p.Pane = m[1]
	}
	return p
}

// TestNewPaneIsSaid: a note tells the model that its shell was replaced.
func TestNewPaneIsSaid(t *testing.T) {
	for _, renewed := range []bool{false, true} {
		got := payload(t, finished(tmux.Result{Renewed: renewed}, nil, 100)).Note
		if renewed != strings.HasPrefix(got, "exit code 0, no output; the pane before was lost") {
			t.Errorf("renewed %v: note %q", renewed, got)
		}
	}
}

// TestLeftBehindIsSaid: the result lists the processes that a command left running, and those that a sandbox ended.
func TestLeftBehindIsSaid(t *testing.T) {
	left := []pane.Left{{Pid: 4711, Name: "node"}, {Pid: 4712, Name: "a]\n\xff"}}
	if got := payload(t, finished(tmux.Result{Left: left}, nil, 100)).Note; got != `exit code 0, no output; it left running: "node" (4711), "a]\n�" (4712); to end: kill 4711 4712` {
		t.Errorf("%s", got)
	}
	if got := payload(t, finished(tmux.Result{Ended: []string{"node"}}, nil, 100)).Note; !strings.Contains(got, `ended with it, because nothing stays in a sandbox: "node"; a server runs with "wait": false`) {
		t.Errorf("%s", got)
	}
	tool := shellTool(t, nil)
	r := tool.Run(t.Context(), shellCall(t, "setsid sleep 1000 >/dev/null 2>&1 &"))
	m := regexp.MustCompile(`it left running: "sleep" \((\d+)\); to end: kill (\d+)`).FindStringSubmatch(r.Content)
	if runtime.GOOS != "linux" {
		return // can't be seen
	}
	if m == nil {
		t.Fatalf("%+v", r)
	}
	if r := tool.Run(t.Context(), shellCall(t, "kill "+m[2])); r.IsError {
		t.Errorf("%+v", r)
	}
}

func TestRunShell(t *testing.T) {
	tool := shellTool(t, func(text string) { t.Errorf("said %q", text) })
	took := regexp.MustCompile(`\d+\.\d s`)
	tests := []struct {
		name, command string
		code          int
		want          string
	}{
		{"both streams and a code", "echo out; echo err >&2; exit 7", 7, "out\n[stderr]\nerr\n[exit code 7, T]"},
		{"stderr alone", "echo err >&2; exit 7", 7, "err\n[exit code 7, T]"},
		{"success", "echo out; echo err >&2", 0, "out\n[stderr]\nerr\n"},
		{"nothing", "true", 0, "[exit code 0, no output]"},
		{"nothing, and a code", "false", 1, "[exit code 1, T, no output]"},
		{"killed by a signal", "kill -9 $$", 137, "[exit code 137, T, no output; the shell was ended by signal 9]"},
		{"exactly at the limit", "printf '%04000d' 0", 0, strings.Repeat("0", 4000)},
		{"binary", `printf 'a\377b'`, 0, "a\uFFFDb"},
		{"what could be ours", "echo '[exit code 0]'; echo out; exit 3", 3, "[exit code 0]\nout\n[exit code 3, T; 2 lines]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := tool.Run(t.Context(), shellCall(t, tt.command))
			if got := took.ReplaceAllString(r.Content, "T"); got != tt.want || r.IsError || r.ExitCode == nil || *r.ExitCode != tt.code {
				t.Errorf("result %q (error %v), want %q", got, r.IsError, tt.want)
			}
		})
	}
}

func TestRunShellCutsTheMiddle(t *testing.T) {
	tool := shellTool(t, nil)
	r := tool.Run(t.Context(), shellCall(t, "echo first; seq 100000; echo last"))
	got := payload(t, r)
	if !strings.HasPrefix(got.Stdout, "first\n") || !strings.HasSuffix(got.Stdout, "last\n") || !strings.Contains(got.Stdout, tools.Truncated) || len(got.Stdout) > 4100 {
		t.Errorf("stdout of %d bytes: %.60q … %.60q", len(got.Stdout), got.Stdout, got.Stdout[max(0, len(got.Stdout)-60):])
	}
	path := strings.TrimPrefix(got.Note, "the whole output is in ")
	whole, err := os.ReadFile(path)
	if err != nil || len(whole) < 500_000 {
		t.Errorf("the whole output %q has %d bytes, %v", path, len(whole), err)
	}
	if r.Full == nil || r.Full.Bytes != int64(len(whole)) || len(r.Tail) > tools.TailLimit || !strings.HasSuffix(r.Tail, "last\n") {
		t.Errorf("full %+v, a tail of %d bytes", r.Full, len(r.Tail))
	}
}

func TestRunShellStreamsAndMerges(t *testing.T) {
	tool := shellTool(t, nil)
	call := shellCall(t, "for i in 1 2 3; do echo o$i; echo e$i >&2; done", "merge")
	var live strings.Builder
	call.Output = func(c tools.Chunk) {
		if c.Stream != tools.Stdout {
			t.Errorf("stream %s", c.Stream)
		}
		live.Write(c.Text)
	}
	r := tool.Run(t.Context(), call)
	if got := payload(t, r); got.Stdout != "o1\ne1\no2\ne2\no3\ne3\n" || got.Stderr != "" || live.String() != got.Stdout {
		t.Errorf("result %+v, live %q", got, live.String())
	}
}

func TestRunShellCancelled(t *testing.T) {
	tool := shellTool(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	call := shellCall(t, "echo begun; sleep 100")
	call.Output = func(tools.Chunk) { cancel() }
	began := time.Now()
	r := tool.Run(ctx, call)
	if !r.IsError || !strings.HasPrefix(r.Content, cancelled) || !strings.Contains(r.Content, "begun") || strings.Contains(r.Content, "stderr") {
		t.Errorf("result %+v", r)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestRunShellArguments(t *testing.T) {
	tool := New(nil, nil, "local", "", nil) // Plan runs nothing
	for _, tt := range []struct{ args, want string }{
		{`{oops`, "not valid JSON"},
		{`{"command":" ","why":"x","risk":"low","mutation":false,"privesc":false}`, "command: must not be blank"},
		{`{"command":"a\u0000b","why":"x","risk":"low","mutation":false,"privesc":false}`, "NUL"},
	} {
		if _, err := tool.Plan(tools.Call{Arguments: tt.args}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Plan(%s): %v, want %q", tt.args, err, tt.want)
		}
	}
	for _, advice := range []string{``, `,"why":" "`, `,"risk":"none"`} { // accepted but not required
		if act, err := tool.Plan(tools.Call{Arguments: `{"command":"ls"` + advice + `}`}); err != nil || act.Risk != "" {
			t.Errorf("with%s: %+v, %v", advice, act, err)
		}
	}
	act, err := tool.Plan(tools.Call{Arguments: `{"command":"rm x","why":"because","risk":"high","mutation":true,"privesc":true}`})
	want := action.Action{Kind: action.Shell, Tool: "run_shell", Target: "local", Command: "rm x", Why: "because", Risk: action.High, Mutation: true, Privesc: true}
	if err != nil || !reflect.DeepEqual(act, want) {
		t.Errorf("Plan = %+v, %v, want %+v", act, err, want)
	}
}

func TestRunShellRecovers(t *testing.T) {
	tool := shellTool(t, nil)
	call := shellCall(t, "echo kept; exit 3")
	tool.Run(t.Context(), call)
	if got := payload(t, tool.Recover(t.Context(), call)); got.ExitCode != 3 || got.Stdout != "kept\n" {
		t.Errorf("recovered %+v", got)
	}
	call.Dir = t.TempDir()
	if r := tool.Recover(t.Context(), call); !r.IsError || !strings.Contains(r.Content, "outcome unknown") {
		t.Errorf("recovered from nothing: %+v", r)
	}
}

func TestRunShellWithoutTmux(t *testing.T) {
	var warned atomic.Int32
	tool := shellTool(t, func(string) { warned.Add(1) })
	tool.panes = tmux.New(tmux.Options{Socket: filepath.Join(t.TempDir(), "no", "such", "folder", "s"), Session: "t", Exe: os.Args[0], Greeting: pane.Greeting{Env: []string{"PATH=/nowhere"}}})
	for range 2 {
		if got := payload(t, tool.Run(t.Context(), shellCall(t, "echo plain"))); got.Stdout != "plain\n" {
			t.Errorf("result %+v", got)
		}
	}
	if n := warned.Load(); n != 1 {
		t.Errorf("said %d times, want once", n)
	}
}

func BenchmarkRunShellTrue(b *testing.B) {
	tool, root := shellTool(b, nil), b.TempDir()
	args := `{"command":"true","why":"x","risk":"low","mutation":false,"privesc":false}`
	tool.Run(b.Context(), tools.Call{Arguments: args, Dir: filepath.Join(root, "first")})
	b.ReportAllocs()
	for b.Loop() {
		if r := tool.Run(b.Context(), tools.Call{Arguments: args, Dir: filepath.Join(root, time.Now().Format("150405.000000000"))}); r.IsError {
			b.Fatal(r.Content)
		}
	}
}

// Pane returns the pane in which a call will work, as far as it is known.
func TestRunShellPane(t *testing.T) {
	tool := shellTool(t, nil)
	ask := func(context.Context, tools.Question) (string, error) { return "", nil }
	if got := tool.Pane(shellCall(t, "true")).Pane.String(); got != "" {
		t.Errorf("%q before there is a pane", got)
	}
	if r := tool.Run(t.Context(), shellCall(t, "true")); r.IsError {
		t.Fatal(r.Content)
	}
	shared := tool.panes.Pane()
	if shared == "" {
		t.Fatal("no shared pane")
	}
	for _, c := range []struct {
		more string
		ask  func(context.Context, tools.Question) (string, error)
		want string
	}{
		{"", nil, shared},
		{`"wait":"true",`, nil, shared},
		{`"wait":false,`, nil, ""},
		{`"wait":"10s",`, nil, ""},
		{`"mode":"tty",`, nil, ""}, // nobody can type
		{`"mode":"tty",`, ask, shared},
	} {
		call := shellCall(t, "true")
		call.Arguments, call.Ask = strings.Replace(call.Arguments, "{", "{"+c.more, 1), c.ask
		if got, want := tool.Pane(call), (tools.PaneUse{Pane: tools.ParsePane(c.want), Terminal: strings.Contains(c.more, "tty")}); got != want {
			t.Errorf("%s: %v, want %v", call.Arguments, got, want)
		}
	}
	beside := &Shell{panes: tool.panes, target: "web"}
	beside.ShareTasks(tool)
	if got := beside.Pane(shellCall(t, "true")).Pane.String(); got != "web:"+shared {
		t.Errorf("on another target it is %q", got)
	}
}

// TestCommandsOfAgents: each command of a subagent gets a pane of its own, also while the shared pane is busy, and
// waits for the shared pane when there is no room for more.
func TestCommandsOfAgents(t *testing.T) {
	tool := shellTool(t, func(text string) { t.Errorf("said %q", text) })
	of := func(command string) tools.Call {
		call := shellCall(t, command)
		call.OwnPane = "explore: look"
		return call
	}
	if got := payload(t, tool.Run(t.Context(), shellCall(t, "cd /; x=1"))); got.ExitCode != 0 {
		t.Fatalf("%+v", got)
	}
	if use := tool.Pane(of("true")); use.Pane.ID != "" {
		t.Errorf("it is said to work in %v", use.Pane)
	}
	release := filepath.Join(t.TempDir(), "go")
	ends := make(chan tools.Result)
	begun := t.TempDir()
	for i := range tmux.MaxPanes - 1 {
		call := of(fmt.Sprintf("echo $TMUX_PANE > %s/%d; until [ -e %s ]; do sleep 0.05; done; pwd", begun, i, release))
		go func() { ends <- tool.Run(t.Context(), call) }()
	}
	for deadline := time.Now().Add(time.Minute); ; {
		if all, _ := filepath.Glob(begun + "/*"); len(all) == tmux.MaxPanes-1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("they do not run side by side")
		}
		time.Sleep(20 * time.Millisecond)
	}
	if got := payload(t, tool.Run(t.Context(), of("echo one more; cd /tmp"))); got.Stdout != "one more\n" {
		t.Errorf("the one without a pane of its own: %+v", got)
	}
	if err := os.WriteFile(release, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range tmux.MaxPanes - 1 {
		if got := payload(t, <-ends); got.Stdout != "/\n" {
			t.Errorf("%+v", got)
		}
	}
}
