package dialog

import (
	"strings"
	"testing"
)

func TestHeadedBy(t *testing.T) {
	const counts = "+1 -1 lines, 5 → 5 bytes\n"
	for _, tt := range []struct {
		name, preview string
		want          bool
	}{
		{"this file", counts + "--- tax.go\n+++ tax.go\n@@ -1 +1 @@\n-a\n+b", true},
		{"with its folder", counts + "--- shop/tax.go\n+++ shop/tax.go\n@@ -1 +1 @@\n-a\n+b", true},
		{"another file", counts + "--- ax.go\n+++ ax.go\n@@ -1 +1 @@\n-a\n+b", false},
		{"renamed", counts + "--- tax.go\n+++ new.go\n@@ -1 +1 @@\n-a\n+b", false},
		{"lines of the file that look so", counts + "@@ -1,2 +1,2 @@\n--- tax.go\n+++ tax.go\n@@ x", false},
		{"no hunk", counts + "--- tax.go\n+++ tax.go", false},
	} {
		if got := headedBy(strings.Split(tt.preview, "\n"), "/home/ann/shop/tax.go"); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
