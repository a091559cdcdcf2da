// Package features lists the features that are one folder each, see package feature.
package features

import (
	"buddy/features/feature"
	"buddy/features/goal"
	"buddy/features/mcp"
	"buddy/features/memory"
	"buddy/features/plan"
	"buddy/features/review"
	"buddy/features/skills"
	"buddy/features/workflow"
)

// All are the features, in the order in which calls pass their parts.
var All = []*feature.Feature{
	goal.Feature,
	mcp.Feature,
	memory.Feature,
	plan.Feature,
	review.Feature,
	skills.Feature,
	workflow.Feature,
}
