package sse_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"buddy/agent/model"
	"buddy/agent/model/sse"
)

// read returns the events of a body, one per line, and its final error.
func read(body io.Reader, contentType string) (out string, finished bool, err error) {
	r := sse.NewReader(io.NopCloser(body), contentType)
	var lines strings.Builder
	for {
		event, err := r.Next()
		if errors.Is(err, io.EOF) {
			return lines.String(), r.Finished(), nil
		}
		if err != nil {
			return lines.String(), r.Finished(), err
		}
		if event != nil {
			lines.WriteString("data: " + string(event) + "\n")
		}
	}
}

// TestSpellings feeds every spelling of the same events, whole, in halves and byte by byte.
func TestSpellings(t *testing.T) {
	const one, two = `{"a":"é1"}`, `{"b":2}`
	both := "data: " + one + "\ndata: " + two + "\n"
	for _, tt := range []struct {
		name, body, want string
		finished         bool
	}{
		{"plain", "data: " + one + "\n\ndata: " + two + "\n\ndata: [DONE]\n\n", both + "data: [DONE]\n", true},
		{"no blank after the colon", "data:" + one + "\n\ndata:" + two + "\n\n", both, false},
		{"CRLF", "data: " + one + "\r\n\r\ndata: " + two + "\r\n\r\ndata: [DONE]\r\n\r\n", both + "data: [DONE]\n", true},
		{"CR", "data: " + one + "\r\rdata: " + two + "\r\r", both, false},
		{"mixed ends", "data: " + one + "\r\n\ndata: " + two + "\n\r\n", both, false},
		{"comments, names, ids", ": hi\n\nevent: x\nid: 7\nretry: 9\ndata: " + one + "\n\n:\n\nevent: y\ndata: " + two + "\n\n", both, false},
		{"several lines", "data: {\"a\":\ndata: \"é1\"\ndata: }\n\n", "data: {\"a\": \"é1\" }\n", false},
		{"no blank lines", "data: " + one + "\ndata: " + two + "\ndata: [DONE]\n", both + "data: [DONE]\n", true},
		{"no last newline", "data: " + one + "\n\ndata: " + two, both, false},
		{"done without newline", "data: " + one + "\n\ndata: [DONE]", "data: " + one + "\ndata: [DONE]\n", true},
		{"text after done", "data: [DONE]\n\ndata: " + one + "\n\n", "data: [DONE]\n", true},
		{"byte order mark, white space", "\xef\xbb\xbf\n \n data: " + one + "\n\n", "data: " + one + "\n", false},
		{"empty data", "data:\n\ndata\n\ndata:  \n\ndata: " + one + "\n\n", "data: " + one + "\n", false},
		{"JSON body", " {\n \"a\" : \"é1\"\n}\n", "data: " + one + "\n", true},
		{"JSON body with mark", "\xef\xbb\xbf" + one, "data: " + one + "\n", true},
		{"null error", `data: {"error":null,"a":1}` + "\n\n", `data: {"error":null,"a":1}` + "\n", false},
		{"error as text", `data: {"a":"{\"error\":1}"}` + "\n\n", `data: {"a":"{\"error\":1}"}` + "\n", false},
		{"error as a value", `data: {"finish_reason":"error"}` + "\n\n", `data: {"finish_reason":"error"}` + "\n", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, body := range map[string]io.Reader{
				"whole":        strings.NewReader(tt.body),
				"halves":       iotest.HalfReader(strings.NewReader(tt.body)),
				"bytes":        iotest.OneByteReader(strings.NewReader(tt.body)),
				"end with eof": iotest.DataErrReader(strings.NewReader(tt.body)),
			} {
				out, finished, err := read(body, "text/event-stream; charset=utf-8")
				if out != tt.want || finished != tt.finished || err != nil {
					t.Errorf("%s: %q, finished %v, error %v; want %q, %v", name, out, finished, err, tt.want, tt.finished)
				}
			}
		})
	}
}

