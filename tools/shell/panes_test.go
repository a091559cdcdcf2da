package shell

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"buddy/agent/action"
	"buddy/tmux"
	"buddy/tmux/pane"
	"buddy/tmux/tmuxtest"
	"buddy/tools"
)

// bench holds run_shell and all tools for its panes.
type bench struct {
	t     *testing.T
	shell *Shell
	tools *tools.Registry
	n     int
	dir   string
}

func newBench(t *testing.T) *bench {
	shell := shellTool(t, nil)
	deferred := tools.NewDeferred(append(Panes(shell), NewTaskOutput(shell), NewTaskKill(shell))...)
	return &bench{t: t, shell: shell, tools: tools.NewRegistry(shell, tools.NewUseTool(deferred)), dir: t.TempDir()}
}

var metadata = map[string]any{"why": "a test", "risk": "low", "mutation": false, "privesc": false}

// call plans and runs a tool.
func (d *bench) call(name string, args map[string]any) (action.Action, tools.Result) {
	d.t.Helper()
	tool, err := d.tools.Lookup(name)
	if err != nil {
		d.t.Fatal(err)
	}
	data, err := json.Marshal(args)
	if err != nil {
		d.t.Fatal(err)
	}
	d.n++
	call := tools.Call{ID: strconv.Itoa(d.n), Name: name, Arguments: string(data), Dir: filepath.Join(d.dir, strconv.Itoa(d.n))}
	if call.Planned, err = tool.Plan(call); err != nil {
		return action.Action{}, tools.Result{Content: err.Error(), IsError: true, Retry: errors.Is(err, tools.ErrArguments)}
	}
	return call.Planned, tool.Run(d.t.Context(), call)
}

// with adds to the metadata of every command.
func with(pairs ...any) map[string]any {
	args := maps.Clone(metadata)
	for i := 0; i < len(pairs); i += 2 {
		args[pairs[i].(string)] = pairs[i+1]
	}
	return args
}

// get calls a tool that must succeed and reads its result.
func (d *bench) get(name string, args map[string]any) ran {
	d.t.Helper()
	_, r := d.call(name, args)
	return payload(d.t, r)
}

func (d *bench) screen(pane string) ran {
	d.t.Helper()
	return d.get("tmux_capture_pane", map[string]any{"pane": pane, "why": "look"})
}

func TestRunShellWait(t *testing.T) {
	d := newBench(t)
	run := d.get("run_shell", with("command", "echo begun; while [ ! -e go ]; do sleep 0.02; done; echo done; exit 4", "wait", false))
	if run.ID != 1 || !strings.HasPrefix(run.Pane, "%") || !strings.Contains(run.Note, "task_output") || !strings.Contains(run.Note, run.Pane) {
		t.Errorf("wait false: %+v", run)
	}
	tmuxtest.Until(t, "task_output has the output so far", func() bool {
		so := d.get("task_output", map[string]any{"id": 1, "why": "x"})
		return strings.Contains(so.Note, "still runs") && so.Stdout == "begun\n"
	})
	d.get("run_shell", with("command", "touch go")) // the shared pane is free
	end := d.get("task_output", map[string]any{"pane": run.Pane, "wait": "30s", "why": "x"})
	if end.ExitCode != 4 || end.Stdout != "begun\ndone\n" {
		t.Errorf("end: %+v", end)
	}

	began := time.Now()
	run = d.get("run_shell", with("command", "echo slow; sleep 100", "wait", "2s"))
	if took := time.Since(began); run.Stdout != "slow\n" || !strings.Contains(run.Note, "did not end within 2s") || took < 2*time.Second || took > time.Minute {
		t.Errorf("a time: %+v after %v", run, took)
	}
	dead := d.get("task_kill", map[string]any{"id": run.ID, "why": "x"})
	if !strings.Contains(dead.Note, "was ended, exit code 1") || dead.Stdout != "slow\n" {
		t.Errorf("killed: %+v", dead)
	}
	end = d.get("run_shell", with("command", "echo quick; exit 2", "wait", 30))
	if end.ExitCode != 2 || end.Stdout != "quick\n" {
		t.Errorf("ended in time: %+v", end)
	}
}

