import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import pino from 'pino';
import { escapeHiddenCharacters, type Logger } from '../index.ts';
import { OutageGate } from './log-dedup.ts';
import { type Scrub, scrubJsonLine } from './scrubber.ts';

/** The levels, from the most verbose to the quietest; `silent` logs nothing. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Receives finished lines, each with its line break. */
export interface LogDestination {
  write(line: string): void;
}

export interface LoggerOptions {
  /**
   * The level; a function is called for every line, because the level may change while the process
   * runs.
   */
  readonly level: LogLevel | (() => LogLevel);
  /** `auto`: pretty in a terminal, JSON elsewhere. */
  readonly format: 'auto' | 'pretty' | 'json';
  /** Removes secrets, usually `Secrets.scrubLog`. */
  readonly scrub: Scrub;
  /**
   * Standard error by default, written synchronously, so that nothing is lost when the process
   * dies.
   */
  readonly destination?: LogDestination;
  /** Receives each line as JSON, in every format. */
  readonly kept?: LogDestination | undefined;
  /**
   * Colors in the pretty format; enabled by default when standard error is a terminal and
   * `NO_COLOR` is not set.
   */
  readonly colour?: boolean;
}

const STANDARD_ERROR = 2;

/**
 * The logger of a process (D10): one line per event, with secrets removed by value, and errors
 * reduced to type, code, message, stack and causes. JSON lines contain `time` (ISO), `level`
 * (word), facts and `msg`.
 */
export function createLogger(options: LoggerOptions): Logger {
  const terminal = options.destination === undefined && isatty(STANDARD_ERROR);
  const pretty = options.format === 'pretty' || (options.format === 'auto' && terminal);
  const colour = options.colour ?? (terminal && !process.env.NO_COLOR);
  const log = pino(
    {
      level: 'debug',
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: serializeLogFields,
        bindings: serializeLogFields,
      },
      // pino's own serializer would put the stacks of causes into the message.
      serializers: { err: (value: unknown) => value },
      hooks: {
        streamWrite: (line) => {
          const clean = scrubJsonLine(line, options.scrub);
          options.kept?.write(clean);
          return pretty
            ? formatLogLine(clean, colour)
            : `${escapeHiddenCharacters(clean.trimEnd())}\n`;
        },
      },
    },
    options.destination ?? createStandardErrorDestination(),
  );
  const { level } = options;
  const current = typeof level === 'function' ? level : () => level;
  const gate = new OutageGate((at, facts, message) => {
    if (isEnabled(at, current())) log[at](facts, message);
  });
  return toLogger(log, current, gate);
}

/** How long to wait for a slow reader, in ms, and how many times per line. */
const BUSY = { waitMs: 20, times: 50 };

/**
 * Writes synchronously and never ends the process: if a pipe is closed (`parley start 2>&1 | head`)
 * or a disk is full, the line is lost, because the error cannot be reported anywhere.
 */
function createStandardErrorDestination(): LogDestination {
  return {
    write(line) {
      let rest = Buffer.from(line);
      for (let waits = 0; rest.length > 0; ) {
        try {
          rest = rest.subarray(writeSync(STANDARD_ERROR, rest));
        } catch (thrown) {
          if (!isPipeFull(thrown) || waits >= BUSY.times) return;
          waits += 1;
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY.waitMs);
        }
      }
    },
  };
}

function isPipeFull(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'EAGAIN';
}

/** Exposes only the Logger interface, so that no caller depends on pino. */
function toLogger(log: pino.Logger, level: () => LogLevel, gate: OutageGate): Logger {
  // Repeated lines of an outage are shown at debug level only.
  const unlessRepeated = (own: 'info' | 'warn' | 'error') => (facts: object, message: string) => {
    const written = gate.admits(facts) ? own : 'debug';
    if (isEnabled(written, level())) log[written](facts, message);
  };
  return {
    debug: (facts, message) => isEnabled('debug', level()) && log.debug(facts, message),
    info: unlessRepeated('info'),
    warn: unlessRepeated('warn'),
    error: unlessRepeated('error'),
    child: (facts) => toLogger(log.child(facts), level, gate),
  };
}

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent'];

function isEnabled(own: LogLevel, level: LogLevel): boolean {
  return LEVELS.indexOf(own) >= LEVELS.indexOf(level);
}

/** The depth of causes to include; deeper ones add no information. */
const DEEPEST_CAUSE = 4;

