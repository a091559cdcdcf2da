// Package features lists the features that are one folder each, see package feature.
package features

import "buddy/features/feature"

// All are the features, in the order in which their parts are asked.
var All = []feature.Feature{}
