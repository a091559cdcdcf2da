package limits

import (
	"fmt"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

// Edit is the form in which a family of models was trained to edit files.
type Edit string

// The forms of edits. Models of an unknown family are offered both.
const (
	Patch   Edit = "patch"   // a patch of several files
	Replace Edit = "replace" // replacing text
)

// Tools selects which tools are listed in requests to a model. The model may also call tools that are not listed.
type Tools string

// The lists of tools.
const (
	All   Tools = "all"
	Short Tools = "short" // without rarely needed tools
)

// roomy is the smallest window, in tokens, for which requests list all tools.
const roomy = 32_000

// Family describes how to work with models that were trained in a similar way.
type Family struct {
	Edit  Edit
	Says  string // a line for the system prompt, "" for none
	Tools Tools  // the list for an unknown window; "" means Short
	Free  bool   // calls may be free text, in protocols that have it
}

// ToolsIn returns the list of tools for a model of the family with this window in tokens; 0 means unknown.
func (f Family) ToolsIn(window int) Tools {
	if window >= roomy || window == 0 && f.Tools == All {
		return All
	}
	return Short
}

type family struct {
	Kind kind
	Name string
	Family
}

// families are parsed on first use.
var families = sync.OnceValue(func() []family {
	all, err := parseFamilies(data)
	if err != nil {
		panic(err) // limits.toml is part of the program
	}
	return all
})

func parseFamilies(text []byte) ([]family, error) {
	var file struct{ Family []family }
	if err := toml.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("families of models: %w", err)
	}
	for i, f := range file.Family {
		if f.Kind != exact && f.Kind != prefix && f.Kind != contains || f.Name == "" || f.Edit != Patch && f.Edit != Replace || f.Tools != All && f.Tools != Short {
			return nil, fmt.Errorf("families of models: %d: %q lacks its kind, name, form of edits or tools", i+1, f.Name)
		}
	}
	return file.Family, nil
}

// FamilyOf returns the family of a model, found by its name as in [Window]; the zero value if unknown.
func FamilyOf(name string) Family {
	for _, f := range families() {
		if f.Kind.fits(f.Name, name) {
			return f.Family
		}
	}
	return Family{}
}
