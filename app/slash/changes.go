package slash

// NoChanges is said when there is no diff.
const NoChanges = "the agent's tools for files changed nothing in this session, or it was put back"
