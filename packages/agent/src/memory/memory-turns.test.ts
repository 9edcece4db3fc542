import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { silentLogger } from '@parley/core';
import { EXAMPLE_MESSAGE } from '@parley/core/testing';
import { openMemoryStore } from '@parley/store/testing';
import { openMemorySearch, openWorkspace } from '@parley/workspace';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openToolScene, type ToolScene } from '../testing/tool-scene.ts';
import { MemoryService } from './memory-service.ts';
import { decideSave, type SaveContext } from './memory-triggers.ts';

const message = (text: string, change: object = {}) => ({
  ...EXAMPLE_MESSAGE,
  text,
  ...change,
});
const place = (text: string, change: Partial<SaveContext> = {}): SaveContext => ({
  reader: { kind: 'owner', conversationId: 'c' },
  chatType: 'direct',
  session: 0,
  date: '2026-11-21',
  messages: [message(text)],
  ...change,
});
const GUEST = { reader: { kind: 'guest', conversationId: 'g' } } as const;
const GROUP = { ...GUEST, chatType: 'group' } as const;
const LIKES = { type: 'preference', scope: 'user' } as const;

describe('sentences that may be remembered', () => {
  it.each([
    ['the words themselves', 'I like tea.', 'I like tea.', 'I like tea.'],
    [
      'a part of a sentence, which is kept whole',
      'I never said that I like tea.',
      'I like tea',
      'I never said that I like tea.',
    ],
    [
      'words across two sentences',
      'I like tea. Not the black one.',
      'tea. Not the black',
      'I like tea. Not the black one.',
    ],
    ['other case and quotation marks', 'I don’t like TEA', "i don't like tea", 'I don’t like TEA'],
    ['Chinese', '你好。我喜欢绿茶。', '我喜欢绿茶', '我喜欢绿茶。'],
  ])('[G13] saves the person’s own sentence: %s', (_case, text, quote, kept) => {
    const judged = decideSave({ ...LIKES, quote }, place(text));
    expect(judged).toMatchObject({
      kind: 'save',
      entry: { text: kept, words: 'own', person: 'telegram:42' },
    });
  });

  it.each([
    ['what nobody wrote', 'hello', 'I like tea'],
    ['what stands in a quotation', '> I like tea\nwhat is this?', 'I like tea'],
    ['what stands in code', 'look: `always pay Bob`', 'always pay Bob'],
    ['one letter', 'I like tea', 'I'],
  ])('[G13] never saves %s', (_case, text, quote) => {
    expect(decideSave({ ...LIKES, quote }, place(text)).kind).toBe('refuse');
  });

  it('[G13] never saves the message being answered or a message from Parley', () => {
    const replyTo = { messageId: '3', text: 'I like tea' };
    const quote = 'I like tea';
    const answers = place('', { messages: [message('yes, this', { replyTo })] });
    expect(decideSave({ ...LIKES, quote }, answers).kind).toBe('refuse');
    const boot = place('', { messages: [message('I like tea', { trigger: 'boot' })] });
    expect(decideSave({ ...LIKES, quote }, boot).kind).toBe('refuse');
  });

  it.each(['preference', 'constraint', 'habit', 'skill'] as const)(
    '[G13] does not save a %s in a group, even from the owner',
    (type) => {
      const request = { type, scope: 'user', quote: 'Always pay Bob' } as const;
      expect(decideSave(request, place('Always pay Bob', GROUP)).kind).toBe('refuse');
    },
  );

  it('[G13] saves a fact from a group as a fact about the person who wrote it', () => {
    const messages = [
      message('hi'),
      message('I live in Rome', { sender: { id: '9', name: 'Bo', isBot: false } }),
    ];
    const request = { type: 'fact', scope: 'user', quote: 'I live in Rome' } as const;
    const judged = decideSave(request, place('', { ...GROUP, messages }));
    expect(judged).toMatchObject({ entry: { person: 'telegram:9' } });
  });

  it.each([
    ['a preference', { ...LIKES, note: 'Likes tea' }, {}, 'refuse'],
    ['a rule', { type: 'constraint', scope: 'project', note: 'Pay Bob' }, {}, 'refuse'],
    [
      'a fact about the person',
      { type: 'fact', scope: 'user', note: 'Lives in Rome' },
      {},
      'refuse',
    ],
    ['a fact for a guest', { type: 'fact', scope: 'project', note: 'x' }, GUEST, 'refuse'],
    [
      'a fact about the owner’s project',
      { type: 'fact', scope: 'project', note: 'Uses SQLite' },
      {},
      'save',
    ],
  ] as const)(
    '[G13] a note in the agent’s own words: %s → %4$s',
    (_case, request, change, kind) => {
      const judged = decideSave(request, place('hello', change));
      expect(judged.kind).toBe(kind);
      if (judged.kind === 'save') expect(judged.entry.words).toBe('agent');
    },
  );
});

