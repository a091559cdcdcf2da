package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"buddy/agent/action"
	"buddy/agent/policy"
	"buddy/tools"
)

// newPolicy returns what decides about actions on this machine.
func newPolicy(workspace string) policy.Policy {
	home, _ := os.UserHomeDir() // "" is unknown, and then ~ asks
	return policy.Policy{Workspace: workspace, Home: home, Resolve: resolve}
}

// resolve follows the symbolic links of a path, of which the end need not exist.
func resolve(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	return filepath.Join(resolve(dir), filepath.Base(path))
}

// policyCommand explains verdicts without running anything.
func policyCommand(f *flags, stdout *os.File) *cobra.Command {
	c := &cobra.Command{
		Use:   "policy",
		Short: "what may run without asking, and why",
		Args:  cobra.NoArgs,
	}
	asJSON := false
	explain := &cobra.Command{
		Use:   "explain COMMAND",
		Short: "judge a shell command as if the model had called it; nothing runs",
		Long: "explain prints whether a command would run, be asked about or be denied, what each part of it\n" +
			"does, and why. It exits 0 when it would run without a question, 1 otherwise.",
		Example: "  buddy policy explain 'git log | head; rm x'\n  buddy policy explain --approve plan --json 'go test ./...'",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			cwd, err := os.Getwd()
			if err != nil {
				return exit{code: exitFailed, text: fmt.Sprintf("working directory: %v", err)}
			}
			workspace, err := tools.NewWorkspace(cwd, policy.Secret)
			if err != nil {
				return exit{code: exitFailed, text: err.Error()}
			}
			e := newPolicy(workspace.Root()).Explain(f.approve, args[0], workspace.Root())
			text := e.String()
			if asJSON {
				data, err := json.MarshalIndent(e, "", "  ")
				if err != nil {
					return exit{code: exitFailed, text: err.Error()}
				}
				text = string(data) + "\n"
			}
			if _, err := stdout.WriteString(text); err != nil {
				return exit{code: exitFailed, text: fmt.Sprintf("stdout: %v", err)}
			}
			if e.Verdict.Decision != action.Allow {
				return exit{code: exitFailed}
			}
			return nil
		},
	}
	explain.Flags().BoolVar(&asJSON, "json", false, "print all that is known as JSON")
	explain.Flags().Var((*modeFlag)(&f.approve), "mode", "the mode to judge under, as --approve")
	c.AddCommand(explain)
	return c
}
