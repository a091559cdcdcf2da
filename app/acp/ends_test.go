package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model/modeltest"
	"buddy/app/client"
	"buddy/app/compose"
	"buddy/app/host"
)

// rawEditor is an editor that writes and reads lines as they are.
type rawEditor struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *io.PipeReader
	read *bufio.Reader
	done chan struct{} // closed when the server has returned
}

func connectRaw(t *testing.T, options *compose.Options) *rawEditor {
	t.Helper()
	toServer, fromEditor := io.Pipe()
	toEditor, fromServer := io.Pipe()
	e := &rawEditor{t, fromEditor, toEditor, bufio.NewReader(toEditor), make(chan struct{})}
	go func() { Serve(toServer, fromServer, options); close(e.done) }()
	return e
}

func (e *rawEditor) send(line string) {
	e.t.Helper()
	if _, err := io.WriteString(e.in, line+"\n"); err != nil {
		e.t.Fatal(err)
	}
}

// until reads lines up to one that contains a text, and returns them.
func (e *rawEditor) until(text string) (all []string) {
	e.t.Helper()
	for {
		line, err := e.read.ReadString('\n')
		if err != nil {
			e.t.Fatalf("no line with %q after %q", text, all)
		}
		if all = append(all, line); strings.Contains(line, text) {
			return all
		}
	}
}

// die closes both ends, as the death of a process does, and waits for the end of the server.
func (e *rawEditor) die() {
	e.t.Helper()
	_ = e.out.Close()
	_ = e.in.Close()
	select {
	case <-e.done:
	case <-time.After(limit):
		e.t.Fatal("the server did not end with its editor")
	}
}

// nothingRuns waits until no session of a folder runs.
func nothingRuns(t *testing.T, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	for {
		all, _ := host.Running(ctx)
		if ctx.Err() != nil {
			t.Fatalf("a session still runs in %s", dir)
		}
		if !slices.ContainsFunc(all, func(d client.Description) bool { return d.Folder == dir }) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func newSessionIn(dir string) string {
	return fmt.Sprintf(`{"id":1,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`, dir)
}

// An editor that dies before it has a session leaves none.
func TestEditorDiesEarly(t *testing.T) {
	dir := home(t)
	for _, tt := range []struct {
		name, first, last string
		reads             bool
	}{
		{"before its first line", "", "", false},
		{"in a line", "", `{"id":0,"meth`, false},
		{"before initialize is answered", "", strings.TrimSpace(hello), false},
		{"before session/new is answered", strings.TrimSpace(hello), newSessionIn(dir), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := connectRaw(t, &compose.Options{Model: "demo"})
			if tt.reads {
				e.send(tt.first)
				e.until(`"id":0`)
			}
			if tt.last != "" {
				e.send(tt.last)
			}
			e.die()
			nothingRuns(t, dir)
		})
	}
}

// Work continues without its editor, and another screen sees its end.
func TestEditorDiesAtWork(t *testing.T) {
	release := make(chan struct{})
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		answer modeltest.Answer
		until  string                      // the editor dies when a line contains it
		then   func(*screen)               // lets the work continue
		asked  func(*screen, event.Event)  // handles events
		result func(event.ToolResult) bool // checks the result of the call
	}{
		{
			"in a model call",
			modeltest.Answer{modeltest.Text("half of "), modeltest.Until(release), modeltest.Text("it. Done.")},
			"half of",
			func(*screen) { close(release) }, nil, nil,
		},
		{
			"in a command",
			modeltest.Answer{modeltest.Call{ID: "c", Name: "run_shell", Arguments: `{"command":"cat ` + fifo + `"}`}},
			`"in_progress"`,
			func(s *screen) {
				if err := os.WriteFile(fifo, []byte("piped\n"), 0o600); err != nil {
					s.t.Error(err)
				}
			}, nil,
			func(r event.ToolResult) bool { return strings.Contains(r.Text(), "piped") },
		},
		{
			"in a question",
			modeltest.Answer{modeltest.Call{ID: "q", Name: "ask_user", Arguments: `{"question":"which?","choices":["red","blue"]}`}},
			"elicitation/create",
			func(*screen) {},
			func(s *screen, e event.Event) {
				if q, ok := e.(event.QuestionAsked); ok {
					s.process.Send(event.Answer{ID: q.ID, Text: "blue"})
				}
			},
			func(r event.ToolResult) bool { return strings.Contains(r.Text(), "blue") },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := home(t)
			withoutTerminal(t)
			options := scripted(t, tt.answer, modeltest.Answer{modeltest.Text("Done.")}, modeltest.Answer{modeltest.Text("title")})
			options.Approve = action.ModeAll
			e := connectRaw(t, options)
			e.send(`{"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"elicitation":{"form":{}}}}}`)
			e.until(`"id":0`)
			e.send(newSessionIn(dir))
			id := sessionIn(t, e.until("sessionId"))
			e.send(fmt.Sprintf(`{"id":2,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"go"}]}}`, id))
			e.until(tt.until)
			e.die()
			other := join(t, dir, id)
			tt.then(other)
			text, result := "", event.ToolResult{}
			ended := other.until(func(e event.Event) {
				switch p := e.(type) {
				case event.ModelMessage:
					text = p.Message.Content
				case event.ToolResult:
					result = p
				}
				if tt.asked != nil {
					tt.asked(other, e)
				}
			})
			if ended.Outcome != event.Completed || !strings.Contains(text, "Done.") {
				t.Errorf("the work ended with %q %s, text %q", ended.Outcome, ended.Error, text)
			}
			if tt.result != nil && !tt.result(result) {
				t.Errorf("the call got %q", result.Text())
			}
		})
	}
}

