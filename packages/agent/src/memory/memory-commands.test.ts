import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Reader, silentLogger } from '@parley/core';
import { EXAMPLE_FACTS, EXAMPLE_MESSAGE, toRunOptions } from '@parley/core/testing';
import { render } from '@parley/markup';
import type { Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { openMemorySearch, openWorkspace } from '@parley/workspace';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeMessage } from '../testing/write-message.ts';
import { createMemoryCommands, type MemoryCommands } from './memory-commands.ts';
import { MemoryService } from './memory-service.ts';
import { createMemorySource } from './memory-source.ts';
import type { MemoryAsker } from './visible-memories.ts';

const ADA: Omit<MemoryAsker, 'messageId'> = {
  person: 'web:ada',
  reader: { kind: 'owner', conversationId: 'web:default:ada' },
  isGroup: false,
};
const MINUTE = 60_000;

let folder: string;
let store: Store;
let now = 0;
let stopped: string[] = [];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-memory-'));
  store = await openMemoryStore({ clock: () => now });
  now = 1_000_000;
  stopped = [];
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

/** The commands of a second gateway on the same database. */
async function openCommands(person = ADA.person): Promise<MemoryCommands> {
  const templates = join(import.meta.dirname, '../../../../config/workspace');
  const workspace = await openWorkspace({ folder, templates });
  const service = new MemoryService({ index: store.memories, log: silentLogger });
  const view = workspace.for(ADA.reader);
  await view.write('memory/project.md', '- The boat is green.');
  const asked = store.adapterValues('parley', 'forget');
  const accountsOf = async () => [person];
  const stopTurn = (lane: string) => void stopped.push(lane);
  return createMemoryCommands({
    service,
    workspace,
    store,
    accountsOf,
    asked,
    clock: () => now,
    stopTurn,
  });
}

describe('/forget all', () => {
  it('[G15] [D09] accepts a second command as confirmation, whichever gateway receives it', async () => {
    const [one, two] = [await openCommands(), await openCommands()];
    expect(await one.forget({ ...ADA, messageId: 'm1' }, 'all')).toContain('once more');
    expect(await two.forget({ ...ADA, messageId: 'm2' }, 'all')).toContain('Forgotten');
  });

  it('[G15] removes everything the person said, stops their turns, and reports what was checked', async () => {
    const said = { messageId: 'a1', text: 'the quetzal is mine alone', now };
    const chat = { id: 'ada', type: 'direct' } as const;
    await writeMessage(store, said, { chat, sender: { id: 'ada', name: 'Ada', isBot: false } });
    const work = { conversationId: 'ada', owner: 'w', leaseMs: 9_000 };
    const taken = await store.lanes.begin(work, 'collect', 't', now);
    if (taken.kind !== 'turn') throw new Error(`no turn: ${taken.kind}`);
    const commands = await openCommands('test:ada');
    const ada = { ...ADA, person: 'test:ada' };
    await commands.forget({ ...ada, messageId: 'm1' }, 'all');
    expect(stopped).toEqual([]);
    const proof = await commands.forget({ ...ada, messageId: 'm2' }, 'all');
    expect(proof).toContain('1 message of yours in 1 chat');
    expect(proof).toContain('I cannot take back what the platform');
    expect(stopped).toEqual(['ada']);
    const rows = await store.inbox.recent(
      { channel: 'test', account: 'default', chatId: 'ada' },
      9,
    );
    expect(JSON.stringify(rows)).not.toContain('quetzal');
  });

  it('[G15] is not confirmed by the same message, by another person, or after the time limit', async () => {
    const commands = await openCommands();
    await commands.forget({ ...ADA, messageId: 'm1' }, 'all');
    expect(await commands.forget({ ...ADA, messageId: 'm1' }, 'all')).toContain('once more');
    const bob = { ...ADA, person: 'web:bob', messageId: 'm2' };
    expect(await commands.forget(bob, 'all')).toContain('once more');
    now += 11 * MINUTE;
    expect(await commands.forget({ ...ADA, messageId: 'm3' }, 'all')).toContain('once more');
  });
});

