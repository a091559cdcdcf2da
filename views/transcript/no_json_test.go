package transcript

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/app/plain"
	"buddy/app/state"
	"buddy/texts"
	"buddy/themes"
	"buddy/tools"
	"buddy/tools/toolset"
	"buddy/views/viewtest"
)

// machine matches texts that only models and programs read.
var machine = regexp.MustCompile(`\{"|"\}|":|harness_timestamp|Tool error|\[hint|use_tool|unix_millis|system-reminder`)

// sample returns arguments of every kind that a tool takes.
func sample(t *testing.T, names []string) string {
	t.Helper()
	args := map[string]any{"why": "to see"}
	for i, name := range names {
		args[name] = []any{"one\ntwo", 3, true, []any{"a", map[string]any{"b": []any{1, 2}}}, map[string]any{"deep": map[string]any{"er": "x"}}}[i%5]
	}
	raw, err := texts.JSON(args)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// No call shows JSON or texts for the model, unless a person asks for it: not in its head, not unfolded, not in plain
// lines.
func TestNobodyIsShownJSON(t *testing.T) {
	known := map[string][]string{"db__find": {"table", "limit", "where"}, "no_such_tool": {"a", "b", "c", "d", "e"}, "": {"x"}, "diagnostics": {"path"}, "mcp_read": {"server", "uri"}}
	for name, all := range toolset.Arguments() {
		for _, a := range all {
			known[name] = append(known[name], a.Name)
		}
	}
	if len(known) < 25 {
		t.Fatalf("only %d tools are tried", len(known))
	}
	theme := viewtest.Dark(t)
	hinted := tools.Success("")
	hinted.Tell("[hint: do it again]")
	failed := tools.Failure(tools.Invalid(`path: expected string, got object`))
	failed.Tell("[hint: do it again]")
	results := map[string]tools.Result{
		"shown":       tools.Success("it is done", "call it again with use_tool"),
		"not shown":   hinted,
		"failed":      failed,
		"of a server": tools.Success(`[{"name":"x","tags":["a"]}]`),
		"raw":         tools.Problem(`{"code":5}`),
	}
	exited := hinted
	exited.ExitCode = new(int)
	*exited.ExitCode = 1
	results["exit code 1"] = exited
	for _, name := range slices.Sorted(maps.Keys(known)) {
		arguments := map[string]string{"whole": sample(t, known[name]), "broken": `{"path":"a`, "none": "", "no object": `["x"]`}
		for kind, args := range arguments {
			wrapped, err := texts.JSON(map[string]any{"name": name, "args": json.RawMessage(`{}`), "why": "x"})
			if err == nil && json.Valid([]byte(args)) {
				wrapped, err = texts.JSON(map[string]any{"name": name, "args": json.RawMessage(args), "why": "x"})
			}
			if err != nil {
				t.Fatal(err)
			}
			act := action.Action{Kind: action.Internal, Tool: name, Why: "to see"}
			if kind == "broken" || kind == "no object" {
				act = action.Action{} // it could not be planned
			}
			for how, res := range results {
				for _, call := range []event.ToolRequested{
					{CallID: "c", Name: name, Arguments: args, Action: act},
					{CallID: "c", Name: "use_tool", Arguments: string(wrapped), Action: act},
				} {
					where := strings.Join([]string{name, kind, how, call.Name}, " ")
					result := event.ToolResult{CallID: "c", Name: call.Name, Result: res.Content, Aside: res.Aside, IsError: res.IsError, ExitCode: res.ExitCode}
					if res.IsError {
						result.Shown = tools.Why(res)
					}
					shown := strings.Join(append(onScreen(theme, call, result), inLines(call, result)), "\n")
					if name == "" && call.Name == "use_tool" || name == "use_tool" {
						shown = strings.ReplaceAll(shown, "use_tool", "")
					}
					if found := machine.FindString(shown); found != "" {
						t.Fatalf("%s: %q is shown:\n%s", where, found, shown)
					}
				}
			}
		}
	}
	if raw := `{"name":"exit_plan","args":{}}`; !machine.MatchString(raw) {
		t.Error("nothing would be found")
	}
}

// onScreen returns a call as a conversation shows it, folded and unfolded, and its copied text.
func onScreen(theme *themes.Theme, call event.ToolRequested, result event.ToolResult) (all []string) {
	s := (&viewtest.Session{Now: 5}).Feed(call, event.ToolStarted{CallID: "c"}, result)
	for _, fold := range []folding{foldAuto, unfolded} {
		c := NewConversation(theme, nil)
		c.Update(&s.State, state.Everything)
		if len(c.view.blocks) == 0 {
			return nil // the list of steps is shown elsewhere
		}
		v := c.view.blocks[0]
		v.fold = fold
		l := v.lay(100)
		for _, text := range v.visibleTexts() {
			all = append(all, string(text.Bytes))
		}
		all = append(all, l.gain, v.copyText())
	}
	return all
}

// inLines returns a call as plain mode prints it.
func inLines(call event.ToolRequested, result event.ToolResult) string {
	var out strings.Builder
	m := plain.Remarks{Err: &out}
	for _, e := range []event.Event{call, event.ToolStarted{CallID: "c"}, result} {
		m.Remark(e)
	}
	return out.String()
}
