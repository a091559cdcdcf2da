package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"buddy/agent/action"
	"buddy/tmux"
)

// sitedShell is run_shell where there are several targets: on one of them, or on several
// side by side.
type sitedShell struct{ sited }

// group returns the targets of a call for several, nil when it is for one.
func (t *sitedShell) group(call Call) (names []string, inner Call, err error) {
	inner, at, err := t.split(call)
	if err != nil || len(at.targets) == 0 {
		return nil, inner, err
	}
	names = at.targets
	switch {
	case at.target != "":
		return nil, inner, invalid("target and targets: give one of them")
	case len(names) > maxTargets:
		return nil, inner, invalid("targets: %d of them (at most %d)", len(names), maxTargets)
	}
	for i, name := range names {
		if err := t.known(name); err != nil {
			return nil, inner, err
		}
		if slices.Contains(names[:i], name) {
			return nil, inner, invalid("targets: %s is there twice", name)
		}
	}
	return names, inner, nil
}

// whereat is where the command starts on the one target of a call; not known of several.
func (t *sitedShell) whereat(call Call) whereat {
	names, inner, err := t.group(call)
	if err != nil || names != nil {
		return whereat{}
	}
	ctx, done := planning()
	defer done()
	tool, inner, _, err := t.inner(ctx, inner)
	if shell, ok := tool.(*RunShell); err == nil && ok {
		return shell.whereat(inner)
	}
	return whereat{}
}

// Plan of a call for several targets reaches for all at once. One that is down does not
// stop the others: Run says so.
func (t *sitedShell) Plan(call Call) (action.Action, error) {
	names, inner, err := t.group(call)
	if err != nil {
		return action.Action{}, err
	}
	if names == nil {
		return t.sited.Plan(call)
	}
	ctx, done := planning()
	defer done()
	first, err := t.sites.Open(ctx, t.sites.Names()[0])
	if err != nil {
		return action.Action{}, failed(err)
	}
	act, err := first.shell.Plan(inner)
	if err != nil {
		return action.Action{}, err
	}
	act.Places = make([]action.Place, len(names))
	SideBySide(names, func(i int, name string) {
		act.Places[i].Target = name
		if site, err := t.sites.Open(ctx, name); err == nil {
			act.Places[i].Cwd = *site.shell.cwd.Load()
		}
	})
	act.Target, act.Cwd = strings.Join(names, ", "), ""
	return act, nil
}

// Seat is that on the one target of a call; several begin together, and none of their panes
// is more than the others.
func (t *sitedShell) Seat(call Call) Seat {
	names, inner, err := t.group(call)
	if err != nil || names != nil {
		args, _ := decode[shellArgs](inner)
		return Seat{Terminal: tmux.Mode(args.Mode) == tmux.Terminal}
	}
	ctx, done := planning()
	defer done()
	tool, inner, _, err := t.inner(ctx, inner)
	shell, ok := tool.(*RunShell)
	if err != nil || !ok {
		return Seat{}
	}
	return shell.Seat(inner)
}

// SideBySide calls f for each name at the same time and waits for all.
func SideBySide(names []string, f func(i int, name string)) {
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { f(i, name) })
	}
	all.Wait()
}

// Run runs the command. Of several targets each has a pane of its own, and none waits for
// another.
func (t *sitedShell) Run(ctx context.Context, call Call) Result {
	return t.each(ctx, call, t.sited.Run, (*RunShell).run)
}

// Recover finds the results of a command that an earlier process started.
func (t *sitedShell) Recover(ctx context.Context, call Call) Result {
	return t.each(ctx, call, t.sited.Recover, func(s *RunShell, ctx context.Context, call Call, limit int) Result {
		if _, err := os.Stat(call.Dir); errors.Is(err, fs.ErrNotExist) {
			return Result{Content: "Tool error: it was not started there", IsError: true}
		}
		return s.recover(ctx, call, limit)
	})
}

// each does a call on its one target, or on several at once.
func (t *sitedShell) each(ctx context.Context, call Call, one func(context.Context, Call) Result, do func(*RunShell, context.Context, Call, int) Result) Result {
	names, inner, err := t.group(call)
	if err != nil {
		return failure(err)
	}
	if names == nil {
		return one(ctx, call)
	}
	limit := shellOutput / len(names)
	results := make([]Result, len(names))
	out := &labelled{pass: call.Output, streams: make(map[string]*labelledStream)}
	SideBySide(names, func(i int, name string) {
		defer func() {
			if p := recover(); p != nil {
				results[i] = failure(fmt.Errorf("it failed inside: %v", p))
			}
		}()
		site, err := t.sites.Open(ctx, name)
		if err != nil {
			results[i] = failure(err)
			return
		}
		mine := inner
		mine.Dir, mine.Output = filepath.Join(call.Dir, name), out.of(name)
		mine.Confined = mine.Free && site.shell.confines // it was judged for each
		results[i] = do(site.shell, ctx, mine, limit)
		out.flush(name)
	})
	return together(ctx, names, results)
}

