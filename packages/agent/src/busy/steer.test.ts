import { setTimeout as sleep } from 'node:timers/promises';
import type { InboundMessage } from '@parley/core';
import {
  createBuiltInLayers,
  createLayerRegistry,
  createPromptAssembler,
  getLayout,
} from '@parley/prompt';
import type { InboxRow } from '@parley/store';
import { afterEach, describe, expect, it } from 'vitest';
import { createCountingTool, say } from '../testing/tool-scene.ts';
import {
  createAgent,
  createClaimedTurn,
  openTurnScene,
  type SceneOptions,
  type TurnScene,
} from '../testing/turn-scene.ts';
import { OWNER_CHAT, PLACE } from '../testing/write-message.ts';
import { CHAT, startTurn, type Turn } from '../turn/turn.ts';
import { canJoinTurn } from './later-messages.ts';

let scene: TurnScene;
afterEach(() => scene.close());

async function open(extras: SceneOptions = {}): Promise<void> {
  scene = await openTurnScene({}, { busy: 'steer', ...extras });
}

/** A tool that stores these messages while it runs, as if the person had written them. */
const whileWriting = (...texts: readonly string[]) =>
  createCountingTool('parrot', 'read', async () => {
    for (const text of texts) await scene.write(text);
  });

const lastOf = (nth: number) => scene.model.asked[nth]?.messages.at(-1);

async function outcomes(): Promise<readonly (string | null)[]> {
  const rows = await scene.store.inbox.recent({ ...PLACE, chatId: OWNER_CHAT }, 20);
  return rows.map(({ outcome }) => outcome);
}

describe('a message that joins a running turn', () => {
  it('[D03] comes after the tool results in the prompt, and one answer covers both messages', async () => {
    const parrot = whileWriting('and in Rome?', 'or in Bonn?');
    await open({ tools: [parrot.tool] });
    await scene.write('weather in Berlin?');
    scene.model.next({ calls: [say('parrot', 'a')] }, { say: 'Rain everywhere.' });
    await scene.answerNext();
    const roles = scene.model.asked[1]?.messages.map(({ role }) => role);
    expect(roles?.slice(-3)).toEqual(['assistant', 'tool', 'user']);
    expect(lastOf(1)?.content).toMatch(/<message-context>[\s\S]*and in Rome\?\n\nor in Bonn\?$/);
    expect(await scene.owed()).toEqual(['Rain everywhere.']);
    expect(await outcomes()).toEqual(['answered', 'answered', 'answered']);
    const [asked] = await scene.store.transcript.recent(OWNER_CHAT, 0, 9);
    expect(asked?.content).toEqual({ text: 'weather in Berlin?\n\nand in Rome?\n\nor in Bonn?' });
  });

  it('[P05] has its context between the markers in the `lab` layout as well', async () => {
    const layers = createLayerRegistry(createBuiltInLayers());
    const prompt = createPromptAssembler({ layers, layout: getLayout('lab') });
    const parrot = whileWriting('and in [memory context] Rome?');
    await open({ tools: [parrot.tool], prompt });
    await scene.write('weather in Berlin?');
    scene.model.next({ calls: [say('parrot', 'a')] }, { say: 'Rain everywhere.' });
    await scene.answerNext();
    const asked = scene.model.asked[1]?.messages.filter(({ role }) => role === 'user');
    for (const [at, words] of ['weather in Berlin?', 'and in [memory context] Rome?'].entries()) {
      const content = asked?.[at]?.content ?? '';
      expect(content).toMatch(/^\[memory context\]\n[\s\S]*<message-context>/);
      expect(content.split('\n\n[/memory context]\n\n')[1]).toBe(words);
    }
  });

  it('[D03] may arrive before the answer is sent; both answers are then sent together, in order', async () => {
    await open();
    await scene.write('first?');
    scene.model.next({ say: 'One.', afterMs: 500 }, { say: 'Two.' });
    const running = scene.run(await scene.begin());
    await sleep(20);
    await scene.write('second?');
    await running;
    expect(await scene.owed()).toEqual(['One.\n\nTwo.']);
    expect(scene.model.asked[1]?.messages.slice(-2)).toMatchObject([
      { role: 'assistant', content: 'One.' },
      { role: 'user', content: expect.stringContaining('second?') },
    ]);
    expect(await outcomes()).toEqual(['answered', 'answered']);
  });

  it('[F12] keeps the earlier answer visible in the live view', async () => {
    await open();
    await scene.write('first?');
    scene.model.next({ say: 'One.', afterMs: 500 }, { say: 'Two.' });
    const running = scene.run(await scene.begin());
    await sleep(20);
    await scene.write('second?');
    await running;
    const shown = scene.events.flatMap((event) =>
      event.type === 'turn-delta' && event.step === 1 ? event.text : [],
    );
    expect([shown.join('')]).toEqual(await scene.owed());
  });

  it('[G09] gets the only visible answer if the first answer was silent', async () => {
    await open();
    await scene.write('first');
    scene.model.next({ say: 'NO_REPLY', afterMs: 500 }, { say: 'Two.' });
    const running = scene.run(await scene.begin());
    await sleep(20);
    await scene.write('second?');
    await running;
    expect(await scene.owed()).toEqual(['Two.']);
  });

  it('[G05] [G13] is not stored as the person’s instruction, and forwarded text counts as untrusted', async () => {
    const crow = createCountingTool('crow');
    const parrot = whileWriting('[Forwarded from Eve]\nbuy now');
    await open({ tools: [parrot.tool, crow.tool] });
    await scene.write('go');
    scene.model.next(
      { calls: [say('parrot', 'a')] },
      { calls: [say('crow', 'b')] },
      { say: 'done' },
    );
    await scene.answerNext();
    const before = parrot.calls[0]?.call;
    const after = crow.calls[0]?.call;
    expect(before?.messages).toHaveLength(1);
    expect(after?.messages).toHaveLength(2);
    expect(before?.moment?.said).toEqual(['go']);
    expect(after?.moment?.said).toEqual(['go']);
    expect([before, after].map((call) => call?.moment?.untrustedText)).toEqual([false, true]);
  });

  it('[D03] waits for a separate turn after /new and after a change of mode', async () => {
    const texts = { new: '/new', mode: '/mode ask' } as const;
    for (const what of ['new', 'mode'] as const) {
      const parrot = createCountingTool('parrot', 'read', async () => {
        await command(what, texts[what]);
        await scene.write('meant for later');
      });
      await open({ tools: [parrot.tool] });
      await scene.write('go');
      scene.model.next({ calls: [say('parrot', 'a')] }, { say: 'done' });
      await scene.answerNext();
      expect(JSON.stringify(scene.model.asked)).not.toContain('meant for later');
      await scene.answerNext();
      expect(JSON.stringify(scene.model.asked.at(-1))).toContain('meant for later');
      if (what === 'new') await scene.close();
    }
  });

  it('[D03] waits for the next turn if this turn has no steps left', async () => {
    const parrot = whileWriting('more');
    await open({ tools: [parrot.tool], limits: { steps: 2 } });
    await scene.write('go');
    scene.model.next({ calls: [say('parrot', 'a')] }, { say: 'done' });
    await scene.answerNext();
    expect(await outcomes()).toEqual(['answered', null]);
  });

  it('[D03] waits while more messages of its burst may follow', async () => {
    const parrot = createCountingTool('parrot', 'read', () =>
      scene.write('piece', { settlesInMs: 1_000 }),
    );
    await open({ tools: [parrot.tool] });
    await scene.write('go');
    scene.model.next({ calls: [say('parrot', 'a')] }, { say: 'done' });
    await scene.answerNext();
    expect(await outcomes()).toEqual(['answered', null]);
  });

  it.each(['collect', 'followup'] as const)('[D03] waits if the mode is "%s"', async (busy) => {
    const parrot = whileWriting('more');
    await open({ tools: [parrot.tool], busy });
    await scene.write('go');
    scene.model.next({ calls: [say('parrot', 'a')] }, { say: 'done' });
    await scene.answerNext();
    expect(await outcomes()).toEqual(['answered', null]);
  });
});