describe('/memory', () => {
  it('[G15] [M01] shows each memory literally, including special characters', async () => {
    const commands = await openCommands();
    const said = [
      'green\\_tea, [x]\\(y\\)',
      'a_b_c **d** &lt; | 1. <b> @everyone',
      '\\d+\\.\\w* `x`',
    ];
    const lines = said.map((text) => `- ${text}`);
    writeFileSync(join(folder, 'memory', 'project.md'), `${lines.join('\n')}\n`);
    const shown = await commands.show({ ...ADA, messageId: 'm1' });
    const target = { dialect: 'plain', maxLength: 4_000, unit: 'utf16' } as const;
    const text = render(shown, target)
      .map((part) => part.text)
      .join('');
    for (const one of said) expect(text).toContain(one);
  });
});

/**
 * The origins of messages: the owner's direct chat twice, groups, and a stranger. The chat `o`
 * occurs as a direct chat and as a group.
 */
const PLACES: readonly { readonly reader: Reader; readonly person: string }[] = [
  { reader: { kind: 'owner', conversationId: 'o' }, person: 't:1' },
  { reader: { kind: 'owner', conversationId: 'o2' }, person: 'w:1' },
  { reader: { kind: 'guest', conversationId: 'g1' }, person: 't:1' },
  { reader: { kind: 'guest', conversationId: 'g2' }, person: 't:2' },
  { reader: { kind: 'guest', conversationId: 's' }, person: 't:3' },
  { reader: { kind: 'guest', conversationId: 'o' }, person: 't:1' },
];

/**
 * Restates the rule independently: owners share their memories, and other people have those of
 * their conversation.
 */
function mayKnow(asking: Reader, saved: Reader): boolean {
  if (saved.kind === 'owner') return asking.kind === 'owner';
  return asking.conversationId === saved.conversationId;
}

const Step = fc.record({
  at: fc.nat(PLACES.length - 1),
  type: fc.constantFrom('preference', 'fact'),
});

describe('memories from several chats', () => {
  it('[W02] [W04] [G14] are visible only to people who can read their chat', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(Step, { minLength: 1, maxLength: 8 }), async (steps) => {
        const folder = mkdtempSync(join(tmpdir(), 'parley-canary-'));
        mkdirSync(join(folder, 't'));
        const workspace = await openWorkspace({
          folder: join(folder, 'w'),
          templates: join(folder, 't'),
        });
        writeFileSync(join(workspace.folder, 'MEMORY.md'), 'plover canaryhand\n');
        const store = await openMemoryStore({ clock: () => 0 });
        const service = new MemoryService({ index: store.memories, log: silentLogger });
        const search = openMemorySearch(workspace);
        const accountsOf = async () => PLACES.map(({ person }) => person);
        const source = createMemorySource({ service, search, index: store.memories, accountsOf });
        const asked = store.adapterValues('parley', 'forget');
        const deps = { service, workspace, store, accountsOf, asked, stopTurn() {} };
        const commands = createMemoryCommands({ ...deps, clock: () => 0 });
        const saved: { readonly word: string; readonly reader: Reader }[] = [];
        for (const [nth, { at }] of steps.entries()) {
          const { reader, person } = PLACES[at] ?? never();
          const word = `canary${nth}x`;
          const said = {
            ...EXAMPLE_MESSAGE,
            channel: 't',
            messageId: `${nth}`,
            sender: { ...EXAMPLE_MESSAGE.sender, id: person.slice(2) },
          };
          const messages = [{ ...said, text: `I like plover ${word}.` }];
          const place = {
            reader,
            chatType: 'direct',
            session: 0,
            date: '2026-11-21',
            messages,
          } as const;
          await service.saveAsked(workspace.for(reader), place);
          saved.push({ word, reader });
          for (const { reader: asking, person: who } of PLACES) {
            const view = workspace.for(asking);
            const { conversationId } = asking;
            const facts = { user: { id: who, name: 'x' } };
            const turn = {
              view,
              reader: asking,
              messages: [{ ...EXAMPLE_MESSAGE, text: 'plover?' }],
              conversationId,
            };
            const seen = JSON.stringify([
              await source.gather({ ...turn, session: 0, facts: { ...EXAMPLE_FACTS, ...facts } }),
              await search.find(view, 'plover', {
                conversation: conversationId,
                session: 0,
                most: 50,
              }),
              await commands.show({ person: who, reader: asking, isGroup: false, messageId: 'm' }),
            ]);
            for (const one of saved)
              expect(seen.includes(one.word)).toBe(mayKnow(asking, one.reader));
            expect(seen.includes('canaryhand')).toBe(asking.kind === 'owner');
          }
        }
        await store.close();
        rmSync(folder, { recursive: true, force: true });
      }),
      toRunOptions(15),
    );
  });
});

