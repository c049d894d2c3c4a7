package runs

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-airlock/airlock/internal/agents"
	"github.com/agent-airlock/airlock/internal/lazyregexp"
	"github.com/agent-airlock/airlock/internal/schema"
	"github.com/agent-airlock/airlock/internal/store"
)

// A tag is a word for something that a worker can do, such as gpu. A run can be taken by
// a worker that has all the tags that the run needs.

// maxNeeds is how many tags a run may need.
const maxNeeds = 16

// maxTags is how many tags a worker may have.
const maxTags = 64

var tagPattern = lazyregexp.New(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// notATag is the end of a message about a word that is not a tag.
const notATag = "is not a tag: a tag is 1 to 63 of a-z, 0-9, '.', '_' and '-', and begins with a letter or digit"

// CheckTags returns why these are not tags of a worker, or nil.
func CheckTags(tags []string) error {
	for _, tag := range tags {
		if !tagPattern.MatchString(tag) {
			return fmt.Errorf("%q %s", tag, notATag)
		}
	}
	if len(tags) > maxTags {
		return fmt.Errorf("%d are more tags than the %d that a worker may have", len(tags), maxTags)
	}
	return nil
}

// InvalidNeedsError reports what is wrong with the tags that a request asks for.
type InvalidNeedsError struct{ Violations []schema.Violation }

// Error implements error.
func (e *InvalidNeedsError) Error() string {
	return "the needs of the run are not valid: " + listViolations(e.Violations)
}

// needsOf returns the tags that a run needs, those of its agent and those of the request,
// as they are kept: in order, each once, with '+' between them.
func needsOf(b agents.Blueprint, asked []string) (string, error) {
	for i, tag := range asked {
		if !tagPattern.MatchString(tag) {
			return "", &InvalidNeedsError{[]schema.Violation{{Path: fmt.Sprintf("$.needs[%d]", i),
				Message: schema.Quote(tag) + " " + notATag, SchemaPath: "properties.needs.items.pattern"}}}
		}
	}
	all := slices.Concat(b.Needs, asked)
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) > maxNeeds {
		return "", &InvalidNeedsError{[]schema.Violation{{Path: "$.needs", Message: fmt.Sprintf("with those of the agent these are %d tags, and a run may need %d", len(all), maxNeeds), SchemaPath: "properties.needs.maxItems"}}}
	}
	return strings.Join(all, "+"), nil
}

// splitTags returns the tags of a text in which '+' joins them.
func splitTags(joined string) []string {
	if joined == "" {
		return nil
	}
	return strings.Split(joined, "+")
}

// serves reports whether a worker with the tags can take runs with the needs.
func serves(tags, needs []string) bool {
	return !slices.ContainsFunc(needs, func(need string) bool { return !slices.Contains(tags, need) })
}

// anyServes reports whether one of several workers, given by their tags, can take runs with these
// needs.
func anyServes(workers [][]string, needs []string) bool {
	return slices.ContainsFunc(workers, func(tags []string) bool { return serves(tags, needs) })
}

// queues returns the sets of needs, joined, that a worker with these tags can serve.
func queues(ctx context.Context, q store.Querier, tags []string) ([]string, error) {
	if len(tags) == 0 {
		return []string{""}, nil
	}
	all, err := store.List(ctx, q, store.ScanOne[string], `SELECT needs FROM run_queues`)
	return slices.DeleteFunc(all, func(needs string) bool { return !serves(tags, splitTags(needs)) }), err
}

// Reason is why a run does not go on.
type Reason struct {
	Code    string `json:"code"` // no_worker
	Message string `json:"message"`
}

// noWorker returns the reason of a run that no live worker can take.
func noWorker(needs []string) *Reason {
	if len(needs) == 0 {
		return &Reason{"no_worker", "no worker is running: start 'airlock serve' or 'airlock runner' on this store"}
	}
	return &Reason{"no_worker", "no running worker has the tags " + strings.Join(needs, ", ") + ": start one, such as 'airlock runner --tag " + strings.Join(needs, ",") + "'"}
}
