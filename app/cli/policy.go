package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"buddy/agent/action"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/texts"
)

// policyCommand explains verdicts without running anything.
func (s *cli) policyCommand() *cobra.Command {
	explain := &cobra.Command{
		Use:   "explain COMMAND",
		Short: "show whether a command would need approval; nothing runs",
		Long: "explain prints whether a command from the model would run, need approval or be denied, what each\n" +
			"part does, and why. It exits with 0 if the command would run without asking, 1 otherwise.",
		Example: "  buddy policy explain 'git log | head; rm x'\n  buddy policy explain --approve plan --json 'go test ./...'\n  buddy policy explain --target web 'docker ps'",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			e, err := compose.Explained(s.options, args[0])
			if err != nil {
				return err
			}
			text := e.String()
			if s.json {
				data, err := json.MarshalIndent(e, "", "  ")
				if err != nil {
					return exit.Failure(err)
				}
				text = string(texts.PrintableJSON(data)) + "\n"
			}
			if _, err := s.out.WriteString(text); err != nil {
				return exit.Error{Code: exit.Failed, Text: fmt.Sprintf("stdout: %v", err)}
			}
			if e.Verdict.Decision != action.Allow {
				return exit.Error{Code: exit.Failed}
			}
			return nil
		},
	}
	s.jsonFlag(explain, "print the details as JSON")
	explain.Flags().Var((*modeFlag)(&s.options.Approve), "mode", "the permission mode to assume, as --approve")
	complete(explain, "mode", onlyThese, modeNames)
	return group(&cobra.Command{
		Use:     "policy",
		Short:   "show what may run without asking, and why",
		Example: "  buddy policy explain 'git log | head; rm x'",
	}, explain)
}
