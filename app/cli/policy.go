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
		Short: "judge a shell command as if the model had called it; nothing runs",
		Long: "explain prints whether a command would run, be asked about or be denied, what each part of it\n" +
			"does, and why. It exits 0 when it would run without a question, 1 otherwise.",
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
	s.jsonFlag(explain, "print all that is known as JSON")
	explain.Flags().Var((*modeFlag)(&s.options.Approve), "mode", "the mode to judge under, as --approve")
	complete(explain, "mode", onlyThese, modeNames)
	return group(&cobra.Command{
		Use:     "policy",
		Short:   "what may run without asking, and why",
		Example: "  buddy policy explain 'git log | head; rm x'",
	}, explain)
}
