import type { CommandInfo } from '@parley/channels';
import type { Button } from '@parley/core';
import { afterEach, describe, expect, it } from 'vitest';
import { noSignal, readFailure } from '../adapter-core.ts';
import {
  ANN,
  createPart,
  type DiscordScene,
  endScenes,
  startDiscordScene,
} from './adapter-scene.ts';

afterEach(endScenes);

const COMMANDS: CommandInfo[] = [{ name: 'new', summary: 'start afresh' }];
const V2 = 1 << 15;

const choices = (count: number): Button[] =>
  Array.from({ length: count }, (_, n) => ({
    label: `Choice ${n + 1}`,
    data: `/answer AB12CD ${n + 1}`,
  }));
const ANSWER: Button = { label: 'Answer…', data: '/answer AB12CD', asks: 'Your answer' };
const SKIP: Button = { label: 'Skip', data: '/answer AB12CD skip' };
const DECISION: Button[] = [
  { label: 'Approve', data: '/approve AB12CD', style: 'success' },
  { label: 'Deny', data: '/deny AB12CD', style: 'danger' },
];

interface Question {
  readonly here: DiscordScene;
  readonly message: string;
  /** The current components of the question, including nested ones. */
  components(): readonly Record<string, unknown>[];
}

async function asked(
  buttons: Button[],
  wishes: Parameters<typeof startDiscordScene>[0] = {},
  text = 'Which one?',
): Promise<Question> {
  const here = await startDiscordScene({ commands: COMMANDS, ...wishes });
  await here.connect();
  const { double, adapter } = here;
  const question = createPart(double.channelId, text, { buttons, turnId: null, index: null });
  const { platformMessageId: message } = await adapter.send(question, noSignal());
  const components = () => {
    const found = double.conversation(double.channelId).find(({ id }) => id === message);
    return flat(found?.message.components);
  };
  return { here, message, components };
}

function flat(components: unknown): readonly Record<string, unknown>[] {
  if (!Array.isArray(components)) return [];
  return components.flatMap((one: Record<string, unknown>) => [one, ...flat(one.components)]);
}

const settles = async () => ({ kind: 'command', name: 'answer', settled: true }) as const;

describe('[F18] a question with many choices on Discord', () => {
  it.each([6, 7, 24, 25])(
    'has a menu of %i choices, with the other buttons below',
    async (count) => {
      const { components } = await asked([...choices(count), ANSWER, SKIP]);
      const menu = components().find(({ type }) => type === 3);
      expect(menu?.options).toHaveLength(count);
      const labels = components().flatMap(({ type, label }) => (type === 2 ? [label] : []));
      expect(labels).toEqual(['Answer…', 'Skip']);
    },
  );

  it.each([1, 2, 5])('has buttons if they fit in one row: %i', async (count) => {
    const { components } = await asked([...choices(count), SKIP]);
    expect(components().some(({ type }) => type === 3)).toBe(false);
    expect(components().filter(({ type }) => type === 2)).toHaveLength(count + 1);
  });

  it("[G05] counts a choice as that person's button press below the question", async () => {
    const { here, message, components } = await asked([...choices(9), SKIP], { receive: settles });
    const { double } = here;
    const { options, custom_id } = components().find(({ type }) => type === 3) ?? {};
    const { value } = (options as { value: string }[])[6] ?? { value: '' };
    const use = { channel: double.channelId, from: ANN, message, customId: String(custom_id) };
    const id = double.press({ ...use, values: [value] });
    expect(await here.hears(1)).toMatchObject({
      messageId: id,
      text: '/answer AB12CD 7',
      pressed: message,
      sender: { id: ANN },
      authored: { text: true },
    });
    await double.waitFor(() => double.interaction(id).answered);
    expect(components()).toEqual([]);
  });

  it('reports a choice that is not in its menu', async () => {
    const { here, message } = await asked([...choices(2), SKIP]);
    const { double } = here;
    const event = {
      id: '1500000000000000001',
      application_id: double.me.id,
      type: 3,
      token: 'made-up',
      version: 1,
      channel_id: double.channelId,
      guild_id: double.guildId,
      member: {
        user: { id: ANN, username: 'ann', discriminator: '0' },
        roles: [],
        permissions: '0',
      },
      message: { id: message },
      data: { custom_id: 'menu', component_type: 3, values: ['of another app'] },
    };
    double.event('INTERACTION_CREATE', event, double.guildId);
    const call = () => double.calls(`POST /interactions/${event.id}`)[0];
    await double.waitFor(() => call() !== undefined);
    expect(call()?.body).toMatchObject({ data: { content: 'That button no longer works.' } });
    expect(here.received).toEqual([]);
  });
});

