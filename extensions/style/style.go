// Package style reads output styles, which tell the model how to write its answers. The user chooses one for a
// session.
//
//	all, problems := style.All(items)
//	s, err := style.Choose(all, "concise")
package style

import (
	"fmt"
	"slices"
	"strings"

	"buddy/agent/inject"
	"buddy/extensions"
	"buddy/texts"
)

// Default is the name of the style that adds nothing.
const Default = "default"

// maxText limits the text of a style, in bytes: every request contains it.
const maxText = 8 << 10

// Style is an output style.
type Style struct {
	Name        string
	Description string // on one line
	Origin      extensions.Origin
	File        string
	Text        string // for the model; "" adds nothing
	Source      string // the whole file
	Base, Part  string // as in extensions.Item
	// KeepsCoding keeps the built-in instructions on how to work in addition to the style.
	KeepsCoding bool
}

// All returns the styles of items after the default one, and the problems of those that can't be used.
func All(items []extensions.Item) (all []Style, problems []extensions.Problem) {
	all = []Style{{Name: Default, Description: "buddy's own", Origin: extensions.BuiltIn, KeepsCoding: true}}
	for _, it := range items {
		s := Style{
			Name: it.Name, Description: texts.Clip(texts.OneLine(it.Text("description")), 200), Origin: it.Origin, File: it.File,
			Text: strings.TrimSpace(it.Body), Source: it.Source, Base: it.Base, Part: it.Part, KeepsCoding: it.Bool("keep-coding-instructions", false),
		}
		if why := s.problem(); why != "" {
			problems = append(problems, extensions.Problem{Kind: extensions.Style, File: s.File, Reason: why})
			continue
		}
		all = append(all, s)
	}
	return all, problems
}

// problem returns why a style can't be used, or "".
func (s Style) problem() string {
	if len(s.Text) > maxText {
		return fmt.Sprintf("it has %d bytes (allowed: %d)", len(s.Text), maxText)
	}
	if s.Origin == extensions.BuiltIn {
		return ""
	}
	if found := inject.Scan(s.Text); inject.Worst(found) >= inject.High {
		return fmt.Sprintf("it %s: %q", found[0].Reason, found[0].Excerpt)
	}
	return ""
}

// Reserved reports whether a name belongs to buddy itself.
func Reserved(name string) bool { return name == Default }

// Choose returns the style with a name; "" is the default one.
func Choose(all []Style, name string) (Style, error) {
	if name == "" {
		name = Default
	}
	if i := slices.IndexFunc(all, func(s Style) bool { return s.Name == name }); i >= 0 {
		return all[i], nil
	}
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.Name
	}
	return Style{}, fmt.Errorf("unknown style %q (have: %s)", name, strings.Join(names, ", "))
}
