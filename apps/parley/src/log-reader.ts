import { readdirSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { systemTime } from '@parley/core';
import type { LogLevelName, LogLine, LogQuery } from '@parley/gateway/api';
import { z } from 'zod';

/** A stored log line with its parsed fields. */
export type StoredLine = Omit<LogLine, 'conversation'> & {
  readonly raw: string;
  readonly conversation: string | null;
};

export interface StoredLogLines {
  readonly lines: readonly StoredLine[];
  /** The value of `before` for the next page; null if there are no older lines. */
  readonly next: number | null;
  /** The processes whose lines are stored in this folder. */
  readonly processes: readonly string[];
}

/** The time (ms) after which a search with few matches stops; it can be continued from `next`. */
const SEARCH_MS = 3_000;
const BLOCK_BYTES = 64 * 1_024;

/**
 * Reads the log lines that all processes store in a folder, newest first (U03). If the folder is
 * missing, the result is empty.
 */
export async function readStoredLog(folder: string, query: LogQuery): Promise<StoredLogLines> {
  const processes = listProcesses(folder);
  const sources = processes.map((process) => readNewestFirst(folder, process, query));
  const deadline = systemTime.monotonic() + SEARCH_MS;
  const lines: StoredLine[] = [];
  let next: number | null = null;
  for await (const { at, line } of mergeSources(sources)) {
    if (query.after !== undefined && at < query.after) break;
    const isFull = lines.length >= query.limit && lines.at(-1)?.at !== at;
    if (isFull || systemTime.monotonic() > deadline) {
      next = isFull ? (lines.at(-1)?.at ?? at) : at + 1;
      break;
    }
    if (line !== null) lines.push(line);
  }
  return { lines, next, processes };
}

function listProcesses(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder).flatMap(
      (file) => /^(.+)\.log(?:\.1)?$/.exec(file)?.[1] ?? [],
    );
    return [...new Set(names)].toSorted();
  } catch {
    return []; // The folder is missing because none of the processes has stored any lines yet.
  }
}

/** A parsed log line. `line` is null if it does not match the query. */
interface ParsedLogLine {
  readonly at: number;
  readonly line: StoredLine | null;
}

async function* mergeSources(
  sources: readonly AsyncGenerator<ParsedLogLine>[],
): AsyncGenerator<ParsedLogLine> {
  const heads = await Promise.all(
    sources.map(async (source) => ({ source, head: await source.next() })),
  );
  try {
    for (;;) {
      const [newest] = heads
        .filter(({ head }) => head.done !== true)
        .toSorted((a, b) => b.head.value.at - a.head.value.at);
      if (newest === undefined) return;
      yield newest.head.value;
      newest.head = await newest.source.next();
    }
  } finally {
    await Promise.all(sources.map((source) => source.return(undefined)));
  }
}

async function* readNewestFirst(
  folder: string,
  process: string,
  query: LogQuery,
): AsyncGenerator<ParsedLogLine> {
  for (const ending of ['.log', '.log.1']) {
    const file = await open(join(folder, process + ending)).catch(() => null);
    if (file === null) continue;
    try {
      for await (const raw of readLinesBackward(file)) {
        const read = parseLogLine(raw, process);
        if (read === null || read.at >= (query.before ?? Number.POSITIVE_INFINITY)) continue;
        yield { at: read.at, line: matchesQuery(read, query) ? read : null };
      }
    } finally {
      await file.close();
    }
  }
}

async function* readLinesBackward(file: FileHandle): AsyncGenerator<string> {
  let end = (await file.stat()).size;
  let rest: Buffer = Buffer.alloc(0);
  while (end > 0) {
    const length = Math.min(BLOCK_BYTES, end);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, end - length);
    end -= length;
    const block = Buffer.concat([buffer, rest]);
    const first = end === 0 ? -1 : block.indexOf('\n');
    rest = first === -1 && end > 0 ? block : block.subarray(0, first + 1);
    if (first === -1 && end > 0) continue;
    const text = block.subarray(first + 1).toString();
    yield* text
      .split('\n')
      .filter((line) => line !== '')
      .toReversed();
  }
}

const Facts = z.looseObject({
  time: z.iso.datetime(),
  level: z.enum(['debug', 'info', 'warn', 'error']),
  msg: z.string().default(''),
});

/**
 * Parses a log line; returns null for an incomplete line, which is still being written or was cut
 * off by a full disk.
 */
function parseLogLine(raw: string, process: string): StoredLine | null {
  const parsed = Facts.safeParse(parseJsonLine(raw));
  if (!parsed.success) return null;
  const { time, level, msg: text, ...facts } = parsed.data;
  const named = (name: string): string | null => {
    const value = facts[name];
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const conversation = named('conversation');
  const channel = named('channel') ?? /^([a-z][a-z0-9-]*):/.exec(conversation ?? '')?.[1] ?? null;
  return {
    ...{ raw, process, level, text, facts, channel, conversation, at: Date.parse(time) },
    ...{ component: findComponent(named), turn: named('turn'), message: named('message') },
  };
}

function parseJsonLine(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The component names that appear in log lines. */
const COMPONENTS = [
  'plugin',
  'tool',
  'job',
  'task',
  'hook',
  'server',
  'schedule',
  'sweep',
] as const;

function findComponent(named: (name: string) => string | null): string | null {
  const channel = named('channel');
  if (channel !== null) return [channel, named('account')].filter((name) => name).join('/');
  const kind = COMPONENTS.find((name) => named(name) !== null);
  return kind === undefined ? null : `${kind} ${named(kind)}`;
}

const LEVELS: readonly LogLevelName[] = ['debug', 'info', 'warn', 'error'];

function matchesQuery(line: StoredLine, { level, channel, conversation, text }: LogQuery): boolean {
  return (
    LEVELS.indexOf(line.level) >= LEVELS.indexOf(level) &&
    (channel === undefined || line.channel === channel) &&
    (conversation === undefined || line.conversation === conversation) &&
    (text === undefined || line.raw.toLowerCase().includes(text.toLowerCase()))
  );
}
