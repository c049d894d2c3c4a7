// Package apply performs what the policy approved: it reads GitHub, plans, and carries
// the plan out. Each kind has a handler in a file of its own.
//
//	snapshot, err := apply.Observe(ctx, deps, cfg, event, approved) // reads only
//	plan, err := apply.NewPlan(cfg, event, approved, snapshot)      // pure
//	execution := apply.NewExecution(deps, plan)
//	execution.Perform(ctx)                                          // writes; more may be planned and performed after it
//	results := execution.Finish(ctx)                                // one result an item
//
// # Requests
//
// Observe makes the reads, each once however many items need it. A list takes one request
// for every 100 entries: of most lists, for those that changed since the workflow run was
// started. "self" is one GraphQL request for the token's own account, made once if any of the
// kinds marked with it occur. For a list of issues, a token other than GITHUB_TOKEN takes one
// more, for the account's name. A pull request is also read if only an item says that its
// target is one.
//
//	kind                                reads                                                       writes
//	create-issue                        self, issues; for Airlock's own also those of 66 more days  1 an item
//	add-issue-comment                   self, comments of each target                               1 an item
//	add-issue-comment, discussion       self, the discussion (its id), its comments                 1 an item
//	add-issue-label                     labels of each target                                       1 an item with labels that are missing
//	update-issue                        self, each target and the history of its edits; before the  1 an item that changes something
//	                                    write the history again, and the target for an addition
//	create-pull-request-review-comment  self, for each pull request: itself, its reviews, its       1 for each pull request, and 1 for each further
//	                                    review comments, its files (unless git gave the diff);      65,000 characters that do not fit inline
//	                                    on a later attempt its conversation
//	create-discussion                   self, discussions, categories                               1 an item
//	create-pull-request                 self, the repository, its base branch, the branches with    1 push (signed: 1, and 1 a commit), 1 pull request, 1 for labels,
//	                                    the same beginning; for each that can be ours 1 comparison  1 for reviewers
//	                                    and 1 list of pull requests, and its rulesets; for a new
//	                                    branch its rulesets, the protected patterns, and
//	                                    whether a tag has its name; on a later attempt, where
//	                                    no branch is ours, the list of issues, which includes
//	                                    pull requests; after a push to the branch of an open
//	                                    pull request, that pull request
//	push-to-branch                      self, the repository, the pull request and whether its      1 push (signed: 1 a commit)
//	                                    branch is protected (2), or the branch that the owner
//	                                    names; on a later attempt its last 100 commits
//	review comments of Airlock's own    self, the pull request, its reviews, all its review         1 for all new ones, 1 for each that gets another text,
//	                                    comments, its files (unless git gave the diff)              and 2 for each that is shown again
//	check-run                           self, the commit's check runs of that name                  1, and 1 for each further 50 annotations
//	minimise-comments                   self, all review comments of the pull request               2 for each comment that is resolved, 1 where it has replies
//	sticky-comment                      self, all comments of the pull request                      1, unless its text is the same; 2 to hide it
//	tick-boxes                          self, the text and its last versions; that once     1, and 1 for each text of somebody else's that is put back
//	                                    more before the write, and after it
//	missing-tool                        none (with an issue: as create-issue)                       none (with an issue: 1 for all)
//	create-security-report              1 for each file with findings, unless it is at hand         1 for all, then up to 5 reads of its status
//	                                    (at most 50); the pull request, if the event lacks its head;
//	                                    for Airlock's own the pull request and its files (unless
//	                                    git gave the diff)
//	noop                                none                                                        none
//
// The kinds missing-data and report-incomplete take what missing-tool takes. Where an issue may
// replace changes that are not delivered, the reads and the write of create-issue are added.
//
// A review that GitHub refuses because of single comments (422), and one with comments on
// files, is made as a pending review: 1 write to begin it, 1 for every 10 comments, 1 to submit
// it, and 2 or 3 reads of what it has. A pending review of the same account blocks every other
// one: Airlock waits for up to a minute, and then posts 1 comment instead. An ambiguous failure
// adds up to four listings, and reconciling adds at most three in all (see writtenLately).
//
// Commits that are not at hand are fetched, each once. If its branch has moved, push-to-branch
// pushes once more, on top of where the branch is now.
//
// # Keys, markers, adoption
//
// Every item has a key (see itemKey) that a re-run computes again. Every body ends with a marker
// line that contains the key. Before something is created, the list that it will appear in is read,
// and an object is adopted if it has the key and the token's own account wrote it. If the answer to
// a write is lost, the list is read again 2, 5, 10 and 30 seconds later, before the write is tried
// again. If a later attempt of a workflow run does not find everything, it reads the lists again 30
// seconds after it began, because the attempt before it may have been killed right after a write
// that was not listed yet.
//
// What later workflow runs find again, such as a comment of the checks, has a stable key
// instead, which names the workflow and the job but no workflow run: see nameKey. To find
// it, the entire list is read or, of issues, that of 66 more days. Its marker also names the
// workflow run that wrote it last, so that a run which ends late does not undo the work of a
// newer one.
//
// An object that carries several items (a review, a comment with what did not fit into the
// review) has a key that records which: see membersKey.
package apply