// sessionIn returns the id of the session that the last of the lines opens.
func sessionIn(t *testing.T, lines []string) string {
	t.Helper()
	var m struct{ Result opened }
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &m); err != nil || m.Result.SessionID == "" {
		t.Fatalf("%s: %v", lines, err)
	}
	return m.Result.SessionID
}

// An editor that dies while a conversation is repeated leaves no process, and the next one gets the whole conversation.
func TestEditorDiesInReplay(t *testing.T) {
	dir := home(t)
	options := scripted(t, modeltest.Answer{modeltest.Reasoning{Text: "hm"}, modeltest.Text("First."), modeltest.Call{ID: "a", Name: "list_dir", Arguments: `{"path":"."}`}}, modeltest.Answer{modeltest.Text("Last.")}, modeltest.Answer{modeltest.Text("title")})
	first := connect(t, options)
	id := first.begin(dir)
	first.prompt(id, textOf("go"))
	first.must("session/close", map[string]any{"sessionId": id})
	nothingRuns(t, dir)
	e := connectRaw(t, options)
	e.send(strings.TrimSpace(hello))
	e.until(`"id":0`)
	e.send(fmt.Sprintf(`{"id":1,"method":"session/load","params":{"sessionId":%q,"cwd":%q,"mcpServers":[]}}`, id, dir))
	e.until("user_message_chunk")
	e.die()
	nothingRuns(t, dir)
	first.forget()
	first.must("session/load", map[string]any{"sessionId": id, "cwd": dir, "mcpServers": []any{}})
	if got := first.texts("agent_message_chunk"); got != "First.Last." {
		t.Errorf("repeated %q", got)
	}
}

// An editor that stops reading holds nothing up: the work ends, and the editor gets everything in order later, in fewer
// messages than the model sent.
func TestEditorThatStopsReading(t *testing.T) {
	dir := home(t)
	withoutTerminal(t)
	const words = 20_000
	var all strings.Builder
	for i := range words {
		fmt.Fprintf(&all, "%06d ", i)
	}
	release := make(chan struct{})
	options := scripted(t, modeltest.Answer{modeltest.Text("It starts. "), modeltest.Until(release), modeltest.Chunks{Bytes: 7}, modeltest.Text(all.String())}, modeltest.Answer{modeltest.Text("title")})
	e := connectRaw(t, options)
	e.send(strings.TrimSpace(hello))
	e.until(`"id":0`)
	e.send(newSessionIn(dir))
	id := sessionIn(t, e.until("sessionId"))
	e.send(fmt.Sprintf(`{"id":2,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"go"}]}}`, id))
	e.until("It starts.")
	close(release)
	if ended := join(t, dir, id).until(func(event.Event) {}); ended.Outcome != event.Completed {
		t.Errorf("the work ended with %q", ended.Outcome)
	}
	var got strings.Builder
	lines := e.until(`"stopReason"`)
	for _, line := range lines {
		var m struct {
			Params struct{ Update update }
		}
		_ = json.Unmarshal([]byte(line), &m)
		if u := m.Params.Update; u.Update == "agent_message_chunk" {
			got.WriteString(u.Content.Text)
		}
	}
	if got.String() != all.String() {
		t.Errorf("got %d bytes of text, want the %d that were sent", got.Len(), all.Len())
	}
	if len(lines) > words/10 {
		t.Errorf("%d messages for %d deltas", len(lines), words)
	}
	e.die()
}
