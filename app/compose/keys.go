package compose

import (
	"errors"

	"buddy/app/exit"
	"buddy/app/keymap"
	"buddy/config"
)

// BoundKeys returns the key map with the keys that a person wants. A mistake has its place.
func BoundKeys(bindings map[string][]string, index config.Index) (*keymap.Map, error) {
	keys := keymap.Default()
	err := keys.Rebind(bindings)
	var bind *keymap.BindError
	if errors.As(err, &bind) {
		err = exit.Mistake(index.Error(config.Path("keys", bind.Action), bind.Err))
	}
	return keys, err
}
