import type { CommandInfo, IngressOutcome } from '@parley/channels';
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

const COMMANDS: CommandInfo[] = [
  { name: 'status', summary: 'how I am doing', private: true },
  { name: 'new', summary: 'start afresh' },
];
const menuWritten = ({ double }: DiscordScene) => double.calls(`PUT /applications/`);

/** A wait that never ends, so that storing counts as fast even on a busy machine. */
const forEver = (_ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
const notAtAll = async () => {};

async function withMenu(
  wishes: Parameters<typeof startDiscordScene>[0] = {},
): Promise<DiscordScene> {
  const here = await startDiscordScene({ commands: COMMANDS, wait: forEver, ...wishes });
  await here.connect();
  await here.double.waitFor(() => menuWritten(here).length > 0);
  return here;
}

async function answered(here: DiscordScene, interaction: string): Promise<string[]> {
  await here.double.waitFor(() => here.double.interaction(interaction).answered);
  return here.double.interaction(interaction).ephemeral.map(({ visible }) => visible);
}

const shownIn = ({ double }: DiscordScene, channel: string) =>
  double.conversation(channel).map(({ visible }) => visible);

const useBoth = ({ double }: DiscordScene) => {
  const use = (name: string) => double.slash({ channel: double.channelId, from: ANN, name });
  return [use('status'), use('new')] as const;
};

describe('[F09] slash commands on Discord', () => {
  it('are registered once, and again only when they have changed', async () => {
    const first = await withMenu();
    expect(menuWritten(first)[0]?.body).toMatchObject([
      { name: 'status', description: 'how I am doing' },
      { name: 'new', description: 'start afresh' },
    ]);
    await first.adapter.stop();
    const { double } = first;
    const same = await startDiscordScene({ on: double, commands: COMMANDS });
    await same.connect();
    await double.waitFor(() => double.calls('GET /applications/').length === 2);
    await same.adapter.stop();
    expect(menuWritten(first)).toHaveLength(1);
    const other = await startDiscordScene({ on: double, commands: COMMANDS.slice(1) });
    await other.connect();
    await double.waitFor(() => menuWritten(first).length === 2);
  });

  it('arrive as if they had been typed, and the answer replaces "thinking"', async () => {
    const here = await withMenu();
    const { double } = here;
    const id = double.slash({ channel: double.channelId, from: ANN, name: 'new' });
    expect(await here.hears(1)).toMatchObject({
      messageId: id,
      text: '/new',
      chat: { id: double.channelId, type: 'group' },
      sender: { id: ANN, isBot: false },
      addressed: true,
    });
    await here.answers(id, 'A fresh start');
    expect(shownIn(here, double.channelId)).toEqual(['A fresh start']);
    await here.answers(id, 'and more', { index: 1, idempotencyKey: 'second' });
    expect(shownIn(here, double.channelId)).toEqual(['A fresh start', 'and more']);
    const direct = double.dmWith(ANN);
    const more = double.slash({ channel: direct, name: 'status', options: { text: 'please' } });
    expect(await here.hears(2)).toMatchObject({ text: '/status please', chat: { type: 'direct' } });
    await here.answers(more, 'I am well');
    expect(shownIn(here, direct)).toEqual(['I am well']);
    expect(double.interaction(more).ephemeral).toEqual([]);
  });

  it('are answered privately when the command is private', async () => {
    const here = await withMenu();
    const { double } = here;
    const id = double.slash({ channel: double.channelId, from: ANN, name: 'status' });
    await here.hears(1);
    await here.answers(id, 'I am well');
    await here.answers(id, 'very well', { id: 'part_2', idempotencyKey: 'second' });
    // The same part is sent again, as after a lost confirmation.
    await here.answers(id, 'I am well');
    const { ephemeral } = double.interaction(id);
    expect(ephemeral.map(({ visible }) => visible)).toEqual(['I am well', 'very well']);
    expect(shownIn(here, double.channelId)).toEqual([]);
  });

  it('[D04] are answered once, in place, by the next process', async () => {
    const before = await withMenu();
    const { double } = before;
    const [alone, open] = useBoth(before);
    await before.hears(2);
    await double.waitFor(() => [alone, open].every((id) => double.interaction(id).answered));
    await before.adapter.stop();
    for (const _process of ['that dies after sending', 'the next']) {
      const after = await startDiscordScene({
        on: double,
        commands: COMMANDS,
        heard: before.received,
      });
      await after.answers(alone, 'I am well');
      await after.answers(open, 'A fresh start');
    }
    expect(double.interaction(alone).ephemeral.map(({ visible }) => visible)).toEqual([
      'I am well',
    ]);
    expect(shownIn(before, double.channelId)).toEqual(['A fresh start']);
  });

  it("are answered in the direct chat after Discord's time limit if they are private, and otherwise not answered", async () => {
    let now = Date.now();
    const here = await withMenu({ double: { clock: () => now } });
    const { double } = here;
    const [alone, open] = useBoth(here);
    await here.hears(2);
    await double.waitFor(() => [alone, open].every((id) => double.interaction(id).answered));
    now += 15 * 60_000 + 1;
    await here.answers(alone, 'I am well');
    await here.answers(open, 'A fresh start', { idempotencyKey: 'other' });
    expect(shownIn(here, double.dmWith(ANN))).toEqual(['I am well']);
    // Nobody can remove "thinking" without the token of the interaction.
    expect(shownIn(here, double.channelId)).toEqual(['', 'A fresh start']);
    double.closeDms(ANN);
    const late = here.answers(alone, 'again', { idempotencyKey: 'third' });
    expect(await readFailure(late)).toEqual({ kind: 'refused' });
  });

  it('are answered in place even if the answer is ready before "thinking"', async () => {
    const sent = Promise.withResolvers<unknown>();
    const here: DiscordScene = await withMenu({
      receive: async ({ messageId }) => {
        sent.resolve(here.answers(messageId, 'A fresh start'));
        // Long enough for a separate call.
        await new Promise((wake) => setTimeout(wake, 100));
        return { kind: 'command', name: 'new' };
      },
    });
    const { channelId } = here.double;
    const id = here.double.slash({ channel: channelId, from: ANN, name: 'new' });
    await sent.promise;
    await here.double.waitFor(() => here.double.interaction(id).answered);
    expect(shownIn(here, channelId)).toEqual(['A fresh start']);
  });

  it('stop showing "thinking" when no answer follows, and never show an unfinished answer', async () => {
    const here = await withMenu();
    const { double, adapter } = here;
    const id = double.slash({ channel: double.channelId, from: ANN, name: 'new' });
    const { response } = await here.hears(1);
    await double.waitFor(() => double.interaction(id).answered);
    expect(shownIn(here, double.channelId)).toEqual(['']);
    const address = { chatId: double.channelId, replyToMessageId: id, response };
    const text = 'x'.repeat(200);
    await adapter.streaming?.update(address, 't', { show: async () => [{ text, plain: text }] });
    await adapter.streaming?.end(address, 't', 'nothing');
    expect(shownIn(here, double.channelId)).toEqual([]);
  });

  it('give the reason when there is no answer', async () => {
    const here = await withMenu({
      receive: async () => ({ kind: 'refused', reason: 'a stranger' }),
    });
    const id = here.double.slash({ channel: here.double.channelId, from: ANN, name: 'new' });
    expect(await answered(here, id)).toEqual(["I'm not allowed to do that here: a stranger."]);
  });

  it('report that they could not be stored, since Discord delivers them only once', async () => {
    const here = await withMenu({ receive: async () => Promise.reject(new Error('disk full')) });
    const id = here.double.slash({ channel: here.double.channelId, from: ANN, name: 'new' });
    expect((await answered(here, id)).join()).toContain('Please try again');
  });

  it('are acknowledged in time even if storing takes long', async () => {
    const { promise: stored, resolve: store } = Promise.withResolvers<IngressOutcome>();
    const here = await withMenu({ receive: () => stored, wait: notAtAll });
    const { double } = here;
    const id = double.slash({ channel: double.channelId, from: ANN, name: 'new' });
    expect(await answered(here, id)).toEqual([]);
    expect(shownIn(here, double.channelId)).toEqual(['']);
    store({ kind: 'refused', reason: 'a stranger' });
    await double.waitFor(() => double.interaction(id).ephemeral.length > 0);
    expect(await answered(here, id)).toEqual(["I'm not allowed to do that here: a stranger."]);
    expect(shownIn(here, double.channelId)).toEqual([]);
  });

  it('are acknowledged even if the first attempt is lost', async () => {
    const here = await withMenu();
    here.double.fault({ kind: 'reset', call: 'POST /interactions/' });
    const id = here.double.slash({ channel: here.double.channelId, from: ANN, name: 'new' });
    expect(await answered(here, id)).toEqual([]);
  });
});

describe('buttons on Discord', () => {
  async function withButtons(wishes: Parameters<typeof startDiscordScene>[0] = {}) {
    const here = await withMenu(wishes);
    const { double, adapter } = here;
    const buttons = [
      { label: 'Yes', data: '/approve 1' },
      { label: 'No', data: '/deny 1' },
    ];
    const asked = createPart(double.channelId, 'May I?', { buttons });
    const { platformMessageId: message } = await adapter.send(asked, noSignal());
    const press = (customId: string) =>
      double.press({ channel: double.channelId, from: ANN, message, customId });
    return { here, message, press };
  }

  it('count as text from the person who presses them', async () => {
    const { here, message, press } = await withButtons();
    const id = press('1:/deny 1');
    expect(await here.hears(1)).toMatchObject({
      messageId: id,
      text: '/deny 1',
      sender: { id: ANN },
      replyTo: { messageId: message },
      addressed: true,
    });
    await here.double.waitFor(() => here.double.calls('POST /interactions/').length > 0);
    // The press shows only the answer.
    expect(here.double.calls('POST /interactions/')).toMatchObject([{ body: { type: 6 } }]);
  });

  it.each([
    ['decided immediately', forEver, { settled: true } as const, 0],
    ['decided, but slowly', notAtAll, { settled: true } as const, 0],
    ['declined', forEver, { declined: 'That is for my owner.' }, 1],
    ['not decided', forEver, {}, 1],
  ])('[G05] are removed once the request is decided: %s', async (_how, wait, outcome, rows) => {
    const { here, message, press } = await withButtons({
      wait,
      receive: async () => ({ kind: 'command', name: 'approve', ...outcome }),
    });
    const id = press('0:/approve 1');
    const { double } = here;
    await double.waitFor(() => double.interaction(id).answered);
    const shown = () => double.conversation(double.channelId).find((one) => one.id === message);
    await expect.poll(() => shown()?.message.components).toHaveLength(rows);
    expect(shown()).toMatchObject({ content: 'May I?' });
  });

  it('tell people that they may not press them', async () => {
    const { here, press } = await withButtons({
      receive: async () => ({ kind: 'refused', reason: 'a stranger' }),
    });
    const id = press('0:/approve 1');
    expect(await answered(here, id)).toEqual(["I'm not allowed to do that here: a stranger."]);
  });
});
