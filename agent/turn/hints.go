package turn

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"buddy/agent/model"
	"buddy/tools"
)

// inARow is the number of failed calls of a tool in a row that causes a hint for the model.
const inARow = 3

// setbacks holds the recent failures of an exchange, for hints about the next calls. The exchange's lock guards it.
type setbacks struct {
	last   map[string]string // failure of the last call, by tool
	row    map[string]int    // failures since the last success, by tool
	hinted map[string]bool   // missing programs and options that the model has a hint about
}

// instead lists replacements for programs that are often missing: a tool of buddy, or another program.
var instead = []struct {
	programs []string
	tool     string // must be offered to the model; "" for a program
	hint     string
}{
	{[]string{"rg", "ag", "ack", "ugrep"}, "grep", "the tool grep searches files there without it"},
	{[]string{"fd", "fdfind", "tree", "locate"}, "glob", "the tool glob finds files there without it"},
	{[]string{"bat", "batcat"}, "read_file", "the tool read_file reads files there without it"},
	{[]string{"vi", "vim", "nvim", "nano", "emacs", "ed"}, "edit_file", "the tool edit_file changes files there without it"},
	{[]string{"patch"}, "apply_patch", "the tool apply_patch changes files there without it"},
	{[]string{"curl", "wget", "lynx", "w3m"}, "fetch_url", "the tool fetch_url reads pages, from the machine that buddy runs on"},
	{[]string{"python"}, "", "python3 may exist"},
	{[]string{"pip"}, "", "python3 -m pip may exist"},
	{[]string{"docker"}, "", "podman may exist"},
}

// otherwise holds, by tool, the hint after several failures in a row.
var otherwise = map[string]string{
	"edit_file":   "read the file again and copy the lines exactly; for a larger change write the whole file",
	"apply_patch": "read the files again and copy the lines exactly; smaller patches show which part does not fit",
	"read_file":   "list the folder first, or find the file by its name",
	"list_dir":    "find the folder by its name first",
	"fetch_url":   "search for another source, or do without it",
}

// missing matches how shells report a missing program; one of the groups has the name.
var missing = regexp.MustCompile(`(?m)(?:^|: )(?:command not found: ([\w.+-]+)|([\w.+-]+): (?:command )?not found)\s*$`)

// strangeOption matches how programs report an unknown option.
var strangeOption = regexp.MustCompile(`(?mi)^([\w.+-]+): (?:illegal|invalid|unknown|unrecognized) option\b`)

// hintAfter returns a hint for the model's next call after repeated or typical failures, "" for none. It looks only
// at the result, and gives each hint once.
func hintAfter(b *batch, j *job, res tools.Result) string {
	if b.turn == 0 {
		return "" // the model did not make this call
	}
	b.x.mu.Lock()
	defer b.x.mu.Unlock()
	s := &b.x.setbacks
	if act := j.call.Planned; act.Kind.IsCommand() && j.ran {
		if res.ExitCode == nil || *res.ExitCode == 0 {
			return ""
		}
		if b.x.failed[j.key()].times == hintAt {
			return fmt.Sprintf("this command has failed %d times in the same way: change it, or do something else", hintAt)
		}
		return s.ofCommand(offered(b.loop.p.Selection.Tools().Definitions()), act.Command, act.Target, *res.ExitCode, lastBytes(res.Tail))
	}
	if !res.IsError {
		delete(s.row, j.call.Name)
		return ""
	}
	if j.tool == nil || j.err == nil && !j.ran {
		return "" // the tool does not exist or was not allowed: the result says what to do
	}
	if s.row[j.call.Name]++; s.row[j.call.Name] != inARow {
		return ""
	}
	what := otherwise[j.call.Name]
	if what == "" {
		what = "try another way, or say what blocks you"
	}
	return fmt.Sprintf("%s failed %d times in a row: %s", j.call.Name, inARow, what)
}

// offered returns a function that reports whether the model is offered a tool.
func offered(all []model.ToolDef) func(tool string) bool {
	return func(tool string) bool {
		return slices.ContainsFunc(all, func(d model.ToolDef) bool { return d.Name == tool })
	}
}

// ofCommand returns the hint after a command that failed. A program counts only if the command names it, because the
// output alone proves nothing.
func (s *setbacks) ofCommand(offers func(tool string) bool, command, target string, exit int, output string) string {
	if exit == 127 {
		for _, m := range missing.FindAllStringSubmatch(output, -1) {
			name := m[1] + m[2]
			for _, i := range instead {
				if slices.Contains(i.programs, name) && inCommand(command, name) && (i.tool == "" || offers(i.tool)) && s.once(name+"\x00"+target) {
					return fmt.Sprintf("%s is not installed on %s: %s", name, target, i.hint)
				}
			}
		}
	}
	if m := strangeOption.FindStringSubmatch(output); m != nil && inCommand(command, m[1]) && s.once("option\x00"+m[1]+"\x00"+target) {
		return fmt.Sprintf("%s on %s does not have all the options that you expect: its usage or man page names them", m[1], target)
	}
	return ""
}

// maxHinted limits the hints about programs in an exchange.
const maxHinted = 20

// once reports whether a hint is new, and remembers it.
func (s *setbacks) once(what string) bool {
	if s.hinted[what] || len(s.hinted) == maxHinted {
		return false
	}
	s.hinted[what] = true
	return true
}

// inCommand reports whether a command line contains the name of a program.
func inCommand(command, program string) bool {
	words := strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n;|&()<>'\"`$=", r) })
	return slices.ContainsFunc(words, func(w string) bool { return path.Base(w) == program })
}

// lastBytes returns the end of an output, which has the shell's error message.
func lastBytes(output string) string { return output[max(0, len(output)-4<<10):] }
