// Package dashboard shows a peer in the browser: a page, a REST interface below /api/v1, a websocket that
// keeps the page true, and /metrics for Prometheus. What it shows comes from a [Source], which the daemon
// plugs in.
//
// # Who may look
//
// The server listens on loopback only, and answers only requests whose Host is a literal loopback address
// with its own port, so that no name on the internet can be bound to it. The page itself holds nothing
// secret. Everything else needs a session, which a link gives ([Server.Link]): its token works once, and
// becomes a secret that the page holds, and a cookie that is good for looking only; or one of the two tokens
// that scripts find in files that only the user can read
// ([Config].Dir). A session or token may only look, or also act ([Level]). Requests that act must come from
// the page itself, as must the websocket, which takes subscriptions and nothing else.
//
// A cookie is for a host, whatever the port. Another program that serves pages on the same loopback address
// can therefore get the cookie of a user who opens its pages, and look. Nobody acts by it.
//
// # What is sent
//
// While at least one websocket is subscribed the Source is asked every [Config].Every, and never otherwise.
// What changed gets a number; each client is sent the latest values that are newer than the number it has,
// when it can take them. Nothing is queued: a slow client misses values in between, never the last one. A
// client that reconnects resumes by number, or gets everything anew if too much has gone since or the daemon
// is another.
//
// A [Tree] holds the steal tree of a run in bounded space and answers for the part of it that is seen. The
// last runs' trees and timelines are held; they are made from the Source's [report.Part]s, which it has only while
// somebody watches, as nobody else is asked for them. Pages hold a copy of the tree that they show, and ask
// for what is new when its version, which is sent to them, has grown.
//
// The page is in web/, as it is served. In there, "npm ci && npm run check" checks its types; "go test -tags
// browser" tries it in Chromium.
//
// Texts in what is sent may come from other peers and may contain anything; the page shows them as text.
package dashboard
