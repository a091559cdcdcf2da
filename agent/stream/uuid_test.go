package stream

import (
	"regexp"
	"testing"
)

// UUIDs have the form of version 4, and differ.
func TestUUIDs(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := make(map[string]bool)
	for range 100 {
		id := NewUUID()
		if !form.MatchString(id) || seen[id] {
			t.Errorf("%q is no UUID, or not a new one", id)
		}
		seen[id] = true
	}
}
