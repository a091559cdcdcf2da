package checkpoint

import (
	"context"

	"buddy/app/show"
	"buddy/app/slash"
	"buddy/features/feature"
)

var checkpointsCommand = feature.Command{
	Command: slash.Command{Name: "checkpoints", Help: "list the steps whose changes can be undone, with files and commands"},
	Run:     list,
}

func list(context.Context, feature.Asked, []string) (show.Answer, error) { return show.Answer{}, nil }
