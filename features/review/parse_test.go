package review

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"buddy/agent/event"
)

// TestParseAnswersOfModels: findings of real models are read despite text around and within them.
func TestParseAnswersOfModels(t *testing.T) {
	one := `{"severity":"high","file":"a.go","line":3,"what":"it panics","fix":"check it"}`
	want := []event.Finding{{Severity: event.SeverityHigh, File: "a.go", Line: 3, Text: "it panics", Fix: "check it"}}
	for _, c := range []struct {
		name, answer string
		want         []event.Finding
		fails        string
	}{
		{"plain", `{"findings":[` + one + `]}`, want, ""},
		{"fenced, with prose", "I looked at {a}.\n```json\n{\"findings\": [" + one + "]}\n```\nThat is all [1].", want, ""},
		{"a bare list", "```\n[" + one + "]\n```", want, ""},
		{"a list in prose", "Here: [" + one + "] done", want, ""},
		{"more fields around", `{"summary":"bad","findings":[` + one + `],"verdict":"no"}`, want, ""},
		{"the form is quoted behind", `{"findings":[` + one + `]} (the form was {"findings":[]})`, want, ""},
		{"the last with findings counts", `{"findings":[{"what":"draft","severity":"low"}]} then {"findings":[` + one + `]}`, want, ""},
		{"none", `{"findings":[]}`, nil, ""},
		{"none, as a list", "```json\n[]\n```", nil, ""},
		{"twice the same", `{"findings":[` + one + "," + one + `]}`, want, ""},
		{"other names and types", `{"findings":[{"priority":"P1","path":"./a.go","line":"3-7","message":"it\npanics","suggestion":"check it"}]}`, want, ""},
		{"the line in the file", `{"findings":[{"severity":"[High]","file":"a.go:3:9","what":"it panics","fix":"check it"}]}`, want, ""},
		{"no line", `{"findings":[{"severity":"low","file":"a.go","line":null,"what":"x"}]}`, []event.Finding{{Severity: event.SeverityLow, File: "a.go", Text: "x"}}, ""},
		{"a wrong line", `{"findings":[{"severity":"low","file":"a.go","line":-4,"what":"x"}]}`, []event.Finding{{Severity: event.SeverityLow, File: "a.go", Text: "x"}}, ""},
		{"no severity", `{"findings":[{"file":"a.go","what":"x"}]}`, []event.Finding{{Severity: event.SeverityUnknown, File: "a.go", Text: "x"}}, ""},
		{"an unknown severity", `{"findings":[{"severity":"spicy","file":"a.go","what":"x"}]}`, []event.Finding{{Severity: event.SeverityUnknown, Stated: "spicy", File: "a.go", Text: "x"}}, ""},
		{"something else in the list", `{"findings":["oops",7,` + one + `]}`, want, ""},
		{"it breaks off", `{"findings":[` + one + `,{"severity":"hi`, want, "breaks off"},
		{"it breaks off at once", `{"findings":[`, nil, "breaks off"},
		{"prose", "Looks good to me!", nil, "neither findings in the expected format nor an empty list"},
		{"an empty list in prose", "it calls f([]) and returns {}", nil, "neither findings in the expected format nor an empty list"},
		{"another document", `{"result":"ok"}`, nil, "neither findings in the expected format nor an empty list"},
		{"nothing", "", nil, "neither findings in the expected format nor an empty list"},
		{"findings that are no list", `{"findings":"none"}`, nil, "neither findings in the expected format nor an empty list"},
	} {
		got, err := Parse(c.answer)
		if (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.fails)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v\nwant %+v", c.name, got, c.want)
		}
	}
}

// TestParseSortsAndBounds: unknown severities come first, then the most severe findings; a huge answer is cut.
func TestParseSortsAndBounds(t *testing.T) {
	long, _ := json.Marshal(strings.Repeat("x", 1<<16) + "\x1b]0;title\a")
	var list []string
	for range 300 {
		list = append(list, `{"severity":"low","file":"f`+strings.Repeat("i", len(list))+`","what":`+string(long[:100])+`"}`)
	}
	list = append([]string{`{"severity":"critical","what":` + string(long) + `}`, `{"severity":"?","what":"y"}`}, list...)
	got, err := Parse(`{"findings":[` + strings.Join(list, ",") + `]}`)
	if err != nil || len(got) != maxFindings || got[0].Severity != event.SeverityUnknown || got[1].Severity != event.SeverityCritical {
		t.Fatalf("%d findings, error %v, %+v", len(got), err, got[:2])
	}
	if len(got[1].Text) > maxText+len("…") {
		t.Errorf("a text of %d bytes", len(got[1].Text))
	}
	if n := slices.IndexFunc(got, func(f event.Finding) bool { return f.Severity.Rank() > event.SeverityHigh.Rank() }); n != 2 {
		t.Errorf("%d reach high, want the critical one and the unknown one", n)
	}
}

// FuzzParse: findings of any answer are within their limits, and there is an error or a result.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"findings":[]}`, `[{"what":"x"}]`, "```json\n{\"findings\":[{\"file\":\"a:3\",\"line\":1e99,\"what\":7}]}\n```", `{"findings":[{`, strings.Repeat("[", 2000)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		got, err := Parse(answer)
		if err == nil && !strings.ContainsAny(answer, "[") {
			t.Errorf("%q is said to have findings, or none", answer)
		}
		for _, one := range got {
			if one.Text == "" || len(one.Text) > maxText+len("…") || len(one.File) > maxPath+len("…") || one.Line < 0 || one.Severity == "" {
				t.Errorf("finding %+v", one)
			}
		}
	})
}

// TestFixKeepsTheLinesOfADiff: a diff keeps its lines; another fix becomes one line.
func TestFixKeepsTheLinesOfADiff(t *testing.T) {
	const diff = "--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-x\n+y"
	for raw, want := range map[string]string{
		`"--- a/a.go\r\n+++ b/a.go\r\n@@ -1 +1 @@\r\n-x\r\n+y"`:               diff,
		"\"```diff\\n--- a/a.go\\n+++ b/a.go\\n@@ -1 +1 @@\\n-x\\n+y\\n```\"": diff,
		`"check\n  it"`: "check it",
		`7`:             "7",
		`null`:          "",
	} {
		r := rawFinding{"fix": []byte(raw)}
		if got := r.finding().Fix; got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
	f := rawFinding{"file": []byte(`"a.go:1"`), "what": []byte(`"wrong"`), "fix": []byte(`"--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-x\n+y"`)}
	if text := f.finding().String(); strings.Contains(text, "\n") {
		t.Errorf("not one line: %q", text)
	}
}
