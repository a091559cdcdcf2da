package keymap

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestFormerNamesOfActionsAreRead(t *testing.T) {
	former["gone-without-heir"] = ""
	defer delete(former, "gone-without-heir")
	for _, c := range []struct {
		name    string
		given   map[string][]string
		want    map[string][]string
		notices []string // what each has
	}{
		{"none", map[string][]string{"send": {"F5"}}, map[string][]string{"send": {"F5"}}, nil},
		{"another name", map[string][]string{"leave-running": {"w"}}, map[string][]string{"leave-detach": {"w"}}, []string{"now called leave-detach; your keys still work"}},
		{"both names", map[string][]string{"leave-running": {"w"}, "leave-detach": {"v"}}, map[string][]string{"leave-detach": {"v"}}, []string{"and you have set keys for that name too"}},
		{"nothing took its place", map[string][]string{"gone-without-heir": {"F9"}}, map[string][]string{}, []string{"this action no longer exists"}},
	} {
		got, notices := Current(c.given)
		if !maps.EqualFunc(got, c.want, slices.Equal) || len(notices) != len(c.notices) {
			t.Errorf("%s: %v, %q, want %v", c.name, got, notices, c.want)
		}
		for _, want := range c.notices {
			if !slices.ContainsFunc(slices.Collect(maps.Values(notices)), func(n string) bool { return strings.Contains(n, want) }) {
				t.Errorf("%s: no notice in %q has %q", c.name, notices, want)
			}
		}
		if _, err := Default().Rebind(got); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A name is either one of an action now or one that an action had.
func TestFormerNamesAreNotInUse(t *testing.T) {
	all := Default().entries
	has := func(a Action) bool { return slices.ContainsFunc(all, func(e Entry) bool { return e.Action == a }) }
	for old, now := range former {
		if has(Action(old)) {
			t.Errorf("%s is an action, and a former name of %s", old, now)
		}
		if now != "" && !has(now) {
			t.Errorf("%s became %s, which is no action", old, now)
		}
	}
}
