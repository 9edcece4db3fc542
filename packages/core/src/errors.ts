/**
 * The fields of every Parley error: `code` for programs, `retryable` for callers, `message` for
 * people.
 */
export interface ParleyErrorInit {
  /** Stable kebab-case identifier, for example `store-newer`. */
  readonly code: string;
  /** What happened, to what, and what to do, in one or two sentences. */
  readonly message: string;
  /** Whether the same call may succeed later without any change. */
  readonly retryable: boolean;
  readonly cause?: unknown;
}

/**
 * Base class of all errors that Parley throws on purpose; each package derives one class from it.
 */
export class ParleyError extends Error {
  readonly code: string;
  readonly retryable: boolean;

  constructor(init: ParleyErrorInit) {
    super(init.message, { cause: init.cause });
    this.name = new.target.name;
    this.code = init.code;
    this.retryable = init.retryable;
  }
}

/** The message of any thrown value, for logs and for people. Never throws. */
export function reasonOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  if (typeof thrown === 'string') return thrown;
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    // A circular value or a BigInt cannot be written as JSON.
    return Object.prototype.toString.call(thrown);
  }
}

/**
 * Returns the reason for a failed `fetch`, whose own message is only "fetch failed" while its cause
 * contains the reason.
 */
export function describeFetchFailure(thrown: unknown): string {
  const deeper = thrown instanceof Error ? thrown.cause : undefined;
  return reasonOf(deeper ?? thrown);
}

/** Whether a file system call failed because the file does not exist. */
export function isMissingFile(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT';
}
