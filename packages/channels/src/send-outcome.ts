/** The facts about a call that returned no result. */
export interface CallFacts {
  /** The thrown error; its causes are examined as well. */
  readonly error: unknown;
  /** The HTTP status, if there was a response. */
  readonly status?: number | undefined;
  /**
   * Whether the connection (including TLS) was ready for the request, if the adapter observed that:
   * nothing is written before, whatever the error says.
   */
  readonly connected?: boolean | undefined;
}

/**
 * Whether the platform may have performed a call. `refused`: it answered that it did not.
 * `not-sent`: no byte of the request left. `unknown`: everything else.
 */
export type CallOutcome = 'refused' | 'not-sent' | 'unknown';

/** Codes of Node, OpenSSL and undici that occur before a connection is ready, and never after. */
const BEFORE_CONNECTED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EAI_NODATA',
  'EAI_NONAME',
  'ERR_INVALID_URL',
  'ERR_INVALID_PROTOCOL',
  'ERR_UNESCAPED_CHARACTERS',
  'ERR_PROXY_TUNNEL',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_PRX_TLS',
  'ERR_SOCKET_CONNECTION_TIMEOUT',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_UNSUPPORTED_PROTOCOL',
  'ERR_SSL_NO_PROTOCOLS_AVAILABLE',
  'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
  'ERR_SSL_TLSV1_UNRECOGNIZED_NAME',
  'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
  'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE',
]);
const BEFORE_CONNECTED_FAMILY = /^(?:CERT_|ERR_TLS_CERT_)/;
const CONNECTING: ReadonlySet<string> = new Set(['connect', 'getaddrinfo']);
/** Errors of Node and undici that differ from those of an open connection only by their message. */
const CONNECTING_WORDS =
  /before secure TLS connection was established|HTTP Tunneling|\breason: (?:connect|getaddrinfo) /;

/**
 * Whether a failed call may have had an effect (D04). Only `not-sent` and `refused` permit
 * repeating a call whose repetition the platform would not recognize; anything not covered by a
 * rule is `unknown`.
 */
export function callOutcome({ error, status, connected }: CallFacts): CallOutcome {
  // A status of 500 or higher may come from a proxy in between: whether the call went through is
  // unknown.
  if (status !== undefined) return status >= 400 && status < 500 ? 'refused' : 'unknown';
  if (connected !== undefined) return connected ? 'unknown' : 'not-sent';
  return isBeforeConnected(error, MAX_CAUSES) ? 'not-sent' : 'unknown';
}

/** A chain of causes may be circular. */
const MAX_CAUSES = 8;

function isBeforeConnected(error: unknown, left: number): boolean {
  if (!(error instanceof Error) || left === 0) return false;
  // There is one error per attempted address: all of them must have failed this early.
  if (error instanceof AggregateError && error.errors.length > 0)
    return error.errors.every((each: unknown) => isBeforeConnected(each, left - 1));
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall !== undefined && CONNECTING.has(syscall)) return true;
  if (code !== undefined && BEFORE_CONNECTED.has(code)) return true;
  if (code !== undefined && BEFORE_CONNECTED_FAMILY.test(code)) return true;
  // undici counts the bytes written on the connection that broke.
  if (code === 'UND_ERR_SOCKET' && getBytesWritten(error) === 0) return true;
  return CONNECTING_WORDS.test(error.message) || isBeforeConnected(error.cause, left - 1);
}

function getBytesWritten(error: Error): unknown {
  const socket = 'socket' in error ? error.socket : undefined;
  return typeof socket === 'object' && socket !== null && 'bytesWritten' in socket
    ? socket.bytesWritten
    : undefined;
}
