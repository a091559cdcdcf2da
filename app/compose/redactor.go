package compose

import (
	"os"

	"buddy/agent/redact"
	"buddy/config"
)

// knownKeys returns the redactor of the user's API keys in model output.
func knownKeys(c config.Config) *redact.Keys {
	var all []redact.Key
	for _, k := range c.KnownKeys(os.Environ()) {
		all = append(all, redact.Key(k))
	}
	return redact.NewKeys(all...)
}

// Redactor returns a function that removes secrets from text that leaves this machine: the keys of all profiles, and
// texts that look like keys.
func Redactor(c config.Config) func(string) string {
	var keys []string
	for _, m := range c.Models {
		if key, _, err := m.Key(); err == nil { // a profile without a key can't leak one
			keys = append(keys, key)
		}
	}
	known := redact.New(keys...)
	hidden := knownKeys(c)
	return func(s string) string { return redact.Entropy(known.Text(hidden.Text(s))) }
}
