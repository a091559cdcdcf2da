package ui

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/app/fuzzy"
)

func TestFilesFlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t, 120, 32)
		x.Type("mail ann@example.org about @tax")
		x.Want("▸@checkout/tax.go", "@checkout/tax_test.go", "Tab complete")
		x.Press("Down", "Tab")
		x.Want("> mail ann@example.org about @checkout/tax_test.go")
		x.unwanted("@checkout/tax.go")
		x.Type("and (@read")
		x.Want("▸@README.md")
		x.Press("Enter")
		x.took() // Enter took the path
		x.Type("?")
		x.Press("Enter")
		x.took(event.Submit{Text: "mail ann@example.org about @checkout/tax_test.go and (@README.md ?"})
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

// testFiles answers a query for files.
func testFiles(query string) []string {
	all := strings.Fields(".env README.md checkout/tax.go checkout/tax_test.go evil\x1b[31m.tax")
	return slices.DeleteFunc(all, func(path string) bool {
		_, fits := fuzzy.Fit(path, query)
		return !fits || path[0] == '.' && !strings.HasPrefix(query, ".")
	})
}
