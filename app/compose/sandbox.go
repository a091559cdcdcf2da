package compose

import (
	"fmt"
	"os"
	"slices"

	"buddy/config"
	"buddy/tmux/pane"
)

// sandbox returns what commands are restricted by, nil for nothing. out is where their
// output goes. A notice says that the machine can't do what the settings want.
func sandbox(c config.Sandbox, workspace []string, out string) (box *pane.Sandbox, notice string) {
	if c.Mode != "workspace" {
		return nil, ""
	}
	box = &pane.Sandbox{Write: slices.Concat(workspace, []string{out, os.TempDir()}, c.Write), NoNetwork: c.Network == "off"}
	if cache, err := os.UserCacheDir(); err == nil {
		box.Write = append(box.Write, cache)
	}
	if err := box.Possible(); err != nil {
		return nil, fmt.Sprintf("commands run without the sandbox: %v", err)
	}
	return box, ""
}
