import { isFullRun } from '@parley/core/testing';
import { type DiscordDouble, startDiscordDouble } from '@parley/simulators/discord';
import { afterEach, describe, expect, it } from 'vitest';
import { startWhatsAppPeer } from '../conformance/channels/whatsapp-peer.ts';
import {
  type CloseFunctions,
  NOTE,
  noted,
  record,
  startInProcess,
  startSeparately,
  startWritingModel,
} from './approval-scene.ts';
import { waitUntilConnected } from './channel-states.ts';

const ANN = '200000000000000501';
const BO = '200000000000000502';
/** Longer than an approval request remains valid. */
const DAY_MS = 24 * 60 * 60_000;
/** A full run kills Parley, and Telegram always does; otherwise it is shut down gracefully. */
const startToRestart = isFullRun() ? startSeparately : startInProcess;

const closing: CloseFunctions = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** `startIn` decides where Parley runs: in a separate process if the test kills it. */
async function onDiscord(startIn: typeof startInProcess) {
  const [discord, model] = await Promise.all([startDiscordDouble(), startWritingModel(closing)]);
  closing.push(() => discord.close());
  const parley = await startIn(
    model,
    {
      owners: [`discord:${ANN}`],
      approvals: { ask: ['write', 'current_time'] },
      channels: {
        discord: {
          token: discord.token,
          apiRoot: discord.apiRoot,
          access: { allowGroups: [discord.channelId], direct: 'allowlist', allow: [BO] },
        },
      },
    },
    closing,
  );
  await connected(discord, 1);
  return { discord, model, parley };
}

const connected = (discord: DiscordDouble, times: number) =>
  discord.waitFor(() => discord.gateway().identifies >= times);
const said = (discord: DiscordDouble, channel: string) =>
  discord
    .conversation(channel)
    .filter(({ from }) => from === 'bot')
    .map(({ visible }) => visible);
const until = (discord: DiscordDouble, channel: string, words: string) =>
  discord.waitFor(() => said(discord, channel).some((text) => text.includes(words)));
const question = (discord: DiscordDouble, channel: string) => {
  const found = discord.conversation(channel).find(({ visible }) => visible.includes('May I use'));
  if (found === undefined) throw new Error('nothing was asked');
  return found;
};

/** Presses the button that represents a command. */
function press(discord: DiscordDouble, channel: string, from: string, command: string): void {
  const { id, message } = question(discord, channel);
  const customId = /"custom_id":"(\d:(\/\w+) \w+)"/g;
  const ids = [...JSON.stringify(message.components).matchAll(customId)];
  const found = ids.find(([, , name]) => name === command)?.[1];
  if (found === undefined) throw new Error(`no button for ${command}`);
  discord.press({ channel, message: id, from, customId: found });
}

describe('approvals', () => {
  it('[G05] on Discord, a button pressed after a restart runs the call once', async () => {
    const { discord, model, parley } = await onDiscord(startToRestart);
    const direct = discord.dmWith(ANN);
    discord.say({ channel: direct, text: 'please note it' });
    await until(discord, direct, 'May I use');
    await parley.restart();
    await connected(discord, 2);
    discord.say({ channel: direct, text: 'and something else' });
    expect(noted(parley)).toBeNull();
    // The button is pressed twice, as an impatient person would.
    press(discord, direct, ANN, '/approve');
    press(discord, direct, ANN, '/approve');
    await until(discord, direct, 'You said: and something else');
    expect(noted(parley)).toBe(NOTE);
    const results = model.requests.filter(({ body }) => body.messages.at(-1)?.role === 'tool');
    expect(results).toHaveLength(1);
    const texts = said(discord, direct);
    expect(texts.filter((text) => text.includes('Allowed: write'))).toHaveLength(1);
    expect(texts.filter((text) => text.includes('already decided'))).toHaveLength(1);
    expect(await record(parley)).toMatch(
      /write for discord:\d+501 .*: allowed by discord:\d+501 .*; the call worked/,
    );
  });

  it('[G05] in a group, other people cannot decide, and a refusal is reported to the model', async () => {
    const { discord, parley } = await onDiscord(startInProcess);
    const group = discord.channelId;
    discord.say({ channel: group, from: BO, text: `<@${discord.me.id}> what time is it` });
    await until(discord, group, 'Only my owner');
    press(discord, group, BO, '/approve');
    await until(discord, group, 'is for my owner, and for those');
    expect(said(discord, group).join()).not.toContain('It said:');
    press(discord, group, ANN, '/deny');
    await until(discord, group, 'It said: current_time was not run');
    expect(await record(parley)).toMatch(
      /current_time for discord:\d+502 .*: refused by discord:\d+501/,
    );
  });

  it('[G05] on WhatsApp, a code typed after a restart runs the call', async () => {
    const [peer, model] = await Promise.all([startWhatsAppPeer(), startWritingModel(closing)]);
    closing.push(() => peer.close());
    const parley = await startToRestart(
      model,
      {
        owners: [peer.owner],
        approvals: { ask: ['write'] },
        channels: { whatsapp: peer.settings },
      },
      closing,
    );
    await peer.link?.(parley.process());
    await waitUntilConnected(parley.process());
    const place = peer.ownerPlace;
    const texts = () => peer.seen(place).map(({ text }) => text);
    const code = (nth: number) =>
      texts().flatMap((text) => /Reply \/approve (\w{6})/.exec(text)?.[1] ?? [])[nth];
    await peer.say(place, { text: 'please note it' });
    await peer.waitFor(() => code(0));
    await parley.restart();
    await waitUntilConnected(parley.process());
    expect(noted(parley)).toBeNull();
    await peer.say(place, { text: `/approve ${code(0)?.toLowerCase()}` });
    await peer.waitFor(() => texts().some((text) => text.includes('It said:')));
    expect(noted(parley)).toBe(NOTE);
    expect(await record(parley)).toContain('the call worked');
  });

  it('[G05] an approval request that expires while Parley is stopped counts as denied', async () => {
    const { discord, parley } = await onDiscord(startInProcess);
    const direct = discord.dmWith(ANN);
    discord.say({ channel: direct, text: 'please note it' });
    await until(discord, direct, 'May I use');
    await parley.restart(() => {}, { clock: () => Date.now() + DAY_MS });
    await connected(discord, 2);
    await until(discord, direct, 'which counts as a refusal');
    press(discord, direct, ANN, '/approve');
    await until(discord, direct, 'Too late');
    expect(noted(parley)).toBeNull();
    expect(await record(parley)).toContain('not answered');
  });
});
