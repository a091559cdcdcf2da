package commands

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"buddy/app/show"
	"buddy/app/slash"
	"buddy/extensions"
	"buddy/features/feature"
)

// fileList is a list whose rows come from files, such as those of skills.
type fileList struct {
	show.List
	files []string // of each row; "" can't be opened
}

// add adds a row, which the person's editor opens if its file is on this machine.
func (l *fileList) add(s *Session, command string, r show.Row, file string) {
	if !filepath.IsAbs(file) || s.Program.Target != slash.ThisMachine {
		file = ""
	} else {
		r.Deeds = append(r.Deeds, show.Deed{Label: "open the file", Run: []string{command, "open", r.ID}})
	}
	l.Rows, l.files = append(l.Rows, r), append(l.files, file)
}

// addProblems adds rows of files that were left out, or of which something was.
func (l *fileList) addProblems(s *Session, command string, problems []extensions.Problem) {
	for _, p := range problems {
		state := "left out"
		if p.Used {
			state = "partly used"
		}
		l.addLeftOut(s, command, p.File, p.Kind.One(), state, p.String())
	}
}

// addLeftOut adds the row of a file that is not used as it is. Plain text shows why, too.
func (l *fileList) addLeftOut(s *Session, command, file, kind, state, why string) {
	cells := make([]string, len(l.Columns))
	cells[0], cells[len(cells)-1] = path.Base(file), state
	if strings.EqualFold(cells[0], "skill.md") {
		cells[0] = path.Base(path.Dir(file))
	}
	if i := slices.Index(l.Columns, "kind"); i >= 0 {
		cells[i] = kind
	}
	l.add(s, command, show.Row{ID: idOf(why), Cells: cells, Line: why, More: []string{why}, Whole: true}, file)
}

// overFiles returns the handler of a command about files: alone it lists them, a name of a row says all about it, and open
// opens its file.
func overFiles(command string, list func(context.Context, *Session) (fileList, error)) handler {
	return func(ctx context.Context, s *Session, args []string) (show.Answer, error) {
		if s.Program == nil {
			return show.Answer{}, feature.ErrNoSession
		}
		l, err := list(ctx, s)
		if err != nil || len(args) == 0 || textOf(args) == "list" {
			return show.Answer{List: &l.List}, err
		}
		name, open := textOf(args), false
		if args[0] == "open" && len(args) > 1 {
			name, open = textOf(args[1:]), true
		}
		i := slices.IndexFunc(l.Rows, func(r show.Row) bool { return r.ID == name || r.Cells[0] == name })
		switch {
		case i < 0:
			return show.Answer{}, fmt.Errorf("%q is not in the list (/%s shows it)", name, command)
		case open && l.files[i] == "":
			return show.Answer{}, fmt.Errorf("the file of %s is not on this machine", name)
		case open:
			return show.Answer{Open: l.files[i]}, nil
		}
		return show.Say(strings.Join(l.Rows[i].More, "\n")), nil
	}
}
