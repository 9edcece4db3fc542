import { get, type IncomingMessage } from 'node:http';
import { createWhatsAppAdapter, type WhatsAppAdapter } from '@chat-adapter/whatsapp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectFaults, expectRedeliveries, QUESTION } from './double-checks.ts';
import { type CloudPerson, WhatsAppCloudDouble } from './doubles/whatsapp-cloud.ts';
import { hostAdapter, SILENT, type SmallHost } from './small-host.ts';

describe('the WhatsApp Cloud API double, driven by the real adapter', () => {
  let double: WhatsAppCloudDouble;
  let adapter: WhatsAppAdapter;
  let host: SmallHost;
  let ann: CloudPerson;

  const start = async (options: object = {}) => {
    const { apiUrl, accessToken, appSecret, verifyToken, phoneNumberId } = double;
    adapter = createWhatsAppAdapter({
      ...{ apiUrl, accessToken, appSecret, verifyToken, phoneNumberId, logger: SILENT },
      ...options,
    });
    host = await hostAdapter(adapter);
    await double.subscribe(host.url);
  };
  const ask = async (person = ann, text = 'hello', more: object = {}) => {
    const { id } = await double.say({ person, text, ...more });
    return host.waitFor(() => host.messages.find(({ message }) => message.id === id));
  };
  const texts = (person = ann) => double.conversation(person).map(({ visible }) => visible);

  beforeEach(async () => {
    double = await new WhatsAppCloudDouble().start();
    ann = double.addPerson('Ann', '4915111111111');
    await start();
  });
  afterEach(async () => {
    await host.close();
    await double.close();
  });

  it('registers a webhook only if it answers the challenge with the right token', async () => {
    await host.close();
    await expect(start({ verifyToken: 'another' })).rejects.toThrow(/challenge/);
  });

  it('delivers a message, accepts the reply, and reports its status', async () => {
    const { threadId, message } = await ask();
    expect(message.author).toMatchObject({ userId: ann.phone, fullName: 'Ann', isMe: false });
    const { id } = await adapter.postMessage(threadId, { raw: 'Good *morning*' });
    expect(texts()).toEqual(['hello', 'Good morning']);
    expect(double.messages.at(-1)?.id).toBe(id);
    await double.deliveries.settle();
    expect(double.deliveries.all.map(({ state }) => state)).toEqual(Array(3).fill('delivered'));
    await adapter.addReaction(threadId, message.id, '👍');
    expect(double.reactions).toEqual([{ messageId: message.id, emoji: '👍' }]);
  });

  it('names people without a phone number by their business-scoped id, even after it changes', async () => {
    const ben = double.addPerson('Ben');
    const { threadId, message } = await ask(ben);
    expect(message.author.userId).toBe(ben.userId);
    await adapter.postMessage(threadId, { raw: 'Hello Ben' });
    await double.changeNumber(ben, undefined);
    await adapter.postMessage(threadId, { raw: 'Still there?' });
    expect(texts(ben)).toEqual(['hello', 'Hello Ben', 'Still there?']);
    expect((await ask(ben, 'yes')).threadId).toBe(threadId);
  });

  it('delivers a button press, and refuses too many or too long buttons', async () => {
    const { threadId } = await ask();
    const { id } = await adapter.postMessage(threadId, { card: QUESTION });
    expect(texts().at(-1)).toBe('May I?');
    await double.press(ann, id, 'Approve');
    const action = await host.waitFor(() => host.actions[0]);
    expect(action).toMatchObject({ actionId: 'yes', value: '42', threadId });
    const post = async (count: number, title: string) => {
      const reply = (n: number) => ({
        type: 'reply',
        reply: { id: `${n}`, title: `${n}${title}` },
      });
      const action = { buttons: Array.from({ length: count }, (_, n) => reply(n)) };
      const interactive = { type: 'button', body: { text: 'Choose' }, action };
      const body = { messaging_product: 'whatsapp', to: ann.phone, type: 'interactive' };
      return (
        await fetch(`${double.apiUrl}/v25.0/${double.phoneNumberId}/messages`, {
          method: 'POST',
          headers: { authorization: `Bearer ${double.accessToken}` },
          body: JSON.stringify({ ...body, interactive }),
        })
      ).status;
    };
    expect(await post(3, 'x'.repeat(19))).toBe(200);
    expect(await post(4, 'x')).toBe(400);
    expect(await post(1, 'x'.repeat(20))).toBe(400);
  });

  it('delivers reactions and quotes', async () => {
    const { message } = await ask();
    await double.react(ann, message.id, '❤️');
    expect(await host.waitFor(() => host.reactions[0])).toMatchObject({ messageId: message.id });
    const reply = await ask(ann, 'and this', { replyTo: message.id });
    expect(reply.message.raw).toMatchObject({ message: { context: { id: message.id } } });
  });

  it('stores files in both directions', async () => {
    const file = { name: 'a.txt', type: 'text/plain', bytes: Buffer.from('inside') };
    const { threadId, message } = await ask(ann, 'read this', { file });
    expect(message.text).toBe('read this');
    // Downloads come from a separate host, which this transport redirects to loopback.
    const transport = (url: URL, _signal: AbortSignal, headers: Record<string, string> = {}) =>
      new Promise<IncomingMessage>((resolve, reject) => {
        const { pathname, search } = url;
        const target = `${double.apiUrl}${pathname}${search}`;
        get(target, { headers: { ...headers, 'accept-encoding': 'identity' } }, resolve).on(
          'error',
          reject,
        );
      });
    const media = double.messages[0]?.media ?? '';
    expect((await adapter.downloadMedia(media, transport)).toString()).toBe('inside');
    const files = [{ data: Buffer.from('P'), filename: 'out.png', mimeType: 'image/png' }];
    await adapter.postMessage(threadId, { raw: 'here', files });
    const sent = double.messages.find(({ from, media }) => from === 'bot' && media !== undefined);
    expect(double.file(sent?.media ?? '')).toMatchObject({ type: 'image/png' });
  });

  it("accepts only templates once a day has passed since the person's last message", async () => {
    const { threadId } = await ask();
    ann.lastWroteAt -= 24 * 60 * 60_000;
    const post = () => adapter.postMessage(threadId, { raw: 'Are you there?' });
    await expect(post()).rejects.toMatchObject({ errorCode: 131_047 });
    double.refusesLate = true;
    await post();
    expect(texts()).toEqual(['hello']);
    await adapter.sendTemplate(threadId, { name: 'reminder', language: 'en' });
    expect(texts()).toEqual(['hello', '[reminder]']);
  });

  it('refuses a wrong token, an unknown person, and text of invalid length', async () => {
    const { threadId } = await ask();
    const post = (raw: string) => adapter.postMessage(threadId, { raw });
    await expect(post('')).rejects.toMatchObject({ errorCode: 100 });
    await post('x'.repeat(4_096));
    const { phoneNumberId } = double;
    const unknown = adapter.postMessage(`whatsapp:${phoneNumberId}:49999`, { raw: 'who?' });
    await expect(unknown).rejects.toMatchObject({ errorCode: 131_026 });
    await host.close();
    await start({ accessToken: 'wrong' });
    await expect(post('who am I')).rejects.toMatchObject({ code: 'AUTH_FAILED' });
  });

  it("signs its webhooks, so that the adapter refuses another app's webhooks", async () => {
    await host.close();
    await start({ appSecret: 'another' });
    await double.say({ person: ann, text: 'hello' });
    expect(double.deliveries.all[0]?.attempts).toEqual([401]);
    expect(host.messages).toEqual([]);
  });

  it('repeats messages that the bot has not accepted', async () => {
    await expectRedeliveries(double, host, (text) => ask(ann, text));
  });

  it('injects faults before and after the effect', async () => {
    const { threadId } = await ask();
    const post = (raw: string) => adapter.postMessage(threadId, { raw });
    const body = { error: { code: 130_429, message: '(#130429) Rate limit hit' } };
    await expectFaults(double, post, {
      calls: { route: 'POST /:version/:phone/messages' },
      rateLimited: [{ status: 429, body }, { code: 'RATE_LIMITED' }],
      broken: [500, { status: 500 }],
    });
    expect(texts()).toEqual(['hello', 'lost after']);
  });
});
