package githubapi

// The GraphQL documents, each with one operation. The tests validate every one
// of them against GitHub's published schema.
const (
	actorFields = `fragment actor on Actor {
  login
  ... on User { databaseId }
  ... on Bot { databaseId }
  ... on Mannequin { databaseId }
  ... on Organization { databaseId }
}`

	discussionFields = `fragment discussion on Discussion {
  id databaseId number title body closed locked url createdAt updatedAt
  category { id name slug isAnswerable repository { id } }
  author { ...actor }
}`

	discussionCommentFields = `fragment comment on DiscussionComment {
  id databaseId body url createdAt updatedAt
  author { ...actor }
}`

	viewerQuery = `query Viewer { viewer { login databaseId } }`

	categoriesQuery = `query Categories($owner: String!, $name: String!, $after: String) {
  repository(owner: $owner, name: $name) {
    id hasDiscussionsEnabled
    discussionCategories(first: 100, after: $after) {
      nodes { id name slug isAnswerable }
      pageInfo { hasNextPage endCursor }
    }
  }
}`

	discussionsQuery = `query Discussions($owner: String!, $name: String!, $after: String) {
  repository(owner: $owner, name: $name) {
    hasDiscussionsEnabled
    discussions(first: 100, after: $after, orderBy: {field: CREATED_AT, direction: DESC}) {
      nodes { ...discussion }
      pageInfo { hasNextPage endCursor }
    }
  }
}
` + discussionFields + "\n" + actorFields

	discussionQuery = `query Discussion($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    discussion(number: $number) { ...discussion }
  }
}
` + discussionFields + "\n" + actorFields

	discussionCommentsQuery = `query DiscussionComments($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    discussion(number: $number) {
      comments(first: 100, after: $after) {
        nodes { ...comment }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}
` + discussionCommentFields + "\n" + actorFields

	editsQuery = `query Edits($owner: String!, $name: String!, $number: Int!, $since: DateTime, $bodyAfter: String, $eventsAfter: String) {
  repository(owner: $owner, name: $name) {
    issueOrPullRequest(number: $number) {
      ... on Issue {
        createdAt
        userContentEdits(first: 100, after: $bodyAfter) { ...bodyEdits }
        timelineItems(first: 100, after: $eventsAfter, since: $since, itemTypes: [RENAMED_TITLE_EVENT, CLOSED_EVENT, REOPENED_EVENT]) {
          nodes { __typename ...titleEdit ...closing ...reopening }
          pageInfo { hasNextPage endCursor }
        }
      }
      ... on PullRequest {
        createdAt
        userContentEdits(first: 100, after: $bodyAfter) { ...bodyEdits }
        timelineItems(first: 100, after: $eventsAfter, since: $since, itemTypes: [RENAMED_TITLE_EVENT, CLOSED_EVENT, REOPENED_EVENT]) {
          nodes { __typename ...titleEdit ...closing ...reopening }
          pageInfo { hasNextPage endCursor }
        }
      }
    }
  }
}
fragment bodyEdits on UserContentEditConnection {
  nodes { editedAt editor { ...actor } }
  pageInfo { hasNextPage endCursor }
}
fragment titleEdit on RenamedTitleEvent { createdAt actor { ...actor } }
fragment closing on ClosedEvent { createdAt actor { ...actor } }
fragment reopening on ReopenedEvent { createdAt actor { ...actor } }
` + actorFields

	createDiscussionMutation = `mutation CreateDiscussion($input: CreateDiscussionInput!) {
  createDiscussion(input: $input) { discussion { ...discussion } }
}
` + discussionFields + "\n" + actorFields

	addDiscussionCommentMutation = `mutation AddDiscussionComment($input: AddDiscussionCommentInput!) {
  addDiscussionComment(input: $input) { comment { ...comment } }
}
` + discussionCommentFields + "\n" + actorFields

	deleteDiscussionMutation = `mutation DeleteDiscussion($input: DeleteDiscussionInput!) {
  deleteDiscussion(input: $input) { discussion { id } }
}`

	deleteDiscussionCommentMutation = `mutation DeleteDiscussionComment($input: DeleteDiscussionCommentInput!) {
  deleteDiscussionComment(input: $input) { comment { id } }
}`

	minimizeCommentMutation = `mutation MinimizeComment($input: MinimizeCommentInput!) {
  minimizeComment(input: $input) { minimizedComment { isMinimized minimizedReason } }
}`

	unminimizeCommentMutation = `mutation UnminimizeComment($input: UnminimizeCommentInput!) {
  unminimizeComment(input: $input) { unminimizedComment { isMinimized } }
}`

	createCommitMutation = `mutation CreateCommit($input: CreateCommitOnBranchInput!) {
  createCommitOnBranch(input: $input) { commit { oid url } }
}`
)
