import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openTurnScene } from '../testing/turn-scene.ts';
import { OWNER_CHAT } from '../testing/write-message.ts';
import { grepTool, listTool, readTool } from '../tools/read-files.ts';

// What only an owner in a direct chat may see, each with a word that is found again.
const PRIVATE = {
  'MEMORY.md': 'canary-memory',
  'memory/2026-11-20.md': 'canary-day',
} as const;

const READS = fc.constantFrom(
  ...Object.keys(PRIVATE).map((path) => ({ name: 'read', with: { path } })),
  { name: 'grep', with: { text: 'canary' } },
  { name: 'list', with: {} },
);
const ASKS = fc.record({
  isOwner: fc.boolean(),
  inGroup: fc.boolean(),
  /** With none, nobody is an owner. */
  owners: fc.constantFrom(['test:1'], []),
  deep: fc.boolean(),
  reads: fc.array(READS, { minLength: 1, maxLength: 4 }),
});

const OTHER = { id: '7', name: 'Bo', isBot: false };
const GROUP = { id: 'g', type: 'group', title: 'Team' } as const;

describe('whatever a sub-agent reads', () => {
  it('[W02] [G07] it sees nothing that the turn which started it may not', async () => {
    let seenByOwners = 0;
    await fc.assert(
      fc.asyncProperty(ASKS, async ({ isOwner, inGroup, owners, deep, reads }) => {
        const tools = [readTool, grepTool, listTool];
        const scene = await openTurnScene({}, { tools, delegates: true, owners });
        for (const [name, words] of Object.entries(PRIVATE)) {
          const path = join(scene.folder, name);
          mkdirSync(dirname(path), { recursive: true });
          writeFileSync(path, words);
        }
        const place = inGroup ? { chat: GROUP } : {};
        await scene.write('look', { ...place, ...(isOwner ? {} : { sender: OTHER }) });
        const handOn = { calls: [{ name: 'delegate_task', with: { title: 't', task: 'look' } }] };
        scene.model.next(handOn, { say: 'under way' });
        await scene.answerNext(inGroup ? GROUP.id : OWNER_CHAT);
        if (deep) {
          scene.model.next(handOn, { say: 'under way' });
          await scene.answerNext(scene.woken.find((lane) => lane.startsWith('sub:')));
        }
        scene.model.next({ calls: reads }, { say: 'done' });
        await scene.answerNext(scene.woken.findLast((lane) => lane.startsWith('sub:')));
        const asked = JSON.stringify(scene.model.asked);
        const mayKnow = isOwner && !inGroup && owners.length > 0;
        if (asked.includes('canary-') && mayKnow) seenByOwners += 1;
        else expect(asked.match(/canary-\w+/g) ?? []).toEqual([]);
        await scene.close();
      }),
      { numRuns: 60 },
    );
    // Else nothing was looked for where there is something.
    expect(seenByOwners).toBeGreaterThan(0);
  });
});
