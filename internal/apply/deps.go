package apply

import (
	"context"
	"iter"
	"time"

	"github.com/agent-airlock/airlock/internal/changes"
	"github.com/agent-airlock/airlock/internal/githubapi"
)

// Deps is what Observe and Execute are given from outside.
type Deps struct {
	GitHub GitHub // nil without a token
	Clock  Clock  // required with GitHub
	Files  Files  // nil where nothing can be stored
	// Source reads files of a commit; nil where none are at hand, and GitHub is asked.
	Source Source
	// Diff is the diff of the event's pull request from git; nil where there is none,
	// and GitHub is asked.
	Diff []changes.ChangedFile
	// Code is nil where items that carry code cannot be applied.
	Code *Code
	// Log receives progress, a line a call. A line may contain the agent's words:
	// whoever shows it escapes it. Log may be nil.
	Log func(string)
}

func (d Deps) log(line string) {
	if d.Log != nil {
		d.Log(line)
	}
}

// Clock is the time by which Observe and Execute wait.
type Clock interface {
	Now() time.Time
	// Sleep waits for d, or returns ctx's error as soon as ctx is done.
	Sleep(ctx context.Context, d time.Duration) error
}

// Files stores what could not be delivered to GitHub, such as a SARIF file.
type Files interface {
	// WriteFile stores data under a name and returns the path for people and later
	// steps.
	WriteFile(name string, data []byte) (path string, err error)
}

// Source reads files of a commit by their path from the repository's root.
type Source interface {
	ReadFile(commit, path string) ([]byte, error)
}

