/** Causes of causes; deeper ones add nothing. */
const DEEPEST_CAUSE = 4;

/** An error as plain data for a log line. */
export interface PlainError {
  readonly type: string;
  readonly message: string;
  readonly code?: string | number;
  readonly stack?: string;
  readonly cause?: PlainError | string;
}

/**
 * Takes from an error what operators need, and nothing else: client libraries hang whole requests,
 * with people's messages and tokens in them, on their errors.
 */
function plainError(error: Error, depth = 0): PlainError {
  const code = 'code' in error ? error.code : undefined;
  const hasCode = typeof code === 'string' || typeof code === 'number';
  return {
    type: error.name,
    message: error.message,
    ...(hasCode ? { code } : {}),
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...(error.cause === undefined ? {} : { cause: plainCause(error.cause, depth + 1) }),
  };
}

function plainCause(cause: unknown, depth: number): PlainError | string {
  if (!(cause instanceof Error)) return typeof cause === 'string' ? cause : typeof cause;
  return depth > DEEPEST_CAUSE ? cause.message : plainError(cause, depth);
}

/** Keys that a line has anyway; a second one would hide the first. */
const TAKEN: ReadonlySet<string> = new Set(['time', 'level', 'msg']);

/** The facts of a log line: errors made plain, and nothing in the place of the line's own keys. */
export function plainFacts(facts: object): Record<string, unknown> {
  const entries = Object.entries(facts);
  return Object.fromEntries(
    entries.map(([key, value]) => [
      TAKEN.has(key) ? `${key}_` : key,
      value instanceof Error ? plainError(value) : value,
    ]),
  );
}
