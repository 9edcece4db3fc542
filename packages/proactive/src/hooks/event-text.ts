import { frameUntrusted, truncateUntrusted } from '@parley/prompt';

/** An event sent by a program. */
export interface SentEvent {
  readonly contentType: string;
  readonly body: string;
}

interface EventFormatOptions {
  /** The paths of the parts to show; the whole event when absent. */
  readonly fields?: readonly string[] | undefined;
  readonly maxCharacters: number;
}

/**
 * Formats an event for the model (P18): JSON and forms as JSON, anything else unchanged. The text
 * is framed as data from outsiders and truncated at a given limit (P10).
 */
export function formatEvent(
  sent: SentEvent,
  { fields, maxCharacters }: EventFormatOptions,
): string {
  const value = parseBody(sent);
  const text = typeof value === 'string' ? value : formatPrettyJson(selectFields(value, fields));
  return frameUntrusted(truncateUntrusted(text, maxCharacters));
}

/**
 * Returns the body as a value, or as text if it is neither JSON nor a form. JSON is parsed even if
 * the content type is wrong.
 */
function parseBody({ contentType, body }: SentEvent): unknown {
  if (/^application\/x-www-form-urlencoded\b/i.test(contentType)) return parseForm(body);
  return parseJsonObject(body) ?? body;
}

/** Unless configured otherwise, GitHub sends the whole event as JSON in one field of a form. */
function parseForm(body: string): unknown {
  const fields = Object.fromEntries(new URLSearchParams(body));
  const names = Object.keys(fields);
  const payload = names.length === 1 ? parseJsonObject(fields.payload ?? '') : undefined;
  return payload ?? fields;
}

/** Parses an object or a list; undefined for anything else. */
function parseJsonObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function formatPrettyJson(value: unknown): string {
  return JSON.stringify(value, null, 1);
}

/**
 * Selects parts of an event by their paths. If none exists, the whole event is used, so that the
 * result is never empty.
 */
function selectFields(value: unknown, fields: readonly string[] | undefined): unknown {
  if (fields === undefined) return value;
  const found = fields.flatMap((path) => {
    const part = getValueAtPath(value, splitPath(path));
    return part === undefined ? [] : [[path, part] as const];
  });
  return found.length === 0 ? value : Object.fromEntries(found);
}

function splitPath(path: string): readonly string[] {
  return path.match(/[^.[\]]+/g) ?? [];
}

/**
 * Returns the value at a path. `*` matches each item in a list; items without the path are omitted.
 */
function getValueAtPath(value: unknown, [step, ...rest]: readonly string[]): unknown {
  if (step === undefined) return value;
  if (step === '*') {
    if (!Array.isArray(value)) return undefined;
    const parts = value
      .map((one) => getValueAtPath(one, rest))
      .filter((part) => part !== undefined);
    return parts.length === 0 ? undefined : parts;
  }
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
  return getValueAtPath(Object.entries(value).find(([name]) => name === step)?.[1], rest);
}
