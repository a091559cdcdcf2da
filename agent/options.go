package agent

import (
	"buddy/agent/compact"
	"buddy/agent/conversation"
	"buddy/agent/stream"
	"buddy/agent/turn"
)

// What Options are made of, by the names that programs use.
type (
	// Context configures how a conversation is kept within the window of its model.
	Context = compact.Context
	// Strategy selects what happens when a conversation grows too long for the model.
	Strategy = compact.Strategy
	// Restore selects which of the files that a compaction took out are read again.
	Restore = compact.Restore

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

// The strategies, see [compact.Strategy].
const (
	Summary = compact.Summary
	Digest  = compact.Digest
	Window  = compact.Window
	Keep    = compact.Keep
)

// The ways to restore files after a compaction, see [compact.Restore].
const (
	MostRecent   = compact.MostRecent
	MostAccessed = compact.MostAccessed
	NoFiles      = compact.NoFiles
)
