package feature

import (
	"context"
	"fmt"
	"strings"

	"buddy/app/show"
)

// Verb is a subcommand. S is the type that it works on.
type Verb[S any] struct {
	Name, Args string // Args describes the arguments; "": none
	Run        func(ctx context.Context, s S, args []string) (show.Answer, error)
}

// Verbs returns a Run function that calls the subcommand named by the first argument, or the first subcommand if there
// are no arguments.
func Verbs[S any](command string, all ...Verb[S]) func(context.Context, S, []string) (show.Answer, error) {
	return func(ctx context.Context, s S, args []string) (show.Answer, error) {
		wanted := all[0].Name
		if len(args) > 0 {
			wanted, args = strings.ToLower(args[0]), args[1:]
		}
		for len(args) > 0 && args[0] == "" { // several spaces were typed
			args = args[1:]
		}
		var names []string
		for _, v := range all {
			if names = append(names, v.Name); v.Name != wanted {
				continue
			}
			switch {
			case len(args) == 0 && v.Args != "" && v.Args[0] != '[':
				return show.Answer{}, fmt.Errorf("%s %s needs %s", command, v.Name, v.Args)
			case len(args) > 0 && v.Args == "":
				return show.Answer{}, fmt.Errorf("%s %s takes no arguments, such as %q", command, v.Name, strings.Join(args, " "))
			}
			return v.Run(ctx, s, args)
		}
		return show.Answer{}, fmt.Errorf("%q is not known (have: %s)", wanted, strings.Join(names, ", "))
	}
}
