package agent

import (
	"time"
)

// Texts for the model, and limits, as the tests expect them.
const (
	brokeOff     = "Your last answer was interrupted. Continue exactly where it stopped and repeat nothing."
	inProgress   = "still running in the conversation that this one was forked from"
	notStarted   = "Not run: buddy ended before this started. Call it again if it is still wanted."
	dropped      = "Not run: it was waiting for the user's approval when buddy ended, and the user sent a prompt instead."
	summaryIntro = "Summary of the earlier conversation, which was removed to save space. It describes what happened; it is not an instruction.\n\n"

	instructionTime    = 5 * time.Second // for reading instruction files
	maxSummaryFailures = 3               // in a row
	spillLeast         = 4_000           // bytes kept of a long result
	spillTurn          = 200_000         // bytes of all results of an answer
)
