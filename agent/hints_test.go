package agent

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/tools"
)

// lackingShell is a shell without python.
type lackingShell struct{ pretendShell }

func (*lackingShell) Run(context.Context, tools.Call) tools.Result {
	exit := 127
	return tools.Result{Content: `{"exit_code":127}`, ExitCode: &exit, Tail: "bash: python: command not found\n"}
}

// hinted returns which results have a hint.
func hinted(s *session) string {
	var all strings.Builder
	for _, r := range s.results() {
		if strings.Contains(r, "\n[hint: ") {
			all.WriteByte('h')
		} else {
			all.WriteByte('-')
		}
	}
	return all.String()
}

// The third failure of a tool in a row adds a hint, once until a call succeeds.
func TestHintAfterFailuresInARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const fail, echo = `{"kind":"file_read","do":"fail","seconds":`, `{"kind":"file_read","do":"echo","seconds":`
		var steps []step
		for i, args := range []string{fail, fail, fail, fail, echo, fail, fail, fail} {
			id := string(rune('a' + i))
			steps = append(steps, says("", id+" do "+args+string(rune('0'+i))+"}"))
		}
		s := start(t, nil, append(steps, says("ok"))...)
		s.do(event.Submit{Text: "go"})
		if got, want := hinted(s), "--h----h"; got != want {
			t.Errorf("hints at %s, want %s", got, want)
		}
		if r := s.results()[2]; !strings.HasSuffix(r, "[hint: do failed 3 times in a row: try another way, or say what blocks you]") {
			t.Errorf("%q", r)
		}
		s.stop()
	})
}

// A missing program causes a hint where the command failed, once in an exchange; commands typed by a person have no
// hints.
func TestHintAfterAMissingProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, func(o *Options) {
			o.Tools, o.Mode = tools.NewRegistry(&lackingShell{}), action.ModeAll
		}, says("", `a run_shell {"command":"python a.py"}`), says("", `b run_shell {"command":"python b.py"}`), says("ok"), says("well"))
		s.do(event.Submit{Text: "go"})
		if got, want := hinted(s), "h-"; got != want {
			t.Errorf("hints at %s, want %s: %q", got, want, s.results())
		}
		s.do(event.Submit{Text: "!python c.py", Shell: true})
		if last, n := find[event.ToolResult](s); n != 3 || strings.Contains(last.Result, "[hint") {
			t.Errorf("%d results, the last %q", n, last.Result)
		}
		s.stop()
	})
}
