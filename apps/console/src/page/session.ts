import { decoded } from './route.ts';

/** Of this origin alone: another port of the same machine has a storage of its own. */
const KEY = 'parley.session';
/** Sent to this window when it is signed in or out; other tabs hear of it by their storage. */
const CHANGED = 'parley-session';

/** Whether this browser has a session; whether it is still good is for the gateway to say. */
export function isSignedIn(): boolean {
  return localStorage.getItem(KEY) !== null;
}

/** Calls back when this browser was signed in or out, in whatever tab. */
export function onSession(listener: () => void): void {
  addEventListener(CHANGED, listener);
  addEventListener('storage', ({ key }) => {
    if (key === KEY || key === null) listener();
  });
}

/**
 * `fetch` with the session, in a header that no browser sends by itself. Every request of the page goes
 * through here. One that the gateway does not know any more is forgotten.
 */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const session = localStorage.getItem(KEY);
  if (session === null) return new Response(null, { status: 401 });
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${session}`);
  const response = await fetch(path, { ...init, headers });
  // Another tab may have signed in again in the meantime.
  if (response.status === 401 && localStorage.getItem(KEY) === session) {
    localStorage.removeItem(KEY);
    dispatchEvent(new Event(CHANGED));
  }
  return response;
}

/** Trades the token for a session. Null: done; else why not, in words for people. Never rejects. */
export async function signIn(token: string): Promise<string | null> {
  const before = localStorage.getItem(KEY);
  try {
    const response = await fetch('/api/sessions', {
      method: 'POST',
      body: JSON.stringify({ token }),
    });
    if (response.status >= 500) return 'The gateway could not do it; its log tells why.';
    if (!response.ok) return await response.text();
    const { session } = await response.json();
    localStorage.setItem(KEY, String(session));
    dispatchEvent(new Event(CHANGED));
    // Only now: a page that is reloaded in between keeps the one it had.
    if (before !== null) void end(before);
    return null;
  } catch {
    return 'The gateway does not answer. It may be starting again.';
  }
}

/** Ends a session that this browser has replaced; if that does not work it ends by itself. */
async function end(session: string): Promise<void> {
  const headers = { authorization: `Bearer ${session}` };
  const over = fetch('/api/sessions/current', { method: 'DELETE', headers, keepalive: true });
  await over.catch(() => undefined);
}

/** Forgets all that the page has kept in this browser, also what was not sent yet, and starts afresh. */
export function forgetEverything(): void {
  localStorage.clear();
  history.replaceState(null, '', '/');
  location.reload();
}

/** The token of an address that signs in, `/#token=…`; it is taken out of the address at once. */
export function takeToken(): string | null {
  const token = /^#token=(.+)$/.exec(location.hash)?.[1];
  if (token === undefined) return null;
  history.replaceState(null, '', '/');
  return decoded(token);
}