func TestRunShellWaitForms(t *testing.T) {
	for _, tt := range []struct {
		raw     string
		d       time.Duration
		forever bool
		wrong   string
	}{
		{"", 0, true, ""},
		{"null", 0, true, ""},
		{"true", 0, true, ""},
		{"false", 0, false, ""},
		{`"false"`, 0, false, ""},
		{`"true"`, 0, true, ""},
		{`"500ms"`, 500 * time.Millisecond, false, ""},
		{`"10m"`, 10 * time.Minute, false, ""},
		{`"1d"`, 24 * time.Hour, false, ""},
		{"30", 30 * time.Second, false, ""},
		{"1.5", 1500 * time.Millisecond, false, ""},
		{`"30"`, 30 * time.Second, false, ""},
		{`"soon"`, 0, false, "wait: "},
		{"-1", 0, false, "wait: "},
		{"0", 0, false, "wait: "},
		{"[]", 0, false, "wait: expected"},
		{"1e99", 0, false, "wait: "},
	} {
		d, forever, err := shellArgs{Wait: json.RawMessage(tt.raw)}.patience()
		if wrong := err != nil; d != tt.d || forever != tt.forever || wrong != (tt.wrong != "") || wrong && (!errors.Is(err, tools.ErrArguments) || !strings.Contains(err.Error(), tt.wrong)) {
			t.Errorf("wait %s = %v, %v, %v", tt.raw, d, forever, err)
		}
	}
}

