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

// The severities, the worst first. Unknown is one that the model named in a way that is not understood:
// it counts as the worst, so that nothing is overlooked.
const (
	SeverityUnknown  Severity = "unknown"
	SeverityCritical Severity = "critical"
	SeverityHigh     Severity = "high"
	SeverityMedium   Severity = "medium"
	SeverityLow      Severity = "low"
)

// Severities lists the severities that are understood, the worst first.
var Severities = []Severity{SeverityCritical, SeverityHigh, SeverityMedium, SeverityLow}

// Rank orders severities, the worst first: unknown is -1, critical 0.
func (s Severity) Rank() int { return slices.Index(Severities, s) }

// Finding is a defect that a review found. All its texts are the model's.
type Finding struct {
	Severity Severity `json:"severity"`
	Stated   string   `json:"stated,omitempty"` // the severity in the model's word, if that is not understood
	File     string   `json:"file,omitempty"`   // relative to the folder of the session
	Line     int      `json:"line,omitempty"`   // from 1; 0 is not known
	Text     string   `json:"text"`             // what breaks
	Fix      string   `json:"fix,omitempty"`    // the smallest one, on one line unless it is a diff
	Note     string   `json:"note,omitempty"`   // what is wrong with the place: no such file, no such line

	// FileSum and LineSum tell later whether the line is still the one that was meant: hashes of the
	// file, and of the line with its neighbours. "" where there is no such line.
	FileSum string `json:"file_sum,omitempty"`
	LineSum string `json:"line_sum,omitempty"`
}

// ReviewFinished holds the result of a review, the worst findings first. With Problem there is none:
// the findings are those that could be read all the same.
type ReviewFinished struct {
	Task     int         `json:"task,omitempty"` // of the subagent; 0: none was needed
	Base     string      `json:"base,omitempty"` // that was asked for
	Of       string      `json:"of,omitempty"`   // what was reviewed, for people
	Commit   string      `json:"commit,omitempty"`
	Target   string      `json:"target,omitempty"`   // where the files are; "" is this machine
	Files    int         `json:"files"`              // that differ
	DiffCut  bool        `json:"diff_cut,omitempty"` // the change is longer than what is read: its end was not reviewed
	Findings []Finding   `json:"findings,omitempty"`
	Problem  string      `json:"problem,omitempty"`
	Answer   string      `json:"answer,omitempty"` // with a Problem: the end of what the model said
	Usage    model.Usage `json:"usage,omitzero"`
	Cost     model.Money `json:"cost,omitempty"` // 0 = not known
}

// DiffWasCut tells a person that not all of a change was reviewed.
const DiffWasCut = "the review is incomplete: buddy reads at most 4 MB of a diff; review the change in parts, or name a nearer BASE"

// Place names the file and the line, if they are known.
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

// Grade names the severity, with the model's word for it if that is not understood.
func (f Finding) Grade() string {
	if f.Stated != "" {
		return fmt.Sprintf("%s (%q)", f.Severity, f.Stated)
	}
	return string(f.Severity)
}

// String describes the finding on one line: file:line severity text.
func (f Finding) String() string {
	line := f.Place() + " " + f.Grade() + " " + f.Text
	if f.Fix != "" {
		line += " · fix: " + texts.OneLine(f.Fix)
	}
	if f.Note != "" {
		line += " (" + f.Note + ")"
	}
	return line
}

// What names what was reviewed, and on which machine if that is not this one.
func (r ReviewFinished) What() string {
	if r.Target != "" {
		return r.Of + " on " + r.Target
	}
	return r.Of
}

// Summary describes the review for people, a line for each finding.
func (r ReviewFinished) Summary() string {
	of := "review"
	if r.Of != "" {
		of += " of " + r.What()
	}
	lines := []string{fmt.Sprintf("%s: findings: %d, files that differ: %d", of, len(r.Findings), r.Files)}
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
