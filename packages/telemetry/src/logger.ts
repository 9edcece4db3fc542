import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import type { Logger } from '@parley/contracts';
import pino from 'pino';
import { OutageGate } from './outage-gate.ts';
import { plainFacts } from './plain-error.ts';
import { prettyLine } from './pretty-line.ts';
import { scrubJsonLine } from './scrub-json.ts';
import type { Scrub } from './scrubber.ts';

/** From the most talkative; `silent` says nothing. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Where finished lines go, each with its line break. */
export interface LogDestination {
  write(line: string): void;
}

/** How a process logs. */
export interface LoggerOptions {
  /** Asked with every line where it is a function: it may change while the process runs. */
  readonly level: LogLevel | (() => LogLevel);
  /** `auto`: pretty where a person looks on (a terminal), JSON elsewhere. */
  readonly format: 'auto' | 'pretty' | 'json';
  /** Removes what must never be seen; `Secrets.scrubLog`. */
  readonly scrub: Scrub;
  /** Default: standard error, written synchronously, so that nothing is lost when the process dies. */
  readonly destination?: LogDestination;
  /** Colours in the pretty format. Default: standard error is a terminal and `NO_COLOR` is not set. */
  readonly colour?: boolean;
}

const STANDARD_ERROR = 2;

/**
 * The process's logger (D10): one line per event, secrets removed by value, errors reduced to type,
 * code, message, stack and causes. JSON lines carry `time` (ISO), `level` (word), facts and `msg`.
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
      formatters: { level: (label) => ({ level: label }), log: plainFacts, bindings: plainFacts },
      // pino's own would put the stacks of causes into the message.
      serializers: { err: (value: unknown) => value },
      hooks: {
        streamWrite: (line) => {
          const clean = scrubJsonLine(line, options.scrub);
          return pretty ? prettyLine(clean, colour) : clean;
        },
      },
    },
    options.destination ?? standardError(),
  );
  const { level } = options;
  const current = typeof level === 'function' ? level : () => level;
  const gate = new OutageGate((at, facts, message) => {
    if (isSaid(at, current())) log[at](facts, message);
  });
  return facade(log, current, gate);
}

/** How long a reader who does not keep up is waited for, in ms, and how often for one line. */
const BUSY = { waitMs: 20, times: 50 };

/**
 * Synchronous, and never the end of the process: a line that meets a closed pipe (`parley start 2>&1 |
 * head`) or a full disk is lost, since there is no place left to tell of it.
 */
function standardError(): LogDestination {
  return {
    write(line) {
      let rest = Buffer.from(line);
      for (let waits = 0; rest.length > 0; ) {
        try {
          rest = rest.subarray(writeSync(STANDARD_ERROR, rest));
        } catch (thrown) {
          if (!isBusy(thrown) || waits >= BUSY.times) return;
          waits += 1;
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY.waitMs);
        }
      }
    },
  };
}

function isBusy(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'EAGAIN';
}

/** Only what contracts promise, so that nobody comes to depend on pino. */
function facade(log: pino.Logger, level: () => LogLevel, gate: OutageGate): Logger {
  // What an outage repeats is shown to those who look at details.
  const unlessRepeated = (own: 'info' | 'warn' | 'error') => (facts: object, message: string) => {
    const written = gate.admits(facts) ? own : 'debug';
    if (isSaid(written, level())) log[written](facts, message);
  };
  return {
    debug: (facts, message) => isSaid('debug', level()) && log.debug(facts, message),
    info: unlessRepeated('info'),
    warn: unlessRepeated('warn'),
    error: unlessRepeated('error'),
    child: (facts) => facade(log.child(facts), level, gate),
  };
}

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent'];

function isSaid(own: LogLevel, level: LogLevel): boolean {
  return LEVELS.indexOf(own) >= LEVELS.indexOf(level);
}