func TestRunShellWaitWithoutTmux(t *testing.T) {
	d := newBench(t)
	d.shell.warn = func(string) {}
	d.shell.panes = tmux.New(tmux.Options{Socket: filepath.Join(t.TempDir(), "no", "such", "folder", "s"), Session: "t", Exe: "x", Greeting: pane.Greeting{Env: []string{"PATH=/nowhere"}}})
	if _, r := d.call("run_shell", with("command", "true", "wait", false)); !r.IsError || !strings.Contains(r.Content, "no panes here") {
		t.Errorf("wait false: %+v", r)
	}
	run := d.get("run_shell", with("command", "echo begun; sleep 100", "wait", "2s"))
	if run.Pane != "" || run.Stdout != "begun\n" {
		t.Errorf("a time: %+v", run)
	}
	d.get("task_kill", map[string]any{"id": run.ID, "why": "x"})
	for _, name := range []string{"capture-pane", "tmux_kill_pane"} {
		if _, r := d.call(name, map[string]any{"pane": "%0", "why": "x"}); !r.IsError || !strings.Contains(r.Content, "no panes here") {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestTaskBegins(t *testing.T) { // checks the task that the runtime gets
	d := newBench(t)
	ends := filepath.Join(t.TempDir(), "ends")
	command := "until [ -e " + ends + " ]; do sleep 0.01; done; echo out; exit 5"
	call := shellCall(t, command)
	call.Arguments = strings.Replace(call.Arguments, "{", `{"wait":false,`, 1)
	var task tools.Task
	call.Begin = func(begun tools.Task) int { task = begun; return 17 }
	r := d.shell.Run(t.Context(), call)
	if !strings.Contains(r.Content, "it still runs as task 17 in pane ") || task.Pane == "" || task.Title != command {
		t.Errorf("result %+v, task %+v", r, task)
	}
	if err := os.WriteFile(ends, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-task.Done
	if e := task.End(); e.ExitCode != 5 || e.Tail != "out\n" || e.Err != nil || e.Cancelled {
		t.Errorf("end %+v", e)
	}
	if _, err := d.shell.jobs.find(18, ""); !errors.Is(err, tools.ErrArguments) || !strings.Contains(err.Error(), "17 in pane "+task.Pane) {
		t.Errorf("error %v", err)
	}
}

func TestPaneTools(t *testing.T) {
	d := newBench(t)
	if _, r := d.call("capture-pane", map[string]any{"why": "x"}); !r.IsError || !strings.Contains(r.Content, "no pane yet") {
		t.Errorf("before the first command: %+v", r)
	}
	act, r := d.call("tmux_create_pane", with("title", "reader", "command", "echo ready; while IFS= read -r l; do echo \"<$l>\"; done"))
	if !act.Outside {
		t.Errorf("a pane is a terminal, which the read-only sandbox has not: %+v", act)
	}
	made := payload(t, r)
	if act.Kind != action.Shell || act.Command == "" || strings.Contains(act.Command, "tty") {
		t.Fatalf("create: %+v, %+v", act, r)
	}
	pane := made.Pane
	tmuxtest.Until(t, "it is ready", func() bool { return strings.Contains(d.screen(pane).Stdout, "\nready") })
	if p := d.screen(pane); p.Stdout != "" || !strings.Contains(p.Note, "nothing changed") {
		t.Errorf("a second look: %+v", p)
	}
	act, r = d.call("tmux_send_keys", with("pane", pane, "literal_text", "rm -rf x", "keys", []string{"Space", "y"}, "enter", true))
	if r.IsError || act.Kind != action.PaneKeys || act.Command != "rm -rf x y" || !strings.Contains(act.Preview, pane) {
		t.Errorf("keys: %+v, %+v", act, r)
	}
	tmuxtest.Until(t, "it was typed", func() bool { return strings.Contains(d.screen(pane).Stdout, "<rm -rf x y>") })
	if p := d.screen("%99"); !strings.Contains(p.Note, "this is the shared pane") {
		t.Errorf("a missing pane: %+v", p)
	}
	for _, bad := range []struct {
		tool, want string
		args       map[string]any
	}{
		{"send-keys", "tmux_create_pane", with("pane", "%99", "literal_text", "x")},
		{"send-keys", "one of them is needed", with("pane", pane)},
		{"send-keys", `key "Ctrl-C" is unknown`, with("pane", pane, "keys", []string{"Ctrl-C"})},
		{"capture-pane", "delay", map[string]any{"delay": "1h", "why": "x"}},
		{"tmux_kill_pane", "shared", map[string]any{"pane": "shared", "why": "x"}},
	} {
		if _, r := d.call(bad.tool, bad.args); !r.IsError || !strings.Contains(r.Content, bad.want) {
			t.Errorf("%s(%v) = %+v, want %q", bad.tool, bad.args, r, bad.want)
		}
	}
	if act, r := d.call("tmux_kill_pane", map[string]any{"pane": pane, "why": "x"}); r.IsError || act.Kind != action.Internal {
		t.Errorf("kill: %+v, %+v", act, r)
	}
	d.get("task_output", map[string]any{"pane": pane, "wait": "20s", "why": "x"})
}

// TestPanesAsErrorsNameThem: the advice in an error about a pane or a line works.
func TestPanesAsErrorsNameThem(t *testing.T) {
	d := newBench(t)
	d.get("run_shell", with("command", "seq 60"))
	_, r := d.call("send-keys", with("pane", "%99", "literal_text", "x"))
	named := regexp.MustCompile(`%\d+ \(shared\)`).FindString(r.Content)
	if !strings.Contains(r.Content, "leave it out for the shared one") || named == "" {
		t.Fatalf("a missing pane: %+v", r)
	}
	for _, args := range []map[string]any{with("literal_text", "x"), with("pane", named, "literal_text", "x"), with("pane", "shared", "literal_text", "x")} {
		if act, r := d.call("send-keys", args); r.IsError || !strings.Contains(r.Content, "typed into pane "+d.shell.panes.Pane()) || !strings.Contains(act.Preview, "into pane ") {
			t.Errorf("send-keys(%v): %+v, %+v", args, act, r)
		}
	}
	if _, r := d.call("capture-pane", map[string]any{"pane": named, "start": "top", "why": "x"}); !r.IsError || !strings.Contains(r.Content, `"top": not a number or "-"`) {
		t.Errorf("no line: %+v", r)
	}
	for _, start := range []any{-30, "-31", "-"} {
		if _, r := d.call("capture-pane", map[string]any{"pane": named, "start": start, "end": -1, "why": "x"}); r.IsError || !strings.Contains(r.Content, "\n20\n") {
			t.Errorf("from %v: %+v", start, r)
		}
	}
	if _, r := d.call("tmux_kill_pane", map[string]any{"pane": "%99"}); !r.IsError || strings.Contains(r.Content, "leave it out") {
		t.Errorf("a pane to close: %+v", r)
	}
}

// TestCreateShell: without a command the pane has an interactive shell, with the folder and variables of run_shell.
func TestCreateShell(t *testing.T) {
	d := newBench(t)
	d.get("run_shell", with("command", "export PS1='ps> ' GREETING=hello SHELL=/bin/sh; cd /"))
	made := d.get("tmux_create_pane", with("title", "a shell"))
	tmuxtest.Until(t, "the shell is ready", func() bool {
		return strings.Contains(d.screen(made.Pane).Stdout, "ps>") || strings.Contains(d.screen(made.Pane).Note, "nothing changed")
	})
	d.get("send-keys", with("pane", made.Pane, "literal_text", "echo $GREETING-$PWD-; exit 3", "enter", true))
	end := d.get("task_output", map[string]any{"id": made.ID, "wait": "20s", "why": "x"})
	if end.ExitCode != 3 {
		t.Errorf("end %+v", end)
	}
}

func TestCutStart(t *testing.T) {
	for _, tt := range []struct {
		s      string
		limit  int
		before int64
		want   string
	}{
		{"abc", 3, 0, "abc"},
		{"abcd", 3, 0, "[truncated 1 chars from start]\nbcd"},
		{"éa", 2, 0, "[truncated 2 chars from start]\na"},
		{"abc", 3, 7, "[truncated 7 chars from start]\nabc"},
	} {
		if got := cutStart(tt.s, tt.limit, tt.before); got != tt.want {
			t.Errorf("cutStart(%q, %d, %d) = %q, want %q", tt.s, tt.limit, tt.before, got, tt.want)
		}
	}
}

func TestSessionTools(t *testing.T) {
	d := newBench(t)
	made := d.get("tmux_create_session", map[string]any{"why": "x"})
	if !strings.HasPrefix(made.Stdout, "session buddy-t, pane %") || !strings.Contains(made.Stdout, " (shared)\nthe person attaches with: ") || made.Note != "" {
		t.Errorf("created %+v", made)
	}
	made = d.get("tmux_create_session", map[string]any{"why": "x", "session": "default"})
	if made.Note != "it already existed" {
		t.Errorf("again %+v", made)
	}
	if _, r := d.call("tmux_create_session", map[string]any{"why": "x", "session": "other"}); !r.Retry || !strings.Contains(r.Content, `there is one session, "buddy-t"`) {
		t.Errorf("a second one: %+v", r)
	}
	act, r := d.call("tmux_kill_session", with("session", "it's gone"))
	if act.Kind != action.Shell || act.Command != `tmux kill-session -t '=it'\''s gone'` || !r.IsError || !strings.Contains(r.Content, "no such abandoned session") {
		t.Errorf("kill: %+v, %+v", act, r)
	}
	for _, own := range []string{"default", "buddy-t"} {
		if _, r := d.call("tmux_kill_session", with("session", own)); !r.Retry || !strings.Contains(r.Content, "cannot be closed") {
			t.Errorf("kill %s: %+v", own, r)
		}
	}
	d.shell.noPanes.Store(true)
	for name, args := range map[string]map[string]any{"tmux_create_session": {"why": "x"}, "tmux_kill_session": with("session", "s")} {
		if _, r := d.call(name, args); !r.IsError || !strings.Contains(r.Content, "no panes here") {
			t.Errorf("%s without tmux: %+v", name, r)
		}
	}
}

// TestCaptureOptions: controls as \ooo, spaces, the other screen, delays.
func TestCaptureOptions(t *testing.T) {
	d := newBench(t)
	d.call("run_shell", with("command", "printf '\\033[31mred\\033[m  \\n'"))
	look := func(more ...any) (p ran) {
		t.Helper()
		args := map[string]any{"why": "look"}
		for i := 0; i < len(more); i += 2 {
			args[more[i].(string)] = more[i+1]
		}
		p = d.get("capture-pane", args)
		return p
	}
	if p := look("octal", true, "delay", "200ms"); !strings.Contains(p.Stdout, `\033[31mred`) {
		t.Errorf("octal: %q", p.Stdout)
	}
	if p := look("trailing", true); !strings.Contains(p.Stdout, "red  ") {
		t.Errorf("trailing: %q", p.Stdout)
	}
	if p := look("alternate", true); !strings.Contains(p.Stdout, "red") || !strings.Contains(p.Note, "no alternate screen") {
		t.Errorf("alternate: %+v", p)
	}
	began := time.Now()
	if _, r := d.call("send-keys", with("pane", "shared", "keys", []string{"C-l"}, "delay", "50ms")); r.IsError || time.Since(began) < 50*time.Millisecond {
		t.Errorf("after %v: %+v", time.Since(began), r)
	}
	for _, delay := range []string{"soon", "31s"} {
		if _, r := d.call("send-keys", with("pane", "shared", "enter", true, "delay", delay)); !r.Retry || !strings.Contains(r.Content, "delay") {
			t.Errorf("delay %s: %+v", delay, r)
		}
	}
}
