import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPageRebuilder } from './current-build.ts';

let folder: string;
let inputs: string[];
/** A function that runs during each build. */
let during: () => void;
let builds: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-page-'));
  inputs = ['main.tsx', 'style.css'].map((name) => join(folder, name));
  for (const file of inputs) write(file, 'old', 60);
  during = () => {};
  builds = 0;
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Writes a file that was last modified this many seconds ago. */
function write(file: string, text: string, secondsAgo: number): void {
  writeFileSync(file, text);
  const at = Date.now() / 1_000 - secondsAgo;
  utimesSync(file, at, at);
}

const open = () =>
  createPageRebuilder(async () => {
    builds += 1;
    during();
    return { page: new Map([['/', Uint8Array.from([builds])]]), inputs };
  });
const numberOf = async (page: ReturnType<typeof open>) => (await page()).get('/')?.[0];

describe('a page built from its sources', () => {
  it('[U03] builds the page only once as long as no source changes', async () => {
    const page = open();
    for (let load = 0; load < 3; load += 1) expect(await numberOf(page)).toBe(1);
  });

  it.each<[string, () => void]>([
    ['other text', () => write(inputs[1] ?? '', 'new', 0)],
    ['a new text but an older modification time', () => write(inputs[1] ?? '', 'newer', 600)],
    ['a later time', () => write(inputs[0] ?? '', 'old', 30)],
    ['been deleted', () => rmSync(inputs[0] ?? '')],
  ])('[U03] rebuilds the page when a source has %s', async (_, change) => {
    const page = open();
    expect(await numberOf(page)).toBe(1);
    change();
    expect(await numberOf(page)).toBe(2);
  });

  it('[U03] rebuilds the page if a source changes during a build that may already have read it', async () => {
    const page = open();
    during = () => write(inputs[0] ?? '', 'new', 0);
    expect(await numberOf(page)).toBe(1);
    during = () => write(inputs[0] ?? '', 'new', 60);
    expect(await numberOf(page)).toBe(2);
    expect(await numberOf(page)).toBe(2);
  });

  it('[U03] throws the error of a failed build to the caller and rebuilds the page at the next call', async () => {
    const page = open();
    during = () => {
      throw new Error('main.tsx:1: what is that?');
    };
    await expect(page()).rejects.toThrow('main.tsx:1');
    during = () => {};
    expect(await numberOf(page)).toBe(2);
  });
});
