package repl

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"buddy/agent/event"
	"buddy/app/input"
	"buddy/app/slash"
	"buddy/app/ui"
	"buddy/views/markup"
)

// lineCommands are the commands of slashCommands that make sense without a screen.
var lineCommands map[string]func(r *repl, args string) error

func init() { // lineHelp lists them
	lineCommands = map[string]func(r *repl, args string) error{
		"help":    lineHelp,
		"status":  lineSends(slash.Report(event.ReportStatus)),
		"ps":      lineSends(slash.Report(event.ReportTasks)),
		"context": lineSends(slash.Report(event.ReportContext)),
		"bg":      lineBackground,
		"kill":    lineSends(slash.Kill),
		"timeout": lineSends(slash.SetTimeout),
		"approve": lineSends(slash.Approve),
		"compact": lineSends(slash.Compact),
		"effort":  lineSends(slash.Effort),
		"pin":     lineSends(slash.Pin(false)),
		"unpin":   lineSends(slash.Pin(true)),
		"init":    lineSends(slash.Init),
		"target":  func(r *repl, name string) error { return r.catalog.OnTarget(r.seat(), name) },
		"model":   lineModel,
		"session": lineSession,
		"clear":   func(r *repl, _ string) error { return r.change("") },
		"trust":   lineTrust,
		"login":   lineLogin,
		"logout":  func(r *repl, name string) error { return r.catalog.Access.LogOut(r.seat(), name) },
		"doctor":  lineDoctor,
		"find":    lineFind,
		"edit":    func(r *repl, text string) error { r.edit(wants{}, text); return nil },
		"output":  lineOutput,
		"copy":    lineCopy,
		"undo":    lineSends(slash.Undo),
		"diff":    lineDiff,
		"export":  func(r *repl, args string) error { return r.catalog.ExportThis(r.seat(), args) },
		"quit":    func(r *repl, _ string) error { r.over = true; return nil },
	}
}

// screenOnly says why the other commands have no use here.
var screenOnly = map[string]string{
	"palette": "here /help lists the commands, and Tab completes them",
	"theme":   "line by line there are no colours to choose",
}

// slash runs a line that begins with a slash and reports whether it was a command.
func (r *repl) slash(line string) bool {
	name, args, ok := slash.Split(line)
	if !ok {
		return false
	}
	run := lineCommands[name]
	known := slices.ContainsFunc(ui.Commands(), func(c ui.Command) bool { return c.Name == name })
	switch {
	case run != nil:
		if err := run(r, args); err != nil {
			r.failed("/"+name, err)
		}
	case known:
		r.say("/" + name + " is of the full screen: " + screenOnly[name])
	default:
		r.say("unknown command /" + name + "; /help lists them all")
	}
	return true
}

func lineSends(read func(args string) (event.Command, error)) func(*repl, string) error {
	return func(r *repl, args string) error {
		c, err := read(args)
		if err == nil {
			r.command(c)
		}
		return err
	}
}

// seat is that of the person at the line.
func (r *repl) seat() slash.Seat {
	return slash.Seat{Command: r.command, Say: r.say, Current: r.current, Info: r.info, Change: r.change, Beside: r.beside, Failed: r.failed}
}

func lineHelp(r *repl, _ string) error {
	var b strings.Builder
	for _, c := range ui.Commands() {
		if lineCommands[c.Name] != nil {
			fmt.Fprintf(&b, "/%s  %s\n", strings.TrimSpace(c.Name+" "+c.Args), c.Help)
		}
	}
	b.WriteString("@NAME in a prompt names a file; Tab completes both. A line that ends in \\ goes on in the next.\n")
	b.WriteString("Ctrl-C cancels what runs, a second time it leaves; so does Ctrl-D.")
	r.say(b.String())
	return nil
}

func lineBackground(r *repl, args string) error {
	if args == "" {
		return errors.New("say what to do: /bg PROMPT")
	}
	images, err := input.Attached(args)
	if err == nil {
		r.command(event.Submit{Text: args, Images: images, Background: true})
	}
	return err
}

func lineModel(r *repl, args string) error {
	current := r.state.Info.Event.Profile
	n, err := strconv.Atoi(args)
	switch {
	case args == "":
		slash.Inform(r.seat(), "/model", func() (string, error) { return slash.OffersText(r.catalog.Offers(), current), nil }, r.say)
	case err != nil || n < 1:
		r.command(event.SwitchModel{Profile: args})
	default:
		slash.Inform(r.seat(), "/model", func() (string, error) { return slash.OfferName(r.catalog.Offers(), n) },
			func(name string) { r.command(event.SwitchModel{Profile: name}) })
	}
	return nil
}

func lineSession(r *repl, args string) error {
	verb, rest, _ := strings.Cut(args, " ")
	return r.catalog.OnSession(r.seat(), strings.ToLower(verb), strings.TrimSpace(rest))
}

func lineTrust(r *repl, _ string) error {
	text, err := r.catalog.Trust()
	switch {
	case err != nil:
		return err
	case text != "":
		r.say(text)
		return nil
	}
	return r.change(r.catalog.Current())
}

// completeWord returns what the name of a command, or of a file after an @, may become, and
// which ones it may be.
func completeWord(files *input.FileIndex, word string, first bool) (becomes string, choices []string) {
	switch {
	case first && strings.HasPrefix(word, "/"):
		for _, c := range ui.Commands() {
			if lineCommands[c.Name] != nil && strings.HasPrefix(c.Name, strings.ToLower(word[1:])) {
				choices = append(choices, "/"+c.Name)
			}
		}
	case strings.HasPrefix(word, "@"):
		paths, _ := files.Request(word[1:])()
		for _, p := range paths {
			if markup.Plain(p) == p && !strings.ContainsAny(p, " \t") {
				choices = append(choices, "@"+p)
			}
		}
	}
	if len(choices) == 0 {
		return word, nil
	}
	becomes = commonPrefix(choices)
	if len(choices) == 1 {
		becomes += " "
	}
	if len(becomes) < len(word) || len(choices) > 1 && !strings.HasPrefix(strings.ToLower(becomes), strings.ToLower(word)) {
		return word, choices // they have the letters of the word, not the word
	}
	return becomes, choices
}

func commonPrefix(all []string) string {
	prefix := all[0]
	for _, s := range all[1:] {
		for !strings.HasPrefix(s, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	return strings.ToValidUTF8(prefix, "")
}