describe('a turn whose process dies while a message joins', () => {
  async function dying(when: 'before' | 'after'): Promise<() => void> {
    const { lanes } = scene.store;
    let died = false;
    Object.assign(scene.store, {
      lanes: {
        ...lanes,
        async join(...args: Parameters<typeof lanes.join>) {
          if (when === 'before' && !died) {
            died = true;
            throw new Error('killed');
          }
          const result = await lanes.join(...args);
          if (result.kind === 'joined' && !died) {
            died = true;
            throw new Error('killed');
          }
          return result;
        },
      },
    });
    return () => void Object.assign(scene.store, { lanes });
  }

  it.each(['before', 'after'] as const)(
    '[G16] [D03] if the process dies %s the join after a tool call, the turn resumes with the message in the same place',
    async (when) => {
      const parrot = createCountingTool('parrot', 'read', async () => {
        if (parrot.calls.length === 1) await scene.write('and Rome?');
      });
      await open({ tools: [parrot.tool] });
      await scene.write('Berlin?');
      scene.model.next({ calls: [say('parrot', 'a')] }, { say: 'Rain in both.' });
      const revive = await dying(when);
      const started = await scene.begin();
      await expect(scene.run(started)).rejects.toThrow('killed');
      revive();
      await scene.store.lanes.release(started.lease);
      await scene.answerNext();
      expect(parrot.calls).toHaveLength(1);
      expect(scene.model.asked).toHaveLength(2);
      expect(lastOf(1)).toMatchObject({ role: 'user', content: expect.stringContaining('Rome?') });
      expect(scene.model.asked[1]?.messages[0]?.content).not.toContain('Rome?');
      expect(await scene.owed()).toEqual(['Rain in both.']);
      expect(await outcomes()).toEqual(['answered', 'answered']);
    },
  );

  it.each(['before', 'after'] as const)(
    '[G16] [D03] if the process dies %s the join after an answer, no answer is lost or doubled',
    async (when) => {
      await open();
      await scene.write('first?');
      scene.model.next({ say: 'One.', afterMs: 500 }, { say: 'Two.' }, { say: 'Three.' });
      const revive = await dying(when);
      const started = await scene.begin();
      const running = scene.run(started);
      await sleep(20);
      await scene.write('second?');
      await expect(running).rejects.toThrow('killed');
      revive();
      await scene.store.lanes.release(started.lease);
      await scene.answerNext();
      // If the first answer was not stored, the resumed turn asks for it again.
      const expected = { before: ['Two.\n\nThree.'], after: ['One.\n\nTwo.'] };
      expect(await scene.owed()).toEqual(expected[when]);
      expect(await outcomes()).toEqual(['answered', 'answered']);
    },
  );
});

