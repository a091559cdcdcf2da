package config

import (
	"maps"
	"reflect"
	"slices"
)

// Changed returns the keys whose values differ between two configurations as read from files,
// in the order of the reference. For rules it returns the section's name.
func Changed(a, b *Config) []string {
	var keys []string
	tables := map[string]func(a, b *Config) []string{targetsSection.name: changedTargets, mcpSection.name: changedMCP, lspSection.name: changedLSP}
	for _, s := range sections {
		switch changed := tables[s.name]; {
		case changed != nil:
			keys = append(keys, changed(a, b)...)
		case s.named:
			keys = append(keys, changedProfiles(s, a, b)...)
		case s.rules:
			kind := func(r Rule) bool { return string(r.Decision) != s.name }
			if !slices.EqualFunc(slices.DeleteFunc(slices.Clone(a.Rules), kind), slices.DeleteFunc(slices.Clone(b.Rules), kind), sameRule) {
				keys = append(keys, s.name)
			}
		case s.free != nil:
			names := maps.Clone(a.Keys)
			if names == nil {
				names = map[string][]string{}
			}
			maps.Copy(names, b.Keys)
			for _, action := range slices.Sorted(maps.Keys(names)) {
				x, before := a.Keys[action]
				y, after := b.Keys[action]
				if before != after || !slices.Equal(x, y) {
					keys = append(keys, Path(s.name, action))
				}
			}
		default:
			for _, f := range s.fields {
				if !same(f.pointer(a, nil), f.pointer(b, nil)) {
					keys = append(keys, Path(s.name, f.name))
				}
			}
		}
	}
	return keys
}

// same compares the values that fields point to; a nil list equals an empty one.
func same(a, b any) bool {
	if x, ok := a.(*[]string); ok {
		return slices.Equal(*x, *b.(*[]string))
	}
	return reflect.DeepEqual(a, b)
}

// sameRule compares two rules without their positions in the file.
func sameRule(a, b Rule) bool {
	if !slices.Equal(a.Prefix, b.Prefix) {
		return false
	}
	a.Place, b.Place, a.Prefix, b.Prefix = "", "", nil, nil
	return reflect.DeepEqual(a, b)
}

func changedProfiles(s section, a, b *Config) []string {
	var keys []string
	for _, p := range a.Models {
		q, ok := b.Profile(p.Name)
		if !ok {
			keys = append(keys, Path(s.name, p.Name))
			continue
		}
		for _, f := range s.fields {
			if !same(f.pointer(a, &p), f.pointer(b, &q)) {
				keys = append(keys, Path(s.name, p.Name, f.name))
			}
		}
	}
	for _, q := range b.Models {
		if _, ok := a.Profile(q.Name); !ok {
			keys = append(keys, Path(s.name, q.Name))
		}
	}
	return keys
}

// changedMCP returns the names of servers that differ, each as a whole.
func changedMCP(a, b *Config) []string {
	var keys []string
	for _, s := range a.MCP {
		other, _ := b.MCPServer(s.Name)
		one, two := &Config{MCP: []MCPServer{s}}, &Config{MCP: []MCPServer{other}}
		changed := func(f field) bool { return !same(f.pointer(one, nil), f.pointer(two, nil)) }
		if other.Name == "" || slices.ContainsFunc(mcpSection.fields, changed) {
			keys = append(keys, Path(mcpSection.name, s.Name))
		}
	}
	for _, s := range b.MCP {
		if _, ok := a.MCPServer(s.Name); !ok {
			keys = append(keys, Path(mcpSection.name, s.Name))
		}
	}
	return keys
}

// changedTargets returns the names of targets that differ, each as a whole.
func changedTargets(a, b *Config) []string {
	var keys []string
	for _, t := range a.Targets {
		if other, _ := b.Target(t.Name); other != t {
			keys = append(keys, Path(targetsSection.name, t.Name))
		}
	}
	for _, t := range b.Targets {
		if _, ok := a.Target(t.Name); !ok {
			keys = append(keys, Path(targetsSection.name, t.Name))
		}
	}
	return keys
}