// sitePart is what a command gave on one of several targets.
type sitePart struct {
	Target string          `json:"target"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// sitesResult is the payload of a command on several targets.
type sitesResult struct {
	Failed  []string   `json:"failed,omitempty"` // where, and how
	Targets []sitePart `json:"targets"`
}

// together makes one result of those of several targets.
func together(ctx context.Context, names []string, results []Result) Result {
	var payload sitesResult
	var shown strings.Builder
	var took time.Duration
	for i, res := range results {
		part, how, ok := partOf(names[i], res)
		if !ok {
			payload.Failed = append(payload.Failed, names[i]+": "+how)
		}
		payload.Targets = append(payload.Targets, part)
		took = max(took, res.Took)
		fmt.Fprintf(&shown, "── %s · %s\n%s", names[i], how, res.Tail[max(0, len(res.Tail)-tailLimit/len(results)):])
		if res.Tail != "" && !strings.HasSuffix(res.Tail, "\n") {
			shown.WriteByte('\n')
		}
	}
	r := success(payload, strings.ToValidUTF8(shown.String(), "\uFFFD"))
	r.Took, r.ExitCode = took, exitOf(results)
	nowhere := !slices.ContainsFunc(results, func(res Result) bool { return !res.IsError })
	switch {
	case ctx.Err() != nil:
		r.IsError, r.Content = true, cancelled+"; on each target: "+string(compact(payload))
	case nowhere:
		r.IsError, r.Content = true, "Tool error: it ran nowhere: "+string(compact(payload))
	}
	return r
}

// partOf is what the model reads of one target, how it went in a few words, and whether well.
func partOf(name string, res Result) (part sitePart, how string, ok bool) {
	part.Target = name
	if res.IsError {
		part.Error = strings.TrimPrefix(res.Content, "Tool error: ")
		first, _, _ := strings.Cut(part.Error, "\n")
		return part, clip(first, 200), false
	}
	part.Result = resultOf(res.Content)
	if res.ExitCode == nil {
		return part, "started", true
	}
	return part, fmt.Sprintf("exit code %d", *res.ExitCode), *res.ExitCode == 0
}

// exitOf is the first exit code that is not 0, or 0 if all are known; else nil.
func exitOf(results []Result) *int {
	var code *int
	known := true
	for _, res := range results {
		known = known && res.ExitCode != nil
		if res.ExitCode != nil && (code == nil || *code == 0) {
			code = res.ExitCode
		}
	}
	if !known && code != nil && *code == 0 {
		return nil
	}
	return code
}

// resultOf takes a payload out of its envelope.
func resultOf(content string) json.RawMessage {
	var e struct {
		Result json.RawMessage `json:"result"`
	}
	_ = json.Unmarshal([]byte(content), &e) // of ours
	return e.Result
}

// Revive follows a command again that an earlier process left running: on the target of
// its pane.
func (t *sitedShell) Revive(ctx context.Context, id int, was Task) (Task, error) {
	name, _ := PaneOf(was.Pane)
	if name == "" {
		name = t.sites.Names()[0]
	}
	if err := t.known(name); err != nil {
		return Task{}, err
	}
	site, err := t.sites.Open(ctx, name)
	if err != nil {
		return Task{}, err
	}
	return site.shell.Revive(ctx, id, was)
}

// labelled passes the live output of several targets on by lines that begin with the
// name of theirs.
type labelled struct {
	pass func(Chunk) // nil: nobody wants it

	mu      sync.Mutex // guards what follows
	totals  [2]int64   // bytes that were passed on: stdout, stderr
	streams map[string]*labelledStream
}

type labelledStream struct {
	stream Stream
	rest   []byte // of the last line, which has no end yet
	total  int64
}

// longestLine is how much of a line without an end is kept, in bytes.
const longestLine = 4096

// of returns where the output of a target goes.
func (l *labelled) of(name string) func(Chunk) {
	if l.pass == nil {
		return nil
	}
	return func(c Chunk) {
		l.mu.Lock()
		defer l.mu.Unlock()
		key := name + "\x00" + string(c.Stream)
		s := l.streams[key]
		if s == nil {
			s = &labelledStream{stream: c.Stream}
			l.streams[key] = s
		}
		if missed := c.Total - s.total - int64(len(c.Text)); missed > 0 {
			s.rest = fmt.Appendf(s.rest, "\n… %d bytes are not shown\n", missed)
		}
		s.total = c.Total
		s.rest = append(s.rest, c.Text...)
		end := bytes.LastIndexByte(s.rest, '\n') + 1
		if len(s.rest)-end > longestLine {
			end = len(s.rest)
		}
		l.show(name, s, end)
	}
}

// flush passes on what has no end of line.
func (l *labelled) flush(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, stream := range []Stream{Stdout, Stderr} {
		if s := l.streams[name+"\x00"+string(stream)]; s != nil {
			l.show(name, s, len(s.rest))
		}
	}
}

// show passes the first n bytes of what waits on. The caller holds mu.
func (l *labelled) show(name string, s *labelledStream, n int) {
	if n == 0 {
		return
	}
	var text []byte
	for line := range bytes.Lines(s.rest[:n]) {
		text = append(append(fmt.Appendf(text, "[%s] ", name), bytes.TrimSuffix(line, []byte("\n"))...), '\n')
	}
	s.rest = append([]byte(nil), s.rest[n:]...)
	i := 0
	if s.stream == Stderr {
		i = 1
	}
	l.totals[i] += int64(len(text))
	l.pass(Chunk{Stream: s.stream, Text: text, Total: l.totals[i]})
}
