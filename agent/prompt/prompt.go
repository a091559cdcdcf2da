// Package prompt writes the system prompt and the description of the environment for the model. The system prompt is
// the same in every folder and on every day, so that providers can cache it. The environment is therefore described
// in the user's first message.
//
//	facts := prompt.Facts{OS: "linux", Shell: "bash", Cwd: "/home/ann/shop", Target: "local"}
//	system, here := prompt.System(facts), prompt.Here(facts)
package prompt

import (
	"cmp"
	_ "embed"
	"strings"
)

// Facts holds the input of the prompt. It does not change during a session.
type Facts struct {
	OS     string   // of the target: linux, darwin
	Shell  string   // the program that runs commands
	Cwd    string   // where commands start; "" is the home folder
	Also   []string // more workspace folders
	Target string   // "local", or the name of another target
	// Targets lists all targets that tools can use, including Target; nil means only Target.
	Targets []Target
	Tools   bool   // tools are offered
	Says    string // additions for this family of models; "" for none
	Instead string // the operator's own prompt, which replaces the rules; "" for none
	Style   string // the chosen style of answers; "" adds nothing
	// StyleOnly omits the section about how to work: the style replaces it.
	StyleOnly bool
	Extra     string // the operator's own instructions, added at the end; of lower priority unless Instead is set, too
}

// Target describes a target that tools can use.
type Target struct {
	Name string
	Doc  string // its description; "" if unknown
}

//go:embed system.md
var source string

// System returns the system prompt.
func System(f Facts) string {
	text := f.Instead
	if text == "" {
		text = f.rules()
	}
	if f.Style != "" {
		text += "\n\n# Style of answers, as the person chose\n" + f.Style
	}
	if f.Extra != "" {
		text += "\n\n# Instructions of the operator"
		if f.Instead == "" {
			text += " (they do not override the above)"
		}
		text += "\n" + f.Extra
	}
	return strings.TrimSpace(text)
}

// rules returns the sections of system.md that apply.
func (f Facts) rules() string {
	var kept []string
	for _, section := range strings.Split(strings.TrimSpace(source), "\n\n# ") {
		heading, _, _ := strings.Cut(section, "\n")
		if heading == "How to work" && f.StyleOnly || heading == "Tools" && !f.Tools {
			continue
		}
		kept = append(kept, section)
	}
	if !f.Tools {
		kept[0] += "\nYou have no tools in this session: answer from the conversation."
	}
	text := strings.Join(kept, "\n\n# ")
	if f.Says != "" {
		text += "\n" + f.Says
	}
	return text
}

// Here describes where commands run.
func Here(f Facts) string {
	local := f.Target == "local"
	where := f.Target
	if local {
		where = "this machine"
	}
	text := "Commands run on " + where + " (" + f.OS + ", " + f.Shell + ") in " + cmp.Or(f.Cwd, "the home folder") + "."
	if len(f.Also) > 0 {
		text += " These folders also belong to the work: " + strings.Join(f.Also, ", ") + "."
	}
	if !local {
		text += elsewhere
	}
	if len(f.Targets) == 0 {
		return text
	}
	text += "\nYou can work on several machines. Tools for commands, panes and files take `target`, one of:"
	for _, t := range f.Targets {
		text += "\n- " + t.Name
		if t.Doc != "" {
			text += ": " + t.Doc
		}
	}
	return text + "\nWithout it they work on " + f.Target + ", unless a message says that the person switched. Each has its own folder, shell and files. To run a command on several at once, give run_shell `targets`, a list; the person is asked once."
}

// elsewhere explains a target that is not the person's machine.
const elsewhere = " The files that your tools read, search and change are there too, not on the person's machine. If the connection is cut, the result says so, and the next call connects again. Only full_output in a result names a file on the person's machine; read_file and grep can read it. Web pages are fetched by the person's machine."
