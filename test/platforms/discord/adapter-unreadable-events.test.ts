import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { ANN, type DiscordScene, endScenes, startDiscordScene } from './adapter-scene.ts';

afterEach(endScenes);

const SERVER = '300000000000000001';

/** Data that makes discord.js throw, by the name of the event. */
const UNREADABLE: Readonly<Record<string, (here: DiscordScene) => object>> = {
  CHANNEL_CREATE: ({ double }) => ({
    id: '300000000000000002',
    type: 0,
    guild_id: double.guildId,
    permission_overwrites: [null],
  }),
  GUILD_ROLE_UPDATE: ({ double }) => ({ guild_id: double.guildId, role: null }),
  THREAD_LIST_SYNC: ({ double }) => ({ guild_id: double.guildId, threads: null }),
  GUILD_MEMBERS_CHUNK: ({ double }) => ({ guild_id: double.guildId, members: 5 }),
  INTERACTION_CREATE: () => ({ type: 2 }),
  GUILD_CREATE: () => ({ id: SERVER, channels: [null] }),
};

/** Uncaught errors, which the process would attribute to the adapter. */
function uncaught(): unknown[] {
  const thrown: unknown[] = [];
  const note = (error: unknown) => void thrown.push(error);
  const earlier = {
    exception: process.listeners('uncaughtException'),
    rejection: process.listeners('unhandledRejection'),
  };
  process.removeAllListeners('uncaughtException').removeAllListeners('unhandledRejection');
  process.on('uncaughtException', note).on('unhandledRejection', note);
  onTestFinished(() => {
    process.off('uncaughtException', note).off('unhandledRejection', note);
    for (const listener of earlier.exception) process.on('uncaughtException', listener);
    for (const listener of earlier.rejection) process.on('unhandledRejection', listener);
  });
  return thrown;
}

describe('an event that discord.js cannot read', () => {
  it.each(Object.keys(UNREADABLE))(
    '[F16] [D12] does not close the connection or lose other events: %s',
    async (name) => {
      const thrown = uncaught();
      const here = await startDiscordScene();
      await here.connect();
      const { double } = here;
      double.event(name, UNREADABLE[name]?.(here) as Record<string, unknown>);
      double.say({ channel: double.channelId, from: ANN, text: 'still there?' });
      expect(await here.hears(1)).toMatchObject({ text: 'still there?' });
      await double.waitFor(() => here.logged.some((line) => line.includes(name)));
      expect(thrown).toEqual([]);
      expect(double.gateway()).toMatchObject({ identifies: 1, connections: 1 });
    },
  );

  it('[F16] still reaches the agent when it is a message', async () => {
    const thrown = uncaught();
    const here = await startDiscordScene();
    await here.connect();
    const { double } = here;
    const author = { id: ANN, username: 'ann', discriminator: '0' };
    const message = {
      id: '300000000000000009',
      channel_id: double.channelId,
      type: 0,
      author,
      content: 'with a component of tomorrow',
      timestamp: new Date().toISOString(),
      mentions: [],
      components: [null],
    };
    double.event('MESSAGE_CREATE', message);
    expect(await here.hears(1)).toMatchObject({ text: 'with a component of tomorrow' });
    await double.waitFor(() => here.logged.some((line) => line.includes('cannot read')));
    expect(thrown).toEqual([]);
    expect(here.ignored).toEqual([]);
  });

  it('[F16] [D08] is recorded for /why when nothing else reads it', async () => {
    const here = await startDiscordScene();
    await here.connect();
    const { double } = here;
    double.event('GUILD_ROLE_UPDATE', { guild_id: double.guildId, role: null });
    await double.waitFor(() => here.ignored.length > 0);
    expect(here.ignored).toMatchObject([
      {
        event: { chatId: double.guildId },
        reason: expect.stringContaining('GUILD_ROLE_UPDATE'),
      },
    ]);
  });

  it('[D12] about a server at the start does not affect the account', async () => {
    const thrown = uncaught();
    const here = await startDiscordScene();
    await here.adapter.start();
    const { double } = here;
    await double.waitFor(() => double.gateway().identifies > 0);
    await double.waitFor(() => here.states.at(-1)?.kind === 'connected');
    double.event('GUILD_CREATE', { id: SERVER, channels: [{ id: 'odd', type: 'odd' }, null] });
    double.event('GUILD_DELETE', { id: SERVER, unavailable: false });
    double.say({ channel: double.channelId, from: ANN, text: 'hello' });
    expect(await here.hears(1)).toMatchObject({ text: 'hello' });
    expect(thrown).toEqual([]);
  });
});
