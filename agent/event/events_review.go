package event

import (
	"fmt"
	"strconv"
	"strings"

	"buddy/agent/model"
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

// Finding is a defect that a review found. All its texts are the model's.
type Finding struct {
	Severity Severity `json:"severity"`
	Stated   string   `json:"stated,omitempty"` // the severity in the model's word, if that is not understood
	File     string   `json:"file,omitempty"`   // relative to the folder of the session
	Line     int      `json:"line,omitempty"`   // from 1; 0 is not known
	Text     string   `json:"text"`             // what breaks
	Fix      string   `json:"fix,omitempty"`    // the smallest one
	Note     string   `json:"note,omitempty"`   // what is wrong with the place: no such file, no such line
}

// ReviewFinished holds the result of a review, the worst findings first. With Problem there is none:
// the findings are those that could be read all the same.
type ReviewFinished struct {
	Task     int         `json:"task,omitempty"` // of the subagent; 0: none was needed
	Base     string      `json:"base,omitempty"` // that was asked for
	Of       string      `json:"of,omitempty"`   // what was reviewed, for people
	Commit   string      `json:"commit,omitempty"`
	Files    int         `json:"files"` // that differ
	Findings []Finding   `json:"findings,omitempty"`
	Problem  string      `json:"problem,omitempty"`
	Answer   string      `json:"answer,omitempty"` // with a Problem: the end of what the model said
	Usage    model.Usage `json:"usage,omitzero"`
	Cost     model.Money `json:"cost,omitempty"` // 0 = not known
}

// String describes the finding on one line: file:line severity text.
func (f Finding) String() string {
	at := f.File
	if at == "" {
		at = "(no file)"
	}
	if f.Line > 0 {
		at += ":" + strconv.Itoa(f.Line)
	}
	line := at + " " + string(f.Severity) + " "
	if f.Stated != "" {
		line += fmt.Sprintf("(%q) ", f.Stated)
	}
	line += f.Text
	if f.Fix != "" {
		line += " · fix: " + f.Fix
	}
	if f.Note != "" {
		line += " (" + f.Note + ")"
	}
	return line
}

// Summary describes the review for people, a line for each finding.
func (r ReviewFinished) Summary() string {
	of := "review"
	if r.Of != "" {
		of += " of " + r.Of
	}
	lines := []string{fmt.Sprintf("%s: findings: %d, files that differ: %d", of, len(r.Findings), r.Files)}
	if r.Problem != "" {
		lines[0] = of + " failed: " + r.Problem
	}
	for i, f := range r.Findings {
		lines = append(lines, fmt.Sprintf("%d. %s", i+1, f))
	}
	if r.Problem != "" && r.Answer != "" {
		lines = append(lines, "the model said: "+r.Answer)
	}
	return strings.Join(lines, "\n")
}
