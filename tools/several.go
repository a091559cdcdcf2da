package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

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

// SideBySide calls f for each name at the same time and waits for all.
func SideBySide(names []string, f func(i int, name string)) {
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { f(i, name) })
	}
	all.Wait()
}
