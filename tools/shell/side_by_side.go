package shell

import (
	"bytes"
	"context"
	"encoding/json"
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

// labelled passes the live output of several targets on in lines that begin with the target's
// name.
type labelled struct {
	pass func(tools.Chunk) // nil: output is not wanted

	mu      sync.Mutex // guards what follows
	totals  [2]int64   // bytes passed on: stdout, stderr
	streams map[string]*labelledStream
}

type labelledStream struct {
	stream tools.Stream
	rest   []byte // an incomplete last line
	total  int64
}

// longestLine limits what is kept of an incomplete line, in bytes.
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

// flush passes on incomplete lines.
func (l *labelled) flush(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, stream := range []tools.Stream{tools.Stdout, tools.Stderr} {
		if s := l.streams[name+"\x00"+string(stream)]; s != nil {
			l.show(name, s, len(s.rest))
		}
	}
}

// show passes the first n waiting bytes on. The caller holds mu.
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

// targetPart is the outcome of a command on one of several targets.
type targetPart struct {
	Target string          `json:"target"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// targetsResult is the payload of a command on several targets.
type targetsResult struct {
	Failed  []string     `json:"failed,omitempty"` // targets, each with the reason
	Targets []targetPart `json:"targets"`
}

// combine joins the results of several targets into one.
func combine(ctx context.Context, names []string, results []tools.Result) tools.Result {
	var payload targetsResult
	var shown strings.Builder
	var took time.Duration
	for i, res := range results {
		part, how, ok := partOf(names[i], res)
		if !ok {
			payload.Failed = append(payload.Failed, names[i]+": "+how)
		}
		payload.Targets = append(payload.Targets, part)
		took = max(took, res.Took)
		fmt.Fprintf(&shown, "── %s · %s\n%s", names[i], how, res.Tail[max(0, len(res.Tail)-tools.TailLimit/len(results)):])
		if res.Tail != "" && !strings.HasSuffix(res.Tail, "\n") {
			shown.WriteByte('\n')
		}
	}
	r := tools.Success(payload, strings.ToValidUTF8(shown.String(), "\uFFFD"))
	r.Took, r.ExitCode = took, exitOf(results)
	nowhere := !slices.ContainsFunc(results, func(res tools.Result) bool { return !res.IsError })
	failed := slices.ContainsFunc(results, func(res tools.Result) bool { return res.IsError })
	switch {
	case ctx.Err() != nil:
		r.IsError, r.Content = true, cancelled+"; on each target: "+string(tools.JSON(payload))
	case nowhere:
		r.IsError, r.Content = true, "Tool error: it ran nowhere: "+string(tools.JSON(payload))
	case failed && r.ExitCode == nil: // an exit code that is not 0 says by itself that something failed
		r.IsError, r.Content = true, fmt.Sprintf("Tool error: %d of %d failed: %s", len(payload.Failed), len(results), tools.JSON(payload))
	}
	return r
}

// partOf returns the part of the result for one target, its outcome in a few words, and
// whether it succeeded.
func partOf(name string, res tools.Result) (part targetPart, how string, ok bool) {
	part.Target = name
	if res.IsError {
		part.Error = strings.TrimPrefix(res.Content, "Tool error: ")
		first, _, _ := strings.Cut(part.Error, "\n")
		return part, texts.ClipBytes(first, 200), false
	}
	part.Result = resultOf(res.Content)
	if res.ExitCode == nil {
		return part, "started", true
	}
	return part, fmt.Sprintf("exit code %d", *res.ExitCode), *res.ExitCode == 0
}

// exitOf returns the first exit code that is not 0, or 0 if all are known; else nil.
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

// resultOf returns the payload of an envelope.
func resultOf(content string) json.RawMessage {
	var e struct {
		Result json.RawMessage `json:"result"`
	}
	_ = json.Unmarshal([]byte(content), &e) // an envelope of our own
	return e.Result
}

// RunOn runs a call on several targets at once, whose shells open returns. Each uses a pane of
// its own, and none waits for another; all together return as much output as a call on one
// target.
func RunOn(ctx context.Context, names []string, open func(ctx context.Context, name string) (*Shell, error), call tools.Call) tools.Result {
	return sideBySide(ctx, names, open, call, (*Shell).run)
}

// RecoverOn recovers a call that RunOn began, see [Shell.Recover].
func RecoverOn(ctx context.Context, names []string, open func(ctx context.Context, name string) (*Shell, error), call tools.Call) tools.Result {
	return sideBySide(ctx, names, open, call, func(t *Shell, ctx context.Context, call tools.Call, limit int) tools.Result {
		if _, err := os.Stat(call.Dir); errors.Is(err, os.ErrNotExist) {
			return tools.Result{Content: "Tool error: it was not started there", IsError: true}
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
