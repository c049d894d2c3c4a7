package githubapi

import (
	"time"
)

type gqlCategory struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Slug         string `json:"slug"`
	IsAnswerable bool   `json:"isAnswerable"`
	Repository   struct {
		ID string `json:"id"`
	} `json:"repository"`
}

func (g gqlCategory) category(repositoryID string) DiscussionCategory {
	return DiscussionCategory{ID: g.ID, RepositoryID: repositoryID, Name: g.Name, Slug: g.Slug, Answerable: g.IsAnswerable}
}

type gqlDiscussion struct {
	ID         string      `json:"id"`
	DatabaseID int64       `json:"databaseId"`
	Number     int         `json:"number"`
	Title      string      `json:"title"`
	Body       string      `json:"body"`
	Closed     bool        `json:"closed"`
	Locked     bool        `json:"locked"`
	URL        string      `json:"url"`
	CreatedAt  time.Time   `json:"createdAt"`
	UpdatedAt  time.Time   `json:"updatedAt"`
	Category   gqlCategory `json:"category"`
	Author     *gqlActor   `json:"author"`
}

func (g *gqlDiscussion) discussion() Discussion {
	return Discussion{ID: g.ID, DatabaseID: g.DatabaseID, Number: g.Number, Title: g.Title, Body: g.Body, Closed: g.Closed, Locked: g.Locked,
		URL: g.URL, CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt, Category: g.Category.category(g.Category.Repository.ID), Author: g.Author.actor()}
}

type gqlDiscussionComment struct {
	ID         string    `json:"id"`
	DatabaseID int64     `json:"databaseId"`
	Body       string    `json:"body"`
	URL        string    `json:"url"`
	CreatedAt  time.Time `json:"createdAt"`
	UpdatedAt  time.Time `json:"updatedAt"`
	Author     *gqlActor `json:"author"`
}

func (g *gqlDiscussionComment) comment() DiscussionComment {
	return DiscussionComment{ID: g.ID, DatabaseID: g.DatabaseID, Body: g.Body, URL: g.URL, CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt, Author: g.Author.actor()}
}
