// Package decision explains calls of tools: by what the model itself said of a call, and by the rules
// that decided about it. It adds nothing of its own: a confidence and alternatives are those that the model
// put on lines with these labels, and what it did not say stays empty.
//
//	e, ok := decision.Explain(call, act.Why, decision.Said{Text: text}, rules, redact)
//	if ok { publish(e) }
package decision

import (
	"strings"
	"unicode"

	"buddy/agent/event"
	"buddy/texts"
)

// MaxRead limits the bytes before a call that are read, of its answer and of its reasoning each.
const MaxRead = 4 << 10

// Bytes of an explanation's parts.
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

// Said holds what a model said in its answer before a call. Only the last [MaxRead] bytes are read of each.
type Said struct {
	Text      string
	Reasoning string
}

// Explain returns the explanation of a call, at most 1 KiB of JSON; ok is false when there is nothing to tell.
// why has what the model gave as the call's own reason, redact takes secrets out of what it said.
func Explain(callID, why string, said Said, rules []event.DecisionRule, redact func(string) string) (e event.DecisionExplained, ok bool) {
	clean := func(s string) string { return redact(printable(s)) }
	text, reasoning := read(clean(lastLines(said.Text))), read(clean(lastLines(said.Reasoning)))
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
	bound(&e)
	return e, e.Reasoning != "" || e.Confidence != "" || len(e.Alternatives) > 0 || len(e.Rules) > 0
}

// bound cuts the parts of an explanation, and then drops the least of them until its JSON fits.
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

// found holds what a model's text states about the call that follows it.
type found struct {
	reason       string
	confidence   string
	alternatives []string
}

// label matches a line that names what it holds, with the marks of Markdown around the name.
var label = texts.Regexp(`(?i)^[\s>#*+_-]*(confidence|alternatives?(?: considered| rejected)?|reason|reasoning|rationale)[*_]*\s*[:：][\s*_]*(.*)$`)

// item matches a line of a list.
var item = texts.Regexp(`^\s*(?:[-*+]|\d{1,2}[.)])\s+(.+)$`)

// read takes the labelled lines out of a text, and its last paragraph for a reason. What stands in a code
// block is no statement about the call.
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
		listing = f.take(strings.ToLower(m[1]), m[2])
	}
	if f.reason == "" {
		f.reason = texts.OneLine(strings.Join(paragraph, " "))
	}
	return f
}

// take takes a labelled line up, and reports whether the lines of a list after it belong to it.
func (f *found) take(name, value string) (listing bool) {
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

// alternative adds an alternative, unless the line says that there is none.
func (f *found) alternative(text string) {
	text = strings.Trim(texts.OneLine(text), "*_ ")
	switch strings.ToLower(strings.TrimRight(text, ".")) {
	case "", "none", "n/a", "-":
		return
	}
	f.alternatives = append(f.alternatives, text)
}

// lastLines returns the whole lines in the last bytes of a text.
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

// printable replaces what acts on a terminal, is invisible or reorders text by a space.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(text, "�"))
}
