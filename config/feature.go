package config

import "slices"

// Section is a section of the settings that a feature owns; T holds its values. Create it with [Own].
type Section[T any] struct {
	name     string
	defaults T
}

// Field describes one key of a feature's section: the only definition of its name, meaning and rules.
type Field[T any] struct {
	Name  string
	Short string // allowed values, for the reference's table
	Doc   string // Markdown, sentences
	// At returns the destination of the value: a *string, *bool, *int, *model.Money or *[]string.
	At   func(*T) any
	Most int // maximum of a number; 0 = any. The minimum is 1 with a maximum, else 0
	// Check returns the problem with a string, or with an entry of a list; nil accepts all.
	Check func(string) error
	// Trusted allows a project's file to set the key, too, if the user trusts the folder.
	Trusted bool
	Limit   bool // a number that a project's file may lower, where 0 means no limit; it may set no other field
}

// owned holds functions that store the defaults of features' sections in values, by section name.
var owned []func(values map[string]any)

// Own adds a section that only the person's own files may set, except for limits. Call it while a package is
// initialised:
//
//	var settings = config.Own("battery", "When to warn about a laptop's battery.", values{Below: 20}, config.Field[values]{
//		Name: "below", Short: "percent, 1 to 100", Most: 100,
//		Doc: "The model gets a reminder when the charge is lower.",
//		At:  func(v *values) any { return &v.Below },
//	})
func Own[T any](name, doc string, defaults T, fields ...Field[T]) Section[T] {
	s := Section[T]{name, defaults}
	added := section{name: name, doc: doc, owned: true}
	for _, f := range fields {
		one := field{name: f.Name, doc: f.Doc, short: f.Short, most: f.Most, pointer: func(c *Config, _ *Profile) any { return f.At(s.In(c)) }}
		if f.Check != nil {
			one.check = func(text string, _ *file) (string, error) { return text, f.Check(text) }
		}
		if f.Trusted {
			one.access = trusted
		}
		if f.Limit {
			one.tighter = lower
		}
		added.fields = append(added.fields, one)
	}
	before := slices.IndexFunc(sections, func(s section) bool { return s.name == hooksSection.name })
	sections = slices.Insert(sections, before, added)
	owned = append(owned, func(values map[string]any) { v := defaults; values[name] = &v })
	return s
}

// In returns a pointer to the values of the section in the settings.
func (s Section[T]) In(c *Config) *T {
	if v, ok := c.owned[s.name].(*T); ok {
		return v
	}
	v := s.defaults
	return &v
}
