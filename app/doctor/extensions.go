package doctor

import (
	"context"
	"fmt"
	"os"
	"strings"

	"buddy/app/compose"
)

// checkExtensions counts the skills, commands, subagents and styles of this machine, and lists each file that could not
// be used.
func checkExtensions(ctx context.Context) Finding {
	cwd, err := os.Getwd()
	if err != nil {
		return Finding{"extensions", Broken, err.Error(), ""}
	}
	found, err := compose.FindExtensions(ctx, cwd)
	text := fmt.Sprintf("skills and commands: %d, agents: %d, styles: %d", found.Skills, found.Agents, found.Styles)
	var wrong []string
	state := Weak
	for _, p := range found.Problems {
		wrong = append(wrong, p.String())
		if p.Limits {
			state = Broken
		}
	}
	if err != nil {
		wrong = append(wrong, err.Error())
	}
	if len(wrong) > 0 {
		return Finding{"extensions", state, text + "; " + strings.Join(wrong, "; "), "docs/extensions.md describes these files"}
	}
	return Finding{"extensions", Fine, text, ""}
}
