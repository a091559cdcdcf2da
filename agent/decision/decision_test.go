package decision

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"buddy/agent/event"
	"buddy/agent/redact"
	"buddy/texts"
)

func same(s string) string { return s }

func TestWhatAModelSaidOfACall(t *testing.T) {
	for name, tt := range map[string]struct {
		why    string
		output Output
		want   event.DecisionExplained
	}{
		"its own why counts before the text": {
			"to find the cause",
			Output{Text: "I look at the tests."},
			event.DecisionExplained{Reasoning: "to find the cause", From: event.FromWhy},
		},
		"the last paragraph of the answer": {
			"",
			Output{Text: "The build is green.\n\nNow the tests:\nthey may tell more.", Reasoning: "hm"},
			event.DecisionExplained{Reasoning: "Now the tests: they may tell more.", From: event.FromText},
		},
		"the reasoning, when nothing else says why": {
			"",
			Output{Text: " \n", Reasoning: "**Plan**\n\nRead the file first."},
			event.DecisionExplained{Reasoning: "Read the file first.", From: event.FromReasoning},
		},
		"labelled lines": {
			"",
			Output{Text: "Reason: the log names this file\nConfidence: 0.8\nAlternatives: grep for the name; ask"},
			event.DecisionExplained{Reasoning: "the log names this file", From: event.FromText, Confidence: "0.8", Alternatives: []string{"grep for the name", "ask"}},
		},
		"labels in Markdown, and a list below one": {
			"w",
			Output{Text: "I read it.\n\n**Confidence:** high\n- **Alternatives considered:**\n  1. `git log`\n  2. asking you\n\nLet's go."},
			event.DecisionExplained{Reasoning: "w", From: event.FromWhy, Confidence: "high", Alternatives: []string{"`git log`", "asking you"}},
		},
		"labels of the reasoning, where the answer has none": {
			"",
			Output{Text: "Go.", Reasoning: "Confidence: low"},
			event.DecisionExplained{Reasoning: "Go.", From: event.FromText, Confidence: "low"},
		},
		"the last confidence is that of the call": {
			"",
			Output{Text: "Confidence: low\nConfidence: high\n"},
			event.DecisionExplained{Confidence: "high"},
		},
		"words without a label are no confidence and no alternative": {
			"",
			Output{Text: "I am 90% confident that the alternative is worse: confidence matters."},
			event.DecisionExplained{Reasoning: "I am 90% confident that the alternative is worse: confidence matters.", From: event.FromText},
		},
		"none is no alternative": {
			"w",
			Output{Text: "Alternatives: none.\nAlternative: n/a"},
			event.DecisionExplained{Reasoning: "w", From: event.FromWhy},
		},
		"a block of code says nothing of the call": {
			"w",
			Output{Text: "```yaml\nconfidence: 0.99\nalternatives: rm\n```"},
			event.DecisionExplained{Reasoning: "w", From: event.FromWhy},
		},
	} {
		tt.want.CallID = "c1"
		e, ok := Explain("c1", tt.why, tt.output, nil, same, Computed{})
		if !ok || fmt.Sprintf("%+v", e) != fmt.Sprintf("%+v", tt.want) {
			t.Errorf("%s: %+v, want %+v", name, e, tt.want)
		}
	}
}

// What a model does not state comes from the policy, marked; what it states stays its own.
func TestThePolicyFillsWhatAModelDoesNotState(t *testing.T) {
	policy := Computed{Reasoning: "runs code from\x1b this folder", Confidence: "medium", Alternatives: []string{"go vet first"}}
	for name, tt := range map[string]struct {
		output Output
		want   event.DecisionExplained
	}{
		"nothing": {Output{}, event.DecisionExplained{
			Reasoning: "runs code from this folder", From: event.FromPolicy, Confidence: "medium", Alternatives: []string{"go vet first"},
			Computed: []string{event.ComputedReasoning, event.ComputedConfidence, event.ComputedAlternatives},
		}},
		"a reason": {Output{Text: "Now the tests."}, event.DecisionExplained{
			Reasoning: "Now the tests.", From: event.FromText, Confidence: "medium", Alternatives: []string{"go vet first"},
			Computed: []string{event.ComputedConfidence, event.ComputedAlternatives},
		}},
		"all": {Output{Text: "Reason: r\nConfidence: low\nAlternatives: wait"}, event.DecisionExplained{
			Reasoning: "r", From: event.FromText, Confidence: "low", Alternatives: []string{"wait"},
		}},
	} {
		if e, ok := Explain("", "", tt.output, nil, same, policy); !ok || fmt.Sprintf("%+v", e) != fmt.Sprintf("%+v", tt.want) {
			t.Errorf("%s: %+v, want %+v", name, e, tt.want)
		}
	}
}

