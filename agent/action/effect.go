package action

import (
	"fmt"
	"strings"

	"buddy/texts"
)

// Effect says as data the one thing that a person must know about an action before approving it, so that
// every interface makes the same sentence of it. The zero value says nothing.
type Effect struct {
	Subject string   `json:"subject,omitempty"` // who does it: git reset --hard; "" is the action itself
	Verb    string   `json:"verb,omitempty"`    // in the third person: deletes
	Object  string   `json:"object,omitempty"`  // dist/old; "" where there are names
	Count   int      `json:"count,omitempty"`   // how many of Unit; 0 where nothing was counted
	Unit    string   `json:"unit,omitempty"`    // in the singular: file
	Names   []string `json:"names,omitempty"`   // of some that were counted
	Final   bool     `json:"final,omitempty"`   // it can't be undone
}

// Text returns the effect as a clause that ends without a period: deletes dist/old (41 files).
func (e Effect) Text() string {
	parts := []string{e.Subject, e.Verb, e.Object}
	switch {
	case e.Count == 0:
	case e.Object != "":
		parts = append(parts, "("+texts.Plural(e.Count, e.Unit)+")")
	default:
		parts = append(parts, texts.Plural(e.Count, e.Unit)+e.names())
	}
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}

// names lists the names behind a colon: ": a.go, b.go and 3 more".
func (e Effect) names() string {
	if len(e.Names) == 0 {
		return ""
	}
	text := ": " + strings.Join(e.Names, ", ")
	if more := e.Count - len(e.Names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Sentence returns the effect as people read it: Deletes dist/old (41 files). Can't be undone.
func (e Effect) Sentence() string {
	text := e.Text()
	if text == "" {
		return ""
	}
	if e.Subject == "" { // a subject is typed as it is: git, not Git
		text = texts.Capital(text)
	}
	text += "."
	if e.Final {
		text += " Can't be undone."
	}
	return text
}