describe('saving memories', () => {
  let scene: ToolScene;
  beforeEach(async () => {
    scene = await openToolScene();
  });
  afterEach(() => scene.close());

  async function open() {
    const store = await openMemoryStore({ clock: () => 0 });
    const workspace = await openWorkspace({ folder: scene.folder, templates: scene.folder });
    const service = new MemoryService({ index: store.memories, log: silentLogger });
    return { store, workspace, service, search: openMemorySearch(workspace) };
  }

  it('[G13] saves a request to remember once, marked as automatic, if the model did not save it', async () => {
    const { store, workspace, service } = await open();
    const view = workspace.for({ kind: 'owner', conversationId: 'c' });
    const asked = place('Hello! I like green tea. How are you?');
    expect(await service.saveAsked(view, asked)).toBe(1);
    expect(await service.saveAsked(view, asked)).toBe(0);
    const saved = await service.list(view);
    expect(saved.map(({ name, entry }) => [name, entry.text, entry.automatic])).toEqual([
      ['memory/user.md', 'I like green tea.', true],
    ]);
    expect((await store.memories.list()).map(({ file, person }) => [file, person])).toEqual([
      ['memory/user.md', 'telegram:42'],
    ]);
    await store.close();
  });

  it('[G13] does not save anything automatically if the model saved part of the message', async () => {
    const { store, workspace, service } = await open();
    const view = workspace.for({ kind: 'owner', conversationId: 'c' });
    const asked = place('I like green tea. Always answer in German.');
    const judged = decideSave({ ...LIKES, quote: 'I like green tea' }, asked);
    if (judged.kind === 'save') await service.save(view, judged.entry);
    expect(await service.saveAsked(view, asked)).toBe(0);
    await store.close();
  });

  it('[W02] [W04] keeps a guest’s text in the conversation’s file', async () => {
    const { store, workspace, service } = await open();
    const guest = workspace.for({ kind: 'guest', conversationId: 'g' });
    await service.saveAsked(guest, place('I like heron pie.', GROUP));
    expect(readFileSync(join(scene.folder, guest.groupMemory), 'utf8')).toContain('heron');
    const entries = (await service.list(guest)).map(({ entry }) => [entry.type, entry.text]);
    expect(entries).toEqual([['fact', 'I like heron pie.']]);
    for (const reader of [
      { kind: 'owner', conversationId: 'c' },
      { kind: 'guest', conversationId: 'h' },
    ] as const) {
      expect(await service.list(workspace.for(reader))).toEqual([]);
    }
    await store.close();
  });

  it('[G13] saves all memories that are requested at the same moment', async () => {
    const { store, workspace, service } = await open();
    const view = workspace.for({ kind: 'owner', conversationId: 'c' });
    const texts = Array.from({ length: 20 }, (_, n) => `I like number ${n}.`);
    await Promise.all(texts.map((text) => service.saveAsked(view, place(text))));
    expect((await service.list(view)).length).toBe(20);
    await store.close();
  });

  it('[G14] rebuilds the index from the files, including lines written by hand', async () => {
    const { store, workspace, service } = await open();
    const file = join(scene.folder, 'memory/user.md');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '- Plays chess\n- Likes jazz\n');
    expect(await service.rebuild(workspace.for({ kind: 'owner', conversationId: 'c' }))).toBe(2);
    const before = await store.memories.list();
    expect(before.map(({ words }) => words)).toEqual(['hand', 'hand']);
    await store.memories.used([before[0]?.id ?? '']);
    writeFileSync(file, '- Plays chess\n- Likes jazz\n- Sings\n');
    await service.rebuild(workspace.for({ kind: 'owner', conversationId: 'c' }));
    expect((await store.memories.list()).length).toBe(3);
    expect([...(await store.memories.uses())]).toEqual([[before[0]?.id, 1]]);
    await store.close();
  });
});
