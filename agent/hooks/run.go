package hooks

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"buddy/tmux/host/child"
)

// maxOutput limits how much of a hook's standard output is kept, in bytes.
const maxOutput = 1 << 20

// limited keeps the first maxOutput bytes that are written to it. It does not embed the buffer, whose ReadFrom would
// bypass the limit.
type limited struct{ kept bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	l.kept.Write(p[:min(len(p), maxOutput-l.kept.Len())])
	return len(p), nil
}

// errLate is the cancel cause for a hook that exceeds its time limit.
var errLate = errors.New("it takes too long")

// execute runs one hook until it ends or exceeds its time limit, and then ends what is left of its process group. The
// hook reads object from its standard input. trusted is as in Options.
func (r *Runner) execute(ctx context.Context, trusted func(Handler) (Handler, error), h Handler, object []byte) ended {
	e := ended{handler: h, code: -1, failure: h.Lost}
	if h.Lost != "" {
		return e
	}
	if r.ended() {
		e.failure = "the session has ended" // a guard must not pass because of that
		return e
	}
	if trusted != nil && h.Origin.Source != Person {
		var err error
		if h, err = trusted(h); err != nil {
			e.failure = err.Error()
			return e
		}
	}
	var within child.Holder
	if r.o.Hold != nil && !h.Outside {
		var err error
		if within, err = r.o.Hold(h); err != nil {
			_ = os.RemoveAll(h.Copies) // does nothing for ""
			e.failure = err.Error()
			return e
		}
		e.inside = within != nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, h.limit(), errLate)
	defer cancel()
	p, err := child.Start(ctx, child.Spec{Name: "hook " + h.Name(), Command: r.command(h), Dir: cmp.Or(h.projectDir(), r.o.Cwd), Env: r.env(h), State: r.o.State, Temp: h.Copies, Within: within})
	if err != nil {
		e.failure = err.Error()
		e.gone = ctx.Err() != nil && !errors.Is(context.Cause(ctx), errLate)
		return e
	}
	r.watch(p)
	go func() {
		_, _ = p.Stdin().Write(object) // a hook need not read it
		_ = p.Stdin().Close()
	}()
	var out limited
	read := make(chan struct{})
	go func() { defer close(read); _, _ = io.Copy(&out, p.Stdout()) }()
	select {
	case <-p.Done():
		<-read
	case <-ctx.Done(): // the process group is ended in the background
		if e.gone = !errors.Is(context.Cause(ctx), errLate); !e.gone {
			e.failure = fmt.Sprintf("buddy ended it after %s", short(h.limit()))
		}
		return e
	}
	e.stdout, e.stderr = out.kept.Bytes(), p.Stderr()
	if e.code, err = p.Exit(); err != nil {
		e.failure = err.Error()
	}
	return e
}

func (r *Runner) ended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// watch keeps a process in r.live until its whole process group has ended.
func (r *Runner) watch(p *child.Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.live[p] = struct{}{}
	if r.closed { // closed while the process started
		go p.Stop()
	}
	go func() {
		<-p.Gone()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.live, p)
	}()
}

// short formats a duration without units that are zero.
func short(d time.Duration) string {
	if d%time.Minute == 0 {
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%g s", d.Seconds())
}

func (r *Runner) command(h Handler) []string {
	if !h.Direct {
		return []string{"sh", "-c", h.Command}
	}
	all := append([]string{h.Command}, h.Args...)
	for i, word := range all {
		all[i] = expand(word, cmp.Or(h.projectDir(), r.o.Project), h.Origin)
	}
	return all
}

// expand replaces the variables that stand for folders in a word.
func expand(word, project string, from Origin) string {
	return strings.NewReplacer("${CLAUDE_PROJECT_DIR}", project, "$CLAUDE_PROJECT_DIR", project,
		"${BUDDY_PROJECT_DIR}", project, "$BUDDY_PROJECT_DIR", project, "${CLAUDE_PLUGIN_ROOT}", from.Root, "$CLAUDE_PLUGIN_ROOT", from.Root, "${CLAUDE_PLUGIN_DATA}", from.Data, "$CLAUDE_PLUGIN_DATA", from.Data).Replace(word)
}

// env returns the variables that a hook gets in addition to the minimal environment.
func (r *Runner) env(h Handler) []string {
	project := cmp.Or(h.projectDir(), r.o.Project)
	env := append(slices.Clone(r.o.Env), "CLAUDE_PROJECT_DIR="+project, "BUDDY_PROJECT_DIR="+project, "BUDDY_SESSION_ID="+r.o.Session)
	if h.Origin.Source == Plugin {
		env = append(env, "CLAUDE_PLUGIN_ROOT="+h.Origin.Root, "CLAUDE_PLUGIN_DATA="+h.Origin.Data)
	}
	return env
}
