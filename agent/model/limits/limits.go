// Package limits knows how many tokens a model can take in. The numbers are data in
// limits.toml, each with its source (SPEC B13–B15).
//
//	window, ok := limits.Window("openai/gpt-4o:free") // 128000, true
package limits

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

// Default is assumed, in tokens, of a model that nothing is known of (B13).
const Default = 8192

//go:embed limits.toml
var data []byte

// kind is how a rule compares its name with that of a model (B14).
type kind string

const (
	exact    kind = "exact"
	prefix   kind = "prefix"
	contains kind = "contains"
)

type rule struct {
	Kind   kind
	Name   string
	Window int
	Source string
	Date   toml.LocalDate
}

// parse reads a catalogue and checks that every rule is whole.
func parse(text []byte) ([]rule, error) {
	var file struct{ Rule []rule }
	if err := toml.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("catalogue of models: %w", err)
	}
	for i, r := range file.Rule {
		switch {
		case r.Kind != exact && r.Kind != prefix && r.Kind != contains:
			return nil, fmt.Errorf("catalogue of models: rule %d: unknown kind %q (have: %s, %s, %s)", i+1, r.Kind, exact, prefix, contains)
		case r.Name == "" || r.Name != strings.ToLower(strings.TrimSpace(r.Name)):
			return nil, fmt.Errorf("catalogue of models: rule %d: name %q is blank or not in lower case", i+1, r.Name)
		case r.Window <= 0 || r.Source == "" || r.Date.Year == 0:
			return nil, fmt.Errorf("catalogue of models: rule %d: %q lacks its window, source or date", i+1, r.Name)
		}
	}
	return file.Rule, nil
}

// catalogue is read when it is first asked.
var catalogue = sync.OnceValue(func() []rule {
	rules, err := parse(data)
	if err != nil {
		panic(err) // limits.toml is part of the program
	}
	return rules
})

// Window looks a model up in the catalogue. Case, space around the name and a suffix
// after a colon do not matter; the name counts both whole and after its last slash.
func Window(model string) (tokens int, ok bool) {
	return find(catalogue(), model)
}

func find(rules []rule, model string) (int, bool) {
	name := strings.ToLower(strings.TrimSpace(model))
	name, _, _ = strings.Cut(name, ":")
	short := strings.TrimSpace(name[strings.LastIndex(name, "/")+1:])
	name = strings.TrimSpace(name)
	for _, r := range rules {
		if r.fits(name) || r.fits(short) {
			return r.Window, true
		}
	}
	return 0, false
}

func (r rule) fits(name string) bool {
	switch {
	case name == "":
		return false
	case r.Kind == exact:
		return name == r.Name
	case r.Kind == prefix:
		return strings.HasPrefix(name, r.Name)
	default:
		return strings.Contains(name, r.Name)
	}
}
