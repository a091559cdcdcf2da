package debuglog

import (
	"bytes"
	"strings"
	"testing"

	"buddy/agent/event"
	"buddy/agent/redact"
)

type closer struct{ bytes.Buffer }

func (*closer) Close() error { return nil }

// A debug log ends at its limit, says so, and holds no key.
func TestLog(t *testing.T) {
	var file closer
	d := &Log{path: "x.log", file: &file, left: 200}
	d.hide.Store(redact.New("hunter2-hunter2"))
	for range 20 {
		if _, err := d.Write([]byte("level=DEBUG key=hunter2-hunter2 word=aB3dE5gH7jK9mN1pQ3sT5\n")); err != nil {
			t.Fatal(err)
		}
	}
	got := file.String()
	if strings.Contains(got, "hunter2") || strings.Contains(got, "aB3dE5") {
		t.Errorf("a secret is in the log: %s", got)
	}
	if n := strings.Count(got, "\n"); n < 3 || n > 6 || !strings.HasSuffix(got, "the log is full: it has 32 MiB\n") {
		t.Errorf("the log has %d lines: %s", n, got)
	}
}

// No event puts its texts into the log.
func TestLogHasNoTexts(t *testing.T) {
	for _, e := range []event.Event{
		event.PromptSubmitted{Text: "secret plan"},
		event.ModelMessage{Reasoning: "secret plan"},
		event.TextDelta{Text: "secret plan"},
		event.ToolRequested{Arguments: "secret plan"},
		event.ToolResult{Result: "secret plan", Tail: "secret plan"},
	} {
		attrs, _ := factsOf(e)
		for _, a := range attrs {
			if strings.Contains(a.String(), "secret plan") {
				t.Errorf("%s: %s", event.Type(e), a)
			}
		}
	}
}

// Without --debug nothing listens.
func TestNoDebugging(t *testing.T) {
	if Enabled() {
		t.Error("a log is written without being asked for")
	}
	var none *Log
	none.Hide(nil, nil)
	none.Close(nil)
}
