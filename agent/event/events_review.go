package event

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"buddy/agent/model"
	"buddy/texts"
)

// Severity grades a finding of a review.
type Severity string

// The severities, worst first. Unknown replaces a word of the model that is not understood; it counts as the worst,
// so that nothing is overlooked.
const (
	SeverityUnknown  Severity = "unknown"
	SeverityCritical Severity = "critical"
	SeverityHigh     Severity = "high"
	SeverityMedium   Severity = "medium"
	SeverityLow      Severity = "low"
)

// Severities lists the known severities, worst first.
var Severities = []Severity{SeverityCritical, SeverityHigh, SeverityMedium, SeverityLow}

// Rank orders severities, worst first: unknown is -1, critical 0.
func (s Severity) Rank() int { return slices.Index(Severities, s) }

// Finding is a defect found by a review. All texts are the model's.
type Finding struct {
	Severity Severity `json:"severity"`
	Stated   string   `json:"stated,omitempty"` // the model's word for an unknown severity
	File     string   `json:"file,omitempty"`   // relative to the session's folder
	Line     int      `json:"line,omitempty"`   // from 1; 0 = unknown
	Text     string   `json:"text"`             // what breaks
	Fix      string   `json:"fix,omitempty"`    // the smallest fix, on one line unless it is a diff
	Note     string   `json:"note,omitempty"`   // an error in File or Line: no such file, no such line

	// FileSum and LineSum are hashes of the file, and of the line with its neighbours. They tell later whether the line
	// has changed. They are "" if there is no such line.
	FileSum string `json:"file_sum,omitempty"`
	LineSum string `json:"line_sum,omitempty"`
}

// ReviewFinished holds the result of a review, worst findings first. If Problem is set, the review failed and
// Findings are those that could be parsed.
type ReviewFinished struct {
	Task     int         `json:"task,omitempty"` // task of the subagent; 0 if none was needed
	Base     string      `json:"base,omitempty"` // as requested
	Of       string      `json:"of,omitempty"`   // what was reviewed, as text
	Commit   string      `json:"commit,omitempty"`
	Target   string      `json:"target,omitempty"`   // where the files are; "" is this machine
	Files    int         `json:"files"`              // number of changed files
	DiffCut  bool        `json:"diff_cut,omitempty"` // the diff is too long: its end was not reviewed
	Findings []Finding   `json:"findings,omitempty"`
	Problem  string      `json:"problem,omitempty"`
	Answer   string      `json:"answer,omitempty"` // with a Problem: the end of the model's answer
	Usage    model.Usage `json:"usage,omitzero"`
	Cost     model.Money `json:"cost,omitempty"` // 0 = unknown
}

// ReviewStarted is the Code of the notice that a subagent starts to review a change.
const ReviewStarted = "review"

// DiffWasCut warns that the end of a change was not reviewed.
const DiffWasCut = "the review is incomplete: buddy reads at most 4 MB of a diff; review the change in parts, or name a nearer BASE"

// Place returns the file and the line, as far as known.
func (f Finding) Place() string {
	at := f.File
	if at == "" {
		at = "(no file)"
	}
	if f.Line > 0 {
		at += ":" + strconv.Itoa(f.Line)
	}
	return at
}

// Grade returns the severity, with the model's word for an unknown one.
func (f Finding) Grade() string {
	if f.Stated != "" {
		return fmt.Sprintf("%s (%q)", f.Severity, f.Stated)
	}
	return string(f.Severity)
}

// String returns the finding on one line: file:line · severity · text.
func (f Finding) String() string {
	line := f.Place() + " · " + f.Grade() + " · " + f.Text
	if f.Fix != "" {
		line += " · fix: " + texts.OneLine(f.Fix)
	}
	if f.Note != "" {
		line += " (" + f.Note + ")"
	}
	return line
}

// What describes the reviewed change, and names its target unless that is this machine.
func (r ReviewFinished) What() string {
	if r.Target != "" {
		return r.Of + " on " + r.Target
	}
	return r.Of
}

// Summary formats the review, one line per finding.
func (r ReviewFinished) Summary() string {
	of := "review"
	if r.Of != "" {
		of += " of " + r.What()
	}
	lines := []string{fmt.Sprintf("%s: %s in %s", of, texts.Plural(len(r.Findings), "finding"), texts.Plural(r.Files, "changed file"))}
	if r.Problem != "" {
		lines[0] = of + " failed: " + r.Problem
	}
	if r.DiffCut {
		lines = append(lines, DiffWasCut)
	}
	for i, f := range r.Findings {
		lines = append(lines, fmt.Sprintf("%d. %s", i+1, f))
	}
	if r.Problem != "" && r.Answer != "" {
		lines = append(lines, "the model said: "+r.Answer)
	}
	return strings.Join(lines, "\n")
}
