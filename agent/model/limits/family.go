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

// Family says how models that are trained alike work best.
type Family struct {
	Edit Edit
	Says string // a line of the system prompt, "" for none
}

type family struct {
	Kind kind
	Name string
	Edit Edit
	Says string
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
		if f.Kind != exact && f.Kind != prefix && f.Kind != contains || f.Name == "" || f.Edit != Patch && f.Edit != Replace {
			return nil, fmt.Errorf("families of models: %d: %q lacks its kind, name or form of edits", i+1, f.Name)
		}
	}
	return file.Family, nil
}

// FamilyOf returns the family of a model, by its name as in [Window]; the zero value of one
// that nobody knows.
func FamilyOf(name string) Family {
	for _, f := range families() {
		if f.Kind.fits(f.Name, name) {
			return Family{f.Edit, f.Says}
		}
	}
	return Family{}
}
