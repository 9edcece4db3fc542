import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import {
  closeTestResources,
  connectSocket,
  getRefusalData,
  type ReceivedRequest,
  type SocketEvent,
  startReceiver,
  startSlackTestDouble,
} from './testing/slack-client.ts';

afterEach(closeTestResources);

const QUICK = { retries: { delaysMs: [0, 20, 20], answerWithinMs: 200 } };

const eventIn = ({ body }: ReceivedRequest) => JSON.parse(body).event;
const payloadIn = ({ body }: ReceivedRequest) =>
  JSON.parse(new URLSearchParams(body).get('payload') ?? '');

/** Starts a double with a request URL that responds with the status returned by `answer`. */
async function withUrl(
  answer: (request: ReceivedRequest, nth: number) => number | 'hang' = () => 200,
) {
  const all = await startSlackTestDouble(QUICK);
  const receiver = await startReceiver(answer);
  await all.double.setRequestUrl(receiver.url);
  return { ...all, requests: receiver.requests };
}

describe('requests from the Slack double to the bot', () => {
  it('verifies the request URL with a challenge', async () => {
    const { double } = await startSlackTestDouble();
    await expect(double.setRequestUrl('http://127.0.0.1:9/')).rejects.toThrow(/did not answer/);
    const elsewhere = double.setRequestUrl(`${double.apiUrl}auth.test`);
    await expect(elsewhere).rejects.toThrow(/did not return the challenge/);
    const { url } = await startReceiver(() => 200);
    await double.setRequestUrl(url);
  });

  it('signs every request over its exact bytes', async () => {
    const { double, channel, requests } = await withUrl();
    double.say({ channel, text: 'naïve 😀 text' });
    await double.waitFor(() => requests.length > 0);
    const [{ headers, body }] = requests as [ReceivedRequest];
    const time = headers['x-slack-request-timestamp'];
    const secret = double.signingSecret;
    const mac = createHmac('sha256', secret).update(`v0:${time}:${body}`).digest('hex');
    expect(headers['x-slack-signature']).toBe(`v0=${mac}`);
    expect(JSON.parse(body)).toMatchObject({
      ...{ type: 'event_callback', team_id: double.teamId, api_app_id: double.appId },
      event_id: expect.stringMatching(/^Ev/),
      authorizations: [{ user_id: double.me.id, is_bot: true }],
      event: { type: 'message', channel_type: 'channel', channel },
    });
  });

  it("sends two events for a mention, and events for edits, deletions and the bot's own messages", async () => {
    const { double, web, channel, requests } = await withUrl();
    const { ts } = double.say({ channel, text: `<@${double.me.id}> hi` });
    double.reword(channel, ts, 'changed');
    double.erase(channel, ts);
    await double.waitFor(() => requests.length === 4);
    await web.chat.postMessage({ channel, text: 'mine' });
    await double.waitFor(() => requests.length === 5);
    expect(
      requests.map(eventIn).sort((a, b) => Number(a.event_ts) - Number(b.event_ts)),
    ).toMatchObject([
      { type: 'message', text: `<@${double.me.id}> hi` },
      { type: 'app_mention', ts },
      { subtype: 'message_changed', message: { text: 'changed' }, previous_message: { ts } },
      { subtype: 'message_deleted', deleted_ts: ts },
      { type: 'message', bot_id: double.me.botId, text: 'mine' },
    ]);
  });

  it('marks people and channels of another workspace', async () => {
    const { double, requests } = await withUrl();
    const eve = double.addMember({ name: 'Eve', teamId: 'T0OTHER' });
    const channel = double.addChannel({ name: 'both', members: [eve], sharedWith: 'T0OTHER' });
    double.say({ channel, from: eve, text: 'hello' });
    await double.waitFor(() => requests.length > 0);
    expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({
      is_ext_shared_channel: true,
      event: { user: eve, user_team: 'T0OTHER', source_team: 'T0OTHER' },
    });
  });

  it.each<[string, number | 'hang', string]>([
    ['an error', 503, 'http_error'],
    ['silence', 'hang', 'http_timeout'],
  ])('retries up to three times with the same event id after %s', async (_name, status, reason) => {
    const { double, channel, requests } = await withUrl(() => status);
    double.say({ channel, text: 'again' });
    await double.waitFor(() => double.deliveries('message').at(3)?.outcome === reason, 5_000);
    const ids = new Set(requests.map(({ body }) => JSON.parse(body).event_id));
    expect(ids.size).toBe(1);
    expect(requests.map(({ headers }) => headers['x-slack-retry-num'])).toEqual([
      ...[undefined, '1', '2', '3'],
    ]);
    expect(requests[1]?.headers['x-slack-retry-reason']).toBe(reason);
  });

  it('duplicates, reorders, drops and redelivers events when a fault requires it', async () => {
    const { double, channel, requests } = await withUrl();
    const heard = () => requests.map((request) => eventIn(request).text);
    double.fault({ kind: 'duplicate' });
    double.say({ channel, text: 'a' });
    await double.waitFor(() => heard().length === 2);
    double.fault({ kind: 'swap' });
    double.say({ channel, text: 'b' });
    double.say({ channel, text: 'c' });
    await double.waitFor(() => heard().length === 4);
    double.fault({ kind: 'lost-acknowledgement' });
    double.say({ channel, text: 'd' });
    await double.waitFor(() => heard().length === 6);
    double.fault({ kind: 'undelivered', times: 2 });
    double.say({ channel, text: 'e' });
    await double.waitFor(() => heard().length === 7);
    expect(heard()).toEqual(['a', 'a', 'c', 'b', 'd', 'd', 'e']);
    expect(requests.at(-1)?.headers['x-slack-retry-num']).toBe('2');
  });

  it("sends presses and commands once, as forms, and shows the bot's responses", async () => {
    const { double, web, channel, ann, requests } = await withUrl();
    const button = {
      type: 'button',
      text: { type: 'plain_text', text: 'Yes' },
      value: 'y',
      action_id: 'ok',
    };
    const blocks = [{ type: 'actions', block_id: 'row', elements: [button] }];
    const { ts = '' } = await web.chat.postMessage({ channel, text: 'Sure?', blocks });
    await double.waitFor(() => requests.length === 1);
    const id = double.press({ channel, ts, label: 'Yes', from: ann });
    await double.waitFor(() => double.interaction(id) === 'acknowledged');
    const press = payloadIn(requests[1] as ReceivedRequest);
    expect(press).toMatchObject({
      ...{ type: 'block_actions', user: { id: ann }, channel: { id: channel } },
      container: { message_ts: ts },
      actions: [{ type: 'button', action_id: 'ok', block_id: 'row', value: 'y' }],
    });
    const respond = (body: object) =>
      fetch(press.response_url, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      });
    await respond({ replace_original: true, text: 'Done.' });
    await respond({ text: 'Thanks.' });
    expect(double.conversation(channel)).toMatchObject([
      { text: 'Done.', buttons: [], edits: 1 },
      { text: 'Thanks.', onlyFor: ann },
    ]);
    const command = double.slash({ channel, command: '/ask', text: 'it all', from: ann });
    await double.waitFor(() => double.interaction(command) === 'acknowledged');
    const form = new URLSearchParams(requests.at(-1)?.body);
    expect(Object.fromEntries(form)).toMatchObject({
      command: '/ask',
      text: 'it all',
      user_id: ann,
    });
  });

  it('does not retry presses and commands when the bot does not respond', async () => {
    const { double, channel, requests } = await withUrl(() => 500);
    const id = double.slash({ channel, command: '/ask' });
    await double.waitFor(() => double.interaction(id) === 'failed');
    expect(requests).toHaveLength(1);
  });

  it('opens a form once for a trigger that is at most three seconds old', async () => {
    const { double, web, channel, ann, requests } = await withUrl();
    double.slash({ channel, command: '/form', from: ann });
    await double.waitFor(() => requests.length > 0);
    const trigger_id = new URLSearchParams(requests[0]?.body).get('trigger_id') ?? '';
    const title = { type: 'plain_text', text: 'Ask' } as const;
    const view = { type: 'modal' as const, title, blocks: [] };
    await web.views.open({ trigger_id, view });
    expect(await getRefusalData(web.views.open({ trigger_id, view }))).toMatchObject({
      error: 'exchanged_trigger_id',
    });
    const [form] = double.views();
    double.submit({
      view: form?.id ?? '',
      values: { b: { a: { type: 'plain_text_input', value: 'x' } } },
    });
    await double.waitFor(() => requests.length === 2);
    expect(payloadIn(requests[1] as ReceivedRequest)).toMatchObject({
      ...{ type: 'view_submission', user: { id: ann } },
      view: { state: { values: { b: { a: { value: 'x' } } } } },
    });
  });
});

