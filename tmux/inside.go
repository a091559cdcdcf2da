package tmux

import (
	"errors"
	"strings"

	"buddy/tmux/pane"
)

// CheckOutside returns an error if this process runs inside a pane that buddy manages, where it would share its
// terminal with the commands that it runs. getenv looks up the environment, usually os.Getenv.
func CheckOutside(getenv func(string) string) error {
	if strings.HasSuffix(getenv("TMUX"), pane.CommandsMark) {
		return errors.New("this is a pane in which commands of " + owner + " run: use another terminal")
	}
	return nil
}
