package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"buddy/texts"
	"buddy/tools"
)

// labelled passes on the live output of several targets, line by line. Each line starts with the target's name.
type labelled struct {
	pass func(tools.Chunk) // nil: output is not wanted

	mu      sync.Mutex // guards the fields below
	totals  [2]int64   // bytes passed on: stdout, stderr
	streams map[string]*labelledStream
}

type labelledStream struct {
	stream tools.Stream
	rest   []byte // an incomplete last line
	total  int64
}

// longestLine limits the buffered part of an incomplete line, in bytes.
const longestLine = 4096

// of returns the receiver of a target's output.
func (l *labelled) of(name string) func(tools.Chunk) {
	if l.pass == nil {
		return nil
	}
	return func(c tools.Chunk) {
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

// flush passes on the incomplete lines of a target.
func (l *labelled) flush(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, stream := range []tools.Stream{tools.Stdout, tools.Stderr} {
		if s := l.streams[name+"\x00"+string(stream)]; s != nil {
			l.show(name, s, len(s.rest))
		}
	}
}

// show passes on the first n waiting bytes. The caller holds mu.
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
	if s.stream == tools.Stderr {
		i = 1
	}
	l.totals[i] += int64(len(text))
	l.pass(tools.Chunk{Stream: s.stream, Text: text, Total: l.totals[i]})
}

// combine joins the results of several targets into one. The part of each target starts with a line that names it.
func combine(ctx context.Context, names []string, results []tools.Result) tools.Result {
	var text, shown strings.Builder
	var failed []string
	exits, took := make(map[string]int), time.Duration(0)
	for i, res := range results {
		how, ok := outcomeOf(res)
		if !ok {
			failed = append(failed, names[i]+": "+how)
		}
		if res.ExitCode != nil {
			exits[names[i]] = *res.ExitCode
		}
		fmt.Fprintf(&text, "[%s]\n%s\n", names[i], strings.TrimRight(res.Content, "\n"))
		took = max(took, res.Took)
		fmt.Fprintf(&shown, "── %s · %s\n%s", names[i], how, res.Tail[max(0, len(res.Tail)-tools.TailLimit/len(results)):])
		if res.Tail != "" && !strings.HasSuffix(res.Tail, "\n") {
			shown.WriteByte('\n')
		}
	}
	nowhere := !slices.ContainsFunc(results, func(res tools.Result) bool { return !res.IsError })
	code, why := exitOf(results), strings.Join(failed, "; ")
	var r tools.Result
	switch {
	case ctx.Err() != nil:
		r = tools.Result{Content: cancelled + ": " + why, IsError: true}
	case nowhere:
		r = tools.Problem("it ran nowhere: " + why)
	case code == nil && slices.ContainsFunc(results, func(res tools.Result) bool { return res.IsError }): // an exit code other than 0 already shows a failure
		r = tools.Problem(fmt.Sprintf("%d of %d failed: %s", len(failed), len(results), why))
	}
	r.Content = strings.TrimPrefix(r.Content+"\n"+text.String(), "\n")
	r.Tail, r.ExitCode, r.Exits, r.Took = tools.End(strings.ToValidUTF8(shown.String(), "\uFFFD")), code, exits, took
	return r
}

// outcomeOf describes the outcome of a command on one target in a few words, and reports whether it succeeded.
func outcomeOf(res tools.Result) (how string, ok bool) {
	switch {
	case res.IsError:
		first, _, _ := strings.Cut(tools.Why(res), "\n")
		return texts.ClipBytes(first, 200), false
	case res.ExitCode == nil:
		return "started", true
	}
	return fmt.Sprintf("exit code %d", *res.ExitCode), *res.ExitCode == 0
}

// exitOf returns the first exit code that is not 0. If there is none, it returns 0 if all exit codes are known, else
// nil.
func exitOf(results []tools.Result) *int {
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

// RunOn runs a call on several targets at once; open returns their shells. Each target uses its own pane, and none
// waits for another. All results together have at most as much output as a call on one target.
func RunOn(ctx context.Context, names []string, open func(ctx context.Context, name string) (*Shell, error), call tools.Call) tools.Result {
	return sideBySide(ctx, names, open, call, (*Shell).run)
}

// RecoverOn recovers a call that RunOn started, see [Shell.Recover].
func RecoverOn(ctx context.Context, names []string, open func(ctx context.Context, name string) (*Shell, error), call tools.Call) tools.Result {
	return sideBySide(ctx, names, open, call, func(t *Shell, ctx context.Context, call tools.Call, limit int) tools.Result {
		if _, err := os.Stat(call.Dir); errors.Is(err, os.ErrNotExist) {
			return tools.Problem("it was not started there")
		}
		return t.recover(ctx, call, limit)
	})
}

func sideBySide(ctx context.Context, names []string, open func(ctx context.Context, name string) (*Shell, error), call tools.Call, do func(*Shell, context.Context, tools.Call, int) tools.Result) tools.Result {
	results := make([]tools.Result, len(names))
	out := &labelled{pass: call.Output, streams: make(map[string]*labelledStream)}
	SideBySide(names, func(i int, name string) {
		defer func() {
			if p := recover(); p != nil {
				results[i] = tools.Failure(fmt.Errorf("it failed inside: %v", p))
			}
		}()
		t, err := open(ctx, name)
		if err != nil {
			results[i] = tools.Failure(err)
			return
		}
		mine := call
		mine.Dir, mine.Output = filepath.Join(call.Dir, name), out.of(name)
		mine.Confined = mine.Free && t.confines // it was judged for each target
		mine.Fenced = mine.Fenced && t.fenceable
		results[i] = do(t, ctx, mine, max(t.limits.Output/len(names), 1))
		out.flush(name)
	})
	return combine(ctx, names, results)
}

// SideBySide calls f for each name at the same time and waits for all.
func SideBySide(names []string, f func(i int, name string)) {
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { f(i, name) })
	}
	all.Wait()
}
