import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { useMemoryFolder } from './memory-folder.ts';

describe('the temporary folder of a test run', () => {
  let before: string | undefined;
  beforeEach(() => {
    before = process.env.TMPDIR;
    delete process.env.TMPDIR;
  });
  afterEach(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });

  it('is removed after the run, and the usual folder is used again', () => {
    const usual = tmpdir();
    const leave = useMemoryFolder();
    const folder = tmpdir();
    expect(existsSync(folder)).toBe(true);
    leave();
    expect(tmpdir()).toBe(usual);
    // On a machine without enough memory the usual folder is used throughout.
    expect(existsSync(folder)).toBe(folder === usual);
  });

  it('is the one in TMPDIR, if set', () => {
    process.env.TMPDIR = '/var/tmp';
    useMemoryFolder()();
    expect(process.env.TMPDIR).toBe('/var/tmp');
  });

  it('is removed by the next run after a kill', () => {
    const used = useMemoryFolder();
    const isInMemory = tmpdir().startsWith('/dev/shm/');
    used();
    if (!isInMemory) return;
    // No process has this id, because Linux assigns smaller ids.
    const abandoned = '/dev/shm/parley-tests-4194305-test';
    mkdirSync(abandoned);
    useMemoryFolder()();
    expect(existsSync(abandoned)).toBe(false);
  });
});
