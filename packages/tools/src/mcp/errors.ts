import { ParleyError, type ParleyErrorInit, reasonOf } from '@parley/core';
import { cleanLine } from './clean.ts';
import { blockOf } from './schema/json-block.ts';

/**
 * The faults of a server. `mcp-not-connected`: nothing was sent. `mcp-session`: the server no longer knows the
 * session, so it has not done what was asked. `mcp-disconnected`: something was sent, and the connection ended before
 * the answer. `mcp-refused`: the server answered with an error. `mcp-invalid-response`: its answer is not what the
 * protocol says. `mcp-unreachable`: it could not be reached. `mcp-sign-in`: a person has to sign in first; nothing was
 * done.
 */
export type McpErrorCode =
  | 'mcp-not-connected'
  | 'mcp-session'
  | 'mcp-disconnected'
  | 'mcp-refused'
  | 'mcp-invalid-response'
  | 'mcp-unreachable'
  | 'mcp-sign-in';

/** An error of a server, as a text for people. */
export class McpError extends ParleyError {
  constructor(init: ParleyErrorInit & { readonly code: McpErrorCode }) {
    super(init);
  }
}

/** Thrown where a server wants a person to sign in. */
export class SignInNeededError extends Error {
  constructor() {
    super('it asks for a sign-in: an owner presses “Sign in” on the page, under Status');
  }
}

/** Thrown where an answer over HTTP holds no message of the protocol. */
export class UnreadableAnswerError extends Error {}

/** Why a connection ended whose session the server has ended. */
export const SESSION_ENDED = 'it has ended the session';

/** The longest error, in characters. */
const MAX_MESSAGE = 600;
/** Causes of causes that are looked at. */
const MAX_CAUSES = 6;

/** The error of something that was asked: one that the server sent is one thing, a connection that is lost another. */
export function askError(error: unknown, isSessionLost: boolean): McpError {
  if (error instanceof McpError) return error;
  const init = (code: McpErrorCode, message: string) => ({
    code,
    message: cleanLine(message, MAX_MESSAGE),
    retryable: code === 'mcp-session',
    cause: error,
  });
  const [outer] = causesOf(error);
  const signIn = signInIn(error);
  if (signIn !== undefined) return new McpError(init('mcp-sign-in', signIn.message));
  if (typeof outer?.code === 'number') return new McpError(init('mcp-refused', reasonOf(error)));
  if (isSessionLost) {
    return new McpError(init('mcp-session', 'the server no longer knows this session'));
  }
  if (causesOf(error).some(({ code }) => code === 'CAPABILITY_NOT_SUPPORTED')) {
    const message = 'it asks a person something during the call, which is not possible here';
    return new McpError(init('mcp-refused', message));
  }
  const isUnreadable = causesOf(error).some(
    (cause) => cause.code === 'INVALID_RESULT' || cause.error instanceof UnreadableAnswerError,
  );
  if (isUnreadable) {
    return new McpError(init('mcp-invalid-response', 'its answer is not as the protocol says'));
  }
  return new McpError(init('mcp-disconnected', lostReason(error)));
}

/** The wish for a sign-in in an error, if there is one. */
export function signInIn(error: unknown): SignInNeededError | undefined {
  const found = causesOf(error).find((cause) => cause.error instanceof SignInNeededError)?.error;
  return found instanceof SignInNeededError ? found : undefined;
}

function lostReason(error: unknown): string {
  return networkReason(error) ?? httpReason(error) ?? fullReason(error);
}

/** Why a server over HTTP could not be reached, and what its operator can do. */
export function startReason(error: unknown): string {
  return cleanLine(networkReason(error) ?? httpReason(error) ?? fullReason(error), MAX_MESSAGE);
}

/** The full reason of a failure: `fetch` puts it into its cause. */
function fullReason(error: unknown): string {
  const reasons = causesOf(error).map((cause) => reasonOf(cause.error));
  const last = reasons.at(-1) ?? reasonOf(error);
  return /fetch failed/.test(reasons[0] ?? '') ? `it cannot be reached: ${last}` : reasonOf(error);
}

interface Cause {
  readonly error: unknown;
  readonly code: unknown;
}

function causesOf(error: unknown): readonly Cause[] {
  const causes: Cause[] = [];
  let one = error;
  while (one instanceof Error && causes.length < MAX_CAUSES) {
    causes.push({ error: one, code: 'code' in one ? one.code : undefined });
    one = one.cause;
  }
  return causes;
}

/** The meaning of each network fault for the person who set up the server. */
const NETWORK: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at its address; start it, or correct “url”',
  ENOTFOUND: 'its host name is not known; correct “url”',
  EAI_AGAIN: 'its host name could not be looked up; check the network',
  ECONNRESET: 'it broke off the connection',
  UND_ERR_SOCKET: 'it broke off the connection',
  ETIMEDOUT: 'it does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
  EHOSTUNREACH: 'there is no way to its address; check the network',
  ENETUNREACH: 'there is no way to its address; check the network',
  CERT_HAS_EXPIRED: 'its certificate has expired; renew it',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not signed by an authority that is trusted here',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not signed by an authority that is trusted here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate is not signed by an authority that is trusted here',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name; correct “url”',
};

function networkReason(error: unknown): string | null {
  const known = causesOf(error).find(({ code }) => typeof code === 'string' && code in NETWORK);
  return typeof known?.code === 'string' ? (NETWORK[known.code] ?? null) : null;
}

/** The HTTP status of a failed request; null where none came. */
export function httpStatus(error: unknown): number | null {
  for (const { error: one } of causesOf(error)) {
    if (!(one instanceof Error)) continue;
    const data = 'data' in one ? blockOf(one.data) : undefined;
    const said = 'status' in one ? one.status : data?.status;
    if (typeof said === 'number') return said;
  }
  return null;
}

/** Whether the fault lies in the network: asking in another way would not help. */
export function isNetworkFault(error: unknown): boolean {
  return networkReason(error) !== null;
}

function httpReason(error: unknown): string | null {
  const status = httpStatus(error);
  const message = reasonOf(error);
  if (/redirect/i.test(message)) {
    return 'it redirects to another address, which is not followed; put the final address into “url”';
  }
  if (status === null) {
    if (!/content type: text\/html/i.test(message)) return null;
    return 'it answered with a web page and not with the protocol; correct “url”';
  }
  const said = serverText(error);
  return `${statusAdvice(status)}${said === '' ? '' : `; it said: ${said}`}`;
}

/** The longest text of a server about a refusal, in characters. */
const MAX_SAID = 300;

/** The server's own words; a page for people does not count. */
function serverText(error: unknown): string {
  for (const { error: one } of causesOf(error)) {
    const data = one instanceof Error && 'data' in one ? blockOf(one.data) : undefined;
    const text = data?.text;
    if (typeof text === 'string')
      return text.trimStart().startsWith('<') ? '' : cleanLine(text, MAX_SAID);
  }
  return '';
}

function statusAdvice(status: number): string {
  if (status === 401 || status === 403) {
    return `it refuses access (HTTP ${status}); put a valid key into “headers”`;
  }
  if (status === 404 || status === 405) {
    return `no MCP server answers at its address (HTTP ${status}); correct “url”`;
  }
  if (status === 429) return 'it has had too many requests (HTTP 429)';
  if (status >= 500) return `it has a fault of its own (HTTP ${status}); see its log`;
  return `it refused the request (HTTP ${status})`;
}
