import type { PlainError } from './plain-error.ts';

const LEVELS: Readonly<Record<string, { readonly word: string; readonly colour: number }>> = {
  debug: { word: 'debug', colour: 90 },
  info: { word: 'info ', colour: 36 },
  warn: { word: 'warn ', colour: 33 },
  error: { word: 'ERROR', colour: 31 },
};

/**
 * One JSON log line as a line for people: `14:05:09.123 info  message key=value`. Everything that came
 * from outside is escaped, so nobody can forge a line or move the cursor. The stack of an error that
 * has no code, which nobody expected, follows indented.
 */
export function prettyLine(jsonLine: string, colour: boolean): string {
  const { time, level, msg, ...facts } = JSON.parse(jsonLine) as Record<string, unknown>;
  const paint = (code: number, text: string) => (colour ? `\u001B[${code}m${text}\u001B[0m` : text);
  const { word, colour: shade } = LEVELS[String(level)] ?? { word: String(level), colour: 0 };
  const pairs = Object.entries(facts).map(
    ([key, value]) => `${paint(90, `${escaped(key)}=`)}${shown(value)}`,
  );
  const line = [
    paint(90, clockTime(time)),
    paint(shade, word),
    escaped(String(msg ?? '')),
    ...pairs,
  ];
  const stacks = Object.values(facts).flatMap((value) => (isError(value) ? stackOf(value) : []));
  return `${[line.join(' '), ...stacks].join('\n')}\n`;
}

function clockTime(time: unknown): string {
  const date = new Date(String(time));
  const pad = (value: number, width = 2) => String(value).padStart(width, '0');
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((n) => pad(n))
    .join(':');
  return `${clock}.${pad(date.getMilliseconds(), 3)}`;
}

function shown(value: unknown): string {
  if (isError(value)) return quoted(`${value.type}: ${messages(value)}`);
  return typeof value === 'string' ? quoted(value) : escaped(JSON.stringify(value));
}

function messages({ message, cause }: PlainError): string {
  if (cause === undefined) return message;
  return `${message} ← ${typeof cause === 'string' ? cause : messages(cause)}`;
}

/** Words stand as they are; whatever could be mistaken for something else is quoted. */
function quoted(text: string): string {
  return /^[\w.:/@+,%~#-]+$/.test(text) ? text : escaped(JSON.stringify(text));
}

/** Control characters, line separators and marks that turn the writing direction, made visible. */
function escaped(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\u2028\u2029\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function stackOf(error: PlainError): string[] {
  if (error.code !== undefined || error.stack === undefined) return [];
  const frames = error.stack.split('\n').filter((line) => /^\s+at /.test(line));
  return frames.map((frame) => `    ${escaped(frame.trim())}`);
}

function isError(value: unknown): value is PlainError {
  return typeof value === 'object' && value !== null && 'type' in value && 'message' in value;
}
