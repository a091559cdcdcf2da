package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/agent/model"
	"buddy/app/fuzzy"
	"buddy/app/slash"
	"buddy/extensions/workflow"
	"buddy/views/draw"
)

func TestFilesFlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.Type("mail ann@example.org about @tax")
		x.Want("▸@checkout/tax.go", "@checkout/tax_test.go", "Tab fill in")
		x.Press("Down", "Tab")
		x.Want("> mail ann@example.org about @checkout/tax_test.go")
		x.unwanted("@checkout/tax.go")
		x.Type("and (@read")
		x.Want("▸@README.md")
		x.Press("Enter")
		x.wantSent() // Enter completed the path
		x.Type("?")
		x.Press("Enter")
		x.wantSent(event.Submit{Text: "mail ann@example.org about @checkout/tax_test.go and (@README.md ?"})
		x.Type("@tax")
		x.Want("▸@checkout/tax.go")
		x.Press("Esc")
		x.unwanted("▸@")
		x.Type(".")
		x.unwanted("▸@")
		x.Want("> @tax.")
		x.Press("Ctrl+U")
		x.Type("@t")
		x.Want("▸@checkout/tax.go")
		x.Press("Left", "Left")
		x.unwanted("▸@")
		x.Press("Right", "Right")
		x.unwanted("▸@") // only typing opens the list
		x.Press("Ctrl+U")
		x.Paste("@tax")
		x.unwanted("▸@")
		x.Press("Backspace")
		x.unwanted("▸@")
		x.Type("x @.e")
		x.Want("▸@.env")
		x.Press("Ctrl+U")
		x.unwanted("▸@")
	})
}

// testFiles answers a file query.
func testFiles(query string) []string {
	all := strings.Fields(".env README.md checkout/tax.go checkout/tax_test.go evil\x1b[31m.tax")
	return slices.DeleteFunc(all, func(path string) bool {
		_, fits := fuzzy.Fit(path, query)
		return !fits || path[0] == '.' && !strings.HasPrefix(query, ".")
	})
}

// Names and inputs of workflows complete after their command. Enter completes a started or chosen word, and sends a
// line that has none.
func TestArgumentsFlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.Type("/workfl")
		x.Press("Tab")
		x.Want("> /workflow", "▸deployment", "Roll a version out", "cancel a run")
		x.Type("dep")
		x.unwanted("cancel a run")
		x.Press("Enter")
		x.wantSent() // Enter completed the name
		x.Want("> /workflow deployment", "▸version=", "rest=")
		x.Press("Down", "Tab")
		x.Want("> /workflow deployment rest=")
		x.unwanted("▸")
		x.Type("web-1 ")
		x.Want("▸version=")
		x.unwanted("▸rest=")
		x.Type("version=2")
		x.unwanted("▸")
		x.Press("Enter")
		x.wantSent(event.RunWorkflow{Name: "deployment", Inputs: map[string]string{"rest": "web-1", "version": "2"}})
		x.Type("/workflow run")
		x.Want("▸runs")
		x.Type("s")
		x.Press("Enter")
		x.wantSent()
		x.didRun("workflow runs") // the word is complete
		x.Type("/workflow ")
		x.Want("▸deployment")
		x.Press("Left")
		x.unwanted("▸")
		x.Press("Right")
		x.unwanted("▸") // only typing opens the list
		x.Press("Ctrl+U")
		x.Type("/workflow de")
		x.Press("Esc")
		x.unwanted("▸")
		x.Press("Ctrl+U")
		x.Type("say /workflow d")
		x.unwanted("▸")
	})
}

// testArguments completes the last word of a command line.
func testArguments(line string) (words []draw.CommandHelp) {
	w := workflow.Workflow{Description: "Roll a version out", Inputs: []workflow.Input{{Name: "version"}, {Name: "rest"}}}
	w.Name = "deployment"
	for _, c := range slash.Complete(slash.Offers{Workflows: func() []workflow.Workflow { return []workflow.Workflow{w} }}, line) {
		words = append(words, draw.CommandHelp{Name: c.Word, Help: c.Help})
	}
	return words
}

// Keys that an open completion list does not use still work in the prompt.
func TestScrollWhileCommandsAreOffered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 80, 24)
		var lines strings.Builder
		for i := range 60 {
			fmt.Fprintf(&lines, "line %d\n\n", i)
		}
		x.feed(event.ModelMessage{Message: model.Message{Content: lines.String()}})
		x.Type("/mo")
		x.Want("/model", "line 54")
		x.Press("PgUp")
		x.Want("/model", "> /mo", "line 48")
		x.unwanted("line 54")
	})
}