describe('[F18] a text answer to a question on Discord', () => {
  async function opened(wishes: Parameters<typeof startDiscordScene>[0] = {}) {
    const question = await asked([...choices(2), ANSWER, SKIP], wishes);
    const { here, message, components } = question;
    const { double } = here;
    const asking = components().find(({ label }) => label === 'Answer…');
    const use = { channel: double.channelId, from: ANN, message };
    const press = double.press({ ...use, customId: String(asking?.custom_id) });
    await double.waitFor(() => double.interaction(press).answered);
    return { ...question, press };
  }

  it('is entered in a form, which is the first response to the press', async () => {
    const { here, press } = await opened();
    expect(here.double.interaction(press).modal).toMatchObject({
      title: 'Your answer',
      components: [{ type: 18, component: { type: 4, style: 2, required: true } }],
    });
    // The press alone sends nothing to the agent.
    expect(here.received).toEqual([]);
  });

  it("[G05] only counts as that person's answer to that question", async () => {
    const { here, press, message, components } = await opened({ receive: settles });
    const { double } = here;
    const words = 'neither,\nbut **tea** instead';
    const id = double.submit({ interaction: press, values: { words } });
    expect(await here.hears(1)).toMatchObject({
      messageId: id,
      text: `/answer AB12CD ${words}`,
      pressed: message,
      replyTo: { messageId: message },
      sender: { id: ANN },
      authored: { text: true },
      addressed: true,
    });
    await double.waitFor(() => double.interaction(id).answered);
    expect(components()).toEqual([]);
  });

  it.each([
    [
      'refused',
      { kind: 'refused', reason: 'a stranger' },
      "I'm not allowed to do that here: a stranger.",
    ],
    ['not stored', null, 'Please try again'],
  ] as const)(
    'is confirmed only to that person when the answers are %s',
    async (_how, outcome, shown) => {
      const { here, press } = await opened({
        receive: async () => outcome ?? Promise.reject(new Error('disk full')),
      });
      const { double } = here;
      const id = double.submit({ interaction: press, values: { words: 'tea' } });
      await double.waitFor(() => double.interaction(id).ephemeral.length > 0);
      expect(double.interaction(id).ephemeral.at(-1)?.visible).toContain(shown);
    },
  );

  it('is acknowledged in time even if storing takes long', async () => {
    const { promise: stored, resolve } =
      Promise.withResolvers<Awaited<ReturnType<typeof settles>>>();
    const { here, press, components } = await opened({
      receive: () => stored,
      wait: async () => {},
    });
    const { double } = here;
    const id = double.submit({ interaction: press, values: { words: 'tea' } });
    await double.waitFor(() => double.interaction(id).answered);
    expect(components()).not.toEqual([]);
    resolve({ kind: 'command', name: 'answer', settled: true });
    await expect.poll(components).toEqual([]);
  });
});

