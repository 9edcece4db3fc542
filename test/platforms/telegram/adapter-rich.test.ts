import { telegram } from '@parley/channel-telegram';
import type { OutboundPart, RenderedPart } from '@parley/core';
import { render } from '@parley/markup';
import { afterEach, describe, expect, it } from 'vitest';
import { noSignal, readFailure } from '../adapter-core.ts';
import { createPart } from './adapter-parts.ts';
import { endScenes, startTelegramScene, type TelegramSceneOptions } from './adapter-scene.ts';

const ANN = 501;
const GROUP = -5;
const TABLE = '# Prices\n\n|what|price|\n|-|-:|\n|tea|2|\n|cake|**3**|';

afterEach(endScenes);

async function talking(wishes: TelegramSceneOptions = {}) {
  const made = await startTelegramScene({ settings: () => ({ richMessages: true }), ...wishes });
  made.double.say({ chat: ANN, text: 'q' });
  made.double.say({ chat: GROUP, text: 'q' });
  const { target } = made.adapter.capabilities;
  const [body] = render(TABLE, target);
  return { ...made, target, body: body as RenderedPart };
}

/** The part of an answer with this body. */
function answer(chat: number, body: RenderedPart, more: Partial<OutboundPart> = {}): OutboundPart {
  return { ...createPart(chat, body.text), body, ...more };
}

describe('rich messages', () => {
  it('[F18] are only used if the settings ask for them', async () => {
    const { target, double, adapter, body } = await talking({ settings: () => ({}) });
    expect(target).not.toHaveProperty('rich');
    await adapter.send(answer(ANN, body), noSignal());
    expect(double.calls('sendRichMessage')).toEqual([]);
    const base = { token: '1:a' };
    expect(telegram.settings.parse(base)).toMatchObject({ richMessages: false });
  });

  it('[F18] show tables, headings and buttons, and quote the question', async () => {
    const { double, adapter, body } = await talking();
    const route = { ...createPart(GROUP, '').route, replyToMessageId: '3' };
    const buttons = [{ label: 'Pay', data: 'pay', style: 'primary' as const }];
    await adapter.send(answer(GROUP, body, { buttons, route, turnId: null }), noSignal());
    expect(double.conversation(GROUP).at(-1)).toMatchObject({
      text: 'Prices\nwhat | price\ntea | 2\ncake | 3',
      rich: [
        { type: 'heading', size: 1 },
        { type: 'table', cells: { length: 3, 0: [{ is_header: true }, { align: 'right' }] } },
      ],
      buttons: ['Pay'],
      replyTo: 3,
    });
  });

  it('[F18] are not used if an ordinary message looks the same', async () => {
    const { double, adapter, target } = await talking();
    const [body] = render('**Hello** you\n\n- a', target);
    await adapter.send(answer(ANN, body as RenderedPart), noSignal());
    expect(double.calls().map(({ method }) => method)).toEqual(['sendMessage']);
  });

  it.each([
    ['HTML that Telegram cannot parse', 400, "Bad Request: can't parse rich message: x"],
    ['more than Telegram accepts', 400, 'Bad Request: RICH_MESSAGE_TOO_LARGE'],
    ['a server without rich messages', 404, 'Not Found: method not found'],
  ])('[M04] become ordinary messages once for %s', async (_name, code, description) => {
    const { double, adapter, body } = await talking();
    double.fault({ kind: 'refuse', code, description, method: 'sendRichMessage' });
    await adapter.send(answer(ANN, body), noSignal());
    expect(double.calls().map(({ method }) => method)).toEqual(['sendRichMessage', 'sendMessage']);
    const { text, rich } = double.conversation(ANN).at(-1) ?? {};
    expect(rich).toBeUndefined();
    expect(text).toContain('cake');
    expect(double.conversation(ANN)).toHaveLength(2);
  });

  it('[M04] become plain messages when the markup is refused as well', async () => {
    const { double, adapter, body } = await talking();
    double.fault({ kind: 'refuse', code: 400, description: 'no', method: 'sendRichMessage' });
    const description = "Bad Request: can't parse entities: x";
    double.fault({ kind: 'refuse', code: 400, description, method: 'sendMessage' });
    await adapter.send(answer(ANN, body), noSignal());
    expect(double.conversation(ANN).at(-1)?.text).toBe(body.plain);
  });

  it('[D04] are not repeated in another form when it is unknown whether they arrived', async () => {
    const { double, adapter, body } = await talking();
    double.fault({ kind: 'reset', method: 'sendRichMessage', after: true });
    const failure = readFailure(adapter.send(answer(ANN, body), noSignal()));
    expect(await failure).toEqual({ kind: 'unknown-outcome' });
    expect(double.calls('sendMessage')).toEqual([]);
    expect(double.conversation(ANN)).toHaveLength(2);
  });

  it('[D05] wait for the rate limit, and are not sent where the bot may not write', async () => {
    const { double, adapter, body } = await talking();
    const slow = { code: 429, description: 'slow', parameters: { retry_after: 3 } };
    double.fault({ kind: 'refuse', method: 'sendRichMessage', ...slow });
    const waits = readFailure(adapter.send(answer(ANN, body), noSignal()));
    expect(await waits).toMatchObject({ kind: 'rate-limited' });
    double.setAccess(GROUP, 'muted');
    const muted = readFailure(adapter.send(answer(GROUP, body), noSignal()));
    expect(await muted).toEqual({ kind: 'forbidden' });
    expect(double.calls('sendMessage')).toEqual([]);
  });

  it('[F12] replace text streamed in a group, which is shown once', async () => {
    const { double, adapter, body } = await talking();
    await adapter.start();
    const chat = { chatId: String(GROUP) };
    await double.waitFor(() => adapter.streaming?.pace?.(chat, 500) !== null);
    const text =
      'Prices, which are growing and growing until there are enough of them to be shown.';
    const half = { show: async () => [{ text, plain: text }] };
    await adapter.streaming?.update(chat, 't', half);
    await adapter.send(answer(GROUP, body), noSignal());
    await adapter.send(answer(GROUP, body), noSignal());
    const shown = double.conversation(GROUP).filter(({ from }) => from === 'bot');
    expect(shown).toMatchObject([{ edits: 1, rich: [{ type: 'heading' }, { type: 'table' }] }]);
  });

  it('[F04] can be created by editing a text message, and restored by another edit', async () => {
    const { double, adapter, body } = await talking();
    const ann = { chatId: String(ANN) };
    const { platformMessageId: id } = await adapter.send(createPart(ANN, 'one'), noSignal());
    await adapter.messages?.edit?.(ann, id, body);
    await adapter.messages?.edit?.(ann, id, body);
    expect(double.conversation(ANN).at(-1)).toMatchObject({ edits: 1, rich: [{}, {}] });
    await adapter.messages?.edit?.(ann, id, { text: 'two', plain: 'two' });
    expect(double.conversation(ANN).at(-1)).toMatchObject({ edits: 2, text: 'two' });
    expect(double.conversation(ANN).at(-1)).not.toHaveProperty('rich');
    const description = 'Bad Request: RICH_MESSAGE_INVALID';
    double.fault({ kind: 'refuse', code: 400, description, method: 'editMessageText' });
    await adapter.messages?.edit?.(ann, id, body);
    expect(double.conversation(ANN).at(-1)).toMatchObject({ edits: 3 });
    expect(double.conversation(ANN).at(-1)).not.toHaveProperty('rich');
  });
});
