import type { GrowingAnswer } from '@parley/channels';
import { createInMemoryAdapterValues } from '@parley/core/testing';
import { createPrefixRenderer } from '@parley/markup';
import { afterEach, describe, expect, it } from 'vitest';
import { noSignal, readFailure } from '../adapter-core.ts';
import { createPart } from './adapter-parts.ts';
import { endScenes, startTelegramScene } from './adapter-scene.ts';

const ANN = 501;
const GROUP = -5;
const ann = { chatId: String(ANN) };

/** An answer whose parts are already visible, and whose last part is still being written. */
function growing(...texts: string[]): GrowingAnswer {
  const parts = texts.map((text) => ({ text, plain: text }));
  return { show: async () => parts };
}

async function talking() {
  const made = await startTelegramScene();
  made.double.say({ chat: ANN, text: 'q' });
  made.double.say({ chat: GROUP, text: 'q' });
  return { ...made, streaming: made.adapter.streaming, messages: made.adapter.messages };
}

afterEach(endScenes);

describe('a streamed answer', () => {
  it('[F12] is shown as one draft of its turn in a private chat, and ends as a message', async () => {
    const { double, adapter, streaming } = await talking();
    const target = adapter.capabilities.target;
    const answer = createPrefixRenderer(target);
    for (const text of ['**Hel', 'lo** ', 'you']) {
      answer.push(text);
      await streaming?.update(ann, 't', answer);
    }
    await streaming?.end(ann, 't', 'answer');
    await adapter.send(createPart(ANN, '<b>Hello</b> you'), noSignal());
    expect(double.drafts().map(({ text }) => text)).toEqual(['Hel', 'Hello', 'Hello you']);
    expect(new Set(double.drafts().map(({ draftId }) => draftId)).size).toBe(1);
    expect(double.conversation(ANN).slice(1)).toMatchObject([{ text: 'Hello you' }]);
  });

  it('[F12] shows the part that is being written', async () => {
    const { double, streaming } = await talking();
    await streaming?.update(ann, 't', growing('first', 'second'));
    expect(double.drafts().map(({ text }) => text)).toEqual(['second']);
  });

  it('[F12] is no longer shown once its message is sent, which waits for a draft in progress', async () => {
    const { double, adapter, streaming } = await talking();
    double.fault({ kind: 'delay', ms: 50, method: 'sendMessageDraft' });
    const late = streaming?.update(ann, 't', growing('half'));
    await adapter.send(createPart(ANN, 'whole'), noSignal());
    await late;
    await streaming?.update(ann, 't', growing('half again'));
    expect(double.calls().map(({ method }) => method)).toEqual(['sendMessageDraft', 'sendMessage']);
    await streaming?.update(ann, 'next', growing('more'));
    expect(double.drafts()).toHaveLength(2);
  });

  it('[D09] is no longer shown once another gateway may have finished it', async () => {
    const account = { isHeld: true };
    const { double, adapter } = await startTelegramScene({ holdsAccount: () => account.isHeld });
    double.say({ chat: ANN, text: 'q' });
    await adapter.streaming?.update(ann, 't', growing('half'));
    account.isHeld = false;
    await adapter.streaming?.update(ann, 't', growing('half again'));
    expect(double.drafts().map(({ text }) => text)).toEqual(['half']);
  });

  it('[F12] is not retried on a server without drafts', async () => {
    const { double, adapter, streaming, logged } = await talking();
    const description = 'Not Found: method not found';
    double.fault({ kind: 'refuse', code: 404, description, method: 'sendMessageDraft' });
    await streaming?.update(ann, 't', growing('a'));
    await streaming?.update(ann, 'other', growing('b'));
    expect(double.calls('sendMessageDraft')).toHaveLength(1);
    await adapter.send(createPart(ANN, 'whole'), noSignal());
    expect(double.conversation(ANN).at(-1)?.text).toBe('whole');
    expect(logged).toEqual([]);
  });

  it('[D05] pauses in that chat for as long as Telegram asks, without losing text', async () => {
    let now = 1_000_000;
    const { double, adapter } = await startTelegramScene({ clock: () => now });
    const show = (text: string) => adapter.streaming?.update(ann, 't', growing(text));
    double.say({ chat: ANN, text: 'q' });
    const refusal = { code: 429, description: 'slow', parameters: { retry_after: 9 } };
    double.fault({ kind: 'refuse', method: 'sendMessageDraft', ...refusal });
    await show('a');
    double.say({ chat: 502, text: 'q' });
    await adapter.streaming?.update({ chatId: '502' }, 'o', growing('other'));
    now += 8_999;
    await show('b');
    now += 1;
    await show('c');
    expect(double.calls('sendMessageDraft')).toHaveLength(3);
    expect(double.drafts().map(({ text }) => text)).toEqual(['other', 'c']);
  });

  it('[F12] is not retried for a turn whose draft was refused', async () => {
    const { double, streaming } = await talking();
    double.fault({ kind: 'refuse', code: 400, description: 'TEXTDRAFT_PEER_INVALID' });
    await streaming?.update(ann, 't', growing('a'));
    await streaming?.update(ann, 't', growing('b'));
    expect(double.calls('sendMessageDraft')).toHaveLength(1);
  });
});

