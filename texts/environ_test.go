package texts

import (
	"slices"
	"testing"
)

func TestLookup(t *testing.T) {
	get := Lookup([]string{"A=1", "AB=2", "A=3=4", "EMPTY="})
	for name, want := range map[string]string{"A": "3=4", "AB": "2", "EMPTY": "", "B": ""} {
		if got := get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestInJSON(t *testing.T) {
	v := map[string]any{"b": []any{"2", 5.0, []any{"3"}}, "a": "1", "c": nil}
	if got := InJSON(v); !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Errorf("the texts are %q", got)
	}
}
