import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createCrashableStore } from '../testing/crashing-store.ts';
import {
  createScriptedModel,
  listToolMessages,
  openTurnScene,
  type ScriptedModel,
  type TurnScene,
} from '../testing/turn-scene.ts';
import { PLACE, type WriteMessageOptions } from '../testing/write-message.ts';
import { createSendFileTool, getOutboundFileKind } from './send-file.ts';
import { defineTool, type ToolFile } from './tool.ts';

const PNG = Uint8Array.from([137, 80, 78, 71, 0, 1]);
const GROUP: WriteMessageOptions = {
  chat: { id: '-9', type: 'group', title: 'Team' },
  sender: { id: '7', name: 'Bo', isBot: false },
};

let scene: TurnScene;
afterEach(() => scene?.close());

/** A tool that creates files, as tools from MCP servers and plugins do. */
const draw = (files: readonly ToolFile[]) =>
  defineTool({
    ...{ name: 'draw', summary: 'Draws.', tier: 'external-mcp', effect: 'read', approval: 'never' },
    audience: 'everyone',
    input: z.object({}),
    run: async () => ({ text: 'Drawn.', files }),
  });

async function open(files: readonly ToolFile[] = [], model?: ScriptedModel): Promise<void> {
  const stored = {
    get outbox() {
      return scene.store.outbox;
    },
  };
  const agentFiles = {
    ofConversation: (id: string, of: string) => scene.store.agentFiles.ofConversation(id, of),
  };
  const tool = createSendFileTool({ store: stored, deliver: async () => {}, agentFiles });
  const tools = [tool, draw(files)];
  scene = await openTurnScene({}, { tools, ...(model && { model: obedient(model) }) });
  writeFileSync(join(scene.folder, 'chart.png'), PNG);
  writeFileSync(join(scene.folder, 'open.md'), 'for all');
  writeFileSync(join(scene.folder, 'safe.md'), '---\naudience: owner\n---\nthe safe');
  writeFileSync(join(scene.folder, 'MEMORY.md'), 'the heron');
  writeFileSync(join(scene.folder, 'large.bin'), new Uint8Array(1_001));
}
/** A model that repeats the call until it receives the result. */
function obedient(model: ScriptedModel): Pick<ScriptedModel, 'id' | 'stream'> {
  return {
    id: model.id,
    stream(request, signal) {
      const isTold = request.messages.some(({ role }) => role === 'tool');
      model.next(isTold ? { say: 'There.' } : send('chart.png'));
      return model.stream(request, signal);
    },
  };
}
const send = (file: string, more: object = {}) => ({
  calls: [{ name: 'send_file', with: { file, ...more } }],
});
const sent = async (chatId = 'c') =>
  (await scene.store.outbox.recent({ ...PLACE, chatId }, 9)).flatMap(({ part }) =>
    part.file === undefined ? [] : [part],
  );
const heard = () => listToolMessages(scene.model.asked.at(-1)).map(({ content }) => content);
async function asks(
  file: string,
  writing: WriteMessageOptions = {},
  more: object = {},
): Promise<string> {
  await scene.write('send it', { maxFileBytes: 1_000, ...writing });
  scene.model.next(send(file, more), { say: 'There.' });
  await scene.answerNext(writing.chat?.id);
  return heard().at(-1) ?? '';
}

const isOver = async (): Promise<boolean> => (await scene.store.lanes.withWork(9, 0)).length === 0;

/** Runs the lane once like a worker, which the store may kill. */
async function liveOnce(): Promise<void> {
  const started = await scene.begin();
  await scene.run(started).catch((error: Error) => expect(error.message).toBe('killed'));
  await scene.store.lanes.release(started.lease);
}

describe('the tool that sends files', () => {
  it('[F10] [D04] sends a picture with its caption before the answer, and stores its bytes with the part', async () => {
    await open();
    expect(await asks('chart.png', {}, { caption: '**See**' })).toBe(
      'chart.png is on its way to this chat, as image.',
    );
    const [part] = await sent();
    expect(part).toMatchObject({
      file: { kind: 'image', name: 'chart.png', mimeType: 'image/png', size: PNG.length },
      body: { plain: 'See' },
    });
    expect([...((await scene.store.agentFiles.ofPart(part?.id ?? '')) ?? [])]).toEqual([...PNG]);
    expect(await scene.owed()).toEqual(['See', 'There.']);
  });

  it.each<[string, WriteMessageOptions, string]>([
    ['chart.png', {}, 'on its way'],
    ['MEMORY.md', {}, 'on its way'],
    ['open.md', GROUP, 'on its way'],
    ['chart.png', GROUP, 'Not sent.'],
    ['safe.md', GROUP, 'Not sent.'],
    ['MEMORY.md', GROUP, 'Not sent.'],
    ['../parley.yaml', {}, 'Not sent.'],
    ['none.md', {}, 'Not sent.'],
    ['large.bin', {}, 'Not sent. large.bin is larger than'],
    ['chart.png', { maxFileBytes: undefined }, 'Files cannot be sent on test.'],
  ])('[W09] [W02] is asked for %s (%j) and answers: %s', async (file, writing, said) => {
    await open();
    expect(await asks(file, writing)).toContain(said);
    expect(await sent(writing.chat?.id)).toHaveLength(said === 'on its way' ? 1 : 0);
  });

  it('[F10] [W09] sends a file that a tool created, in that conversation only', async () => {
    await open([{ name: 'map.png', mimeType: 'image/png', bytes: PNG }]);
    await scene.write('draw', { ...GROUP, maxFileBytes: 1_000 });
    scene.model.next({ calls: [{ name: 'draw', with: {} }] }, { say: 'Drawn.' });
    await scene.answerNext('-9');
    const id = /send_file sends it as "([^"]+)"/.exec(heard()[0] ?? '')?.[1] ?? '';
    expect(heard()[0]).toContain('[A file was made: map.png (image/png, 1 kB).');
    expect(await asks(id, GROUP)).toContain('map.png is on its way');
    expect(await asks(id)).toContain('Not sent.');
    expect([await sent('-9'), await sent()]).toMatchObject([[{ file: { name: 'map.png' } }], []]);
  });

  it('[F10] [G16] sends the file once, whenever the process dies', async () => {
    const whenDead = fc.record({
      write: fc.integer({ min: 1, max: 5 }),
      when: fc.constantFrom('before' as const, 'after' as const),
    });
    const property = fc.asyncProperty(fc.array(whenDead, { maxLength: 3 }), async (deaths) => {
      await open([], createScriptedModel());
      try {
        await scene.write('send it', { maxFileBytes: 1_000 });
        const store = createCrashableStore(scene.store);
        for (const death of [...deaths, null]) {
          if (await isOver()) break;
          store.live(death);
          await liveOnce();
        }
        expect([(await sent()).length, (await scene.owed()).at(-1)]).toEqual([1, 'There.']);
      } finally {
        await scene.close();
      }
    });
    await fc.assert(property, toRunOptions(25));
    await open();
  });

  it.each<[string, 'document' | 'voice' | undefined, string]>([
    ['image/png', undefined, 'image'],
    ['image/png', 'document', 'document'],
    ['image/svg+xml', undefined, 'document'],
    ['audio/ogg', undefined, 'audio'],
    ['audio/ogg', 'voice', 'voice'],
    ['application/pdf', 'voice', 'document'],
    ['video/mp4', undefined, 'video'],
    ['text/html', undefined, 'document'],
  ])('[F10] sends %s, as %s, as %s', (type, as, kind) => {
    expect(getOutboundFileKind(type, as)).toBe(kind);
  });
});
