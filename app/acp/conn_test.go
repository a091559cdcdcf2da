package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"buddy/app/compose"
)

// exchange serves an editor that sends lines and closes its end, and returns the answers.
func exchange(t *testing.T, in io.Reader) []map[string]any {
	t.Helper()
	var out bytes.Buffer
	s := &server{conn: newConn(&out), options: &compose.Options{}, sessions: make(map[string]*session)}
	s.conn.serve(in, s)
	var all []map[string]any
	for line := range strings.Lines(out.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil || m["jsonrpc"] != "2.0" {
			t.Fatalf("stdout has a line that is no message: %q", line)
		}
		all = append(all, m)
	}
	return all
}

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}` + "\n"

// Each bad line gets one error, and the lines after it are still read.
func TestBadLines(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 20_000)
	for _, tt := range []struct {
		name, line string
		id         string // of the answer, as JSON; "" for no answer
		code       float64
	}{
		{"garbage", "garbage", "null", codeParse},
		{"half a message", `{"jsonrpc":"2.0","id":1,"meth`, "null", codeParse},
		{"bytes that are not text", "\xff\xfe\x00", "null", codeParse},
		{"deep", deep, "null", codeParse},
		{"a number", "17", "null", codeInvalid},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"initialize"}]`, "null", codeInvalid},
		{"an object as an id", `{"id":{},"method":"initialize"}`, "null", codeInvalid},
		{"a list as an id", `{"id":[1],"method":"initialize"}`, "null", codeInvalid},
		{"a method that is a number", `{"id":1,"method":5}`, "null", codeInvalid},
		{"nothing known", `{"id":"x"}`, "null", codeInvalid},
		{"a string as an id", `{"id":"a b","method":"nothing"}`, `"a b"`, codeNoMethod},
		{"null as an id", `{"id":null,"method":"nothing"}`, "null", codeNoMethod},
		{"a fraction as an id", `{"id":1.50,"method":"nothing"}`, "1.5", codeNoMethod},
		{"an unknown method", `{"id":1,"method":"session/fork"}`, "1", codeNoMethod},
		{"an unknown notification", `{"method":"nothing"}`, "", 0},
		{"a cancel without a session", `{"method":"session/cancel","params":{"sessionId":"x"}}`, "", 0},
		{"a cancel with other parameters", `{"method":"session/cancel","params":[1]}`, "", 0},
		{"an answer to nothing", `{"id":77,"result":{}}`, "", 0},
		{"an error without a request", `{"id":null,"error":{"code":-32700,"message":"no"}}`, "", 0},
		{"parameters of another type", `{"id":1,"method":"session/prompt","params":"x"}`, "1", codeParams},
		{"no parameters", `{"id":1,"method":"session/new"}`, "1", codeParams},
		{"an unknown session", `{"id":1,"method":"session/prompt","params":{"sessionId":"x","prompt":[]}}`, "1", codeNotFound},
		{"a session that is a path", `{"id":1,"method":"session/load","params":{"sessionId":"../../x","cwd":"/"}}`, "1", codeNotFound},
		{"deleting a path", `{"id":1,"method":"session/delete","params":{"sessionId":"../../x"}}`, "1", codeParams},
		{"a relative folder", `{"id":1,"method":"session/new","params":{"cwd":"."}}`, "1", codeParams},
		{"no such folder", `{"id":1,"method":"session/new","params":{"cwd":"/nowhere"}}`, "1", codeParams},
		{"an unknown mode of nothing", `{"id":1,"method":"session/set_mode","params":{"sessionId":"x","modeId":"y"}}`, "1", codeNotFound},
		{"an empty line", "", "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, out := io.Pipe()
			go func() {
				_, _ = io.WriteString(out, hello+tt.line+"\n")
				time.Sleep(20 * time.Millisecond) // slow requests are answered before the end
				_, _ = io.WriteString(out, `{"jsonrpc":"2.0","id":99,"method":"authenticate"}`+"\r\n")
				_ = out.Close()
			}()
			all := exchange(t, in)
			if last := all[len(all)-1]; last["id"] != 99.0 || last["error"] != nil {
				t.Fatalf("the line after it: %v", last)
			}
			all = all[1 : len(all)-1]
			if tt.id == "" {
				if len(all) != 0 {
					t.Errorf("got %v, want no answer", all)
				}
				return
			}
			if len(all) != 1 {
				t.Fatalf("got %v, want one error", all)
			}
			id, _ := json.Marshal(all[0]["id"])
			e, _ := all[0]["error"].(map[string]any)
			if string(id) != tt.id || e["code"] != tt.code || e["message"] == "" {
				t.Errorf("got %s %v, want %s and %v", id, e, tt.id, tt.code)
			}
		})
	}
}

// Nothing works before initialize.
func TestInitializeComesFirst(t *testing.T) {
	all := exchange(t, strings.NewReader(`{"id":1,"method":"session/prompt","params":{}}`+"\n"+`{"id":2,"method":"authenticate"}`+"\n"+hello+`{"id":3,"method":"authenticate"}`+"\n"))
	if len(all) != 4 || all[0]["error"] == nil || all[1]["error"] == nil || all[2]["error"] != nil || all[3]["error"] != nil {
		t.Errorf("%v", all)
	}
}

// A line of 100 MB is skipped without being kept.
func TestLongLine(t *testing.T) {
	long := io.MultiReader(strings.NewReader(hello+`{"id":1,"x":"`), io.LimitReader(repeat('x'), 100<<20), strings.NewReader("\"}\n"), strings.NewReader(`{"id":2,"method":"authenticate"}`))
	all := exchange(t, long)
	if len(all) != 3 || all[1]["id"] != nil || all[1]["error"] == nil || all[2]["id"] != 2.0 || all[2]["error"] != nil {
		t.Errorf("%v", all)
	}
	for _, size := range []int{maxLine - 1, maxLine, maxLine + 1} {
		r := &lines{r: bufio.NewReader(io.MultiReader(io.LimitReader(repeat('x'), int64(size)), strings.NewReader("\r\nnext")))}
		line, err := r.next()
		if fits := size <= maxLine; fits != (err == nil && len(line) == size) || !fits && !errors.Is(err, errTooLong) {
			t.Errorf("%d bytes: %d, %v", size, len(line), err)
		}
		if line, err := r.next(); string(line) != "next" || err != nil {
			t.Errorf("after %d bytes: %q, %v", size, line, err)
		}
	}
}

