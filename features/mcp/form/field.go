package form

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"buddy/texts"
)

// Kind names the type of a field's value.
type Kind string

// The kinds, each with the Go type of its value.
const (
	Text    Kind = "text"    // string
	Number  Kind = "number"  // float64
	Integer Kind = "integer" // int64
	YesNo   Kind = "yes/no"  // bool
	OneOf   Kind = "one of"  // string, the value of an option
	SomeOf  Kind = "some of" // []string, values of options
)

// Field is one value that a server wants to know.
type Field struct {
	Name     string
	Title    string // "" where the server gave none
	About    string
	Kind     Kind
	Options  []Option // of OneOf and SomeOf
	Default  any      // nil for none
	Required bool
	Format   string   // of a Text: email, uri, date, date-time; others are not checked
	Min, Max *float64 // of a number; how many characters of a Text, how many options of a SomeOf
}

// Option is one value that can be chosen.
type Option struct{ Value, Title string }

// Limits of a form.
const (
	maxFields  = 30
	maxOptions = 50
	maxValue   = 10_000 // characters of a text
)

// label names the field for the person.
func (f Field) label() string { return cmp.Or(f.Title, texts.Clip(texts.OneLine(f.Name), maxText)) }

// question asks for the value and says which values fit.
func (f Field) question() string {
	text := f.label()
	if f.Title != "" && f.Title != f.Name {
		text += " (" + texts.Clip(texts.OneLine(f.Name), maxText) + ")"
	}
	if f.About != "" {
		text += ": " + f.About
	}
	switch f.Kind {
	case SomeOf:
		for i, o := range f.Options {
			text += fmt.Sprintf("\n  %d  %s", i+1, o.Title)
		}
		text += "\nThe numbers of those that you choose, such as 1 2; 0 for none"
	case Text, Number, Integer:
		text += "\n" + f.expects()
	case YesNo, OneOf:
	}
	if !f.Required && f.Kind != SomeOf {
		text += "\n" + leaveOut + " leaves it out"
	}
	return text
}

// leaveOut is the answer that leaves out an optional field.
const leaveOut = "-"

// expects says which values fit.
func (f Field) expects() string {
	text := map[Kind]string{Text: "A text", Number: "A number", Integer: "A whole number"}[f.Kind]
	switch f.Format {
	case "email":
		text = "An e-mail address"
	case "uri":
		text = "An address such as https://example.com"
	case "date":
		text = "A date such as 2026-11-23"
	case "date-time":
		text = "A time such as 2026-11-23T15:04:05Z"
	}
	unit := ""
	if f.Kind == Text {
		unit = " characters"
	}
	switch {
	case f.Min != nil && f.Max != nil:
		text += fmt.Sprintf(", %s to %s%s", number(*f.Min), number(*f.Max), unit)
	case f.Min != nil:
		text += fmt.Sprintf(", at least %s%s", number(*f.Min), unit)
	case f.Max != nil:
		text += fmt.Sprintf(", at most %s%s", number(*f.Max), unit)
	}
	return text
}

func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// choices returns the answers that are offered: none where a digit may be the value.
func (f Field) choices() []string {
	switch f.Kind {
	case YesNo:
		return []string{"yes", "no"}
	case OneOf:
		var titles []string
		for _, o := range f.Options {
			titles = append(titles, o.Title)
		}
		return titles
	default:
		return nil
	}
}

// show returns a value as the person reads it.
func (f Field) show(value any) string {
	switch v := value.(type) {
	case bool:
		return map[bool]string{true: "yes", false: "no"}[v]
	case []string:
		return cmp.Or(texts.Join(v, ", ", f.titleOf), "none")
	case string:
		if f.Kind == OneOf {
			return f.titleOf(v)
		}
		return texts.Clip(texts.OneLine(v), maxText)
	}
	return fmt.Sprint(value)
}

func (f Field) titleOf(value string) string {
	i := slices.IndexFunc(f.Options, func(o Option) bool { return o.Value == value })
	if i < 0 {
		return value
	}
	return f.Options[i].Title
}
