import { afterEach, describe, expect, it } from 'vitest';
import { endStages, newClient, stage, startDouble } from './discord-client.ts';

const ANN = '200000000000000501';
afterEach(endStages);

/** The control interface as curl uses it. */
function controlOf(apiRoot: string) {
  const base = `${new URL(apiRoot).origin}/control`;
  return {
    get: async (path: string): Promise<unknown> => (await fetch(`${base}/${path}`)).json(),
    post: async (action: string, body: unknown) => {
      const response = await fetch(`${base}/${action}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: response.status, body: (await response.json()) as unknown };
    },
  };
}

describe('[U04] control of the Discord double over http', () => {
  it('says, waits for what the bot sends, and shows the conversation', async () => {
    const { double, client } = await stage();
    client.on('messageCreate', (message) => {
      if (message.author.id === ANN) void message.reply(`**${message.attachments.size}** files`);
    });
    const control = controlOf(double.apiRoot);
    const files = [{ name: 'a.txt', base64: 'aGk=' }];
    await control.post('say', { channel: double.channelId, from: ANN, text: 'look', files });
    expect(await control.get('sends?after=0&wait=10000')).toMatchObject([
      { visible: '1 files', route: { channelId: double.channelId } },
    ]);
    expect(await control.get(`conversation?channel=${double.channelId}`)).toMatchObject([
      { from: ANN },
      { from: 'bot' },
    ]);
    expect(await control.get('status')).toMatchObject({ identifies: 1, me: double.me.id });
  });

  it('makes faults, and refuses what it does not know', async () => {
    const { double, channel } = await stage();
    const control = controlOf(double.apiRoot);
    await control.post('fault', { kind: 'refuse', status: 403, code: 50001, message: 'No' });
    await expect(channel.send('hi')).rejects.toMatchObject({ code: 50001 });
    expect((await control.post('fault', { kind: 'meteor' })).status).toBe(400);
    expect((await control.post('nothing', {})).status).toBe(404);
  });
});

describe('[U04] the gateway of the Discord double', () => {
  it('brings the events of a guild to the shard that owns it', async () => {
    const double = await startDouble();
    const owner = Number((BigInt(double.guildId) >> 22n) % 2n);
    const clients = await Promise.all(
      [0, 1].map(async (shard) => {
        const client = newClient(double);
        client.options.shards = [shard];
        client.options.shardCount = 2;
        const ready = new Promise((resolve) => client.once('clientReady', resolve));
        await client.login(double.token);
        await ready;
        return client;
      }),
    );
    const heardBy: number[] = [];
    for (const [shard, client] of clients.entries()) {
      client.on('messageCreate', () => {
        heardBy.push(shard);
        double.transcript.changes.changed();
      });
    }
    double.say({ channel: double.channelId, from: ANN, text: 'to one' });
    double.say({ channel: double.dmWith(ANN), text: 'to the first' });
    await double.waitFor(() => heardBy.length >= 2);
    expect(heardBy.sort()).toEqual([owner, 0].sort());
  });

  it.each([
    ['{"op":99,"d":null}', 4001],
    ['not json', 4002],
    ['{"op":3,"d":{}}', 4003],
    ['{"op":2,"d":{"token":"wrong","intents":0}}', 4004],
    ['{"op":2,"d":{"token":"TOKEN","intents":1073741824}}', 4013],
  ])('closes after %s with %i', async (frame, code) => {
    const double = await startDouble();
    const socket = new WebSocket(`${double.apiRoot.replace('http', 'ws')}/gateway`);
    socket.onopen = () => socket.send(frame.replace('TOKEN', double.token));
    const closed = await new Promise<number>((resolve) => {
      socket.onclose = (event) => resolve(event.code);
    });
    expect(closed).toBe(code);
  });
});