describe('Socket Mode of the Slack double', () => {
  /**
   * Starts a double and a Socket Mode client that acknowledges events unless `isSilent` returns
   * true.
   */
  async function withSocket(
    isSilent: (event: SocketEvent, nth: number) => boolean = () => false,
    options = QUICK,
  ) {
    const all = await startSlackTestDouble(options);
    const events: SocketEvent[] = [];
    const onEvent = (event: SocketEvent) => {
      events.push(event);
      if (!isSilent(event, events.length)) void event.ack();
    };
    const client = await connectSocket(all.double, onEvent);
    return { ...all, client, events };
  }

  it('delivers events, presses and commands as envelopes', async () => {
    const { double, channel, ann, events } = await withSocket();
    double.say({ channel, text: 'over the socket' });
    const id = double.slash({ channel, command: '/ask', from: ann });
    await double.waitFor(() => double.interaction(id) === 'acknowledged');
    expect(events).toMatchObject([
      { type: 'events_api', body: { event: { text: 'over the socket' } } },
      { type: 'slash_commands', body: { command: '/ask', user_id: ann } },
    ]);
    expect(double.deliveries('message')).toMatchObject([
      { transport: 'socket', outcome: 'acknowledged' },
    ]);
  });

  it('redelivers an envelope that is not acknowledged', async () => {
    const { double, channel, events } = await withSocket((_event, nth) => nth === 1);
    double.say({ channel, text: 'again' });
    await double.waitFor(() => double.deliveries('message').at(1)?.outcome === 'acknowledged');
    expect(events.map(({ retry_num, retry_reason }) => [retry_num, retry_reason])).toEqual([
      [0, ''],
      [1, 'timeout'],
    ]);
  });

  it("shows the response in a command's acknowledgement", async () => {
    const { double, channel, ann } = await startSlackTestDouble(QUICK);
    await connectSocket(double, ({ ack }) => void ack({ text: 'at your service' }));
    double.slash({ channel, command: '/ask', from: ann });
    await double.waitFor(() => double.conversation(channel).length > 0);
    expect(double.conversation(channel)).toMatchObject([{ text: 'at your service', onlyFor: ann }]);
  });

  it.each(['warning', 'refresh_requested'] as const)(
    'asks the client to reconnect (%s) and then delivers pending events',
    async (reason) => {
      const delaysMs = Array.from({ length: 100 }, () => 20);
      const patient = { retries: { ...QUICK.retries, delaysMs } };
      const { double, channel, events } = await withSocket(undefined, patient);
      double.askToLeave(reason);
      await double.waitFor(() => double.connections() === 0);
      double.say({ channel, text: 'meanwhile' });
      await double.waitFor(() => events.length > 0);
      expect(events).toMatchObject([{ body: { event: { text: 'meanwhile' } } }]);
      expect(events[0]?.retry_num).toBeGreaterThan(0);
    },
  );

  it('delivers nothing after `mute` until the client reconnects', async () => {
    const { double, channel, events } = await withSocket();
    double.mute();
    double.say({ channel, text: 'into the void' });
    await double.waitFor(() => double.deliveries('message').length === 4, 5_000);
    double.dropConnections();
    await double.waitFor(() => double.connections() === 1);
    double.say({ channel, text: 'back' });
    await double.waitFor(() => events.length > 0);
    expect(JSON.stringify(events[0]?.body)).toContain('back');
  });
});