describe('existing messages', () => {
  it('[F04] are edited, even twice to the same text, with markup, or as plain text if markup is refused', async () => {
    const { double, adapter, messages } = await talking();
    const { platformMessageId: id } = await adapter.send(createPart(ANN, 'one'), noSignal());
    const edit = (text: string, plain = text) => messages?.edit?.(ann, id, { text, plain });
    await edit('<b>two</b>');
    await edit('<b>two</b>');
    expect(double.conversation(ANN).at(-1)).toMatchObject({ text: 'two', edits: 1 });
    await edit('<b>broken', 'three');
    expect(double.conversation(ANN).at(-1)).toMatchObject({ text: 'three', edits: 2 });
  });

  it('[F04] are deleted, once or twice', async () => {
    const { double, adapter, messages } = await talking();
    const { platformMessageId: id } = await adapter.send(createPart(ANN, 'one'), noSignal());
    await messages?.delete?.(ann, id);
    await messages?.delete?.(ann, id);
    expect(double.conversation(ANN).map(({ text }) => text)).toEqual(['q']);
  });

  it('[F04] get a reaction, which can be removed', async () => {
    const { double, messages } = await talking();
    const id = String(double.conversation(ANN)[0]?.messageId);
    await messages?.react?.(ann, id, '👀');
    expect(double.conversation(ANN)[0]?.reaction).toBe('👀');
    await messages?.react?.(ann, id, undefined);
    expect(double.conversation(ANN)[0]?.reaction).toBeUndefined();
  });

  it.each<[string, string, object]>([
    ['an emoji Telegram does not know', '🧮', { kind: 'refused' }],
    ['no message at all', '', { kind: 'refused' }],
  ])('[F04] refuse a reaction with %s', async (name, emoji, failure) => {
    const { double, messages } = await talking();
    const id = name.startsWith('no') ? 'x' : String(double.conversation(ANN)[0]?.messageId);
    expect(await readFailure(Promise.resolve(messages?.react?.(ann, id, emoji)))).toEqual(failure);
  });

  it('[F04] report why a change failed: blocked, migrated or unreachable', async () => {
    const { double, adapter, messages } = await talking();
    const { platformMessageId: id } = await adapter.send(createPart(ANN, 'one'), noSignal());
    const body = { text: 'two', plain: 'two' };
    const edit = () => readFailure(Promise.resolve(messages?.edit?.(ann, id, body)));
    double.fault({ kind: 'reset', after: true });
    expect(await edit()).toEqual({ kind: 'transient' });
    double.setAccess(ANN, 'blocked');
    expect(await edit()).toEqual({ kind: 'forbidden' });
  });
});

