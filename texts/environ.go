package texts

import (
	"slices"
	"strings"
)

// Lookup returns a function that looks up variables in env like [os.Getenv]. Of duplicates the last counts.
func Lookup(env []string) func(name string) string {
	return func(name string) string {
		for _, kv := range slices.Backward(env) {
			if v, ok := strings.CutPrefix(kv, name+"="); ok {
				return v
			}
		}
		return ""
	}
}

// WithoutGit removes variables that point git at another repository.
func WithoutGit(env []string) (all []string) {
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_NAMESPACE", "GIT_CONFIG_PARAMETERS":
		default:
			all = append(all, v)
		}
	}
	return all
}
