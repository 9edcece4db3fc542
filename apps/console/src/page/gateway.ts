import type { InputOf, OperationName, OutputOf } from '@parley/gateway/operations';
import { decodePart, getSelectedAgent } from './route.ts';

// The message shown if the gateway cannot be reached or has failed.
const UNREACHABLE = 'The gateway does not answer. It may be restarting.';
const BROKEN = 'The gateway could not do that. Its log shows the reason.';

/** A request without an answer for this long (ms) counts as failed. The audit takes the longest. */
const TIMEOUT_MS = 60_000;

/** The key in the storage of this origin; another port on the same machine has separate storage. */
const KEY = 'parley.session';
/** Dispatched on this window at every sign-in and sign-out; other tabs receive a storage event. */
const CHANGED = 'parley-session';

/**
 * Whether this browser has stored a session; only the gateway can tell whether it is still valid.
 */
export function isSignedIn(): boolean {
  return localStorage.getItem(KEY) !== null;
}

/** Calls `listener` when someone signs in or out in this browser, in any tab. */
export function onSession(listener: () => void): void {
  addEventListener(CHANGED, listener);
  addEventListener('storage', ({ key }) => {
    if (key === KEY || key === null) listener();
  });
}

/** Paths that start with these prefixes belong to one agent. */
const OF_ONE_AGENT =
  /^\/api\/(?:evals|heartbeat|cron|files|memory|skills|soul|prompts\/preview|replay\/choices|approvals\/(?:files|rules|revoke-rule|settle-file))(?![^/?])/;

/** Adds the selected agent to paths whose response belongs to one agent (F14). */
export function addAgentToPath(path: string, agent = getSelectedAgent()): string {
  if (agent === undefined || !OF_ONE_AGENT.test(path) || /[?&]agent=/.test(path)) return path;
  return `${path}${path.includes('?') ? '&' : '?'}agent=${encodeURIComponent(agent)}`;
}

/**
 * `fetch` with the session in a header, which browsers never send on their own. The page uses this
 * function for all requests. A session that the gateway no longer accepts is removed.
 */
