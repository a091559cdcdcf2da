package doctor

import (
	"fmt"
	"os"
	"strings"

	"buddy/app/project"
	"buddy/config"
)

// checkHooks checks the user's own hooks; checkTrust checks the project's hooks.
func checkHooks(c config.Config) Finding {
	if !c.Hooks.Enabled {
		return Finding{"hooks", Fine, "turned off ([hooks] enabled)", ""}
	}
	set := project.PersonHooks(c.Hooks.Also)
	cwd, _ := os.Getwd() // if unknown, relative names are not searched
	var off, foreign []string
	state, yours := Weak, 0
	for _, p := range set.Problems {
		if p.Quiet {
			foreign = append(foreign, p.String())
		} else {
			off = append(off, "skipped in "+p.String())
			state = Broken
		}
	}
	for _, h := range set.Handlers {
		if h.Lost == "" {
			yours++
		}
		if file := h.Missing(cwd, cwd); file != "" {
			off = append(off, fmt.Sprintf("%s of %s:%d: %s does not exist", h.Name(), h.Origin.File, h.Line, file))
		}
	}
	text := fmt.Sprintf("yours: %d", yours)
	if len(foreign) > 0 {
		text += "; not run: " + strings.Join(foreign, "; ")
	}
	if len(off) > 0 {
		return Finding{"hooks", state, text + "; " + strings.Join(off, "; "), "fix that file; docs/extensions.md describes it"}
	}
	return Finding{"hooks", Fine, text, ""}
}
