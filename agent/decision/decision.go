// Package decision explains why the model made a tool call, and which rules decided whether it ran.
//
// The model states its reason in the call or in the text before it, and its confidence and the alternatives in lines
// with these labels. The policy supplies what the model did not state, and the explanation marks these parts as
// computed.
//
//	e, ok := decision.Explain(call, act.Why, decision.Output{Text: text}, rules, redact, computed)
//	if ok { publish(e) }
package decision

import (
	"strings"
	"unicode"

	"buddy/agent/event"
	"buddy/texts"
)

// MaxRead limits how much of the model's text before a call, and of its reasoning, is searched for an explanation, in
// bytes.
const MaxRead = 4 << 10

// Limits of the parts of an explanation, in bytes or items.
const (
	maxEvent        = 1 << 10 // encoded
	maxReasoning    = 300
	maxConfidence   = 40
	maxAlternatives = 4
	maxAlternative  = 80
	maxRules        = 6
	maxRule         = 60
	maxRuleText     = 150
)

// Output holds a model's output before a call. Only the last [MaxRead] bytes of each field are read.
type Output struct {
	Text      string
	Reasoning string
}

// Computed holds what the policy knows about a call.
type Computed struct {
	Reasoning    string
	Confidence   string // how sure the policy is of the call's effect: high, medium, low
	Alternatives []string
}

// Explain returns the explanation of a call, at most 1 KiB of JSON; ok is false when it is empty. why is the reason in
// the call's arguments. redact removes secrets from texts. What the model did not state is taken from computed.
func Explain(callID, why string, output Output, rules []event.DecisionRule, redact func(string) string, computed Computed) (e event.DecisionExplained, ok bool) {
	clean := func(s string) string { return redact(printable(s)) }
	text, reasoning := read(clean(lastLines(output.Text))), read(clean(lastLines(output.Reasoning)))
	e = event.DecisionExplained{CallID: callID, Confidence: text.confidence, Alternatives: text.alternatives}
	if e.Confidence == "" {
		e.Confidence = reasoning.confidence
	}
	if len(e.Alternatives) == 0 {
		e.Alternatives = reasoning.alternatives
	}
	switch own := texts.OneLine(clean(why)); {
	case own != "":
		e.Reasoning, e.From = own, event.FromWhy
	case text.reason != "":
		e.Reasoning, e.From = text.reason, event.FromText
	case reasoning.reason != "":
		e.Reasoning, e.From = reasoning.reason, event.FromReasoning
	}
	for _, r := range rules[:min(len(rules), maxRules)] {
		e.Rules = append(e.Rules, event.DecisionRule{
			Rule: texts.ClipBytes(texts.OneLine(clean(r.Rule)), maxRule), Text: texts.ClipBytes(texts.OneLine(clean(r.Text)), maxRuleText),
		})
	}
	computed.fill(&e, clean)
	bound(&e)
	return e, e.Reasoning != "" || e.Confidence != "" || len(e.Alternatives) > 0 || len(e.Rules) > 0
}

// fill sets the empty parts of an explanation and marks them.
func (c Computed) fill(e *event.DecisionExplained, clean func(string) string) {
	if reason := texts.OneLine(clean(c.Reasoning)); e.Reasoning == "" && reason != "" {
		e.Reasoning, e.From = texts.ClipBytes(reason, maxRuleText), event.FromPolicy
		e.Computed = append(e.Computed, event.ComputedReasoning)
	}
	if e.Confidence == "" && c.Confidence != "" {
		e.Confidence, e.Computed = c.Confidence, append(e.Computed, event.ComputedConfidence)
	}
	if len(e.Alternatives) == 0 && len(c.Alternatives) > 0 {
		for _, one := range c.Alternatives {
			e.Alternatives = append(e.Alternatives, texts.OneLine(clean(one)))
		}
		e.Computed = append(e.Computed, event.ComputedAlternatives)
	}
}

// bound shortens the texts of an explanation, and then drops the least important items until its JSON fits.
func bound(e *event.DecisionExplained) {
	e.Reasoning = texts.ClipBytes(e.Reasoning, maxReasoning)
	e.Confidence = texts.ClipBytes(e.Confidence, maxConfidence)
	e.Alternatives = e.Alternatives[:min(len(e.Alternatives), maxAlternatives)]
	for i, a := range e.Alternatives {
		e.Alternatives[i] = texts.ClipBytes(a, maxAlternative)
	}
	for {
		raw, err := texts.JSON(e)
		switch n := len(e.Alternatives); {
		case err == nil && len(raw) <= maxEvent:
			return
		case n > 0:
			e.Alternatives = e.Alternatives[:n-1]
		case len(e.Rules) > 1:
			e.Rules = e.Rules[:len(e.Rules)-1]
		default:
			e.Reasoning = texts.ClipBytes(e.Reasoning, maxReasoning/3)
			return
		}
	}
}

// found holds the statements in a model's text about the call that follows it.
type found struct {
	reason       string
	confidence   string
	alternatives []string
}

// label matches a labelled line, with Markdown around the label.
var label = texts.Regexp(`(?i)^[\s>#*+_-]*(confidence|alternatives?(?: considered| rejected)?|reason|reasoning|rationale)[*_]*\s*[:：][\s*_]*(.*)$`)

var item = texts.Regexp(`^\s*(?:[-*+]|\d{1,2}[.)])\s+(.+)$`)

// read extracts the labelled lines of a text, and its last paragraph as the reason. It ignores code blocks.
func read(text string) (f found) {
	var paragraph []string
	fenced, listing, over := false, false, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			fenced, listing, over = !fenced, false, true
			continue
		}
		if fenced {
			continue
		}
		if m := item().FindStringSubmatch(line); listing && m != nil && label().FindString(line) == "" {
			f.alternative(m[1])
			continue
		}
		listing = false
		m := label().FindStringSubmatch(line)
		switch {
		case m == nil && line == "":
			over = true
			continue
		case m == nil:
			if over {
				paragraph, over = nil, false
			}
			paragraph = append(paragraph, line)
			continue
		}
		listing = f.set(strings.ToLower(m[1]), m[2])
	}
	if f.reason == "" {
		f.reason = texts.OneLine(strings.Join(paragraph, " "))
	}
	return f
}

// set stores a labelled line, and reports whether list items after it belong to it.
func (f *found) set(name, value string) (listing bool) {
	value = strings.Trim(texts.OneLine(value), "*_ ")
	switch {
	case name == "confidence":
		f.confidence = value
	case strings.HasPrefix(name, "alternative"):
		for one := range strings.SplitSeq(value, ";") {
			f.alternative(one)
		}
		return value == ""
	default:
		f.reason = value
	}
	return false
}

// alternative adds an alternative, unless the line means that there is none.
func (f *found) alternative(text string) {
	text = strings.Trim(texts.OneLine(text), "*_ ")
	switch strings.ToLower(strings.TrimRight(text, ".")) {
	case "", "none", "n/a", "-":
		return
	}
	f.alternatives = append(f.alternatives, text)
}

// lastLines returns the complete lines in the last MaxRead bytes of a text.
func lastLines(text string) string {
	if len(text) <= MaxRead {
		return text
	}
	text = strings.ToValidUTF8(text[len(text)-MaxRead:], "")
	if _, rest, ok := strings.Cut(text, "\n"); ok {
		return rest
	}
	return text
}

// printable replaces control, invisible and reordering characters by spaces.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(text, "�"))
}
