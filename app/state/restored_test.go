package state

import (
	"strings"
	"testing"

	"buddy/agent/event"
)

// Undo and redo name restored files relative to the session's folder, like everything else.
func TestRestoredFilesAreNamedFromTheFolder(t *testing.T) {
	for _, tt := range []struct{ target, path, want string }{
		{"local", "/srv/shop/checkout/tax.go", ": checkout/tax.go"},
		{"", "/srv/shop/checkout/tax.go", ": checkout/tax.go"},
		{"local", "/srv/shopping/list", ": /srv/shopping/list"},
		{"web-01", "/srv/shop/tax.go", ": /srv/shop/tax.go"},
	} {
		for redo, begins := range map[bool]string{false: "undid the changes of “fix it”", true: "redid the changes of “fix it”"} {
			s, paths := &State{}, []string{tt.path}
			s.Apply(event.Envelope{Seq: 1, Payload: event.SessionCreated{Cwd: "/srv/shop", Target: "local"}})
			s.Apply(event.Envelope{Seq: 2, Payload: event.FileRestored{Paths: paths, Target: tt.target, Prompts: []string{"fix it"}, Redo: redo}})
			text := string(s.Blocks[len(s.Blocks)-1].Text)
			if !strings.HasPrefix(text, begins) || !strings.Contains(text, tt.want) || paths[0] != tt.path {
				t.Errorf("%+v: %q", tt, text)
			}
		}
	}
}
