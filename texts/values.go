package texts

import (
	"maps"
	"slices"
)

// InJSON returns all strings in a JSON value: those of a list in order, those of an object sorted by key.
func InJSON(v any) (all []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, item := range v {
			all = append(all, InJSON(item)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all = append(all, InJSON(v[key])...)
		}
	}
	return all
}