// GitHub is what this package needs of *githubapi.Client. A write that fails but may have
// taken effect fails with githubapi.Ambiguous.
type GitHub interface {
	Viewer(ctx context.Context) (githubapi.Actor, error)
	Login(ctx context.Context, id int64) (string, error)

	GetIssue(ctx context.Context, r githubapi.Repo, number int) (githubapi.Issue, error)
	CreateIssue(ctx context.Context, r githubapi.Repo, n githubapi.NewIssue) (githubapi.Issue, error)
	EditIssue(ctx context.Context, r githubapi.Repo, number int, e githubapi.IssueEdit) (githubapi.Issue, error)
	ListIssues(ctx context.Context, r githubapi.Repo, f githubapi.IssueFilter) iter.Seq2[githubapi.Issue, error]
	IssueText(ctx context.Context, r githubapi.Repo, number int) (githubapi.IssueText, error)
	IssueEdits(ctx context.Context, r githubapi.Repo, number int, since time.Time) ([]githubapi.Edit, error)

	ListIssueComments(ctx context.Context, r githubapi.Repo, number int, since time.Time) iter.Seq2[githubapi.Comment, error]
	ListComments(ctx context.Context, r githubapi.Repo, since time.Time) iter.Seq2[githubapi.Comment, error]
	CreateIssueComment(ctx context.Context, r githubapi.Repo, number int, body string) (githubapi.Comment, error)
	EditIssueComment(ctx context.Context, r githubapi.Repo, id int64, body string) (githubapi.Comment, error)
	DeleteIssueComment(ctx context.Context, r githubapi.Repo, id int64) error

	ListLabelsOfIssue(ctx context.Context, r githubapi.Repo, number int) ([]string, error)
	AddLabels(ctx context.Context, r githubapi.Repo, number int, labels []string) ([]string, error)

	GetPull(ctx context.Context, r githubapi.Repo, number int) (githubapi.Pull, error)
	ListPullFiles(ctx context.Context, r githubapi.Repo, number int) iter.Seq2[githubapi.PullFile, error]
	ListReviews(ctx context.Context, r githubapi.Repo, number int) iter.Seq2[githubapi.Review, error]
	CreateReview(ctx context.Context, r githubapi.Repo, number int, n githubapi.NewReview) (githubapi.Review, error)
	EditReview(ctx context.Context, r githubapi.Repo, number int, id int64, body string) (githubapi.Review, error)
	StartReview(ctx context.Context, r githubapi.Repo, number int, commitID, body string) (githubapi.Review, error)
	AddReviewThreads(ctx context.Context, r githubapi.Repo, pullID, reviewID string, threads []githubapi.NewThread) (taken []bool, err error)
	ReadDraft(ctx context.Context, r githubapi.Repo, reviewID string) (githubapi.Draft, error)
	SubmitReview(ctx context.Context, r githubapi.Repo, reviewID, event, body string) error
	DeletePendingReview(ctx context.Context, r githubapi.Repo, reviewID string) error
	ListReviewComments(ctx context.Context, r githubapi.Repo, number int, since time.Time) iter.Seq2[githubapi.DiffComment, error]
	EditReviewComment(ctx context.Context, r githubapi.Repo, id int64, body string) (githubapi.DiffComment, error)
	MinimizeComment(ctx context.Context, nodeID, reason string) error
	UnminimizeComment(ctx context.Context, nodeID string) error
	DeleteReviewComment(ctx context.Context, r githubapi.Repo, id int64) error

	GetRepo(ctx context.Context, r githubapi.Repo) (githubapi.Repository, error)
	GetBranch(ctx context.Context, r githubapi.Repo, name string) (sha string, err error)
	ListBranches(ctx context.Context, r githubapi.Repo, prefix string) ([]githubapi.Branch, error)
	HasTag(ctx context.Context, r githubapi.Repo, name string) (bool, error)
	BranchProtected(ctx context.Context, r githubapi.Repo, name string) (bool, error)
	BranchRules(ctx context.Context, r githubapi.Repo, name string) (types []string, err error)
	ProtectedPatterns(ctx context.Context, r githubapi.Repo) ([]string, error)
	CreateBranch(ctx context.Context, r githubapi.Repo, name, sha string) error
	GetCommit(ctx context.Context, r githubapi.Repo, sha string) (githubapi.Commit, error)
	ListCommits(ctx context.Context, r githubapi.Repo, ref string, n int) ([]githubapi.Commit, error)
	CreateCommit(ctx context.Context, r githubapi.Repo, n githubapi.NewCommit) (sha, url string, err error)
	Compare(ctx context.Context, r githubapi.Repo, base, head string) (githubapi.Comparison, error)
	ListPulls(ctx context.Context, r githubapi.Repo, f githubapi.PullFilter) iter.Seq2[githubapi.Pull, error]
	CreatePull(ctx context.Context, r githubapi.Repo, n githubapi.NewPull) (githubapi.Pull, error)
	EditPull(ctx context.Context, r githubapi.Repo, n int, e githubapi.PullEdit) (githubapi.Pull, error)
	RequestReviewers(ctx context.Context, r githubapi.Repo, n int, reviewers []string) error

	Recent(ctx context.Context, r githubapi.Repo, q githubapi.RecentQuery) (githubapi.Recent, error)

	DiscussionCategories(ctx context.Context, r githubapi.Repo) ([]githubapi.DiscussionCategory, error)
	ListDiscussions(ctx context.Context, r githubapi.Repo, since time.Time) iter.Seq2[githubapi.Discussion, error]
	CreateDiscussion(ctx context.Context, n githubapi.NewDiscussion) (githubapi.Discussion, error)
	GetDiscussion(ctx context.Context, r githubapi.Repo, number int) (githubapi.Discussion, error)
	DeleteDiscussion(ctx context.Context, nodeID string) error
	AddDiscussionComment(ctx context.Context, discussionID, body string) (githubapi.DiscussionComment, error)
	DeleteDiscussionComment(ctx context.Context, nodeID string) error
	ListDiscussionComments(ctx context.Context, r githubapi.Repo, number int, since time.Time) iter.Seq2[githubapi.DiscussionComment, error]

	ListCheckRuns(ctx context.Context, r githubapi.Repo, sha, name string) iter.Seq2[githubapi.CheckRun, error]
	GetCheckRun(ctx context.Context, r githubapi.Repo, id int64) (githubapi.CheckRun, error)
	CreateCheckRun(ctx context.Context, r githubapi.Repo, n githubapi.NewCheckRun) (githubapi.CheckRun, error)
	AddAnnotations(ctx context.Context, r githubapi.Repo, id int64, name string, o githubapi.CheckOutput) (githubapi.CheckRun, error)

	UploadSARIF(ctx context.Context, r githubapi.Repo, u githubapi.SARIFUpload) (string, error)
	SARIFStatus(ctx context.Context, r githubapi.Repo, id string) (githubapi.SARIFStatus, error)
	GetFile(ctx context.Context, r githubapi.Repo, path, ref string) ([]byte, error)
}

var _ GitHub = (*githubapi.Client)(nil)
