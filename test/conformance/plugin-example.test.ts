import { randomUUID } from 'node:crypto';
import type { ToolCall, TurnClosing } from '@parley/agent';
import {
  type ChannelContext,
  type ChannelState,
  findUndeclaredCapabilities,
} from '@parley/channels';
import { type InboundMessage, silentLogger } from '@parley/core';
import {
  createInMemoryAdapterValues,
  createRecordingLogger,
  EXAMPLE_FACTS,
} from '@parley/core/testing';
import { describeOutcome, type LoadedParts, loadPlugins } from '@parley/plugins';
import type { SourceTurn } from '@parley/prompt';
import { beforeAll, describe, expect, it } from 'vitest';
import { plugin } from '../../examples/plugin/src/index.ts';

const reader = { kind: 'guest', conversationId: 'c' } as const;
const view: SourceTurn['view'] = {
  reader,
  groupMemory: 'groups/c.md',
  async read(source) {
    const audience = { kind: 'everyone' } as const;
    return { kind: 'file', text: 'No cheating.', source, audience, characters: 12, cut: null };
  },
  list: async () => [],
  write: () => Promise.reject(new Error('nothing is written here')),
  change: () => Promise.reject(new Error('nothing is written here')),
  readBytes: async () => ({ kind: 'absent', reason: 'missing' }),
  plan: () => Promise.reject(new Error('nothing is written here')),
};
const signal = new AbortController().signal;

let brought: LoadedParts;
beforeAll(async () => {
  const [outcome] = await loadPlugins({
    plugins: [{ use: '../../examples/plugin', options: { sides: 4 } }],
    base: import.meta.dirname,
    workspace: '/nowhere',
    log: silentLogger,
    clock: () => 0,
    taken: { tools: [], channels: [] },
  });
  if (outcome?.kind !== 'loaded') throw new Error(`it does not work: ${outcome?.reason}`);
  expect(describeOutcome(outcome)).toMatch(
    /^games-table 0\.1\.0 brings tool roll_dice, skills in .*, layer table-manners, hook lucky-number, channel board, source house-rules$/,
  );
  brought = outcome.parts;
});

describe('the example plugin', () => {
  it('[P16] rolls the requested number of dice, with the number of sides set in its options', async () => {
    const call: ToolCall = {
      callId: 'c1',
      turnId: 't',
      facts: EXAMPLE_FACTS,
      reader,
      view,
      session: 1,
      clock: () => 0,
      log: silentLogger,
      signal,
    };
    const said = await brought.tools[0]?.run({ dice: 20 }, call);
    const rolls = said?.text.split(' = ')[0]?.split(' + ').map(Number) ?? [];
    expect(rolls).toHaveLength(20);
    expect(rolls.every((roll) => Number.isInteger(roll) && roll >= 1 && roll <= 4)).toBe(true);
    await expect(brought.tools[0]?.run({ dice: 21 }, call)).rejects.toThrow();
  });

  it('[P16] provides the lucky number before each turn and logs the turn afterwards', async () => {
    const { log, lines } = createRecordingLogger();
    const info = { ...log, info: log.warn, child: () => ({ ...log, info: log.warn }) };
    const host = { log: info, clock: () => 0, folder: '/', signal };
    const { hooks: [hook] = [] } = await plugin.setup({ sides: 4 }, host);
    const closing: TurnClosing = {
      facts: EXAMPLE_FACTS,
      reader,
      view,
      text: 'Hello',
      answer: 'Hi',
      outcome: 'answered',
    };
    const added = await hook?.before?.(closing, signal);
    expect(added?.userContext?.[0]?.text).toBe('The lucky number of today is 2.');
    await hook?.after?.(closing, signal);
    expect(lines).toEqual(['a turn at the games table {"message":"991","outcome":"answered"}']);
  });

  it('[P16] lists the house rules if the reader may see them', async () => {
    const turn = {
      facts: EXAMPLE_FACTS,
      reader,
      view,
      messages: [],
      conversationId: 'c',
      session: 1,
    };
    const gathered = await brought.sources[0]?.gather(turn);
    expect(gathered?.resources?.[0]?.location).toBe('house-rules.md');
  });

  it('[F04] [P16] offers a board that reports success only once a notice is stored', async () => {
    const received: InboundMessage[] = [];
    const states: ChannelState[] = [];
    const context: ChannelContext<unknown> = {
      account: 'default',
      settings: { title: 'News' },
      log: silentLogger,
      clock: () => 5,
      monotonic: () => 5,
      values: createInMemoryAdapterValues(),
      async receive(message) {
        if (message.text === 'too much') throw new Error('the disk is full');
        received.push(message);
        return { kind: 'accepted', conversationId: 'c' };
      },
      holdsAccount: () => true,
      revise: async () => {},
      reacted: async () => {},
      message: async () => null,
      commands: [],
      report: (state) => void states.push(state),
      skipped: async () => {},
      ignored: async () => {},
      notifyOwner: async () => {},
      history: async () => [],
    };
    const adapter = (await brought.channels[0]?.load())?.(context);
    if (adapter === undefined) throw new Error('there is no board');
    expect(findUndeclaredCapabilities(adapter)).toEqual([]);
    await adapter.start();
    expect(states).toEqual([{ kind: 'connected', as: 'News' }]);
    const pin = (notice: unknown) =>
      adapter.http?.fetch(
        new Request('http://board/', { method: 'POST', body: JSON.stringify(notice) }),
      );
    expect((await pin({ id: randomUUID(), from: 'bo', text: 'hello' }))?.status).toBe(202);
    expect((await pin({ from: 'bo' }))?.status).toBe(400);
    await expect(pin({ id: '2', from: 'bo', text: 'too much' })).rejects.toThrow('disk');
    expect(received.map(({ text }) => text)).toEqual(['hello']);
  });
});
