/** The state of a JSON text that arrives in pieces. */
export interface JsonScan {
  readonly depth: number;
  readonly inString: boolean;
  /** The last character was a backslash within a string. */
  readonly isEscaped: boolean;
  /** The first object or array has been closed. */
  readonly isClosed: boolean;
}

export const NOTHING_SCANNED: JsonScan = {
  depth: 0,
  inString: false,
  isEscaped: false,
  isClosed: false,
};

/**
 * Goes on through `piece` until the object or array that the text began with is closed. `end` is the index behind
 * it, or the length of the piece while it is open. It only counts brackets and strings: whether the text is JSON
 * says `JSON.parse`.
 */
export function scanJson(
  scan: JsonScan,
  piece: string,
): { readonly scan: JsonScan; readonly end: number } {
  let { depth, inString, isEscaped, isClosed } = scan;
  let end = 0;
  for (; end < piece.length && !isClosed; end += 1) {
    const character = piece[end];
    if (isEscaped) isEscaped = false;
    else if (inString) {
      if (character === '\\') isEscaped = true;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') {
      depth -= 1;
      isClosed = depth <= 0;
    }
  }
  return { scan: { depth, inString, isEscaped, isClosed }, end };
}

/** A value of JSON; undefined where the text is none. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    // The caller decides what text that is no JSON means.
    return undefined;
  }
}

/** Strings, with their quotes; what is between them. */
const SEGMENTS = /"(?:[^"\\]|\\.)*"?|[^"]+/gs;
const ESCAPES = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})?/g;

/**
 * JSON as Python's `json`, `repr` and hasty templates write it, as JSON: `NaN`, `None`, `True`, a comma behind the
 * last element, control characters and backslashes as they are. The text of strings stays the same.
 */
export function repairJson(text: string): string {
  return text.replace(SEGMENTS, (segment) =>
    segment.startsWith('"')
      ? segment
          .replace(ESCAPES, (escaped) => (escaped.length === 1 ? '\\\\' : escaped))
          .replace(/\p{Cc}/gu, (control) => JSON.stringify(control).slice(1, -1))
      : segment
          .replace(/-?\b(?:NaN|Infinity|None|undefined)\b/g, 'null')
          .replace(/\bTrue\b/g, 'true')
          .replace(/\bFalse\b/g, 'false')
          .replace(/,(\s*[}\]])/g, '$1'),
  );
}

/** Text that is not empty; null for everything else. */
export function nonEmptyText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** A number, also one that is written as text. */
export function lenientNumber(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}