// TestFaults checks each fault: its kind, its text and whether the request may be sent again.
func TestFaults(t *testing.T) {
	const ev = "data: {}\n\n"
	for _, tt := range []struct {
		name, kind, body string
		want             model.ErrorKind
		text             string
		retry            bool
	}{
		{"HTML by header", "text/html; charset=utf-8", "hello\x1b[31m <b>", model.FormatError, "web page instead of data: hello\ufffd[31m <b>", true},
		{"HTML by content", "text/event-stream", "\n <!DOCTYPE html>\n<title>Log in</title>", model.FormatError, "<!DOCTYPE html> <title>Log in</title>", true},
		{"empty", "text/event-stream", "", model.CutError, "the answer is empty", true},
		{"blank", "application/json", " \n", model.CutError, "the answer is empty", true},
		{"half an event", "", ev + `data: {"a":`, model.CutError, "cut off", true},
		{"half a document", "", `{"a":[1,`, model.CutError, "cut off", true},
		{"not JSON", "", `{"a":1} trailing`, model.FormatError, `{"a":1} trailing`, true},
		{"error object", "", ev + `data: {"error":{"message":"too busy\n","code":"rate_limit_exceeded"}}` + "\n\n", model.ReportedError, "reported an error in its answer: too busy", true},
		{"error with a number", "", `data: {"error":{"message":"bad","code":400}}` + "\n\n", model.ReportedError, "bad", false},
		{"error with digits", "", `data: {"error":{"message":"bad","code":"429"}}` + "\n\n", model.ReportedError, "bad", true},
		{"error for good", "", `data: {"error":{"message":"too long","type":"invalid_request_error","code":"context_length_exceeded"}}` + "\n\n", model.ContextError, "too long", false},
		{"error of unknown kind", "", `data: {"error":{"message":"oh","code":null}}` + "\n\n", model.ReportedError, "oh", true},
		{"error as a string", "", `{"error":"model 'x' not found"}`, model.ReportedError, "model 'x' not found", true},
		{"error without message", "", `{"error":{"reason":"oh"}}`, model.ReportedError, `{"reason":"oh"}`, true},
		{"error by type", "", "event: error\ndata: {\"type\":\"error\",\"message\":\"oh\",\"code\":\"server_error\"}\n\n", model.ReportedError, "oh", true},
		{"error by object", "", `data: {"object":"error","message":"oh","code":404}` + "\n\n", model.ReportedError, "oh", false},
		{"long document", "", `{"a":"` + strings.Repeat("x", sse.MaxEvent) + `"}`, model.FormatError, "one JSON document longer than 8 MiB", true},
		{"long event", "", strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", 9), model.FormatError, "event of the answer is longer than 8 MiB", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, finished, err := read(strings.NewReader(tt.body), tt.kind)
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Kind != tt.want || !strings.Contains(err.Error()+e.Raw(), tt.text) || e.Retryable() != tt.retry || finished {
				t.Errorf("error = %#v (%v), finished %v; want kind %d with %q, retryable %v", err, err, finished, tt.want, tt.text, tt.retry)
			}
		})
	}
}

// endless returns the same bytes again and again, n in all.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	if e.n <= 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.n)
	for i := range p[:n] {
		p[i] = 'x'
	}
	e.n -= n
	return n, nil
}