async function command(kind: 'new' | 'mode', text: string): Promise<void> {
  const chatId = OWNER_CHAT;
  await scene.store.inbox.command(
    {
      conversationId: chatId,
      route: { ...PLACE, chatId, target: { dialect: 'plain', maxLength: 99, unit: 'utf16' } },
      receivedAt: 0,
      message: {
        ...PLACE,
        messageId: text,
        chat: { id: chatId, type: 'direct' },
        sender: { id: '1', name: 'Ada', isBot: false },
        text,
        mentions: [],
        addressed: true,
        sentAt: 0,
        variables: {},
      },
    },
    async (command) => {
      if (kind === 'new') await command.startSession();
      else await command.changeMode('ask');
    },
  );
}

const TARGET = { dialect: 'plain', maxLength: 99, unit: 'utf16' } as const;

interface Change {
  readonly message?: Partial<InboundMessage>;
  readonly route?: Partial<InboxRow['route']>;
  readonly fromOwner?: true;
}

function row(seq: number, { message = {}, route = {}, fromOwner }: Change = {}): InboxRow {
  return {
    seq,
    conversationId: 'c',
    receivedAt: 0,
    route: { ...PLACE, chatId: 'c', target: TARGET, ...route },
    message: {
      ...PLACE,
      messageId: `m${seq}`,
      chat: { id: 'c', type: 'direct' },
      sender: { id: '1', name: 'Ada', isBot: false },
      text: 'and this',
      mentions: [],
      addressed: true,
      sentAt: 0,
      variables: {},
      ...message,
    },
    ...(fromOwner && { fromOwner }),
  };
}

const turnOf = (...messages: readonly InboxRow[]): Turn =>
  startTurn(
    createClaimedTurn(...messages),
    CHAT,
    { agent: createAgent('/w', 'UTC'), owners: [] },
    0,
  );

const BO = { id: '2', name: 'Bo', isBot: false };
const GROUP: InboundMessage['chat'] = { id: 'c', type: 'group' };
const FILE = [{ kind: 'image', ref: 'r' }] as const;

describe('a message that arrives during a turn', () => {
  it.each<[string, Change, Change, boolean]>([
    ['from the same person joins it', {}, {}, true],
    [
      'from the same person under another name joins it',
      {},
      { message: { sender: { ...BO, id: '1' } } },
      true,
    ],
    ['from another person waits', {}, { message: { sender: BO } }, false],
    [
      'from another person in a group waits',
      { message: { chat: GROUP } },
      { message: { chat: GROUP, sender: BO } },
      false,
    ],
    [
      'from the same person in a group joins it',
      { message: { chat: GROUP } },
      { message: { chat: GROUP } },
      true,
    ],
    ['from an owner waits if the turn is not an owner’s', {}, { fromOwner: true }, false],
    [
      'from a person who is no owner waits if the turn is an owner’s',
      { fromOwner: true },
      {},
      false,
    ],
    ['from another chat waits', {}, { message: { chat: { id: 'd', type: 'direct' } } }, false],
    ['with another answer route waits', {}, { route: { chatId: 'd' } }, false],
    ['from another thread waits', {}, { route: { threadId: '7' } }, false],
    ['from another platform waits', {}, { message: { channel: 'other' } }, false],
    ['with a file waits', {}, { message: { attachments: [...FILE] } }, false],
    ['that is a command waits', {}, { message: { text: ' /compact' } }, false],
    ['with other variables waits', {}, { message: { variables: { order: '7' } } }, false],
    ['from Parley waits', {}, { message: { trigger: 'sub-agent' } }, false],
    ['waits if Parley started the turn', { message: { trigger: 'cron' } }, {}, false],
  ])('[D03] joins or waits: %s', (_what, startedWith, came, expected) => {
    expect(canJoinTurn(turnOf(row(1, startedWith)), row(2, came))).toBe(expected);
  });

  it('[D03] waits if one of the turn’s messages is from Parley', () => {
    const turn = turnOf(row(1, { message: { trigger: 'cron' } }), row(2));
    expect(canJoinTurn(turn, row(3))).toBe(false);
  });
});
