package workflow

import (
	"fmt"
	"slices"
	"strings"
)

// Brief describes a workflow as JSON.
type Brief struct {
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Version     int          `json:"version,omitempty"`
	From        string       `json:"from"` // person, project, plugin, built-in
	File        string       `json:"file"`
	Inputs      []BriefInput `json:"inputs"`
	Steps       int          `json:"steps"`
}

// BriefInput describes an input as JSON.
type BriefInput struct {
	Name     string `json:"name"`
	Type     Type   `json:"type"`
	Required bool   `json:"required"`
	Default  any    `json:"default,omitempty"`
	Pattern  string `json:"pattern,omitempty"`
	About    string `json:"description,omitempty"`
}

// Brief returns the description for JSON lists.
func (w *Workflow) Brief() Brief {
	b := Brief{w.Name, w.Description, w.Version, string(w.Origin), w.File, []BriefInput{}, len(w.Steps)}
	for _, in := range w.Inputs {
		b.Inputs = append(b.Inputs, BriefInput{in.Name, in.Type, in.Required(), in.Default, in.Pattern, in.Description})
	}
	return b
}

// Required reports whether a run needs a value for the input.
func (in Input) Required() bool { return in.Default == nil && !in.Optional }

// examples holds example values of inputs without a default.
var examples = map[Type]string{String: "TEXT", Int: "1", Bool: "true", List: "a,b", Target: "web-1", Targets: "web-1,web-2", File: "PATH"}

// usage returns the notation and the type of an input: "base=main (string, default main)".
func (in Input) usage() string {
	value, kind := examples[in.Type], []string{string(in.Type)}
	if in.Default != nil {
		value = textOf(in.Default, ",")
	}
	if in.Pattern != "" {
		kind = append(kind, "matches "+in.Pattern)
	}
	if !in.Required() {
		kind = append(kind, in.need())
	}
	return Line(map[string]string{in.Name: value}) + " (" + strings.Join(kind, ", ") + ")"
}

// need returns "needed" if a run needs a value for the input, else the default value or "optional".
func (in Input) need() string {
	switch {
	case in.Default != nil:
		return "default " + textOf(in.Default, ",")
	case in.Optional:
		return "optional"
	}
	return "needed"
}

// about describes an input: "needed, matches \d+: how many".
func (in Input) about() string {
	text := in.need()
	if in.Pattern != "" {
		text += ", matches " + in.Pattern
	}
	if in.Description != "" {
		text += ": " + in.Description
	}
	return text
}

// Needs returns the shortest command that starts a run: "deployment version=… canary=… rest=…".
func (w *Workflow) Needs() string {
	words := []string{w.Name}
	for _, in := range w.Inputs {
		if in.Required() {
			words = append(words, in.Name+"=…")
		}
	}
	return strings.Join(words, " ")
}

// Usage returns the command that starts a run: "deployment version=… canary=… rest=… [service=app]".
func (w *Workflow) Usage() string {
	words := []string{w.Needs()}
	for _, in := range w.Inputs {
		switch {
		case in.Required():
		case in.Default != nil:
			words = append(words, "["+in.Name+"="+textOf(in.Default, ",")+"]")
		default:
			words = append(words, "["+in.Name+"=…]")
		}
	}
	return strings.Join(words, " ")
}

// Describe describes a workflow for a person: its inputs, its steps in order with their calls, and the gates.
func (w *Workflow) Describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n%s, %s\n", w.Name, w.Description, w.Origin, w.File)
	if len(w.Inputs) > 0 {
		b.WriteString("\ninputs\n")
	}
	for _, in := range w.Inputs {
		fmt.Fprintf(&b, "  %-14s %-8s %s\n", in.Name, in.Type, in.about())
	}
	b.WriteString("\nsteps\n")
	for i := range w.Steps {
		w.describeStep(&b, i)
	}
	if len(w.Outputs) > 0 {
		b.WriteString("\noutputs\n")
	}
	for _, out := range w.Outputs {
		fmt.Fprintf(&b, "  %-14s %s\n", out.Name, out.Text.source())
	}
	return b.String()
}

func (w *Workflow) describeStep(b *strings.Builder, i int) {
	s := &w.Steps[i]
	line := fmt.Sprintf("  %2d %-12s %s", i+1, s.ID, s.Tool)
	if s.Why != "" {
		line += ": " + s.Why
	}
	b.WriteString(line + "\n")
	say := func(format string, args ...any) { fmt.Fprintf(b, "       "+format+"\n", args...) }
	if i > 0 && !slices.Equal(s.Needs, []string{w.Steps[i-1].ID}) {
		say("after %s", strings.Join(append(slices.Clone(s.Needs), "nothing")[:max(1, len(s.Needs))], ", "))
	}
	if s.Each != nil {
		of := "a list in the file"
		if s.Each.ref != nil {
			of = s.Each.ref.String()
		}
		say("for each of %s, %d at once", of, s.AtOnce)
	}
	if s.Target != nil {
		say("on %s", s.Target.source())
	}
	if s.Condition != nil {
		say("if %s", s.Condition)
	}
	if g := s.Gate; g != nil {
		say("gate %s: %s", g.Type, g.Message.source())
	}
	if p, ok := s.Params.values["command"]; ok && p.command != nil {
		say("$ %s", strings.ReplaceAll(strings.TrimSpace(p.command.source()), "\n", "\n         "))
	}
	switch {
	case s.OnError.Skip:
		say("if it fails, the run continues")
	case s.OnError.Retry > 0:
		say("retried up to %d times", s.OnError.Retry)
	}
}

// source returns a template as written.
func (t *Template) source() string {
	var b strings.Builder
	for _, p := range t.parts {
		if p.ref == nil {
			b.WriteString(p.text)
		} else {
			b.WriteString("{{ " + p.ref.String() + " }}")
		}
	}
	return b.String()
}
