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
  it('takes the first name that the PATH knows', () => {
    expect(findProgram(search, { PATH: `/nowhere:${folder}` })).toEqual({ path: program });
  });

  it('looks in the extra folders as well, for what a distribution keeps off the PATH', () => {
    expect(findProgram({ ...search, folders: [folder] }, {})).toEqual({ path: program });
  });

  it('prefers the one that a person names', () => {
    expect(findProgram({ ...search, names: ['sh'] }, { THE_SERVER: program })).toEqual({
      path: program,
    });
  });

  it.each([
    ['none', 'switched off by THE_SERVER=none'],
    [text, `THE_SERVER=${text} is not an executable file`],
  ])('does without when the person names %s, whatever the PATH holds', (named, reason) => {
    expect(findProgram(search, { THE_SERVER: named, PATH: folder })).toEqual({
      reason,
      canInstall: false,
    });
  });
});
