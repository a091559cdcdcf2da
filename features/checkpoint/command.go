package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"buddy/agent/undo"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/features/feature"
	"buddy/texts"
)

var command = feature.Command{
	Command: slash.Command{
		Name: "checkpoints", Means: []string{"history", "snapshots"}, Args: "[diff N [M]]", Brief: "list the steps that /undo takes back",
		Help: "list the steps that /undo takes back: files, and the commands that changed them; diff N compares the files before the last N steps with the present ones, and diff N M with those before the last M steps",
	},
	Run: run,
}

// run lists the steps that /undo takes back, or shows what has changed in the files since before a step.
func run(ctx context.Context, a feature.Asked, args []string) (show.Answer, error) {
	p, ok := a.Part.(*Part)
	if !ok {
		return show.Answer{}, errors.New("there are no checkpoints of commands here: they need a session on this machine and [undo] commands = true in the settings")
	}
	if err := a.Settle(ctx); err != nil {
		return show.Answer{}, err
	}
	log := p.session.Changes
	log.Commands.Settle(ctx)
	steps := undo.Steps(log)
	if len(args) == 0 {
		return show.Answer{List: p.list(steps)}, nil
	}
	n, later, err := compared(args, len(steps))
	if err != nil {
		return show.Answer{}, err
	}
	diff, count, err := undo.DiffOf(ctx, log, n, later, "")
	if err != nil {
		return show.Answer{}, err
	}
	if count == 0 {
		return show.Answer{Text: &show.Text{Body: "The files are the same as before these steps."}}, nil
	}
	title := "in " + texts.Plural(count, "file")
	if later == 0 {
		title += " since then"
	}
	return show.Answer{Text: &show.Text{Title: title, Body: diff, Form: show.Diff}}, nil
}

// compared reads the arguments of a comparison: diff, the number of the newest steps to compare, and the number of
// newest steps to leave out.
func compared(args []string, steps int) (n, later int, err error) {
	numbers := args[1:]
	if args[0] == "diff" && (len(numbers) == 1 || len(numbers) == 2) {
		if n, err = strconv.Atoi(numbers[0]); err == nil && len(numbers) == 2 {
			later, err = strconv.Atoi(numbers[1])
		}
		if err == nil && n <= steps && 0 <= later && later < n {
			return n, later, nil
		}
	}
	return 0, 0, fmt.Errorf("unknown arguments %q (have: diff N and diff N M; N is at most %d, M less than N)", strings.Join(args, " "), steps)
}

// list describes the steps, the newest first.
func (p *Part) list(steps []undo.Step) *show.List {
	list := &show.List{
		Title: "Checkpoints", Columns: []string{"prompt", "files", "by"}, Empty: "There are no changes that /undo could take back.", Most: 20,
		Usage: "/undo N takes back the last N steps. /checkpoints diff N compares the files before them with the present ones; diff 3 1 compares the files before the last 3 steps with those before the last step.",
	}
	if used := p.tree.Used(); used > 0 {
		list.Note = fmt.Sprintf("Copies of this folder's files take %d MB on the disk.", (used+megabyte-1)/megabyte)
	}
	for i, s := range steps {
		n := strconv.Itoa(i + 1)
		by := "file tools"
		if len(s.By) > 0 {
			by = texts.Clip(s.By[0], 40)
			if more := len(s.By) - 1; more > 0 {
				by += fmt.Sprintf(" and %d more", more)
			}
		}
		row := show.Row{ID: n, Cells: []string{texts.Clip(s.Prompt, 60), strconv.Itoa(s.Count), by}, More: append(append([]string{}, s.By...), s.Git...)}
		row.More = append(row.More, s.Paths...)
		if more := s.Count - len(s.Paths); more > 0 {
			row.More = append(row.More, fmt.Sprintf("and %d more", more))
		}
		label := "undo this step"
		if i > 0 {
			label = fmt.Sprintf("undo this step and the %d after it", i)
		}
		row.Deeds = []show.Deed{
			{Label: label, Run: []string{"undo", n}, Closes: true},
			{Label: "show what this step changed", Run: []string{"checkpoints", "diff", n, strconv.Itoa(i)}},
			{Label: "show what has changed since", Run: []string{"checkpoints", "diff", n}},
		}
		list.Rows = append(list.Rows, row)
	}
	return list
}