export async function fetchWithSession(path: string, init: RequestInit = {}): Promise<Response> {
  const session = localStorage.getItem(KEY);
  if (session === null) return new Response(null, { status: 401 });
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${session}`);
  const response = await fetch(addAgentToPath(path), { ...init, headers });
  // The stored session may have changed, because another tab has signed in again in the meantime.
  if (response.status === 401 && localStorage.getItem(KEY) === session) {
    localStorage.removeItem(KEY);
    dispatchEvent(new Event(CHANGED));
  }
  return response;
}

/** An upload without progress for this long (ms) is aborted. */
const STALLED_MS = 30_000;

/**
 * Posts a form with the session and reports the share that has been sent, from 0 to 1, which
 * `fetch` cannot do. Rejects when the connection breaks or the upload stalls.
 */
export function upload(
  path: string,
  body: FormData,
  onProgress: (sent: number) => void,
): Promise<Response> {
  const session = localStorage.getItem(KEY);
  if (session === null) return Promise.resolve(new Response(null, { status: 401 }));
  return new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest();
    const stop = (): void => sending.abort();
    let stalled = setTimeout(stop, STALLED_MS);
    sending.open('POST', path);
    sending.setRequestHeader('authorization', `Bearer ${session}`);
    sending.upload.onprogress = ({ loaded, total }) => {
      clearTimeout(stalled);
      stalled = setTimeout(stop, STALLED_MS);
      onProgress(total === 0 ? 0 : loaded / total);
    };
    sending.onloadend = () => {
      clearTimeout(stalled);
      const { status } = sending;
      if (status === 0) reject(new Error('The connection broke.'));
      else resolve(new Response(sending.responseText || null, { status }));
    };
    sending.send(body);
  });
}

/**
 * Downloads a file for the browser to save. Returns undefined on success, and otherwise the reason.
 * Never rejects.
 */
export async function download(path: string, name: string): Promise<ActionOutcome | undefined> {
  const file = await fetchFile(path);
  if (file === null) return { text: `Could not load ${name}.`, isTrouble: true };
  const address = URL.createObjectURL(file);
  Object.assign(document.createElement('a'), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), STALLED_MS);
  return undefined;
}

/**
 * The bytes at a path, for pictures and links, whose own requests do not include the session; null
 * if there are none.
 */
export async function fetchFile(path: string): Promise<Blob | null> {
  try {
    const response = await fetchWithSession(path);
    return response.ok ? await response.blob() : null;
  } catch {
    // The connection broke, perhaps after part of the file had arrived.
    return null;
  }
}

/** The gateway's answer, or the reason why there is none. */
export type GatewayResponse<Value> =
  | { readonly kind: 'here'; readonly value: Value }
  | RequestFailure;

/**
 * Describes for people why the gateway did not answer and what to do; `retryable` if another
 * attempt may help.
 */
export interface RequestFailure {
  readonly kind: 'failed';
  readonly reason: string;
  readonly retryable: boolean;
}

/**
 * Sends one request, as a POST if `body` is given. Never rejects: a failure is described in a
 * sentence for people. The answering gateway also served this page, so the answer has the type
 * `Value` that the gateway declares for the path.
 */
export function askGateway<Value>(
  path: string,
  body?: object,
  timeoutMs = TIMEOUT_MS,
): Promise<GatewayResponse<Value>> {
  return sendRequest<Value>(
    path,
    timeoutMs,
    body && { method: 'POST', body: JSON.stringify(body) },
  );
}

/** The result of a person's action. */
export interface ActionOutcome {
  readonly text: string;
  readonly isTrouble: boolean;
}

/** The path of a read operation, for GET. */
export function buildReadPath<Name extends OperationName>(
  name: Name,
  input: InputOf<Name>,
): string {
  const given = Object.entries(input ?? {}).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(given.map(([field, value]) => [field, String(value)]));
  return query.size === 0 ? `/api/${name}` : `/api/${name}?${query}`;
}

/** Performs an operation. The answer has the type that the operation declares. Never rejects. */
export function performOperation<Name extends OperationName>(
  name: Name,
  input: InputOf<Name>,
  timeoutMs?: number,
): Promise<GatewayResponse<OutputOf<Name>>> {
  return askGateway(`/api/${name}`, { ...input }, timeoutMs);
}

/**
 * Performs an operation and returns only its outcome. On success, the result is undefined or the
 * text that `textOf` creates from the answer; otherwise it is the reason. Never rejects.
 */
export async function runOperation<Name extends OperationName>(
  name: Name,
  input: InputOf<Name>,
  textOf?: (answer: OutputOf<Name>) => string,
): Promise<ActionOutcome | undefined> {
  const answer = await performOperation(name, input);
  if (answer.kind === 'failed') return { text: answer.reason, isTrouble: true };
  return textOf && { text: textOf(answer.value), isTrouble: false };
}

async function sendRequest<Value>(
  path: string,
  timeoutMs: number,
  init: RequestInit = {},
): Promise<GatewayResponse<Value>> {
  try {
    const response = await fetchWithSession(path, {
      ...init,
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.status === 401) return createFailure('This browser is no longer signed in.');
    if (response.status >= 500) return createFailure(BROKEN, true);
    if (response.ok) return { kind: 'here', value: await response.json() };
    const { error = BROKEN } = await response.json().catch(() => ({}));
    return createFailure(String(error));
  } catch {
    return createFailure(UNREACHABLE, true);
  }
}

function createFailure(reason: string, retryable = false): RequestFailure {
  return { kind: 'failed', reason, retryable };
}

/**
 * Exchanges a token for a session. Returns null on success, and otherwise the reason, for people.
 * Never rejects.
 */
export async function signIn(token: string): Promise<string | null> {
  const before = localStorage.getItem(KEY);
  try {
    if (token.startsWith('parley_session_')) return await adoptSession(token, before);
    const response = await fetch('/api/sessions', {
      method: 'POST',
      body: JSON.stringify({ token }),
    });
    if (response.status >= 500) return BROKEN;
    if (!response.ok) return await response.text();
    const { session, role } = await response.json();
    // Unsent messages belong to an owner, so they are removed for anyone else.
    if (role !== 'owner') localStorage.clear();
    localStorage.setItem(KEY, String(session));
    dispatchEvent(new Event(CHANGED));
    // The old session is ended last, so that a reload before that still has a session.
    if (before !== null) void endSession(before);
    return null;
  } catch {
    return UNREACHABLE;
  }
}

/** Continues with a session that `parley sessions new` opened for this browser. */
async function adoptSession(session: string, before: string | null): Promise<string | null> {
  const headers = { authorization: `Bearer ${session}` };
  const response = await fetch('/api/sessions/me', { headers });
  if (response.status >= 500) return BROKEN;
  if (!response.ok) return 'This link has expired. "parley sessions new" prints a new one.';
  localStorage.setItem(KEY, session);
  dispatchEvent(new Event(CHANGED));
  if (before !== null && before !== session) void endSession(before);
  return null;
}

/**
 * Ends a session that this browser has replaced; if the request fails, the session expires on its
 * own.
 */
async function endSession(session: string): Promise<void> {
  const headers = { authorization: `Bearer ${session}` };
  const init = { method: 'POST', headers, body: '{}', keepalive: true };
  const over = fetch('/api/sessions/leave', init);
  await over.catch(() => undefined);
}

/**
 * Removes everything that the page stored in this browser, including unsent messages, and reloads.
 */
export function clearStoredData(): void {
  localStorage.clear();
  indexedDB.deleteDatabase('parley');
  history.replaceState(null, '', '/');
  location.reload();
}

/** The token from a sign-in address, `/#token=…`; it is removed from the address immediately. */
export function extractSignInToken(): string | null {
  const token = /^#token=(.+)$/.exec(location.hash)?.[1];
  if (token === undefined) return null;
  history.replaceState(null, '', '/');
  return decodePart(token);
}

/** An id of 128 random bits. Browsers provide `crypto.randomUUID` only on HTTPS and localhost. */
export function createRandomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