// TestHugeLine: a line of 50 MB is one clear error and uses little memory.
func TestHugeLine(t *testing.T) {
	src := &endless{50 << 20}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := read(io.MultiReader(strings.NewReader("data: "), src), "text/event-stream")
	runtime.ReadMemStats(&after)
	if err == nil || err.Error() != "a line of the answer is longer than 8 MiB" {
		t.Errorf("error = %v", err)
	}
	if src.n < 40<<20 {
		t.Errorf("%d bytes were left unread, want reading to end at the limit", src.n)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 64<<20 {
		t.Errorf("%d MiB allocated", got>>20)
	}
}

// TestBrokenConnection: the body's own error follows the events before it.
func TestBrokenConnection(t *testing.T) {
	broken := errors.New("reset")
	out, finished, err := read(io.MultiReader(strings.NewReader("data: {}\n\ndata: {"), iotest.ErrReader(broken)), "")
	if out != "data: {}\n" || finished || !errors.Is(err, broken) {
		t.Errorf("%q, %v, %v", out, finished, err)
	}
}

// TestBytesAtOnce: an event is returned when its empty line has arrived, not later.
func TestBytesAtOnce(t *testing.T) {
	pr, pw := io.Pipe()
	r := sse.NewReader(pr, "text/event-stream")
	go func() { _, _ = io.WriteString(pw, "data: {\"a\":1}\n\ndata: {\"b\"") }()
	if got, err := r.Next(); string(got) != "{\"a\":1}" || err != nil {
		t.Errorf("first event = %q, %v", got, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// FuzzReader: any bytes in any chunks give events that are single lines, the same for all chunkings; reading the output
// again changes nothing.
func FuzzReader(f *testing.F) {
	for _, s := range []string{
		"data: {\"a\":1}\n\ndata: [DONE]\n\n", "data: {\r\ndata: }\r\n\r\n", "{\"a\":1}", "<html>", ": x\n\n",
		"data: {\"error\":{\"message\":\"x\"}}\n\n", "\xef\xbb\xbfdata: 1\r\rdata: 2", "data: {}\ndata: {}\n\n", "\xef\xbb", "data: a\x00\xff\n\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		out, finished, err := read(bytes.NewReader(body), "")
		again, finished2, err2 := read(iotest.OneByteReader(bytes.NewReader(body)), "")
		if out != again || finished != finished2 || (err == nil) != (err2 == nil) {
			t.Fatalf("whole: %q %v %v\nby bytes: %q %v %v", out, finished, err, again, finished2, err2)
		}
		for line := range strings.Lines(out) {
			if !strings.HasPrefix(line, "data: ") || !strings.HasSuffix(line, "\n") || strings.ContainsRune(line, '\r') {
				t.Fatalf("line %q", line)
			}
		}
		if err != nil || out == "" {
			return
		}
		// A lenient reader accepts data at the end of a body only if its JSON is complete.
		twice, _, err := read(strings.NewReader(strings.ReplaceAll(out, "\n", "\n\n")), "")
		if err != nil || twice != out {
			t.Fatalf("%q became %q, %v", out, twice, err)
		}
	})
}

// BenchmarkReader reads 1 MB of small events.
func BenchmarkReader(b *testing.B) {
	event := `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"sixteen bytes ok"},"finish_reason":null}]}` + "\n\n"
	body := []byte(strings.Repeat(event, 1<<20/len(event)) + "data: [DONE]\n\n")
	for _, size := range []int{256, 16 << 10} {
		b.Run(fmt.Sprintf("chunks of %d", size), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				r := sse.NewReader(io.NopCloser(&chunked{body, size}), "text/event-stream")
				for err := error(nil); !errors.Is(err, io.EOF); {
					if _, err = r.Next(); err != nil && !errors.Is(err, io.EOF) {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// chunked returns at most size bytes per read.
type chunked struct {
	rest []byte
	size int
}

func (c *chunked) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.size)], c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// TestNext returns the events one by one, until the end.
func TestNext(t *testing.T) {
	r := sse.NewReader(io.NopCloser(strings.NewReader("event: a\ndata: {\"a\":\ndata: 1}\n\n: b\n\ndata: {}\r\rdata: [DONE]\n\n")), "")
	for _, want := range []string{`{"a": 1}`, `{}`, `[DONE]`} {
		got, err := r.Next()
		if err != nil || string(got) != want {
			t.Fatalf("Next = %q, %v, want %q", got, err, want)
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) || !r.Finished() {
		t.Errorf("at the end: %v", err)
	}
}
