import { ParleyError, type ParleyErrorInit, reasonOf } from '@parley/core';
import { toCleanLine } from './clean.ts';
import { toBlock } from './schema/json-block.ts';

/**
 * The errors that a server can cause. `mcp-not-connected`: nothing was sent. `mcp-session`: the
 * server does not recognize the session, and has therefore not executed the request.
 * `mcp-disconnected`: the connection ended after the request was sent and before the response.
 * `mcp-refused`: the server responded with an error. `mcp-invalid-response`: the server's response
 * violates the protocol. `mcp-unreachable`: the server could not be reached. `mcp-sign-in`: the
 * server requires a person to sign in; nothing was executed.
 */
export type McpErrorCode =
  | 'mcp-not-connected'
  | 'mcp-session'
  | 'mcp-disconnected'
  | 'mcp-refused'
  | 'mcp-invalid-response'
  | 'mcp-unreachable'
  | 'mcp-sign-in';

/** An error from an MCP server, worded for people. */
export class McpError extends ParleyError {
  constructor(init: ParleyErrorInit & { readonly code: McpErrorCode }) {
    super(init);
  }
}

/** Thrown when a server requires a person to sign in. */
export class SignInRequiredError extends Error {
  constructor() {
    super('it asks for a sign-in: an owner can click “Sign in” on the Status page');
  }
}

/** Thrown when an HTTP response does not contain a protocol message. */
export class UnreadableResponseError extends Error {}

/** The reason reported for a connection whose session the server ended. */
export const SESSION_ENDED = 'it has ended the session';

/** The maximum length of an error message, in characters. */
const MAX_MESSAGE = 600;
/** The maximum number of `cause` levels that are inspected. */
const MAX_CAUSES = 6;

/**
 * Converts the error of a request, and distinguishes an error sent by the server from a lost
 * connection.
 */
export function toRequestError(error: unknown, isSessionLost: boolean): McpError {
  if (error instanceof McpError) return error;
  const init = (code: McpErrorCode, message: string) => ({
    code,
    message: toCleanLine(message, MAX_MESSAGE),
    retryable: code === 'mcp-session',
    cause: error,
  });
  const [outer] = listCauses(error);
  const signIn = findSignInRequired(error);
  if (signIn !== undefined) return new McpError(init('mcp-sign-in', signIn.message));
  if (typeof outer?.code === 'number') return new McpError(init('mcp-refused', reasonOf(error)));
  if (isSessionLost) {
    return new McpError(init('mcp-session', 'the server no longer knows this session'));
  }
  if (listCauses(error).some(({ code }) => code === 'CAPABILITY_NOT_SUPPORTED')) {
    const message = 'it asks a person a question during the call, which is not supported here';
    return new McpError(init('mcp-refused', message));
  }
  const isUnreadable = listCauses(error).some(
    (cause) => cause.code === 'INVALID_RESULT' || cause.error instanceof UnreadableResponseError,
  );
  if (isUnreadable) {
    return new McpError(init('mcp-invalid-response', 'its answer violates the protocol'));
  }
  return new McpError(init('mcp-disconnected', describeLostConnection(error)));
}

/** Returns the SignInRequiredError among the causes of an error, if any. */
export function findSignInRequired(error: unknown): SignInRequiredError | undefined {
  const found = listCauses(error).find(
    (cause) => cause.error instanceof SignInRequiredError,
  )?.error;
  return found instanceof SignInRequiredError ? found : undefined;
}

function describeLostConnection(error: unknown): string {
  return describeNetworkError(error) ?? describeHttpError(error) ?? describeFailure(error);
}

/**
 * Explains why a server over HTTP could not be reached, and how its operator can fix the problem.
 */
export function describeStartFailure(error: unknown): string {
  return toCleanLine(
    describeNetworkError(error) ?? describeHttpError(error) ?? describeFailure(error),
    MAX_MESSAGE,
  );
}

