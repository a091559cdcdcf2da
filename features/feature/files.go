package feature

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"buddy/app/show"
	"buddy/extensions"
)

// FileList is a list whose rows come from files, such as the list of skills.
type FileList struct {
	show.List
	Command string   // the command that shows it
	Away    bool     // the files are not on this machine
	files   []string // of each row; "" can't be opened
}

// Add adds a row. Its file can be opened in an editor if it is on this machine.
func (l *FileList) Add(r show.Row, file string) {
	if !filepath.IsAbs(file) || l.Away {
		file = ""
	} else {
		r.Deeds = append(r.Deeds, show.Deed{Label: "open the file", Run: []string{l.Command, "open", r.ID}})
	}
	l.Rows, l.files = append(l.Rows, r), append(l.files, file)
}

// AddProblems adds rows for files that were left out, entirely or in part.
func (l *FileList) AddProblems(problems []extensions.Problem) {
	for _, p := range problems {
		state := "left out"
		if p.Used {
			state = "partly used"
		}
		l.AddLeftOut(p.File, p.Kind.One(), state, p.String())
	}
}

// AddLeftOut adds a row for a file that was left out; why is the row's explanation.
func (l *FileList) AddLeftOut(file, kind, state, why string) {
	cells := make([]string, len(l.Columns))
	cells[0], cells[len(cells)-1] = path.Base(file), state
	if strings.EqualFold(cells[0], "skill.md") {
		cells[0] = path.Base(path.Dir(file))
	}
	if i := slices.Index(l.Columns, "kind"); i >= 0 {
		cells[i] = kind
	}
	l.Add(show.Row{ID: show.IDOf(why), Cells: cells, Line: why, More: []string{why}, Whole: true}, file)
}

// Answer answers a line of the list's command: without arguments it shows the list, NAME shows the details of a row,
// and open NAME opens its file.
func (l *FileList) Answer(args []string) (show.Answer, error) {
	name, open := strings.TrimSpace(strings.Join(args, " ")), false
	if len(args) == 0 || name == "list" {
		return show.Answer{List: &l.List}, nil
	}
	if args[0] == "open" && len(args) > 1 {
		name, open = strings.TrimSpace(strings.Join(args[1:], " ")), true
	}
	i := slices.IndexFunc(l.Rows, func(r show.Row) bool { return r.ID == name || r.Cells[0] == name })
	switch {
	case i < 0:
		return show.Answer{}, fmt.Errorf("%q is not in the list (/%s shows it)", name, l.Command)
	case open && l.files[i] == "":
		return show.Answer{}, fmt.Errorf("the file of %s is not on this machine", name)
	case open:
		return show.Answer{Open: l.files[i]}, nil
	}
	return show.Say(strings.Join(l.Rows[i].More, "\n")), nil
}
