package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/views/markup"
)

func (s *cli) modelsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "models",
		Short: "list available models and what the others need",
		Long: "models lists your profiles, the providers that buddy knows, and the models of servers on this\n" +
			"machine, with name, context window, price per million tokens of input and output, and the source\n" +
			"of the API key or how to add it. * marks the default model.",
		Example: "  buddy models\n  buddy models --json | jq '.[] | select(.usable).name'",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			c, index, _, err := compose.LoadConfig(s.options)
			if err != nil {
				return err
			}
			offers := compose.OffersOf(context.Background(), c, index, true)
			if s.json {
				return s.indented(offers, "\t")
			}
			if err := printOffers(s.out, offers); err != nil {
				return exit.Failure(err)
			}
			if c.Active == nil && c.Problem != "" {
				s.hint("%s", markup.Plain(c.Problem))
			}
			return nil
		},
	}
	s.jsonFlag(c, "print a JSON list")
	return c
}

// printOffers prints a table of models.
func printOffers(w io.Writer, offers []compose.Offer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "  NAME\tMODEL\tWINDOW\tIN / OUT\tFROM\t")
	for _, o := range offers {
		mark := "  "
		if o.Active {
			mark = "* "
		}
		why := o.Why
		if !o.Usable {
			why = o.Lack()
		}
		_, _ = fmt.Fprintf(t, "%s%s\t%s\t%s\t%s\t%s\t%s\n", mark, markup.Inline(o.Name), markup.Inline(o.Model), o.WindowText(), o.PriceText(), markup.Inline(o.From), markup.Inline(why))
	}
	return t.Flush()
}
