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

// options holds what a person sets.
type options struct {
	buddy   string // the program
	model   string
	baseURL string
	config  string // a file
	turns   int    // of a prompt
	timeout time.Duration
}

// harness runs tasks below one temporary folder.
type harness struct {
	options
	root string
	env  []string // what every run gets of the person's environment
}

// outcome tells how one run went.
type outcome struct {
	err   error  // what is wrong, nil for nothing
	dir   string // where it lies; gone after a success
	took  time.Duration
	turns int
	calls int
	// Calls that never began: form counts those that were not understood, denied those that
	// the policy or a person did not let run. Of those that began broken counts the ones that
	// could not do their work; a command that ends with another code than 0 is none of them.
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

// newHarness makes the folder. The names of programs and files may be relative.
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
	root, err := os.MkdirTemp("", "be") // short, because the path of a socket has to be
	if err != nil {
		return nil, err
	}
	return &harness{options: o, root: root, env: inherited(ctx)}, nil
}

// close removes the folder unless something was kept in it.
func (h *harness) close() { _ = os.Remove(h.root) }

// inherited is the person's environment, without what belongs to a home or to a terminal,
// and with Go's caches, which would be below the new home.
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

// do does a task once and judges it.
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
	_ = h.command(context.WithoutCancel(ctx), r, env, "tmux", "-S", filepath.Join(r.home, "tmux"), "kill-server").Run() // there may be none
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

// setUp makes the home and the repository of a task in dir.
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
		if said, err := h.command(ctx, r, env, "git", args...).CombinedOutput(); err != nil {
			return nil, nil, nil, fmt.Errorf("git %s: %w: %s", args[0], err, said)
		}
	}
	r.env = env
	r.before, err = r.tree()
	return steps, r, env, err
}

// kept stands in a file of the home that no task may touch.
const kept = "Dear harbour master, …\n"

// sandbox is the settings of a run: commands write in the repository, in folders for
// temporary files and in Go's cache.
func sandbox(env []string) string {
	text, write := "[sandbox]\nmode = \"workspace\"\n", ""
	for _, kv := range env {
		if cache, ok := strings.CutPrefix(kv, "GOCACHE="); ok {
			write = fmt.Sprintf("write = [%q]\n", cache) // the last counts
		}
	}
	return text + write
}

// exec sends one prompt, and returns why there was no answer. Nobody is at a terminal: what
// would be asked is denied.
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
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // else it would ask on the terminal of make
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = exitTime
	var said bytes.Buffer
	cmd.Stderr = &said
	answer, err := cmd.Output()
	base := filepath.Join(filepath.Dir(r.dir), "step"+strconv.Itoa(i+1))
	if err := errors.Join(write(base+".out", string(answer)), write(base+".err", said.String())); err != nil {
		return err
	}
	if err != nil {
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		return fmt.Errorf("%w: %s", err, strings.Join(lines[max(len(lines)-2, 0):], "\n")) // a mistake and what to do about it
	}
	return nil
}

// exitTime limits how long buddy may take to end in order.
const exitTime = 30 * time.Second

func (h *harness) command(ctx context.Context, r *result, env []string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = r.dir, env
	return cmd
}

// count sums up a session.
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
			case requested[p.CallID].Action.Kind == "": // arguments that do not fit have no action
				o.form++
			default:
				o.denied++
			}
			delete(started, p.CallID)
		}
	}
	o.turns, o.calls, o.in, o.out, o.cost = t.Totals.Turns, t.Totals.Calls, t.Totals.Prompt, t.Totals.Completion, t.Totals.Cost
}
