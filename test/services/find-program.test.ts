import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findProgram } from './find-program.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-programs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const program = join(folder, 'server');
writeFileSync(program, '#!/bin/sh\n');
chmodSync(program, 0o755);
const text = join(folder, 'not-a-program');
writeFileSync(text, '');

const search = { names: ['absent', 'server'], folders: [], variable: 'THE_SERVER' };

describe('finding a program', () => {
  it('returns the first name found on the PATH', () => {
    expect(findProgram(search, { PATH: `/nowhere:${folder}` })).toEqual({ path: program });
  });

  it('also searches the extra folders, where distributions keep programs off the PATH', () => {
    expect(findProgram({ ...search, folders: [folder] }, {})).toEqual({ path: program });
  });

  it('prefers the program that the environment names', () => {
    expect(findProgram({ ...search, names: ['sh'] }, { THE_SERVER: program })).toEqual({
      path: program,
    });
  });

  it.each([
    ['none', 'switched off by THE_SERVER=none'],
    [text, `THE_SERVER=${text} is not an executable file`],
  ])('finds nothing when the environment says %s, whatever the PATH contains', (named, reason) => {
    expect(findProgram(search, { THE_SERVER: named, PATH: folder })).toEqual({
      reason,
      canInstall: false,
    });
  });
});
