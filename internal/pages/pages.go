// Package pages turns data into HTML pages. Apart from a tool of the tests
// (githubtest/pullpage), it is the only importer of html/template: the templates are files of ours,
// and everything else, an agent's words above all, is data that html/template escapes for the place
// where it stands.
//
// To add a page: a file below templates that defines the templates "title" and "main" (and
// "nav", if the page has links to others), a newPage for it, and a function or method that
// renders it with its own data. The layout around it is templates/layout.html, its looks are
// style.css. A page needs no script; one that has some loads it from its own server.
package pages

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"sync"
)

//go:embed templates style.css
var files embed.FS

// Stylesheet returns the stylesheet of all pages.
func Stylesheet() []byte {
	css, err := files.ReadFile("style.css")
	if err != nil {
		panic(err) // it is embedded
	}
	return css
}

// styleSource returns the source expression by which a Content-Security-Policy allows the
// inline stylesheet and no other.
var styleSource = sync.OnceValue(func() string {
	sum := sha256.Sum256(Stylesheet())
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
})

// frame is what the layout shows around a page.
type frame struct {
	// Stylesheet is the address of the stylesheet; "" to write it into the page.
	Stylesheet string
	// Policy is a Content-Security-Policy for the page to state itself; "" where a server's
	// header states it.
	Policy string
	// Scripts are the addresses of scripts, on the page's own server.
	Scripts []string
}

// standalone returns the frame of a page that is a file: it contains everything it needs,
// and nothing in it can act or be fetched.
func standalone() frame {
	return frame{Policy: "default-src 'none'; style-src " + styleSource() + "; base-uri 'none'; form-action 'none'"}
}

// page returns the templates of one page, which are parsed when it is first rendered.
type page func() (*template.Template, error)

// newPage returns the page that the named files below templates define together, with funcs,
// which may be nil, for its templates.
func newPage(funcs template.FuncMap, names ...string) page {
	return sync.OnceValues(func() (*template.Template, error) {
		patterns := []string{"templates/layout.html"}
		for _, name := range names {
			patterns = append(patterns, "templates/"+name)
		}
		t, err := template.New("layout.html").Funcs(funcs).ParseFS(files, patterns...)
		if err != nil {
			return nil, fmt.Errorf("a page's templates: %w", err)
		}
		return t, nil
	})
}

// render writes the page, with funcs in place of some functions that newPage was given; nil replaces
// none. After an error w may have a part of the page, so answers to a browser are made by
// renderWhole.
func (p page) render(w io.Writer, f frame, funcs template.FuncMap, data any) error {
	t, err := p()
	if err == nil && funcs != nil {
		t, err = t.Clone()
	}
	if err != nil {
		return err
	}
	return t.Funcs(funcs).Execute(w, struct {
		frame
		Style template.CSS
		Data  any
	}{f, template.CSS(Stylesheet()), data}) // #nosec G203 -- the stylesheet is a file of ours
}

// renderWhole returns the page, or an error and nothing of it.
func (p page) renderWhole(f frame, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := p.render(&b, f, nil, data); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
