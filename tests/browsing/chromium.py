"""Starting the browser, for tests, screenshots and measurements."""

EXECUTABLE = "/usr/bin/chromium"
# The same engine without windows, tabs and an address bar, which no test needs and which take a
# third of the processor time.
SHELL = "/usr/bin/chromium-headless-shell"
ARGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
