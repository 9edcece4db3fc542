import { closeSync, ftruncateSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { type Logger, reasonOf, resolveFileAgingStart } from '@parley/core';
import { z } from 'zod';

/**
 * `marked`: the part's row is in `sending`, but no byte was sent. `started`: bytes may have been
 * sent. `arrived`: the platform has the part under this id.
 */
export type SendNote =
  | { readonly kind: 'marked' | 'started' }
  | { readonly kind: 'arrived'; readonly platformMessageId: string };

/** An attempt at a message part; `at` is when the part's row was marked, in ms. */
export interface SendAttempt {
  readonly partId: string;
  readonly at: number;
}

/** Notes that a killed process leaves for the next one, in addition to its rows (D04). */
export interface SendNotes {
  /** The latest note about this attempt; undefined if there is none. */
  read(attempt: SendAttempt): SendNote | undefined;
  write(attempt: SendAttempt, note: SendNote): void;
  /** Removes the notes about parts whose rows contain the outcome. */
  remove(partId: string): void;
  close(): void;
}

const NoteLine = z.union([
  z.tuple([z.string(), z.number(), z.enum(['marked', 'started'])]),
  z.tuple([z.string(), z.number(), z.literal('arrived'), z.string()]),
  z.tuple([z.string()]),
]);
type NoteLine = z.infer<typeof NoteLine>;

/** Beyond this size in bytes, the file is rewritten with only the pending sends. */
const LARGEST_FILE = 1_000_000;
/** Unread notes are removed after this time, in ms. */
const KEPT_MS = 30 * 24 * 60 * 60_000;

/**
 * Keeps notes in a file in the data folder. With these notes, a message part is uncertain only
 * between `started` and `arrived`; recording that in its row would take two more transactions.
 * Writing a line takes a few microseconds because it is not synced to disk: the line survives a
 * crash of the process, and lines from an earlier boot of the machine are ignored. After a write
 * error the file is emptied, because a missing line must never look like a part that has not
 * started.
 */
export function openSendNotes(
  path: string,
  boot: string,
  { now, log }: { readonly now: number; readonly log: Pick<Logger, 'warn'> },
): SendNotes {
  const lines = new Map(readNoteLines(path, boot, now));
  let file: number | undefined;
  let size = 0;
  // Removals are written with the next line: losing one is harmless, and a separate write would be
  // wasteful.
  let removals = '';
  const append = (text: string): void => {
    if (file === undefined) return;
    try {
      size += writeSync(file, removals + text);
      removals = '';
      if (size > LARGEST_FILE) rewrite();
    } catch (error) {
      log.warn({ path, reason: reasonOf(error) }, 'notes about sends are disabled');
      lines.clear();
      ftruncateSync(file);
      closeSync(file);
      file = undefined;
    }
  };
  const rewrite = (): void => {
    const next = openSync(`${path}.new`, 'w', 0o600);
    const kept = [...lines.values()].map((line) => `${JSON.stringify(line)}\n`);
    size = writeSync(next, [`${boot}\n`, ...kept].join(''));
    removals = '';
    renameSync(`${path}.new`, path);
    if (file !== undefined) closeSync(file);
    file = next;
  };
  try {
    rewrite();
  } catch (error) {
    log.warn({ path, reason: reasonOf(error) }, 'notes about sends are disabled');
  }
  const put = (partId: string, line: NoteLine): void => {
    if (file === undefined) return;
    lines.set(partId, line);
    append(`${JSON.stringify(line)}\n`);
  };
  return {
    read: ({ partId, at }) => toSendNote(lines.get(partId), at),
    write: ({ partId, at }, note) =>
      put(
        partId,
        note.kind === 'arrived'
          ? [partId, at, note.kind, note.platformMessageId]
          : [partId, at, note.kind],
      ),
    remove(partId) {
      if (lines.delete(partId)) removals += `${JSON.stringify([partId])}\n`;
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

function toSendNote(line: NoteLine | undefined, at: number): SendNote | undefined {
  const [, of, kind, platformMessageId] = line ?? [];
  if (of !== at || kind === undefined) return undefined;
  if (kind !== 'arrived') return { kind };
  return platformMessageId === undefined ? undefined : { kind, platformMessageId };
}

/**
 * Reads the last line about each part from this boot. A truncated or unknown line invalidates all
 * later lines.
 */
function* readNoteLines(path: string, boot: string, now: number): Iterable<[string, NoteLine]> {
  const [of, ...texts] = readNotesFile(path).split('\n');
  if (of !== boot) return;
  const last = new Map<string, NoteLine>();
  for (const text of texts.filter((each) => each !== '')) {
    const line = parseNoteLine(text);
    if (line === undefined) return;
    last.set(line[0], line);
  }
  const times = [...last.values()].flatMap(([, at]) => at ?? []);
  const countFrom = resolveFileAgingStart(now, times.length === 0 ? null : Math.max(...times));
  for (const [partId, line] of last) {
    if (line[1] !== undefined && countFrom - line[1] < KEPT_MS) yield [partId, line];
  }
}

function readNotesFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function parseNoteLine(text: string): NoteLine | undefined {
  try {
    return NoteLine.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/**
 * Identifies the current boot of this machine; undefined when the system does not provide an id.
 */
export function getBootId(): string | undefined {
  return readNotesFile('/proc/sys/kernel/random/boot_id').trim() || undefined;
}
