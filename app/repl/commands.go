package repl

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"buddy/agent/event"
	"buddy/app/commands"
	"buddy/app/input"
	"buddy/app/show"
	"buddy/app/slash"
	"buddy/texts"
	"buddy/views/markup"
)

// own holds the commands that plain mode runs itself, because they are about printed output or typed lines.
var own map[string]func(r *repl, args string) error

func init() { // not an initializer, which would be a cycle: /edit may run these commands
	own = map[string]func(r *repl, args string) error{
		"help":   lineHelp,
		"find":   lineFind,
		"edit":   func(r *repl, text string) error { r.edit(wants{}, text); return nil },
		"output": lineOutput,
		"copy":   lineCopy,
	}
}

// immediate holds the commands that run at once while the agent works or asks.
var immediate = []string{"/ps", "/kill", "/timeout", "/approve", "/plan", "/goal", "/loop", "/status", "/context", "/bg", "/review", "/help", "/workflow runs", "/workflow status", "/workflow cancel"}

// pipeImmediate holds the immediate commands that run at once even if they come from a pipe. All other lines from a
// pipe wait until the work is done, because they may depend on its result.
var pipeImmediate = []string{"/ps", "/kill", "/timeout", "/approve", "/status"}

// atOnce reports whether a line is one of the given commands.
func atOnce(line string, all []string) bool {
	name, args, ok := slash.Split(strings.TrimSpace(line))
	verb, _, _ := strings.Cut(args, " ")
	if ok && name == "workflow" && args == "" {
		name, verb = "workflow", "runs"
	}
	return ok && (slices.Contains(all, "/"+name) || slices.Contains(all, "/"+name+" "+verb))
}

// slash runs a line that starts with a slash and reports whether it was a command.
func (r *repl) slash(line string) bool {
	name, args, ok := slash.Split(line)
	if !ok {
		return false
	}
	c, known := slash.Find(name)
	custom := false
	if !known {
		_, custom = slash.FindCustom(r.program.Commands(context.Background()), name)
	}
	switch {
	case custom:
		return false // the session adds the command's text to the prompt
	case !known:
		r.printLine("unknown command /" + name + slash.DidYouMean(r.state.Info.Commands, name) + "; /help lists all commands")
	case c.ScreenOnly != "":
		r.printLine("/" + name + " works only on the full screen: " + c.ScreenOnly)
	default:
		if err := runCommand(r, c, args); err != nil {
			r.failed("/"+name, err)
		}
	}
	return true
}

func runCommand(r *repl, c slash.Command, args string) error {
	if do := own[c.Name]; do != nil {
		return do(r, args)
	}
	if c.Answers && !c.Sends(args) {
		runWords(r, append([]string{c.Name}, slash.Words(args)...))
		return nil
	}
	all, err := c.Events(args)
	if err != nil {
		return err
	}
	for _, e := range all {
		if s, ok := e.(event.Submit); ok && s.Background {
			if s.Images, err = input.Attached(s.Text); err != nil {
				return err
			}
			e = s
		}
		r.command(e)
	}
	return nil
}

// runWords runs a slash command in the background and prints its answer.
func runWords(r *repl, words []string) { runWith(r, "", withRowIDs(r, words)) }

// runWith is runWords with a secret that was typed for the command.
func runWith(r *repl, secret string, words []string) {
	var sent []event.Command // by the command; sent when it is done
	session := commands.In(r.program, func(c event.Command) { sent = append(sent, c) })
	session.Now = &slash.Now{Info: r.info(), Prompts: slices.Clone(r.state.Back.Borders), Busy: slash.Busy(&r.state), Limits: r.state.Info.Usage.Limits, Secret: secret}
	if r.con.tty {
		session.Say = func(text string) { // the user may need minutes, so lines are read in the meantime
			r.post(func() { r.wait.held = false; r.printLine(text) })
		}
	}
	r.runBeforeNext(func() func() {
		answer, err := commands.Run(r.ctx, session, words...)
		if err == nil && answer.List != nil && answer.List.Rest != nil { // printed output is not updated, so print the full list
			answer, err = commands.Run(r.ctx, session, answer.List.Rest...)
		}
		return func() {
			if err != nil {
				r.failed("/"+words[0], err)
				return
			}
			for _, c := range sent {
				r.command(c)
			}
			printAnswer(r, words, answer)
		}
	})
}

// printAnswer prints a command's answer, or takes the next step that the answer asks for.
func printAnswer(r *repl, words []string, answer show.Answer) {
	if answer.List != nil {
		r.listed[words[0]] = answer.List.Rows
		if answer.List.Numbered {
			r.listed[words[0]] = nil // the cells have numbers, which the command reads itself
		}
	}
	switch text := answer.String(); {
	case answer.Open != "":
		openFile(r, answer)
	case answer.Question != nil && answer.Question.Choices[0].Secret:
		r.printLine(strings.Join(answer.Question.Lines, "\n"))
		r.wants = wants{aKey, words[1]}
	case answer.Text != nil && answer.Text.Form == show.Diff:
		r.printLine(boundDiff(answer.Text.Body))
	case text != "":
		r.printLine(text)
	}
	if answer.Then != nil {
		runWith(r, "", answer.Then)
	}
	switch {
	case answer.Leave == nil:
	case answer.Leave.Quit:
		r.over = true
	default:
		if err := r.change(answer.Leave.Session); err != nil {
			r.failed("/"+words[0], err)
		}
	}
}