func TestNothingIsExplainedWithoutWordsAndRules(t *testing.T) {
	if e, ok := Explain("c1", " \n", Output{Text: "```\ncode\n```", Reasoning: "\t"}, nil, same, Computed{}); ok {
		t.Errorf("made up: %+v", e)
	}
	e, ok := Explain("c1", "", Output{}, []event.DecisionRule{{Rule: "workspace", Text: "allow: reads a file in the workspace"}}, same, Computed{})
	if !ok || e.Reasoning+e.Confidence != "" || len(e.Alternatives) > 0 || len(e.Rules) != 1 || e.Rules[0].Said() != "allow: reads a file in the workspace (workspace)" {
		t.Errorf("rules only: %+v", e)
	}
}

// An explanation is at most 1 KiB for any amount of text and rules, even if each character needs two bytes in JSON,
// and characters are never split.
func TestExplanationsAreSmall(t *testing.T) {
	for _, c := range []string{"a", `"`, `\`, "é", "日", "🙂", "<"} {
		long := strings.Repeat(c, 100_000)
		text := long + "\nReason: " + strings.Repeat(c, 500) + "\nConfidence: " + strings.Repeat(c, 200) + "\nAlternatives:\n" + strings.Repeat("- "+strings.Repeat(c, 60)+"\n", 10)
		rules := slices.Repeat([]event.DecisionRule{{Rule: long, Text: long}}, 50)
		e, ok := Explain("call_1234567890", "", Output{Text: text, Reasoning: long}, rules, same, Computed{})
		raw, err := texts.JSON(e)
		if !ok || err != nil || len(raw) > maxEvent || e.Reasoning == "" || len(e.Rules) == 0 || strings.Contains(string(raw), "�") {
			t.Errorf("%s: %d bytes, %v: %.300s", c, len(raw), err, raw)
		}
	}
}

// Explanations of hostile text contain no control characters and no secrets.
func TestExplanationsOfHostileText(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	hostile := "see\x1b[31m \x1b]52,c,ZXZpbA==\x07\u202elive\u202c\u200b\x00\r " + secret + " end"
	clean := redact.New().Text
	output := Output{Text: "Confidence: " + hostile + "\nAlternative: " + hostile + "\nReason: " + hostile}
	e, ok := Explain("c1", "", output, []event.DecisionRule{{Rule: hostile, Text: hostile}}, clean, Computed{})
	if !ok || e.Rules[0].Rule == "" {
		t.Fatalf("%+v", e)
	}
	parts := append([]string{e.Reasoning, e.Confidence, e.Rules[0].Rule, e.Rules[0].Text}, e.Alternatives...)
	for _, part := range parts {
		if i := strings.IndexFunc(part, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 || strings.Contains(part, "0123456789") || !strings.HasPrefix(part, "see") {
			t.Errorf("%q", part)
		}
	}
	if e, _ := Explain("c1", secret, Output{}, nil, clean, Computed{}); e.Reasoning == "" || strings.Contains(e.Reasoning, "0123456789") {
		t.Errorf("the reason of the call: %q", e.Reasoning)
	}
	if !strings.ContainsFunc(hostile, unicode.IsControl) || clean(hostile) == hostile { // the control
		t.Error("the text is harmless")
	}
}

func FuzzExplain(f *testing.F) {
	f.Add("why", "Reason: a\nConfidence: 1\nAlternatives:\n- b", "c")
	f.Add("", "```\n**Alternative:** \xff\n", "\x1b")
	f.Fuzz(func(t *testing.T, why, text, reasoning string) {
		e, _ := Explain("c1", why, Output{text, reasoning}, []event.DecisionRule{{Rule: why, Text: text}}, same, Computed{})
		if raw, err := texts.JSON(e); err != nil || len(raw) > maxEvent {
			t.Errorf("%d bytes, %v", len(raw), err)
		}
	})
}
