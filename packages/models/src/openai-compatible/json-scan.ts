/** The state of JSON text that arrives in pieces. */
export interface JsonScan {
  readonly depth: number;
  readonly inString: boolean;
  /** Whether the last character was a backslash inside a string. */
  readonly isEscaped: boolean;
  /** Whether the first object or array is complete. */
  readonly isClosed: boolean;
}

export const NOTHING_SCANNED: JsonScan = {
  depth: 0,
  inString: false,
  isEscaped: false,
  isClosed: false,
};

/**
 * Scans `piece` until the object or array at the beginning of the text is closed. `end` is the
 * index after the closing bracket, or the length of the piece if the value is still open. Only
 * brackets and strings are tracked; `JSON.parse` decides whether the text is JSON.
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

/** Parses JSON; undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    // The caller handles text that is not JSON.
    return undefined;
  }
}

/** Matches strings with their quotes, and the text between them. */
const SEGMENTS = /"(?:[^"\\]|\\.)*"?|[^"]+/gs;
const ESCAPES = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})?/g;

/**
 * Repairs JSON as Python's `json`, `repr` and careless templates write it: `NaN`, `None`, `True`, a
 * trailing comma, unescaped control characters and backslashes. The text inside strings is not
 * changed otherwise.
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

/** Returns text that is not empty; null for any other value. */
export function toNonEmptyText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Returns a number, even if it was written as text. */
export function toLenientNumber(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}
