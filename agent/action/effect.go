package action

import (
	"fmt"
	"strings"

	"buddy/texts"
)

// Effect describes the most important effect that an action will have. It is data, so that every interface can form the
// same sentence. The zero value means no effect.
type Effect struct {
	Subject string   `json:"subject,omitempty"` // git reset --hard; "" is the action itself
	Verb    string   `json:"verb,omitempty"`    // in the third person: deletes
	Object  string   `json:"object,omitempty"`  // dist/old; "" if Names is set
	Count   int      `json:"count,omitempty"`   // number of Units; 0 if not counted
	Unit    string   `json:"unit,omitempty"`    // in the singular: file
	Names   []string `json:"names,omitempty"`   // some of the counted units
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

// names returns e.Names as the end of the text: ": a.go, b.go and 3 more".
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

// Sentence returns the effect as a sentence: Deletes dist/old (41 files). Can't be undone.
func (e Effect) Sentence() string {
	text := e.Text()
	if text == "" {
		return ""
	}
	if e.Subject == "" { // a subject keeps its case: git, not Git
		text = texts.Capital(text)
	}
	text += "."
	if e.Final {
		text += " Can't be undone."
	}
	return text
}
