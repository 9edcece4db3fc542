import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRecordingLogger } from '@parley/core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSendNotes, type SendNotes } from './send-notes.ts';

const NOW = 1_000;
const PART = { partId: 'part_1', at: 7 };
const ARRIVED = { kind: 'arrived', platformMessageId: '99' } as const;

let folder: string;
let path: string;
const opened: SendNotes[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-notes-'));
  path = join(folder, 'sending');
});
afterEach(() => {
  for (const notes of opened.splice(0)) notes.close();
  rmSync(folder, { recursive: true });
});

/** Reads the notes as the next process would after a kill, without closing the file. */
function open(boot = 'boot', at = path, now = NOW): SendNotes {
  const { log } = createRecordingLogger();
  const notes = openSendNotes(at, boot, { now, log });
  opened.push(notes);
  return notes;
}

describe('notes about sends', () => {
  it('[D04] tell the next process how far each send had progressed', () => {
    const first = open();
    first.write(PART, { kind: 'marked' });
    first.write(PART, { kind: 'started' });
    first.write({ partId: 'part_2', at: 8 }, ARRIVED);
    first.write({ partId: 'part_3', at: 9 }, { kind: 'marked' });
    first.remove('part_3');
    first.write(PART, { kind: 'started' });
    const next = open();
    expect(next.read(PART)).toEqual({ kind: 'started' });
    expect(next.read({ partId: 'part_2', at: 8 })).toEqual(ARRIVED);
    expect(next.read({ partId: 'part_3', at: 9 })).toBeUndefined();
    expect(open().read(PART)).toEqual({ kind: 'started' });
  });

  it('[D04] do not apply to another attempt at the same part', () => {
    open().write(PART, { kind: 'marked' });
    expect(open().read({ ...PART, at: 8 })).toBeUndefined();
  });

  it('[D04] are ignored after a reboot, because a power failure may have lost some of them', () => {
    open('one boot').write(PART, { kind: 'marked' });
    expect(open('another').read(PART)).toBeUndefined();
  });

  it.each(['["part_1",7', '["part_1",7,"done"]', '{}'])(
    '[D04] are ignored after a line that cannot be read: %s',
    (line) => {
      open().write(PART, { kind: 'marked' });
      appendFileSync(path, `${line}\n`);
      expect(open().read(PART)).toBeUndefined();
    },
  );

  it('[D15] are removed after a month, and the file stays small', () => {
    const first = open();
    first.write(PART, { kind: 'started' });
    for (let nth = 0; nth < 30_000; nth += 1) {
      const attempt = { partId: `part_with_a_long_name_${nth}`, at: nth };
      first.write(attempt, { kind: 'started' });
      first.remove(attempt.partId);
    }
    expect(statSync(path).size).toBeLessThan(1_100_000);
    expect(open().read(PART)).toEqual({ kind: 'started' });
    const later = NOW + 40 * 86_400_000;
    // A clock that is far ahead proves nothing by itself: only a newer note shows that time has
    // passed.
    const newest = open('boot', path, later);
    expect(newest.read(PART)).toEqual({ kind: 'started' });
    newest.write({ partId: 'part_of_today', at: later }, { kind: 'started' });
    expect(open('boot', path, later).read(PART)).toBeUndefined();
  });

  it('are readable only by the owner of the folder, and contain no message text', () => {
    open().write(PART, ARRIVED);
    expect(statSync(path).mode & 0o077).toBe(0);
    expect(readFileSync(path, 'utf8')).toBe('boot\n["part_1",7,"arrived","99"]\n');
  });

  it('[D04] do not make a send fail when they cannot be stored', () => {
    const nowhere = open('boot', join(folder, 'missing', 'sending'));
    nowhere.write(PART, { kind: 'marked' });
    expect(open('boot', join(folder, 'missing', 'sending')).read(PART)).toBeUndefined();
  });
});
