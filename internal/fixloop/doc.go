// Package fixloop is the fix loop of spec 003 as a pure function: failures of the checks
// become a fix request, a fix is checked again, and what cannot be mended is escalated to a
// person.
//
// Step takes a State, an Event and the time, and returns the next State with the messages that it
// caused. It has no clock and does no input or output. A driver stores the state and the messages,
// delivers the messages, and does the State's Work. The outcome of the work, and the passing of
// time, are the next events. An event that does not fit is Refused and changes nothing, so that a
// driver may send one twice.
//
// Every Message renders as the spec's Markdown, which ParseAll reads back, even after a person or
// GitHub has changed its form. The Log is the spec's communication log.
package fixloop
