import { afterEach, describe, expect, it } from 'vitest';
import { REAL_LIMITS } from './rate-limits.ts';
import {
  closeTestResources,
  getRefusalData,
  startSlackTestDouble,
} from './testing/slack-client.ts';

afterEach(closeTestResources);

describe('faults of Web API calls', () => {
  it.each([
    ['before', false, 0],
    ['after', true, 1],
  ])('loses the connection %s the message is posted', async (_when, after, count) => {
    const { double, web, channel } = await startSlackTestDouble();
    double.fault({ kind: 'reset', method: 'chat.postMessage', after });
    await expect(web.chat.postMessage({ channel, text: 'a' })).rejects.toThrow(
      /hang up|ECONNRESET/,
    );
    expect(double.conversation(channel)).toHaveLength(count);
    expect(double.calls('chat.postMessage')).toMatchObject([{ outcome: 'reset' }]);
    await web.chat.postMessage({ channel, text: 'b' });
    expect(double.conversation(channel).at(-1)).toMatchObject({ text: 'b' });
  });

  it('answers with errors, statuses and rate limits in one channel only', async () => {
    const { double, web, channel, direct } = await startSlackTestDouble();
    const post = () => web.chat.postMessage({ channel, text: 'a' });
    double.fault({ kind: 'rate-limit', seconds: 7, channel });
    await web.chat.postMessage({ channel: direct, text: 'elsewhere' });
    expect(await getRefusalData(post())).toEqual({ error: 'ratelimited', retryAfter: 7 });
    double.fault({ kind: 'refuse', error: 'fatal_error', times: 2 });
    expect(await getRefusalData(post())).toMatchObject({ error: 'fatal_error' });
    expect(await getRefusalData(web.auth.test())).toMatchObject({ error: 'fatal_error' });
    double.fault({ kind: 'status', status: 503, method: 'chat.postMessage' });
    await expect(post()).rejects.toMatchObject({ statusCode: 503 });
    double.fault({ kind: 'hang' });
    double.clearFaults();
    await post();
    expect(double.conversation(channel)).toHaveLength(1);
  });

  it('limits messages in each channel and calls of each method', async () => {
    let now = 1_700_000_000_000;
    const { web, channel, direct } = await startSlackTestDouble({
      limits: REAL_LIMITS,
      clock: () => now,
    });
    const post = (to: string) => web.chat.postMessage({ channel: to, text: 'a' });
    for (let sent = 0; sent < 5; sent += 1) await post(channel);
    expect(await getRefusalData(post(channel))).toEqual({ error: 'ratelimited', retryAfter: 1 });
    await post(direct);
    now += 1_000;
    await post(channel);
    for (let asked = 0; asked < 50; asked += 1) await web.conversations.info({ channel });
    const info = await getRefusalData(web.conversations.info({ channel }));
    expect(info).toEqual({ error: 'ratelimited', retryAfter: 2 });
  });
});

describe('/control', () => {
  it('exposes the methods of the handle over HTTP', async () => {
    const { double, web, channel, ann } = await startSlackTestDouble();
    const control = async (path: string, body?: object) => {
      const init = body && { method: 'POST', body: JSON.stringify(body) };
      const response = await fetch(`${new URL(double.apiUrl).origin}/control/${path}`, init);
      return { status: response.status, body: JSON.parse(await response.text()) };
    };
    const { body: bo } = await control('member', { name: 'Bo' });
    const { body: made } = await control('channel', { name: 'made', members: [bo.id] });
    const { body: said } = await control('say', { channel: made.id, text: 'hi' });
    expect(said).toMatchObject({ user: bo.id, text: 'hi' });
    const place = { channel: made.id, ts: said.ts };
    await control('reword', { ...place, text: 'changed' });
    await control('react', { ...place, name: 'eyes' });
    const answers = control(`answers?channel=${made.id}&after=0&wait=5000`);
    await web.chat.postMessage({ channel: made.id, text: 'seen' });
    expect((await answers).body).toMatchObject([{ text: 'seen', from: 'bot' }]);
    expect((await control(`conversation?channel=${made.id}`)).body[0]).toMatchObject({
      text: 'changed',
      reactions: [['👀', bo.id]],
    });
    await control('erase', place);
    expect(double.conversation(made.id)).toHaveLength(1);
    await control('fault', { kind: 'refuse', error: 'fatal_error' });
    expect((await control('calls')).body).toHaveLength(1);
    await control('clear-faults', {});
    await web.auth.test();
    expect((await control('press', { ...place, label: 'No' })).status).toBe(400);
    expect((await control('dance', {})).status).toBe(404);
    expect((await control('slash', { channel, command: '/ask', from: ann })).status).toBe(200);
  });
});