/** Converts an error to plain data for a log line. */
interface SerializedError {
  readonly type: string;
  readonly message: string;
  readonly code?: string | number;
  readonly stack?: string;
  readonly cause?: SerializedError | string;
}

/**
 * Extracts only the facts that operators need, because client libraries attach whole requests,
 * including people's messages and tokens, to their errors.
 */
function serializeError(error: Error, depth = 0): SerializedError {
  const code = 'code' in error ? error.code : undefined;
  const hasCode = typeof code === 'string' || typeof code === 'number';
  return {
    type: error.name,
    message: error.message,
    ...(hasCode ? { code } : {}),
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...(error.cause === undefined ? {} : { cause: serializeCause(error.cause, depth + 1) }),
  };
}

function serializeCause(cause: unknown, depth: number): SerializedError | string {
  if (!(cause instanceof Error)) return typeof cause === 'string' ? cause : typeof cause;
  return depth > DEEPEST_CAUSE ? cause.message : serializeError(cause, depth);
}

/** Keys that every line contains; a fact with the same key would hide the value. */
const TAKEN: ReadonlySet<string> = new Set(['time', 'level', 'msg']);

/** Returns the facts of a log line, with errors as plain data, and without the line's own keys. */
function serializeLogFields(facts: object): Record<string, unknown> {
  const entries = Object.entries(facts);
  return Object.fromEntries(
    entries.map(([key, value]) => [
      TAKEN.has(key) ? `${key}_` : key,
      value instanceof Error ? serializeError(value) : value,
    ]),
  );
}

const LOOKS: Readonly<Record<string, { readonly word: string; readonly colour: number }>> = {
  debug: { word: 'debug', colour: 90 },
  info: { word: 'info ', colour: 36 },
  warn: { word: 'warn ', colour: 33 },
  error: { word: 'ERROR', colour: 31 },
};

/**
 * Formats a JSON log line for people: `14:05:09.123 info  message key=value`. Third-party text is
 * escaped, so it can neither forge a line nor move the cursor. The stack of an error without a
 * code, which is unexpected, follows indented.
 */
export function formatLogLine(jsonLine: string, colour = false): string {
  const { time, level, msg, ...facts } = JSON.parse(jsonLine) as Record<string, unknown>;
  const paint = (code: number, text: string) => (colour ? `\u001B[${code}m${text}\u001B[0m` : text);
  const { word, colour: shade } = LOOKS[String(level)] ?? { word: String(level), colour: 0 };
  const pairs = Object.entries(facts).map(
    ([key, value]) => `${paint(90, `${escapeHiddenCharacters(key)}=`)}${formatField(value)}`,
  );
  const line = [
    paint(90, formatClockTime(time)),
    paint(shade, word),
    escapeHiddenCharacters(String(msg ?? '')),
    ...pairs,
  ];
  const stacks = Object.values(facts).flatMap((value) =>
    isError(value) ? listStackLines(value) : [],
  );
  return `${[line.join(' '), ...stacks].join('\n')}\n`;
}

function formatClockTime(time: unknown): string {
  const date = new Date(String(time));
  const pad = (value: number, width = 2) => String(value).padStart(width, '0');
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((n) => pad(n))
    .join(':');
  return `${clock}.${pad(date.getMilliseconds(), 3)}`;
}

function formatField(value: unknown): string {
  if (isError(value)) return quoteField(`${value.type}: ${joinMessages(value)}`);
  return typeof value === 'string'
    ? quoteField(value)
    : escapeHiddenCharacters(JSON.stringify(value));
}

function joinMessages({ message, cause }: SerializedError): string {
  if (cause === undefined) return message;
  return `${message} ← ${typeof cause === 'string' ? cause : joinMessages(cause)}`;
}

/** Plain words stay unquoted; a value that could be mistaken for something else is quoted. */
function quoteField(text: string): string {
  return /^[\w.:/@+,%~#-]+$/.test(text) ? text : escapeHiddenCharacters(JSON.stringify(text));
}

function listStackLines(error: SerializedError): string[] {
  if (error.code !== undefined || error.stack === undefined) return [];
  const frames = error.stack.split('\n').filter((line) => /^\s+at /.test(line));
  return frames.map((frame) => `    ${escapeHiddenCharacters(frame.trim())}`);
}

function isError(value: unknown): value is SerializedError {
  return typeof value === 'object' && value !== null && 'type' in value && 'message' in value;
}