describe('[F18] [G05] an approval on Discord', () => {
  const CALL = 'May I use `exec` with this?\n\n```\ncommand: "rm -r build"\n```';

  it('is a card with its complete text and green and red buttons', async () => {
    const { here, message, components } = await asked(DECISION, {}, CALL);
    const shown = here.double.conversation(here.double.channelId)[0];
    expect(shown).toMatchObject({ id: message, content: '' });
    expect(Number(shown?.message.flags) & V2).toBe(V2);
    expect(components()).toMatchObject([
      { type: 17 },
      { type: 10, content: CALL },
      { type: 1 },
      { type: 2, label: 'Approve', style: 3 },
      { type: 2, label: 'Deny', style: 4 },
    ]);
  });

  it('keeps its text and loses its buttons once it is decided', async () => {
    const { here, message, components } = await asked(DECISION, { receive: settles }, CALL);
    const { double } = here;
    const use = { channel: double.channelId, from: ANN, message };
    const id = double.press({ ...use, customId: '0:/approve AB12CD' });
    await double.waitFor(() => double.interaction(id).answered);
    expect(components()).toMatchObject([{ type: 17 }, { type: 10, content: CALL }]);
    expect(() => double.press({ ...use, customId: '1:/deny AB12CD' })).toThrow('No button');
  });

  it('keeps its text even if deciding takes longer than Discord waits', async () => {
    const { promise: stored, resolve } =
      Promise.withResolvers<Awaited<ReturnType<typeof settles>>>();
    const late = { receive: () => stored, wait: async () => {} };
    const { here, message, components } = await asked(DECISION, late, CALL);
    const { double } = here;
    const use = { channel: double.channelId, from: ANN, message };
    const id = double.press({ ...use, customId: '0:/approve AB12CD' });
    await double.waitFor(() => double.interaction(id).answered);
    resolve({ kind: 'command', name: 'answer', settled: true });
    await expect.poll(() => components().length).toBe(2);
  });

  it('[M04] is text with buttons when Discord does not accept the card', async () => {
    const here = await startDiscordScene({ commands: COMMANDS });
    await here.connect();
    const { double, adapter } = here;
    double.fault({
      kind: 'refuse',
      call: 'POST /channels/',
      status: 400,
      code: 50035,
      message: 'no',
    });
    const question = createPart(double.channelId, CALL, {
      buttons: DECISION,
      turnId: null,
      index: null,
    });
    await adapter.send(question, noSignal());
    const [shown, ...others] = double.conversation(double.channelId);
    expect(others).toEqual([]);
    expect(shown).toMatchObject({ content: CALL });
    expect(flat(shown?.message.components)).toMatchObject([
      { type: 1 },
      { label: 'Approve' },
      { label: 'Deny' },
    ]);
  });

  it('is one message, however often its part is sent', async () => {
    const { here, message } = await asked(DECISION, {}, CALL);
    const { double, adapter } = here;
    const again = createPart(double.channelId, CALL, {
      buttons: DECISION,
      turnId: null,
      index: null,
    });
    expect(await adapter.send(again, noSignal())).toEqual({ platformMessageId: message });
    expect(double.conversation(double.channelId)).toHaveLength(1);
  });

  it('[D04] replaces "thinking", even if the next process sends it again', async () => {
    const before = await startDiscordScene({ commands: COMMANDS });
    await before.connect();
    const { double } = before;
    await double.waitFor(() => double.calls('PUT /applications/').length > 0);
    const id = double.slash({ channel: double.channelId, from: ANN, name: 'new' });
    await before.hears(1);
    await double.waitFor(() => double.interaction(id).answered);
    const question = { buttons: DECISION, turnId: null, index: null };
    await before.answers(id, CALL, question);
    await before.adapter.stop();
    const after = await startDiscordScene({
      on: double,
      commands: COMMANDS,
      heard: before.received,
    });
    await after.answers(id, CALL, question);
    const shown = double.conversation(double.channelId);
    expect(shown.map(({ message }) => flat(message.components).length)).toEqual([5]);
  });

  it('can be edited to show text, and remains a card', async () => {
    const { here, message, components } = await asked(DECISION, {}, CALL);
    const { adapter, double } = here;
    const address = { chatId: double.channelId };
    await adapter.messages?.edit?.(address, message, { text: 'Never mind', plain: 'Never mind' });
    expect(components()).toMatchObject([{ type: 10, content: 'Never mind' }]);
    const long = 'x'.repeat(4_001);
    const refused = adapter.messages?.edit?.(address, message, { text: long, plain: long });
    expect(await readFailure(refused ?? Promise.resolve())).toEqual({ kind: 'refused' });
  });

  it('does not notify anyone', async () => {
    const { here } = await asked(DECISION, {}, '@everyone may I?');
    here.double.grant(here.double.guildId, 'pingEveryone');
    expect(here.double.sends().at(-1)?.pings.everyone).toBe(false);
  });
});
