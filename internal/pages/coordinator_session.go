package pages

import (
	"net/http"
	"net/url"
	"strings"
)

// signInView is the page on which visitors sign in.
type signInView struct {
	Error          string // why the attempt to sign in failed; "" if there was none
	WhyNotSignedIn string // see Visitor
	CanSignIn      bool
	Next           string // where to go after signing in
}

var signInPage = coordinatorPage("signin.html")

func (x *visit) showSignIn(status int, failure string) {
	x.show(status, signInPage, "Sign in", signInView{Error: failure, WhyNotSignedIn: x.WhyNotSignedIn, CanSignIn: x.CanSignIn, Next: x.next()})
}

// next returns where to go after signing in: "/" or the coordinator's page that the request names,
// other than the sign-in page. It is "/" if the request names no such page.
func (x *visit) next() string {
	u, err := url.Parse(x.r.FormValue("next"))
	if err != nil {
		return "/"
	}
	isLocal := u.Scheme == "" && u.Host == "" && u.Opaque == "" && u.User == nil
	isPage := u.Path == "/" || strings.HasPrefix(u.Path, CoordinatorPath) && u.Path != signInPath
	if !isLocal || !isPage || strings.ContainsAny(u.Path, "\\\r\n\t") {
		return "/"
	}
	return (&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}).String()
}

func (x *visit) signIn() error {
	if x.r.Method != http.MethodPost {
		if x.Name != "" {
			return x.goTo(x.next())
		}
		x.showSignIn(http.StatusOK, "")
		return nil
	}
	form, err := x.form()
	if err != nil {
		return err
	}
	if status, err := x.SignIn(strings.TrimSpace(form.Get("token"))); err != nil {
		x.showSignIn(status, sentence(err.Error()))
		return nil
	}
	return x.goTo(x.next())
}

func (x *visit) signOut() error {
	if err := x.SignOut(); err != nil {
		return err
	}
	return x.goTo(signInPath)
}
