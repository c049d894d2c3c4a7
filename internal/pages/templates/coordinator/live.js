// Keeps the parts of a page that are marked data-live up to date: it loads the page again
// when the server sends an event of what data-events names, and every data-every
// milliseconds, and replaces the parts that have changed. The page works without it.
"use strict";
(() => {
  const parts = () => document.querySelectorAll("[data-live]");
  const setting = (name) => document.querySelector(`[data-live][data-${name}]`)?.getAttribute(`data-${name}`);
  let events = null, timer = 0, busy = false, again = false;

  const replace = (part, fresh) => {
    for (const name of ["data-events", "data-every"]) {
      if (fresh.hasAttribute(name)) part.setAttribute(name, fresh.getAttribute(name));
      else part.removeAttribute(name);
    }
    if (part.innerHTML === fresh.innerHTML) return;
    const focused = part.contains(document.activeElement) ? document.activeElement : null;
    // What somebody is typing into stays; the next update is as good.
    if (focused && focused.matches("input, select, textarea")) return;
    const log = part.querySelector(".log");
    const atEnd = !log || log.scrollTop + log.clientHeight >= log.scrollHeight - 4;
    const top = log ? log.scrollTop : 0;
    part.replaceChildren(...fresh.childNodes);
    const now = part.querySelector(".log");
    if (now) now.scrollTop = atEnd ? now.scrollHeight : top;
    if (focused) {
      const same = focused.id && document.getElementById(focused.id);
      if (same) same.focus();
      else { part.tabIndex = -1; part.focus(); }
    }
  };

  const update = async () => {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "manual" });
      if (answer.type === "opaqueredirect") { location.reload(); return; } // the session has ended
      if (answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        for (const part of parts()) {
          const fresh = page.getElementById(part.id);
          if (fresh) replace(part, document.importNode(fresh, true));
        }
      }
    } catch {
      // The server is gone for a moment: the next time it is asked again.
    }
    busy = false;
    follow();
    if (again) { again = false; update(); }
  };

  const follow = () => {
    const source = setting("events"), every = Number(setting("every"));
    if (source && !events) {
      events = new EventSource(source);
      events.addEventListener("status", update);
      events.addEventListener("error", () => {
        if (events.readyState !== EventSource.CLOSED) return; // it connects again by itself
        events = null; // refused: the page says why, such as that the session has ended
        clearTimeout(timer);
        timer = setTimeout(update, 1000);
      });
    } else if (!source && events) {
      events.close();
      events = null;
    }
    clearTimeout(timer);
    if (every > 0) timer = setTimeout(() => document.visibilityState === "visible" ? update() : follow(), every);
  };

  for (const log of document.querySelectorAll(".log")) log.scrollTop = log.scrollHeight;
  if (parts().length) follow();
})();
