import type { ReactNode } from "react";

/** What one sees whose token is missing, or no longer that of the server. */
export function SignIn(): ReactNode {
  return (
    <main className="empty" id="sign-in">
      <h1>You are not signed in</h1>
      <p>Open the address that the server printed when it started. It looks like this:</p>
      <pre><code>{`open ${location.origin}/?token=…`}</code></pre>
      <p className="soft">The token also stands in the file <code>token</code> of the server’s data folder.</p>
      <button type="button" className="button button-main" onClick={() => location.reload()}>Try again</button>
    </main>
  );
}
