package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/modeltest"
)

// TestResultsShowWhileTheAnswerStreams: a command that needs no approval runs, and its result is on the screen and in the
// session, while the model still writes the rest of the answer.
func TestResultsShowWhileTheAnswerStreams(t *testing.T) {
	t.Parallel()
	rest := make(chan struct{})
	x := newTerminal(t, func(req modeltest.Request) modeltest.Answer {
		if lastMessage(req).Role == model.Tool {
			return modeltest.Answer{modeltest.Text("Both are done.")}
		}
		return modeltest.Answer{
			modeltest.Text("I begin."), shellCall("c1", "touch made; exit 3"),
			modeltest.Call{ID: "c2", Name: "read_file", Arguments: `{"path":"made"}`}, // shows that the first call is complete
			modeltest.Until(rest),
		}
	})
	x.send("/approve all")
	x.want("everything runs without asking")
	x.send("make it")
	x.want("I begin.", "exit 3", "Esc interrupts")
	if _, err := os.Stat(filepath.Join(x.work, "made")); err != nil {
		t.Error(err)
	}
	if _, journal := x.journal(); !strings.Contains(journal, `"type":"tool.result"`) || strings.Contains(journal, `"type":"model.message"`) {
		t.Errorf("the session has\n%s", journal)
	}
	close(rest)
	x.want("Both are done.")
	x.quit()
}
