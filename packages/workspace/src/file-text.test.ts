import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Reader } from '@parley/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWorkspace, type Workspace } from './open-workspace.ts';
import { addOwnerMarkToCopy, describeEncodingDoubt, surveyFolder } from './survey.ts';

const TEMPLATES = join(import.meta.dirname, '../../../config/workspace');
const OWNER: Reader = { kind: 'owner', conversationId: 'main' };
const GUEST: Reader = { kind: 'guest', conversationId: 'crew' };
/** The Chinese sentence "请保持礼貌，用中文回答。会议在星期三上午。" in GBK. */
const GBK = Buffer.from(
  'c7ebb1a3b3d6c0f1c3b2a3acd3c3d6d0cec4bbd8b4f0a1a3bbe1d2e9d4dad0c7c6dac8fdc9cfcee7a1a3',
  'hex',
);
const CHINESE = '请保持礼貌，用中文回答。会议在星期三上午。';
const NOISE = Uint8Array.from({ length: 4_096 }, (_, at) => (at * 7919 + (at >> 3) * 31) % 256);
const utf16 = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le');

let folder: string;
let workspace: Workspace;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-encodings-'));
  workspace = await openWorkspace({ folder, templates: TEMPLATES });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const put = (name: string, bytes: Uint8Array) => writeFile(join(folder, name), bytes);
const bytesOf = (name: string) => readFile(join(folder, name));

describe('a workspace file in an encoding other than UTF-8', () => {
  it('[W10] is shown to the agent, on the page and in a survey with the same text', async () => {
    await put('AGENTS.md', GBK);
    expect(await workspace.for(GUEST).read('AGENTS.md')).toMatchObject({ text: CHINESE });
    expect(await workspace.editor.read('AGENTS.md')).toMatchObject({ text: CHINESE });
    const { entries } = await surveyFolder(folder, () => 0);
    const agents = entries.find(({ name }) => name === 'AGENTS.md');
    expect(agents?.content).toMatchObject({
      kind: 'markdown',
      isBlank: false,
      audience: 'everyone',
    });
  });

  it('[W10] is written back entirely as UTF-8, with its front matter', async () => {
    await put('notes.md', utf16('---\r\naudience: owner\r\n---\r\nGrüße\r\n'));
    const owner = workspace.for(OWNER);
    expect(await owner.change('notes.md', (text) => `${text}\nneu`)).toMatchObject({
      kind: 'written',
    });
    expect((await bytesOf('notes.md')).toString()).toMatch(
      /^---\r?\naudience: owner\r?\n---\n\nGrüße\nneu\n$/,
    );
    await put('page.md', GBK);
    const { print = null } = (await workspace.editor.read('page.md')) ?? {};
    const save = { base: print, text: `${CHINESE}好`, by: 'the page' };
    expect(await workspace.editor.save('page.md', save)).toEqual({ kind: 'written' });
    expect((await bytesOf('page.md')).toString()).toBe(`${CHINESE}好`);
  });

  it('[W10] keeps its audience, because front matter counts in any encoding', async () => {
    await put('diary.md', utf16('---\naudience: owner\n---\nsecret'));
    expect(await workspace.for(GUEST).read('diary.md')).toMatchObject({ reason: 'private' });
    expect(await workspace.for(OWNER).read('diary.md')).toMatchObject({ text: 'secret' });
    const copy = addOwnerMarkToCopy(utf16('about me'));
    expect(Buffer.from(copy).toString()).toBe('---\naudience: owner\n---\n\nabout me');
  });

  it('[W10] is private to the owner and in a single encoding when a command creates it in UTF-16', async () => {
    await workspace.commands.run({ promptFiles: [], timeoutMs: 1_000 }, async () => {
      await put('made.md', utf16('what the command saw'));
      await put('table.csv', utf16('---\naudience: everyone\n---\na;b'));
    });
    for (const name of ['made.md', 'table.csv']) {
      expect(await workspace.for(GUEST).read(name)).toMatchObject({ reason: 'private' });
      expect((await bytesOf(name)).includes(0)).toBe(false);
    }
    expect(await workspace.for(OWNER).read('made.md')).toMatchObject({
      text: 'what the command saw',
    });
  });

  it('[W10] [W09] stays private to the owner when a command opens it in another encoding', async () => {
    const open = '---\naudience: everyone\n---\nwhat the command saw';
    const wide = (text: string) => Buffer.from(text, 'utf16le');
    await workspace.commands.run({ promptFiles: [], timeoutMs: 1_000 }, async () => {
      await put('bare.txt', wide(open));
      await put('hidden.txt', wide(`\u2060\u200b${open}`));
      await put('long.txt', wide(`${'\u206a'.repeat(3_000)}${open}`));
      await put('japan.txt', Buffer.from(`\u001b$B2q5D\u001b(B\n${open}`));
      await put('china.txt', Buffer.concat([Buffer.of(0x84, 0x31, 0x95, 0x33), Buffer.from(open)]));
    });
    for (const name of ['bare.txt', 'hidden.txt', 'long.txt', 'japan.txt', 'china.txt']) {
      const seen = await workspace.for(GUEST).read(name);
      expect([name, seen.kind]).toEqual([name, 'absent']);
    }
  });

  it('[W10] is reported if it cannot be decoded, and is neither shown in part nor replaced', async () => {
    await put('AGENTS.md', NOISE);
    const owner = workspace.for(OWNER);
    expect(await owner.read('AGENTS.md')).toEqual({
      kind: 'absent',
      reason: 'unreadable',
      detail: expect.stringMatching(/encoding is not known|not a text file/),
    });
    expect(await owner.write('AGENTS.md', 'new')).toMatchObject({ reason: 'not-text' });
    expect(await bytesOf('AGENTS.md')).toEqual(Buffer.from(NOISE));
    const files = await workspace.editor.list();
    expect(files.find(({ name }) => name === 'AGENTS.md')?.problem).toMatch(/encoding|text file/);
    const { entries } = await surveyFolder(folder, () => 0);
    expect(entries.map(describeEncodingDoubt).filter((doubt) => doubt !== null)).toHaveLength(1);
  });

  it('[W10] is reported to the model, the page and a survey if its decoding is doubtful', async () => {
    await put('USER.md', Buffer.from('Name: J\xf6rg\n', 'latin1'));
    const doubt = expect.stringContaining('guessed');
    expect(await workspace.for(OWNER).read('USER.md')).toMatchObject({
      text: 'Name: Jörg',
      warning: doubt,
    });
    const files = await workspace.editor.list();
    expect(files.find(({ name }) => name === 'USER.md')).toMatchObject({ problem: doubt });
    const { entries } = await surveyFolder(folder, () => 0);
    expect(entries.flatMap((entry) => describeEncodingDoubt(entry) ?? [])).toEqual([doubt]);
  });
});