function never(): never {
  throw new Error('there is no such place');
}

describe('forgetting a memory from outside a chat', () => {
  const CREW = { kind: 'guest', conversationId: 'web:default:crew' } as const;
  const PAGE = { kind: 'owner', conversationId: 'page' } as const;
  const entry = (id: string, person: string, text: string) =>
    `- ${text} <!-- parley id=${id} type=fact scope=user person=${person} words=own -->`;
  async function openBoth() {
    const commands = await openCommands('test:bo');
    const workspace = await openWorkspace({ folder, templates: folder });
    await workspace
      .for(PAGE)
      .write(
        'memory/user.md',
        `${entry('m111', 'web:ada', 'Ada sails')}\n${entry('m222', 'test:bo', 'Bo likes plums')}`,
      );
    await workspace
      .for(CREW)
      .write(
        workspace.for(CREW).groupMemory,
        `${entry('m333', 'test:bo', 'Bo rows')}\n${entry('m444', 'web:cy', 'Cy swims')}`,
      );
    const texts = async () =>
      `${JSON.stringify(await workspace.for(PAGE).read('memory/user.md'))}${JSON.stringify(await workspace.for(CREW).read(workspace.for(CREW).groupMemory))}`;
    return { commands, texts };
  }

  it('[G15] removes one memory from its file, if the reader can see it', async () => {
    const { commands, texts } = await openBoth();
    const name = (await openWorkspace({ folder, templates: folder })).for(CREW).groupMemory;
    expect(await commands.forgetFrom(PAGE, { name, id: 'm333' })).toContain('nothing like that');
    expect(await commands.forgetFrom(CREW, { name, id: 'm333' })).toContain('1 memory');
    expect(await texts()).not.toContain('Bo rows');
    expect(await commands.forgetFrom(PAGE, 'plums')).toContain('memory/user.md');
    expect(await texts()).toMatch(/Ada sails.*Cy swims/);
    expect(await texts()).not.toContain('plums');
  });

  it('[G15] removes everything about a person in every chat, but nothing that the owner said', async () => {
    const { commands, texts } = await openBoth();
    const says = (id: string, text: string) => {
      const chat = { id, type: 'direct' } as const;
      const from = { chat, sender: { id, name: id, isBot: false } };
      const ofOwner = id === 'ada' && ({ fromOwner: true } as const);
      return writeMessage(store, { messageId: `${id}1`, text, now }, { ...from, ...ofOwner });
    };
    await says('ada', 'the owner speaks of boats');
    await says('bo', 'plums for everybody here');
    const proof = await commands.forgetPerson({ person: 'test:bo', isOwner: false }, [PAGE, CREW]);
    expect(proof).toContain('2 memories');
    expect(proof).toContain('1 message of theirs in 1 chat');
    const inChat = (chatId: string) =>
      store.inbox.recent({ channel: 'test', account: 'default', chatId }, 9);
    expect(JSON.stringify(await inChat('ada'))).toContain('boats');
    expect(JSON.stringify(await inChat('bo'))).not.toContain('everybody');
    expect(await texts()).toMatch(/Ada sails.*Cy swims/);
    expect(await texts()).not.toContain('Bo');
  });
});

describe('the cases of evaluations', () => {
  const write = (name: string, text: string) => {
    mkdirSync(join(folder, 'evals'), { recursive: true });
    writeFileSync(join(folder, 'evals', name), text);
  };
  const by = (user: string, text: string) =>
    `message:\n  { channel: test, user: ${user}, text: ${JSON.stringify(text)} }\n`;

  it('[G15] [G22] are removed with the words or the person that they contain', async () => {
    const commands = await openCommands('test:ada');
    write('words.yaml', by('bo', 'My code word is\n  lapis lazuli.'));
    write('person.yaml', by('ada', 'hello'));
    write('broken.yaml', 'checks: [ { contains: the lapis lazuli } ]');
    write('other.yaml', by('bo', 'hello'));
    const answer = await commands.forget({ ...ADA, messageId: 'm1' }, 'lapis lazuli');
    expect(answer).toContain('2 evaluation cases: `evals/broken.yaml`, `evals/words.yaml`');
    const ada = { ...ADA, person: 'test:ada' };
    await commands.forget({ ...ada, messageId: 'm2' }, 'all');
    await commands.forget({ ...ada, messageId: 'm3' }, 'all');
    expect(readdirSync(join(folder, 'evals'))).toEqual(['other.yaml']);
  });
});
