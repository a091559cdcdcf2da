package model_test

import (
	"slices"
	"testing"

	"buddy/agent/model"
)

func TestMarks(t *testing.T) {
	for _, c := range []struct {
		name   string
		at     []int
		system int
		want   []int
	}{
		{"by default the last one", nil, 3, []int{2}},
		{"no system message", nil, 0, nil},
		{"none wanted", []int{}, 3, nil},
		{"one of the list", []int{0}, 3, []int{0}},
		{"out of range", []int{-1, 3, 1, 99}, 3, []int{1}},
		{"twice, in any order", []int{2, 0, 2}, 3, []int{0, 2}},
		{"too many", []int{0, 1, 2, 3}, 4, []int{2, 3}},
	} {
		if got := (model.Request{Breakpoints: c.at}).Marks(c.system); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
