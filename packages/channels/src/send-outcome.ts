/** The facts about a call that returned no result. */
export interface FailedCall {
  /** The thrown error; the chain of its causes is examined too. */
  readonly error: unknown;
  /** The HTTP status, if there was a response. */
  readonly status?: number | undefined;
  /**
   * Whether the connection (including TLS) was ready for the request, if the adapter observed it:
   * no byte is written earlier, whatever the error says.
   */
  readonly connected?: boolean | undefined;
}

/**
 * Whether the platform may have performed a call. `refused`: the platform answered that it did not
 * perform the call. `not-sent`: no byte of the request was sent. `unknown`: all other cases.
 */
export type CallOutcome = 'refused' | 'not-sent' | 'unknown';

/** Error codes of Node, OpenSSL and undici that occur only before a connection is ready. */
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
/**
 * Errors of Node and undici that occur before a connection is ready, and that differ only in their
 * message from errors of an open connection.
 */
const CONNECTING_WORDS =
  /before secure TLS connection was established|HTTP Tunneling|\breason: (?:connect|getaddrinfo) /;

/**
 * Whether a failed call may have had an effect (D04). Only `not-sent` and `refused` permit
 * repeating a call that the platform would not recognize as a repetition; every case without a rule
 * is `unknown`.
 */
export function callOutcome({ error, status, connected }: FailedCall): CallOutcome {
  // A status of 500 or higher may come from a proxy, so it is unknown whether the platform received
  // the call.
  if (status !== undefined) return status >= 400 && status < 500 ? 'refused' : 'unknown';
  if (connected !== undefined) return connected ? 'unknown' : 'not-sent';
  return isBeforeConnected(error, MAX_CAUSES) ? 'not-sent' : 'unknown';
}

/** A chain of causes may be circular. */
const MAX_CAUSES = 8;

function isBeforeConnected(error: unknown, left: number): boolean {
  if (!(error instanceof Error) || left === 0) return false;
  // An aggregate contains one error per attempted address: all of them must have failed before the
  // connection was ready.
  if (error instanceof AggregateError && error.errors.length > 0)
    return error.errors.every((each: unknown) => isBeforeConnected(each, left - 1));
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall !== undefined && CONNECTING.has(syscall)) return true;
  if (code !== undefined && BEFORE_CONNECTED.has(code)) return true;
  if (code !== undefined && BEFORE_CONNECTED_FAMILY.test(code)) return true;
  // undici counts the bytes written on the broken connection.
  if (code === 'UND_ERR_SOCKET' && getBytesWritten(error) === 0) return true;
  return CONNECTING_WORDS.test(error.message) || isBeforeConnected(error.cause, left - 1);
}

function getBytesWritten(error: Error): unknown {
  const socket = 'socket' in error ? error.socket : undefined;
  return typeof socket === 'object' && socket !== null && 'bytesWritten' in socket
    ? socket.bytesWritten
    : undefined;
}
