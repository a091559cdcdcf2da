package headless

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/url"
	"strings"

	"buddy/agent/event"
	"buddy/app/version"
	"buddy/texts"
	"buddy/views/markup"
)

// ReviewFormat is a form in which the result of a review is printed.
type ReviewFormat string

// The formats: a line for each finding, one JSON document, annotations of GitHub Actions, SARIF 2.1.0, and JUnit's XML.
const (
	ReviewText   ReviewFormat = "text"
	ReviewJSON   ReviewFormat = "json"
	ReviewGitHub ReviewFormat = "github"
	ReviewSARIF  ReviewFormat = "sarif"
	ReviewJUnit  ReviewFormat = "junit"
)

// ReviewFormats lists the formats.
var ReviewFormats = []ReviewFormat{ReviewText, ReviewJSON, ReviewGitHub, ReviewSARIF, ReviewJUnit}

// fails reports whether a finding is at or above a severity. No finding is at or above the severity "".
func fails(f event.Finding, at event.Severity) bool {
	return at != "" && f.Severity.Rank() <= at.Rank()
}

// reviewText returns the text of a finding without its place and severity.
func reviewText(f event.Finding) string {
	text := f.Text
	if f.Fix != "" {
		text += "\nFix: " + f.Fix
	}
	if f.Note != "" {
		text += "\n(" + f.Note + ")"
	}
	return markup.Plain(text)
}

// level returns GitHub's name for a severity. SARIF uses the same names, except that it says note instead of notice.
func level(s event.Severity) string {
	switch s {
	case event.SeverityMedium:
		return "warning"
	case event.SeverityLow:
		return "notice"
	}
	return "error"
}

// printAnnotations prints a workflow command of GitHub Actions for each finding, which shows it next to its line in a
// pull request. Values are escaped as in github.com/actions/toolkit, packages/core/src/command.ts, so that no text of
// a model can be a command of its own.
func printAnnotations(out io.Writer, done event.ReviewFinished) error {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	var b strings.Builder
	for _, f := range done.Findings {
		fmt.Fprintf(&b, "::%s title=%s", level(f.Severity), property.Replace(markup.Plain("buddy: "+f.Grade())))
		if f.File != "" {
			fmt.Fprintf(&b, ",file=%s", property.Replace(markup.Plain(f.File)))
		}
		if f.Line > 0 {
			fmt.Fprintf(&b, ",line=%d", f.Line)
		}
		fmt.Fprintf(&b, "::%s\n", data.Replace(reviewText(f)))
	}
	if done.Problem != "" {
		fmt.Fprintf(&b, "::error title=buddy::%s\n", data.Replace(markup.Plain("the review failed: "+done.Problem+"\n"+done.Answer)))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// printSARIF prints the Static Analysis Results Interchange Format, docs.oasis-open.org/sarif/sarif/v2.1.0.
func printSARIF(out io.Writer, done event.ReviewFinished) error {
	type object = map[string]any
	results := []object{}
	for _, f := range done.Findings {
		result := object{"ruleId": f.Severity, "level": strings.Replace(level(f.Severity), "notice", "note", 1), "message": object{"text": reviewText(f)}}
		if f.File != "" {
			place := object{"artifactLocation": object{"uri": (&url.URL{Path: f.File}).String(), "uriBaseId": "%SRCROOT%"}}
			if f.Line > 0 {
				place["region"] = object{"startLine": f.Line}
			}
			result["locations"] = []object{{"physicalLocation": place}}
		}
		results = append(results, result)
	}
	var rules []object
	for _, s := range append([]event.Severity{event.SeverityUnknown}, event.Severities...) {
		rules = append(rules, object{"id": s, "shortDescription": object{"text": "a defect of severity " + string(s)}})
	}
	call := object{"executionSuccessful": done.Problem == ""}
	if done.Problem != "" {
		call["toolExecutionNotifications"] = []object{{"level": "error", "message": object{"text": markup.Plain(done.Problem)}}}
	}
	data, err := json.MarshalIndent(object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{
			"tool":        object{"driver": object{"name": "buddy", "version": version.Number, "rules": rules}},
			"invocations": []object{call}, "results": results,
		}},
	}, "", "  ")
	if err == nil {
		_, err = out.Write(append(texts.PrintableJSON(data), '\n'))
	}
	return err
}

// The elements of JUnit's XML, as github.com/testmoapp/junitxml describes them.
type (
	junitSuites struct {
		XMLName xml.Name   `xml:"testsuites"`
		Suite   junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string       `xml:"name,attr"`
		Class   string       `xml:"classname,attr"`
		Failure *junitResult `xml:"failure"`
		Error   *junitResult `xml:"error"`
		Skipped *junitResult `xml:"skipped"`
	}
	junitResult struct {
		Type    string `xml:"type,attr,omitempty"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// printJUnit prints each finding as a test case, failed if the finding is at or above a severity, else skipped. A
// review without findings is printed as one passed test case.
func printJUnit(out io.Writer, at event.Severity, done event.ReviewFinished) error {
	const class = "buddy.review"
	s := junitSuite{Name: "buddy review"}
	for _, f := range done.Findings {
		text := reviewText(f)
		first, _, _ := strings.Cut(text, "\n")
		r := &junitResult{Type: markup.Plain(f.Grade()), Message: first, Text: text}
		c := junitCase{Name: markup.Plain(f.Place()), Class: class}
		if fails(f, at) {
			c.Failure = r
			s.Failures++
		} else {
			c.Skipped = &junitResult{Message: r.Type + ": " + first}
			s.Skipped++
		}
		s.Cases = append(s.Cases, c)
	}
	switch {
	case done.Problem != "":
		s.Errors++
		s.Cases = append(s.Cases, junitCase{Name: "review", Class: class, Error: &junitResult{Message: markup.Plain(done.Problem), Text: markup.Plain(done.Answer)}})
	case len(s.Cases) == 0:
		s.Cases = []junitCase{{Name: "no defects", Class: class}}
	}
	s.Tests = len(s.Cases)
	data, err := xml.MarshalIndent(junitSuites{Suite: s}, "", "  ")
	if err == nil {
		_, err = io.WriteString(out, xml.Header+string(data)+"\n")
	}
	return err
}