describe('the menu of commands', () => {
  const commands = [
    { name: 'help', summary: 'what I can do' },
    { name: 'my-skill', summary: 'x'.repeat(300) },
    { name: 'Ärger', summary: 'no legal name' },
  ];

  it('[F09] is set for private chats and groups at the first start, and again when it changes', async () => {
    const values = createInMemoryAdapterValues();
    const first = await startTelegramScene({ commands, values });
    await first.adapter.start();
    await first.double.waitFor(() => first.double.calls('setMyCommands').length === 2);
    const params = first.double.calls('setMyCommands').map((call) => call.params);
    expect(params.map(({ scope }) => scope)).toEqual([
      { type: 'all_private_chats' },
      { type: 'all_group_chats' },
    ]);
    expect(params[0]?.commands).toEqual([
      { command: 'help', description: 'what I can do' },
      { command: 'my_skill', description: 'x'.repeat(256) },
    ]);
    expect(first.logged.join()).toContain('Ärger');
    await expect.poll(async () => (await values.get('menu', ['commands'])).size).toBe(1);
    await first.adapter.stop();

    const second = await startTelegramScene({ commands, values });
    second.double.say({ chat: ANN, text: '/my_skill now' });
    await second.adapter.start();
    // A few polls later, the menu would have been set.
    for (let polls = 1; polls <= 4; polls += 1) {
      await second.double.waitFor(() => second.received.length === polls);
      second.double.say({ chat: ANN, text: 'more' });
    }
    await second.adapter.stop();
    expect(second.double.calls('setMyCommands')).toEqual([]);
    expect(second.received[0]?.text).toBe('/my-skill now');

    const botToken = '7000000002:another-bot-with-the-same-name-here';
    const other = await startTelegramScene({ commands, values, double: { botToken } });
    await other.adapter.start();
    await other.double.waitFor(() => other.double.calls('setMyCommands').length === 2);
    await other.adapter.stop();

    const third = await startTelegramScene({ commands: commands.slice(0, 1), values });
    await third.adapter.start();
    await third.double.waitFor(() => third.double.calls('setMyCommands').length === 2);
  });

  it('[F09] does not prevent anyone from writing when it cannot be set, is reported, and is retried at the next start', async () => {
    const values = createInMemoryAdapterValues();
    const first = await startTelegramScene({ commands, values });
    first.double.fault({ kind: 'refuse', code: 400, description: 'no', method: 'setMyCommands' });
    first.double.say({ chat: ANN, text: 'hi' });
    await first.adapter.start();
    await first.double.waitFor(() => first.received.length === 1);
    await first.double.waitFor(() => first.logged.join().includes('outdated'));
    await first.adapter.stop();
    const second = await startTelegramScene({ commands, values });
    await second.adapter.start();
    await second.double.waitFor(() => second.double.calls('setMyCommands').length === 2);
  });

  const skills = Array.from({ length: 50 }, (_, n) => ({
    name: `a_skill_of_some_length_${n}`,
    summary: `${n} What this skill does in some detail, and when it is of use. `.repeat(5),
    isSkill: true as const,
  }));
  /** The last menu received by the double. */
  const menuIn = ({ double }: Awaited<ReturnType<typeof startTelegramScene>>) =>
    JSON.stringify(double.calls('setMyCommands').at(-1)?.params.commands);

  it('[F09] fits all of 50 skills with long descriptions by shortening the descriptions', async () => {
    const wanted = [...commands.slice(0, 1), ...skills];
    expect(JSON.stringify(wanted).length).toBeGreaterThan(16_000);
    const values = createInMemoryAdapterValues();
    const here = await startTelegramScene({ commands: wanted, values });
    await here.adapter.start();
    await expect.poll(async () => (await values.get('menu', ['commands'])).size).toBe(1);
    expect(here.double.calls('setMyCommands')).toHaveLength(2);
    for (const { name } of wanted) expect(menuIn(here)).toContain(`"${name}"`);
    await here.adapter.stop();
  });

  it('[F09] omits skills when not all fit, and reports which', async () => {
    const many = [skills, skills, skills].flatMap((some, turn) =>
      some.map((one) => ({ ...one, name: `${one.name}_${turn}` })),
    );
    const values = createInMemoryAdapterValues();
    const here = await startTelegramScene({ commands: [...commands.slice(0, 1), ...many], values });
    await here.adapter.start();
    await expect.poll(async () => (await values.get('menu', ['commands'])).size).toBe(1);
    expect(menuIn(here)).toContain('"help"');
    await expect.poll(() => here.logged.join()).toContain('a_skill_of_some_length_49_2');
    await here.adapter.stop();
  });

  it('[F09] is sent again in a smaller form when it is too large for Telegram', async () => {
    const values = createInMemoryAdapterValues();
    const here = await startTelegramScene({ commands: skills, values });
    const description = 'Bad Request: BOT_COMMANDS_TOO_MUCH';
    here.double.fault({ kind: 'refuse', code: 400, description, method: 'setMyCommands' });
    await here.adapter.start();
    await expect.poll(async () => (await values.get('menu', ['commands'])).size).toBe(1);
    const sizes = here.double
      .calls('setMyCommands')
      .map(({ params }) => JSON.stringify(params.commands).length);
    expect(sizes).toHaveLength(3);
    expect(sizes[1]).toBeLessThan(sizes[0] ?? 0);
    await here.adapter.stop();
  });
});
