package lsp

import (
	"fmt"
	"testing"
)

// Reports about an open file are kept even after reports about many other files.
func TestFindingsOfAnOpenFileAreAlwaysKept(t *testing.T) {
	f := newFindings()
	publish := func(path string, texts ...string) {
		p := publishParams{URI: "file://" + path}
		for _, text := range texts {
			p.Diagnostics = append(p.Diagnostics, diagnostic{Message: text, Severity: 1})
		}
		f.publish(p)
	}
	for i := range 2 * maxFiles {
		publish(fmt.Sprintf("/w/fine%d.x", i))
	}
	if n := len(f.found); n != 0 {
		t.Errorf("keeps %d files with nothing wrong", n)
	}
	for i := range 2 * maxFiles {
		publish(fmt.Sprintf("/w/bad%d.x", i), "wrong")
	}
	f.docs["/w/edited.x"] = &document{}
	publish("/w/edited.x", "wrong, too")
	if p := f.found["/w/edited.x"]; len(f.found) != maxFiles+1 || len(p.problems) != 1 {
		t.Errorf("keeps %d files, of the one that is edited %+v", len(f.found), p)
	}
}
