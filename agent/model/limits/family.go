package limits

import (
	"fmt"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

// Edit is the form in which models of a family change files.
type Edit string

// The forms of changes. A family that nobody knows has none: it is offered both.
const (
	Patch   Edit = "patch"   // a patch of several files
	Replace Edit = "replace" // text in the place of text
)

// Tools says which tools models of a family are told of. All can be called.
type Tools string

// The lists of tools.
const (
	All   Tools = "all"
	Short Tools = "short" // without what is seldom needed
)

// roomy is from how many tokens on a window has room for all tools.
const roomy = 32_000

// Family says how models that are trained alike work best.
type Family struct {
	Edit  Edit
	Says  string // a line of the system prompt, "" for none
	Tools Tools  // where the window is not known; "" is Short
	Free  bool   // calls may be free text, in protocols that have it
}

// ToolsIn returns the list of tools that a model of the family with a window of so many tokens
// is told of; 0 is a window that nobody knows.
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

// families are read when they are first asked for.
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

// FamilyOf returns the family of a model, by its name as in [Window]; the zero value of one
// that nobody knows.
func FamilyOf(name string) Family {
	for _, f := range families() {
		if f.Kind.fits(f.Name, name) {
			return f.Family
		}
	}
	return Family{}
}
