/**
 * What a browser without the right token sees. It holds no secret and no script; styles and pictures
 * are the only files it needs, see `isOpenFile`. `explanation` is plain text.
 */
export function signInPage(explanation: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Parley – sign in</title>
<link rel="icon" href="/page/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/page/style/base.css">
<link rel="stylesheet" href="/page/style/sign-in.css">
<main class="sign-in">
<img class="sign-in-icon" src="/page/icon.svg" alt="" width="56" height="56">
<h1>This chat is private</h1>
<p>${escaped(explanation)}</p>
<form action="/" method="get">
<label for="token">Token</label>
<div class="sign-in-row">
<input id="token" name="token" type="password" autocomplete="off" spellcheck="false" required autofocus>
<button type="submit">Open the chat</button>
</div>
</form>
<p class="sign-in-hint">The address that <code>parley start</code> prints opens the chat directly. The token is also in the file <code>token</code> of the data folder.</p>
<p class="sign-in-hint">Signed in before? <a href="/">Try again</a>.</p>
</main>
</html>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** Whether a file may be had without the token: only looks, which anybody can read in the source. */
export function isOpenFile(path: string): boolean {
  return /^\/page\/[\w/-]+\.(?:css|svg)$/.test(path);
}
