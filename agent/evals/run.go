package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/sessions/trace"
)

// options holds the command-line flags.
type options struct {
	buddy   string // the program
	model   string
	baseURL string
	config  string // a file
	turns   int    // per prompt
	timeout time.Duration
}

// harness runs tasks in one temporary folder.
type harness struct {
	options
	root string
	env  []string // the part of the caller's environment for every run
}

// outcome is the result of one run.
type outcome struct {
	err   error  // why the task failed, nil if it did not
	dir   string // its folder; removed after a success
	took  time.Duration
	turns int
	calls int
	// form counts calls that were not understood, denied counts those that the policy or a person denied, and broken
	// counts those that ran but could not do their work. A command with a non-zero exit code is not broken.
	form, denied, broken int
	in, out              int // tokens
	cost                 model.Money
}

func (o *outcome) add(p outcome) {
	o.took += p.took
	o.turns += p.turns
	o.calls += p.calls
	o.form += p.form
	o.denied += p.denied
	o.broken += p.broken
	o.in += p.in
	o.out += p.out
	o.cost += p.cost
}

// newHarness creates the folder of the runs. The paths of programs and files in o may be relative.
func newHarness(ctx context.Context, o options) (*harness, error) {
	program, err := exec.LookPath(o.buddy)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return nil, err
	}
	if o.buddy, err = filepath.Abs(program); err != nil {
		return nil, err
	}
	if o.config != "" {
		if o.config, err = filepath.Abs(o.config); err != nil {
			return nil, err
		}
	}
	root, err := os.MkdirTemp("", "be") // short, to leave room for the path of a socket
	if err != nil {
		return nil, err
	}
	return &harness{options: o, root: root, env: inherited(ctx)}, nil
}

// close removes the folder unless something was kept in it.
func (h *harness) close() { _ = os.Remove(h.root) }

// inherited returns the caller's environment without variables about the home, the terminal and git. It adds Go's
// caches, so that a run does not build everything again below its own home.
func inherited(ctx context.Context) []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == "HOME" || name == "PWD" || strings.HasPrefix(name, "XDG_") || strings.HasPrefix(name, "TMUX") ||
			name == "BUDDY_TMUX_SOCKET" || strings.HasPrefix(name, "GIT_")
	})
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
		if at, err := exec.CommandContext(ctx, "go", "env", name).Output(); err == nil {
			env = append(env, name+"="+string(bytes.TrimSpace(at)))
		}
	}
	return env
}

// do runs a task once and judges the result.
func (h *harness) do(ctx context.Context, t task, n int) (o outcome) {
	o.dir = filepath.Join(h.root, t.name+"-"+strconv.Itoa(n+1))
	steps, r, env, err := h.setUp(ctx, t, o.dir)
	if err != nil {
		o.err = err
		return o
	}
	began := time.Now()
	for i, s := range steps {
		if o.err = h.exec(ctx, r, env, s, i); o.err != nil {
			break
		}
	}
	o.took = time.Since(began)
	_ = h.command(context.WithoutCancel(ctx), r, env, "tmux", "-S", filepath.Join(r.home, "tmux"), "kill-server").Run() // fails if there is no server
	if err := r.readJournal(); err != nil && o.err == nil {
		o.err = err
	}
	o.count(r.events)
	if o.err == nil {
		o.err = t.judge(r)
	}
	if o.err == nil {
		o.err = os.RemoveAll(o.dir)
	}
	return o
}

