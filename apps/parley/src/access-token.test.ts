import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { liveToken, readOrMakeToken, readToken, replaceToken } from './access-token.ts';

let path: string;
let folder: { readonly tokenFile: string };
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'parley-token-'));
  folder = { tokenFile: join(path, 'token') };
});
afterEach(() => rmSync(path, { recursive: true, force: true }));

const mode = () => (statSync(folder.tokenFile).mode & 0o777).toString(8);

describe('the token', () => {
  it('[U03] is made once, long, and readable by its owner alone', () => {
    expect(readToken(folder)).toBeNull();
    const token = readOrMakeToken(folder);
    expect(token).toMatch(/^[\w-]{32}$/);
    expect(mode()).toBe('600');
    chmodSync(folder.tokenFile, 0o644);
    expect(readOrMakeToken(folder)).toBe(token);
    expect(mode()).toBe('600');
  });

  it('is made again when the file holds half of one', () => {
    writeFileSync(folder.tokenFile, 'half');
    const token = readOrMakeToken(folder);
    expect(token).toHaveLength(32);
    expect(readToken(folder)).toBe(token);
    expect(mode()).toBe('600');
  });

  it('[U03] of a running process is the new one as soon as it was replaced', () => {
    const token = liveToken(folder);
    const before = token();
    const after = replaceToken(folder);
    expect(after).not.toBe(before);
    expect(token()).toBe(after);
    expect(mode()).toBe('600');
    expect(readdirSync(path)).toEqual(['token']);
    rmSync(folder.tokenFile);
    expect(token()).toBe(after);
  });
});