/** Returns the most specific reason for a failure, which `fetch` hides in its cause. */
function describeFailure(error: unknown): string {
  const reasons = listCauses(error).map((cause) => reasonOf(cause.error));
  const last = reasons.at(-1) ?? reasonOf(error);
  return /fetch failed/.test(reasons[0] ?? '') ? `it cannot be reached: ${last}` : reasonOf(error);
}

interface ErrorCause {
  readonly error: unknown;
  readonly code: unknown;
}

function listCauses(error: unknown): readonly ErrorCause[] {
  const causes: ErrorCause[] = [];
  let one = error;
  while (one instanceof Error && causes.length < MAX_CAUSES) {
    causes.push({ error: one, code: 'code' in one ? one.code : undefined });
    one = one.cause;
  }
  return causes;
}

/** What each network error means for the person who configured the server. */
const NETWORK: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at its address; start it, or correct “url”',
  ENOTFOUND: 'its host name is unknown; correct “url”',
  EAI_AGAIN: 'its host name could not be looked up; check the network',
  ECONNRESET: 'it closed the connection',
  UND_ERR_SOCKET: 'it closed the connection',
  ETIMEDOUT: 'it does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
  EHOSTUNREACH: 'its address is unreachable; check the network',
  ENETUNREACH: 'its address is unreachable; check the network',
  CERT_HAS_EXPIRED: 'its certificate has expired; renew it',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not signed by a trusted authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not signed by a trusted authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not signed by a trusted authority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name; correct “url”',
};

function describeNetworkError(error: unknown): string | null {
  const known = listCauses(error).find(({ code }) => typeof code === 'string' && code in NETWORK);
  return typeof known?.code === 'string' ? (NETWORK[known.code] ?? null) : null;
}

/** Returns the HTTP status of a failed request; null if there was no response. */
export function getHttpStatus(error: unknown): number | null {
  for (const { error: one } of listCauses(error)) {
    if (!(one instanceof Error)) continue;
    const data = 'data' in one ? toBlock(one.data) : undefined;
    const said = 'status' in one ? one.status : data?.status;
    if (typeof said === 'number') return said;
  }
  return null;
}

/** Whether the failure is in the network, so that another protocol version would fail as well. */
export function isNetworkFault(error: unknown): boolean {
  return describeNetworkError(error) !== null;
}

function describeHttpError(error: unknown): string | null {
  const status = getHttpStatus(error);
  const message = reasonOf(error);
  if (/redirect/i.test(message)) {
    return 'it redirects to another address, which is not followed; put the final address into “url”';
  }
  if (status === null) {
    if (!/content type: text\/html/i.test(message)) return null;
    return 'it answered with a web page instead of the protocol; correct “url”';
  }
  const said = getServerText(error);
  return `${getStatusAdvice(status)}${said === '' ? '' : `; it said: ${said}`}`;
}

/** The maximum length of a quoted refusal, in characters. */
const MAX_SAID = 300;

/** Returns the text of the server's response, unless it is an HTML page. */
function getServerText(error: unknown): string {
  for (const { error: one } of listCauses(error)) {
    const data = one instanceof Error && 'data' in one ? toBlock(one.data) : undefined;
    const text = data?.text;
    if (typeof text === 'string')
      return text.trimStart().startsWith('<') ? '' : toCleanLine(text, MAX_SAID);
  }
  return '';
}

function getStatusAdvice(status: number): string {
  if (status === 401 || status === 403) {
    return `it refuses access (HTTP ${status}); put a valid key into “headers”`;
  }
  if (status === 404 || status === 405) {
    return `no MCP server answers at its address (HTTP ${status}); correct “url”`;
  }
  if (status === 429) return 'it received too many requests (HTTP 429)';
  if (status >= 500) return `it has an internal error (HTTP ${status}); see its log`;
  return `it refused the request (HTTP ${status})`;
}
