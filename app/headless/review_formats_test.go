package headless

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/agent/event"
)

var update = flag.Bool("update", false, "rewrite golden files")

// defects has findings with texts that try to break each format.
var defects = event.ReviewFinished{Findings: []event.Finding{
	{Severity: event.SeverityUnknown, Stated: "spicy, ::hot", File: "dir, a/b:c%.go", Line: 3, Text: "x\n::error::y\r\n##[add-mask]z\x1b[31m</failure>", Fix: "- a\n+ b"},
	{Severity: event.SeverityHigh, File: "a.go", Line: 2, Text: "it panics"},
	{Severity: event.SeverityMedium, File: "gone.go", Text: "odd", Note: "there is no such file"},
	{Severity: event.SeverityLow, Text: "no <file> & no line"},
}}

// Each format has a golden file. No line of a model's text begins a line of its own where that would be a command.
func TestReviewFormats(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		done event.ReviewFinished
	}{
		{"defects", defects},
		{"none", event.ReviewFinished{}},
		{"failed", event.ReviewFinished{Problem: "no findings in the answer", Answer: "Looks good.\n::set-output name=x::y"}},
	} {
		for _, format := range []struct {
			ext   string
			print func(*bytes.Buffer) error
		}{
			{"github", func(b *bytes.Buffer) error { return printAnnotations(b, tt.done) }},
			{"sarif", func(b *bytes.Buffer) error { return printSARIF(b, tt.done) }},
			{"xml", func(b *bytes.Buffer) error { return printJUnit(b, event.SeverityHigh, tt.done) }},
		} {
			var b bytes.Buffer
			if err := format.print(&b); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", "review-"+tt.name+"."+format.ext)
			if *update {
				if err := os.WriteFile(golden, b.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || b.String() != string(want) {
				t.Errorf("%s: %v\n%s\nwant\n%s", golden, err, b.String(), want)
			}
			switch format.ext {
			case "github":
				for line := range strings.Lines(b.String()) {
					if !strings.HasPrefix(line, "::error title=buddy") && !strings.HasPrefix(line, "::warning title=buddy") && !strings.HasPrefix(line, "::notice title=buddy") {
						t.Errorf("a line of the model's: %q", line)
					}
				}
			case "sarif":
				if !json.Valid(b.Bytes()) {
					t.Error("no JSON")
				}
			case "xml":
				if err := xml.Unmarshal(b.Bytes(), new(junitSuites)); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