// setUp creates the home and the repository of a task in dir.
func (h *harness) setUp(ctx context.Context, t task, dir string) (steps []step, r *result, env []string, err error) {
	r = &result{dir: filepath.Join(dir, "work"), home: filepath.Join(dir, "home")}
	env = append(slices.Clone(h.env), "HOME="+r.home, "XDG_RUNTIME_DIR="+r.home, "BUDDY_TMUX_SOCKET="+filepath.Join(r.home, "tmux"),
		"BUDDY_LOCAL_SERVERS=off", "GIT_CONFIG_NOSYSTEM=1")
	steps, list, err := t.load()
	if err != nil {
		return nil, nil, nil, err
	}
	for path, text := range map[string]string{
		filepath.Join(r.home, ".config/buddy/buddy.toml"): sandbox(env),
		filepath.Join(r.home, ".gitconfig"):               "[user]\n\tname = Eval\n\temail = eval@example.com\n[core]\n\tautocrlf = false\n",
		filepath.Join(r.home, "letters.txt"):              kept,
	} {
		if err := write(path, text); err != nil {
			return nil, nil, nil, err
		}
	}
	if err := errors.Join(os.Chmod(r.home, 0o700), os.MkdirAll(r.dir, 0o755), t.unpack(list, r.dir)); err != nil {
		return nil, nil, nil, err
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "--allow-empty", "-m", "Begin"}} {
		if output, err := h.command(ctx, r, env, "git", args...).CombinedOutput(); err != nil {
			return nil, nil, nil, fmt.Errorf("git %s: %w: %s", args[0], err, output)
		}
	}
	r.env = env
	r.before, err = r.tree()
	return steps, r, env, err
}

// kept is the content of a file in the home that no task may change.
const kept = "Dear harbour master, …\n"

// sandbox returns the sandbox settings of a run: commands may write to the repository, to temporary folders and to
// Go's cache.
func sandbox(env []string) string {
	text, write := "[sandbox]\nmode = \"workspace\"\n", ""
	for _, kv := range env {
		if cache, ok := strings.CutPrefix(kv, "GOCACHE="); ok {
			write = fmt.Sprintf("write = [%q]\n", cache) // the last one wins
		}
	}
	return text + write
}

// exec sends one prompt to buddy and returns why there was no answer, nil if there was one. There is no terminal, so
// calls that need approval are denied.
func (h *harness) exec(ctx context.Context, r *result, env []string, s step, i int) error {
	args := []string{"exec", "--approve", s.approve, "--max-turns", strconv.Itoa(h.turns), "--timeout", strconv.FormatFloat(h.timeout.Seconds(), 'f', -1, 64)}
	for flag, value := range map[string]string{"--model": h.model, "--base-url": h.baseURL, "--config": h.config} {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	if i > 0 {
		args = append(args, "--resume", "last")
	}
	limited, cancel := context.WithTimeout(ctx, h.timeout+exitTime)
	defer cancel()
	cmd := h.command(limited, r, env, h.buddy, append(args, s.prompt)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // otherwise it would ask on the terminal of make
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = exitTime
	var output bytes.Buffer
	cmd.Stderr = &output
	answer, err := cmd.Output()
	base := filepath.Join(filepath.Dir(r.dir), "step"+strconv.Itoa(i+1))
	if err := errors.Join(write(base+".out", string(answer)), write(base+".err", output.String())); err != nil {
		return err
	}
	if err != nil {
		lines := strings.Split(strings.TrimSpace(output.String()), "\n")
		return fmt.Errorf("%w: %s", err, strings.Join(lines[max(len(lines)-2, 0):], "\n")) // the error and its hint
	}
	return nil
}

// exitTime limits the time that buddy takes to exit after its time limit or an interrupt.
const exitTime = 30 * time.Second

func (h *harness) command(ctx context.Context, r *result, env []string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = r.dir, env
	return cmd
}

// count counts turns, calls and costs in the events of a session.
func (o *outcome) count(events []event.Envelope) {
	var t trace.Trace
	requested, started := map[string]event.ToolRequested{}, map[string]bool{}
	for _, env := range events {
		t.Add(env)
		switch p := env.Payload.(type) {
		case event.ToolRequested:
			requested[p.CallID] = p
		case event.ToolStarted:
			started[p.CallID] = true
		case event.ToolResult:
			switch {
			case started[p.CallID]:
				if p.IsError && p.ExitCode == nil {
					o.broken++
				}
			case requested[p.CallID].Action.Kind == "": // calls with invalid arguments have no action
				o.form++
			default:
				o.denied++
			}
			delete(started, p.CallID)
		}
	}
	o.turns, o.calls, o.in, o.out, o.cost = t.Totals.Turns, t.Totals.Calls, t.Totals.Prompt, t.Totals.Completion, t.Totals.Cost
}
