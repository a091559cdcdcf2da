package project

import (
	"path/filepath"
	"slices"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"buddy/config"
	"buddy/texts"
)

// Check is a part of the project, and whether it is trusted.
type Check struct {
	Part
	State config.PartState
}

// CheckParts finds the parts of the project that dir belongs to, and checks whether each is trusted. c is used as in
// [Parts].
func CheckParts(dir string, c config.Config) ([]Check, []Problem, error) {
	dir, err := config.ResolveDir(dir)
	if err != nil {
		return nil, nil, err
	}
	found := Parts(dir, c)
	var all []Check
	for rest := found.Parts; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(p Part) bool { return p.Dir != rest[0].Dir })
		if n < 0 {
			n = len(rest)
		}
		var parts []config.Part
		for _, p := range rest[:n] {
			parts = append(parts, p.Part)
		}
		states, err := TrustStore().CheckParts(rest[0].Dir, parts...)
		if err != nil {
			return nil, found.Problems, err
		}
		for i, state := range states {
			all = append(all, Check{rest[i], state})
		}
		rest = rest[n:]
	}
	return all, found.Problems, nil
}

// state returns the trust in the part.
func (c Check) state() TrustState {
	switch {
	case c.State.Trusted:
		return Trusted
	case c.State.Err != nil:
		return Untrustable
	case c.State.Changed:
		return Changed
	}
	return NotTrusted
}

// Lines returns everything that the user should know before trusting the part.
func (c Check) Lines() []string {
	runs := c.Runs
	if c.State.Err != nil { // it may be very long, and can't be trusted anyway
		runs = texts.Clip(runs, 1000)
	}
	lines := []string{c.Kind + " " + c.Name + " " + c.When}
	lines = append(lines, strings.Split("runs: "+strings.ReplaceAll(runs, "\n", "\n      "), "\n")...)
	lines = append(lines, "from: "+c.path())
	if len(c.Files) > 0 {
		lines = append(lines, "with the files: "+strings.Join(c.Files, ", "))
	}
	if c.State.Err != nil {
		return append(lines, "can't be trusted: "+c.State.Err.Error())
	}
	return append(lines, strings.Split("definition: "+c.Definition, "\n")...)
}

// item returns the part for display.
func (c Check) item() Item {
	return Item{Kind: c.Kind, Name: c.Name, Dir: c.Dir, Print: c.State.Print, State: c.state(), Runs: c.Runs, Lines: c.Lines()}
}

// Diff returns the changes of the part since it was trusted, as a unified diff.
func (c Check) Diff() (string, error) {
	changes, err := TrustStore().PartChanges(c.Dir, c.Part.Part)
	var b strings.Builder
	for _, one := range changes {
		name := one.Name
		if name == "" {
			name = "definition in " + c.File
			one.Before, one.After = one.Before+"\n", one.After+"\n"
		}
		b.WriteString(udiff.Unified("trusted/"+name, name, one.Before, one.After))
	}
	if b.Len() == 0 && err == nil && c.state() == Changed {
		return "a file changed, but its earlier text was not saved: " + texts.Some(c.Files) + "\n", nil
	}
	return b.String(), err
}

// problem explains why the part does not run, with trust as a hint on how to trust it. It is "" if the part runs.
func (c Check) problem(trust string) string {
	switch {
	case c.State.Err != nil:
		return c.State.Err.Error()
	case c.State.Changed:
		return "it changed since you trusted it (" + trust + ")"
	case !c.State.Trusted:
		return "not trusted (" + trust + ")"
	}
	return ""
}

// untrusted explains why the part does not run, in a sentence that starts with subject and ends with hint, or returns
// "" if the part is trusted.
func (c Check) untrusted(subject, hint string) string {
	switch c.state() {
	case Trusted:
		return ""
	case Untrustable:
		return subject + " can't be trusted (" + c.State.Err.Error() + ")"
	case Changed:
		return subject + " changed since you trusted it " + hint
	case NotTrusted:
	}
	return subject + " is not trusted " + hint
}

// path returns the file that defines the part, or a language server's program.
func (c Check) path() string {
	if filepath.IsAbs(c.File) {
		return c.File
	}
	return filepath.Join(c.Dir, c.File)
}
