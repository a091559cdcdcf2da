package compose

import (
	"errors"
	"fmt"

	"buddy/app/exit"
	"buddy/app/keymap"
	"buddy/config"
)

// LostKeys returns a notice for each binding that took a built-in key from another action. A notice starts with the
// location of the binding.
func LostKeys(bindings map[string][]string, index config.Index) (notices []string) {
	if len(bindings) == 0 {
		return nil // the common case: building the key table takes time
	}
	lost, _ := keymap.Default().Rebind(bindings) // errors are reported where the keys are bound
	for _, l := range lost {
		text := fmt.Sprintf("%s was the key of %s; now it is the key of this action", l.Key, l.Action)
		if len(l.Left) == 0 {
			text += fmt.Sprintf(", and %[1]s has no key left: set keys.%[1]s", l.Action)
		}
		notices = append(notices, index.Error(config.Path("keys", string(l.To)), errors.New(text)).Error())
	}
	return notices
}

// BoundKeys returns the key map with the user's bindings. An error names the location of the wrong binding.
func BoundKeys(bindings map[string][]string, index config.Index) (*keymap.Map, error) {
	keys := keymap.Default()
	_, err := keys.Rebind(bindings) // LoadConfig reported the lost keys
	if bind, ok := errors.AsType[*keymap.BindError](err); ok {
		err = exit.Mistake(index.Error(config.Path("keys", bind.Action), bind.Err))
	}
	return keys, err
}
