package repl

import (
	"errors"

	"buddy/agent/event"
	"buddy/app/input"
	"buddy/app/slash"
	"buddy/app/state"
)

// lineFindings prints what the last review found, a line with a number for each finding, or opens the file of
// the one that is named, at its line.
func lineFindings(r *repl, args string) error {
	folder := r.info().Cwd
	r.beside(func() func() {
		all, err := readRecord(r.program.Journal.Range)
		if err != nil {
			return func() { r.failed("/findings", err) }
		}
		done, n, err := slash.Findings(state.Newest(all.state.Blocks), args)
		switch {
		case err != nil:
			return func() { r.failed("/findings", err) }
		case n < 0:
			return func() { r.say(done.Summary()) }
		}
		path, line, why := r.catalog.Place(folder, done, n)
		return func() {
			if err := openFinding(r, done.Findings[n], path, line, why); err != nil {
				r.failed("/findings", err)
			}
		}
	})
	return nil
}

// openFinding opens a file in the person's editor, unless the line that was meant is not known any more: its
// number is all that a person goes by here.
func openFinding(r *repl, f event.Finding, path string, line int, why string) error {
	switch {
	case path == "" || line == 0 && why != "":
		return errors.New(why)
	case !r.con.tty:
		return errors.New("there is no terminal for an editor to open " + f.Place())
	case why != "":
		r.say(why)
	}
	return input.OpenAt(path, line, input.Editor())
}
