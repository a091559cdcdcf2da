package compose

import (
	"os"

	"buddy/agent/redact"
	"buddy/config"
)

// knownKeys returns what hides the keys of a person in what a model says.
func knownKeys(c config.Config) *redact.Keys {
	var all []redact.Key
	for _, k := range c.KnownKeys(os.Environ()) {
		all = append(all, redact.Key(k))
	}
	return redact.NewKeys(all...)
}

// Redactor returns what takes secrets out: the keys of all profiles, and what looks like
// one, too, since it leaves this machine.
func Redactor(c config.Config) func(string) string {
	var keys []string
	for _, m := range c.Models {
		if key, _, err := m.Key(); err == nil { // else there is none that could be in a session
			keys = append(keys, key)
		}
	}
	known := redact.New(keys...)
	hidden := knownKeys(c)
	return func(s string) string { return redact.Entropy(known.Text(hidden.Text(s))) }
}
