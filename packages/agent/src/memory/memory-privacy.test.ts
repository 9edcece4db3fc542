import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Reader, silentLogger } from '@parley/core';
import { EXAMPLE_FACTS, EXAMPLE_MESSAGE } from '@parley/core/testing';
import { openStore } from '@parley/store';
import { openMemorySearch, openWorkspace } from '@parley/workspace';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryCommands } from './memory-commands.ts';
import { MemoryService } from './memory-service.ts';
import { memorySource } from './memory-source.ts';

/** Where something can be said: twice the owner's direct chat, groups, a stranger; one chat is both. */
const PLACES: readonly { readonly reader: Reader; readonly person: string }[] = [
  { reader: { kind: 'owner', conversationId: 'o' }, person: 't:1' },
  { reader: { kind: 'owner', conversationId: 'o2' }, person: 'w:1' },
  { reader: { kind: 'guest', conversationId: 'g1' }, person: 't:1' },
  { reader: { kind: 'guest', conversationId: 'g2' }, person: 't:2' },
  { reader: { kind: 'guest', conversationId: 's' }, person: 't:3' },
  { reader: { kind: 'guest', conversationId: 'o' }, person: 't:1' },
];

/** The rule once more: owners share, everybody else is alone with their conversation. */
function mayKnow(asking: Reader, saved: Reader): boolean {
  if (saved.kind === 'owner') return asking.kind === 'owner';
  return asking.conversationId === saved.conversationId;
}

const Step = fc.record({
  at: fc.nat(PLACES.length - 1),
  type: fc.constantFrom('preference', 'fact'),
});

describe('memories of several places', () => {
  it('[W02] [W04] [G14] never come out in another, and come out in their own', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(Step, { minLength: 1, maxLength: 8 }), async (steps) => {
        const folder = mkdtempSync(join(tmpdir(), 'parley-canary-'));
        mkdirSync(join(folder, 't'));
        const workspace = await openWorkspace({
          folder: join(folder, 'w'),
          templates: join(folder, 't'),
        });
        writeFileSync(join(workspace.folder, 'MEMORY.md'), 'plover canaryhand\n');
        const store = await openStore({ url: 'sqlite::memory:', clock: () => 0 });
        const service = new MemoryService({ index: store.memories, log: silentLogger });
        const search = openMemorySearch(workspace);
        const accountsOf = async () => PLACES.map(({ person }) => person);
        const source = memorySource({ service, search, index: store.memories, accountsOf });
        const asked = store.adapterValues('parley', 'forget');
        const deps = { service, workspace, store, accountsOf, asked, stopTurn() {} };
        const commands = memoryCommands({ ...deps, clock: () => 0 });
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
      { numRuns: 15 },
    );
  });
});

function never(): never {
  throw new Error('there is no such place');
}