// openFile opens the file of an answer in the user's editor.
func openFile(r *repl, a show.Answer) {
	if text := a.String(); text != "" {
		r.printLine(text)
	}
	err := fmt.Errorf("there is no terminal for an editor: can't open %s", a.Open)
	if r.con.tty {
		err = input.OpenAt(a.Open, a.Line, input.Editor())
	}
	if err != nil {
		r.printLine(err.Error())
	}
}

// withRowIDs replaces row numbers in words by the ids of the rows in the list that the same command printed last, and
// "all" by the ids of all rows that were shown in full. It does so only directly after the command, or after a verb
// that takes an ID or a NAME, because later words are the user's text.
func withRowIDs(r *repl, words []string) []string {
	rows := r.listed[words[0]]
	c, _ := slash.Find(words[0])
	ids := words[:1:1]
	for i, w := range words[1:] {
		n, err := strconv.Atoi(strings.TrimPrefix(w, "#"))
		switch verb := strings.ToLower(w); {
		case err == nil && n >= 1 && n <= len(rows):
			ids = append(ids, rows[n-1].ID)
		case verb == "all" && len(rows) > 0:
			for _, row := range rows {
				if row.Whole && row.ID != verb {
					ids = append(ids, row.ID)
				}
			}
		case i == 0 && (strings.Contains(c.Args, verb+" ID") || strings.Contains(c.Args, verb+" NAME")):
			ids = append(ids, w)
		default:
			return append(ids, words[i+1:]...)
		}
	}
	return ids
}

func lineHelp(r *repl, _ string) error {
	var b strings.Builder
	for _, c := range slash.Commands {
		if c.ScreenOnly == "" {
			fmt.Fprintf(&b, "/%s  %s\n", strings.TrimSpace(c.Name+" "+c.Args), c.Help)
		}
	}
	for _, c := range slash.Typed(r.program.Commands(context.Background())) {
		fmt.Fprintf(&b, "/%s  %s\n", c.Name, slash.CustomHelp(c))
	}
	b.WriteString("@NAME in a prompt refers to a file. Tab completes commands and files. End a line with \\ to continue it.\n")
	b.WriteString("!COMMAND runs a shell command; the model sees its output with your next prompt.\n")
	b.WriteString("The agent can ask a language server (LSP): go to definition, find references, rename a symbol in all files.\n")
	b.WriteString("Ctrl-C cancels the running task; press it twice to quit. Ctrl-D quits, too.")
	r.printLine(b.String())
	return nil
}

// completions finds completions other than the names of buddy's own commands.
type completions struct {
	custom func() []event.CustomCommand
	files  func(query string) []string // and resources, after an @

	offers slash.Offers
}

// completionsOf returns the completions of a session.
func completionsOf(r *repl, files *input.FileIndexes) completions {
	return completions{
		custom: func() []event.CustomCommand {
			return slices.Concat(r.program.Commands(context.Background()), r.program.Servers.Commands())
		},
		files: func(query string) []string {
			paths, _ := files.Of(r.program.Targets).Request(query)()
			return input.Merge(query, r.program.Servers.Names(query), paths)
		},
		offers: slash.Offers{Workflows: r.program.Workflows.Offered},
	}
}

// completeWord completes a word: a command name, a file after an @, or an argument. It returns the completed word, and
// the choices if there are several. before is the text before the word.
func completeWord(from completions, word, before string) (becomes string, choices []string) {
	choices = choicesFor(from, word, before)
	if len(choices) == 0 {
		return word, nil
	}
	becomes = commonPrefix(choices)
	if len(choices) == 1 && !strings.HasSuffix(becomes, "=") {
		becomes += " "
	}
	if len(becomes) < len(word) || len(choices) > 1 && !strings.HasPrefix(strings.ToLower(becomes), strings.ToLower(word)) {
		return word, choices // the choices match letters of the word, not its start
	}
	return becomes, choices
}

func choicesFor(from completions, word, before string) (choices []string) {
	switch {
	case before == "" && strings.HasPrefix(word, "/"):
		return commandsThatBegin(strings.ToLower(word[1:]), from.custom())
	case strings.HasPrefix(word, "@"):
		for _, p := range from.files(word[1:]) {
			if markup.Plain(p) == p {
				choices = append(choices, texts.Mention{Name: p}.String())
			}
		}
	default:
		for _, c := range slash.Complete(from.offers, before+word) {
			if markup.Plain(c.Word) == c.Word {
				choices = append(choices, c.Word)
			}
		}
	}
	return choices
}

// commandsThatBegin returns the commands whose names start with a prefix.
func commandsThatBegin(with string, custom []event.CustomCommand) (all []string) {
	for _, c := range slash.Commands {
		if c.ScreenOnly == "" && strings.HasPrefix(c.Name, with) {
			all = append(all, "/"+c.Name)
		}
	}
	for _, name := range slash.AliasNames() {
		if strings.HasPrefix(name, with) {
			all = append(all, "/"+name)
		}
	}
	for _, c := range custom {
		if strings.HasPrefix(c.Name, with) {
			all = append(all, "/"+c.Name)
		}
	}
	return all
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
