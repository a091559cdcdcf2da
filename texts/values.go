package texts

import (
	"maps"
	"slices"
)

// InJSON returns all texts in a value of JSON: those of a list in order, those of an object by its keys.
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
