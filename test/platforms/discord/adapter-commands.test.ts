import type { IngressOutcome } from '@parley/channels';
import { afterEach, describe, expect, it } from 'vitest';
import { accepted, noSignal } from '../adapter-core.ts';
import { ANN, endScenes, part, type Scene, scene } from './adapter-scene.ts';

afterEach(endScenes);

const COMMANDS = [
  { name: 'status', summary: 'how I am doing' },
  { name: 'new', summary: 'start afresh' },
];
const menuWritten = ({ double }: Scene) => double.calls(`PUT /applications/`);

/** Storing is quick here, however busy the machine is. */
const forEver = (_ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
const notAtAll = async () => {};

async function withMenu(wishes: Parameters<typeof scene>[0] = {}): Promise<Scene> {
  const here = await scene({ commands: COMMANDS, wait: forEver, ...wishes });
  await here.connect();
  await here.double.waitFor(() => menuWritten(here).length > 0);
  return here;
}

async function answered(here: Scene, interaction: string): Promise<string[]> {
  await here.double.waitFor(() => here.double.interaction(interaction).answered);
  return here.double.interaction(interaction).ephemeral.map(({ visible }) => visible);
}

describe('[F09] slash commands on Discord', () => {
  it('are registered once, and again only when they have changed', async () => {
    const first = await withMenu();
    expect(menuWritten(first)[0]?.body).toMatchObject([
      { name: 'status', description: 'how I am doing' },
      { name: 'new', description: 'start afresh' },
    ]);
    await first.adapter.stop();
    const { double } = first;
    const same = await scene({ on: double, commands: COMMANDS });
    await same.connect();
    await double.waitFor(() => double.calls('GET /applications/').length === 2);
    await same.adapter.stop();
    expect(menuWritten(first)).toHaveLength(1);
    const other = await scene({ on: double, commands: COMMANDS.slice(1) });
    await other.connect();
    await double.waitFor(() => menuWritten(first).length === 2);
  });

  it('arrive as if they had been typed, and are acknowledged to that person alone', async () => {
    const here = await withMenu();
    const { double } = here;
    const id = double.slash({ channel: double.channelId, from: ANN, name: 'status' });
    expect(await here.hears(1)).toMatchObject({
      messageId: id,
      text: '/status',
      chat: { id: double.channelId, type: 'group' },
      sender: { id: ANN, isBot: false },
      addressed: true,
    });
    expect(await answered(here, id)).toEqual(['/status ✓']);
    const more = double.slash({
      channel: double.dmWith(ANN),
      name: 'new',
      options: { text: 'please' },
    });
    expect(await here.hears(2)).toMatchObject({ text: '/new please', chat: { type: 'direct' } });
    expect(await answered(here, more)).toEqual(['/new please ✓']);
    const route = { replyTo: id };
    await here.adapter.send(part(double.channelId, 'I am well', route), noSignal());
    expect(double.conversation(double.channelId)).toMatchObject([{ visible: 'I am well' }]);
  });

  it('say why there is no answer', async () => {
    const here = await withMenu({
      receive: async () => ({ kind: 'refused', reason: 'a stranger' }),
    });
    const id = here.double.slash({ channel: here.double.channelId, from: ANN, name: 'new' });
    expect(await answered(here, id)).toEqual(['I may not do that here: a stranger.']);
  });

  it('that could not be stored say so, since Discord brings them once only', async () => {
    const here = await withMenu({ receive: async () => Promise.reject(new Error('disk full')) });
    const id = here.double.slash({ channel: here.double.channelId, from: ANN, name: 'new' });
    expect((await answered(here, id)).join()).toContain('Please try again');
  });

  it('are acknowledged in time although storing takes long', async () => {
    const { promise: stored, resolve: store } = Promise.withResolvers<IngressOutcome>();
    const here = await withMenu({ receive: () => stored, wait: notAtAll });
    const id = here.double.slash({ channel: here.double.channelId, from: ANN, name: 'new' });
    expect(await answered(here, id)).toEqual(['']);
    store(accepted);
    await here.double.waitFor(() =>
      here.double.interaction(id).ephemeral.some(({ visible }) => visible === '/new ✓'),
    );
  });

  it('are acknowledged although the first attempt is lost', async () => {
    const here = await withMenu();
    here.double.fault({ kind: 'reset', call: 'POST /interactions/' });
    const id = here.double.slash({ channel: here.double.channelId, from: ANN, name: 'new' });
    expect(await answered(here, id)).toEqual(['/new ✓']);
  });
});

describe('buttons on Discord', () => {
  async function withButtons(wishes: Parameters<typeof scene>[0] = {}) {
    const here = await withMenu(wishes);
    const { double, adapter } = here;
    const buttons = [
      { label: 'Yes', data: '/approve 1' },
      { label: 'No', data: '/deny 1' },
    ];
    const asked = part(double.channelId, 'May I?', { buttons });
    const { platformMessageId: message } = await adapter.send(asked, noSignal());
    const press = (customId: string) =>
      double.press({ channel: double.channelId, from: ANN, message, customId });
    return { here, message, press };
  }

  it('count as text of the person who presses them', async () => {
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
    // Nothing is to be seen of it but the answer.
    expect(here.double.calls('POST /interactions/')).toMatchObject([{ body: { type: 6 } }]);
  });

  it.each([
    ['decided at once', forEver, { settled: true } as const, 0],
    ['decided, but slowly', notAtAll, { settled: true } as const, 0],
    ['declined', forEver, { declined: 'That is for my owner.' }, 1],
    ['not decided', forEver, {}, 1],
  ])('[G05] are gone once the question is decided: %s', async (_how, wait, outcome, rows) => {
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

  it('say so to those who may not press them', async () => {
    const { here, press } = await withButtons({
      receive: async () => ({ kind: 'refused', reason: 'a stranger' }),
    });
    const id = press('0:/approve 1');
    expect(await answered(here, id)).toEqual(['I may not do that here: a stranger.']);
  });
});