type repeat byte

func (r repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}

// A second request with the id of one that has no answer is refused, and the first is answered.
func TestDuplicateID(t *testing.T) {
	var out bytes.Buffer
	c := newConn(&out)
	hold := &holder{}
	c.serve(strings.NewReader(strings.Repeat(`{"id":7,"method":"x"}`+"\n", 2)), hold)
	hold.answers[0](1, nil)
	hold.answers[0](2, nil) // has no effect
	if got := out.String(); len(hold.answers) != 1 || strings.Count(got, "\n") != 2 || !strings.Contains(got, `"code":-32600`) || !strings.Contains(got, `"result":1`) {
		t.Errorf("%d requests, answers %s", len(hold.answers), got)
	}
}

// holder keeps requests without answers.
type holder struct{ answers []reply }

func (h *holder) request(_ string, _ json.RawMessage, answer reply) {
	h.answers = append(h.answers, answer)
}
func (h *holder) notify(string, json.RawMessage) {}

// An editor that can't be written to ends the connection.
func TestEditorGone(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close() //nolint:errcheck // a pipe in memory
	c := newConn(failing{})
	done := make(chan struct{})
	go func() { c.serve(in, &holder{}); close(done) }()
	_, _ = io.WriteString(out, "garbage\n")
	<-c.ctx.Done()
	_ = out.Close()
	<-done
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// Any input gets only valid messages as answers, at most one for each line.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{hello, "garbage\n", `[]`, `{"id":1}`, `{"id":null,"method":"x"}` + "\n", "{\"id\":\"\\ud800\",\"method\":\"a\"}\n", `{"id":1e400,"method":"x"}`, "\x00\n\r\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		c := newConn(&out)
		c.serve(bytes.NewReader(in), refuser{})
		n := 0
		for line := range strings.Lines(out.String()) {
			var m message
			if err := json.Unmarshal([]byte(line), &m); err != nil || m.JSONRPC != "2.0" || m.ID == nil || m.Error == nil {
				t.Fatalf("answer %q to %q: %v", line, in, err)
			}
			n++
		}
		if most := bytes.Count(in, []byte("\n")) + 1; n > most {
			t.Errorf("%d answers to %d lines", n, most)
		}
	})
}

// refuser refuses all requests.
type refuser struct{}

func (refuser) request(method string, _ json.RawMessage, answer reply) {
	answer(nil, fmt.Errorf("unknown method %q", method))
}
func (refuser) notify(string, json.RawMessage) {}
