package slash

import "fmt"

// ConfigEdits reads what follows /config: nothing, or that the file is to be opened in the editor.
func ConfigEdits(args string) (edit bool, err error) {
	if args != "" && args != "edit" {
		return false, fmt.Errorf("%q is not known (have: edit; without it the settings show)", args)
	}
	return args == "edit", nil
}
