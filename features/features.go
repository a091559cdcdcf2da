// Package features lists the features of the program. Package feature defines what a feature is.
package features

import (
	"buddy/features/checkpoint"
	"buddy/features/feature"
	"buddy/features/goal"
	"buddy/features/mcp"
	"buddy/features/memory"
	"buddy/features/plan"
	"buddy/features/review"
	"buddy/features/skills"
	"buddy/features/workflow"
	"buddy/features/worktree"
)

// All lists the features in the order in which calls pass through their parts.
var All = []*feature.Feature{
	checkpoint.Feature,
	goal.Feature,
	mcp.Feature,
	memory.Feature,
	plan.Feature,
	review.Feature,
	skills.Feature,
	workflow.Feature,
	worktree.Feature,
}
