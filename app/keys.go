package app

import (
	"errors"

	"buddy/app/keymap"
	"buddy/config"
)

// boundKeys returns the key map with the keys that a person wants. A mistake has its place.
func boundKeys(bindings map[string][]string, index config.Index) (*keymap.Map, error) {
	keys := keymap.Default()
	err := keys.Rebind(bindings)
	var bind *keymap.BindError
	if errors.As(err, &bind) {
		err = mistake(index.Error(config.Path("keys", bind.Action), bind.Err))
	}
	return keys, err
}
