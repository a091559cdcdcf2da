package form

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"buddy/texts"
)

// Kind is the type of a field's value.
type Kind string

// The kinds, with the Go type of their values.
const (
	Text    Kind = "text"    // string
	Number  Kind = "number"  // float64
	Integer Kind = "integer" // int64
	YesNo   Kind = "yes/no"  // bool
	OneOf   Kind = "one of"  // string, the value of an option
	SomeOf  Kind = "some of" // []string, values of options
)

// Field is one value that a server asks for.
type Field struct {
	Name     string
	Title    string // "" if the server gave none
	About    string
	Kind     Kind
	Options  []Option // of OneOf and SomeOf
	Default  any      // nil: none
	Required bool
	Format   string   // of a Text: email, uri, date, date-time; other formats are not checked
	Min, Max *float64 // of a number, of the length of a Text in characters, of the number of options of a SomeOf
}

// Option is a value to choose from.
type Option struct{ Value, Title string }

// Limits of a form.
const (
	maxFields  = 30
	maxOptions = 50
	maxValue   = 10_000 // characters of a text
)

// label names the field for the person.
func (f Field) label() string { return cmp.Or(f.Title, texts.Clip(texts.OneLine(f.Name), maxText)) }

// question asks for the value and describes the values that fit.
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
		text += "\nType the numbers of your choices, separated by spaces (such as 1 3), or 0 for none"
	case Text, Number, Integer:
		text += "\n" + f.expects()
	case YesNo, OneOf:
	}
	if !f.Required && f.Kind != SomeOf {
		text += "\n" + leaveOut + " leaves it out"
	}
	return text
}

// leaveOut is the answer that skips an optional field.
const leaveOut = "-"

// expects describes the values that fit.
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

// choices returns the offered answers: none where a digit may be the value.
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

// show returns a value in the form that the person reads.
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
