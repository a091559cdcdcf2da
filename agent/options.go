package agent

import (
	"buddy/agent/conversation"
	"buddy/agent/stream"
	"buddy/agent/turn"
)

// What Options are made of, by the names that programs use.
type (
	// Listing returns what there is of a kind, such as servers, for the model to choose from.
	Listing = turn.Listing
	// Diagnostics finds out what is wrong with files that tools have changed.
	Diagnostics = turn.Diagnostics
	// Folder shows models what is in the folder.
	Folder = turn.Folder
	// Resources reads what prompts name of other programs.
	Resources = turn.Resources
	// Resource is one of those.
	Resource = turn.Resource

	// Journal keeps durable events, see [stream.Journal].
	Journal = stream.Journal
	// Recall rebuilds what a model is sent from stored events.
	Recall = conversation.Recall
)
