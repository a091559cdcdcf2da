package repl

import (
	"errors"

	"buddy/app/input"
	"buddy/app/slash"
)

// lineFindings prints what the last review found, a line with a number for each finding, or opens the file of
// the one that is named, at its line.
func lineFindings(r *repl, args string) error {
	done, n, err := slash.Findings(&r.state, args)
	if err != nil {
		return err
	}
	if n < 0 {
		r.say(done.Summary())
		return nil
	}
	path, line, why := r.catalog.Place(r.info().Cwd, done, n)
	if path == "" || line == 0 && why != "" { // the number of a line is all that a person would go by
		return errors.New(why)
	}
	if why != "" {
		r.say(why)
	}
	if !r.con.tty {
		return errors.New("there is no terminal for an editor")
	}
	return input.OpenAt(path, line, input.Editor())
}
